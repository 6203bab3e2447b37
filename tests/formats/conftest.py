"""Checkpoints of every format, made by the libraries that own them, and a loader that reads the shards back."""

import json
import os
import subprocess
import zipfile

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import ml_dtypes  # noqa: E402,F401  numpy learns bfloat16 from it
import numpy  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture(scope="session")
def shardwise(built):
    return str(built("shardwise_cli"))


def keras_values(path):
    """{dataset path: array} by h5py, bfloat16 as Keras marks it."""
    import h5py

    values = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        array = item[()]
        if item.attrs.get("dtype") == "bfloat16":
            array = numpy.asarray(array).view(ml_dtypes.bfloat16)
        values[name] = numpy.asarray(array)

    with h5py.File(path) as file:
        file.visititems(visit)
    return values


def make_model(dtype):
    import keras
    from keras import layers

    keras.utils.set_random_seed(3)
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(48, 24, dtype=dtype)(tokens)
    x = layers.MultiHeadAttention(6, 8, dtype=dtype)(x, x)
    x = layers.LayerNormalization(dtype=dtype)(x)
    x = layers.Dense(96, activation="relu", dtype=dtype)(layers.Flatten()(x))
    model = keras.Model(tokens, layers.Dense(24, dtype=dtype)(x))
    if dtype == "float32":
        model.compile("adam", "mse")
        model.fit(numpy.zeros((4, 6), "int32"), numpy.zeros((4, 24)), verbose=0)
    return model


@pytest.fixture(scope="session")
def keras_files(tmp_path_factory):
    """{(format, dtype): (path, {name: array})}: every Keras format in three dtypes, and chunked HDF5."""
    import h5py

    folder = tmp_path_factory.mktemp("keras")
    files = {}
    for dtype in ("float32", "bfloat16", "float16"):
        model = make_model(dtype)
        plain = folder / f"{dtype}.weights.h5"
        model.save_weights(plain)
        values = keras_values(plain)
        model.save_weights(folder / f"{dtype}.weights.json", max_shard_size=6e-5)
        model.save(folder / f"{dtype}.keras")
        deflated = folder / f"{dtype}-deflated.keras"
        with zipfile.ZipFile(folder / f"{dtype}.keras") as source, zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                target.writestr(name, source.read(name))
        for kind, path in {"h5": plain, "json": folder / f"{dtype}.weights.json", "keras": folder / f"{dtype}.keras",
                           "deflated keras": deflated}.items():
            files[kind, dtype] = (path, values)
    chunked = folder / "chunked.h5"
    with h5py.File(chunked, "w") as file:
        for name, array in files["h5", "float32"][1].items():
            options = {"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True} if array.shape else {}
            file.create_dataset(name, data=array, **options)
    files["chunked h5", "float32"] = (chunked, files["h5", "float32"][1])
    return files


@pytest.fixture(scope="session")
def safetensors_files(tmp_path_factory):
    """{(kind, "mixed"): (path, values)}: one file and an index with several, of every dtype that numpy and ml_dtypes have."""
    from safetensors.numpy import save_file

    folder = tmp_path_factory.mktemp("safetensors")
    random = numpy.random.default_rng(11)
    values = {}
    for dtype in ("bool", "uint8", "int8", "int16", "uint16", "float16", "bfloat16", "int32", "uint32", "float32",
                  "float64", "int64", "uint64", "complex64", "float8_e4m3fn", "float8_e5m2"):
        kind = numpy.dtype(dtype)
        for shape in ((24, 48), (48, 6, 8), (24,), (), (0, 24)):
            count = int(numpy.prod(shape))
            bits = random.integers(0, 2 if dtype == "bool" else 256, count * kind.itemsize, dtype=numpy.uint8)
            values[f"{dtype}.{'x'.join(map(str, shape))}"] = bits.view(kind).reshape(shape)
    save_file(values, folder / "one.safetensors")
    names = list(values)
    weight_map = {}
    for part in range(3):
        file = f"model-{part + 1:05d}-of-00003.safetensors"
        save_file({name: values[name] for name in names[part::3]}, folder / file)
        weight_map.update(dict.fromkeys(names[part::3], file))
    total = sum(array.nbytes for array in values.values())
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    return {("safetensors", "mixed"): (folder / "one.safetensors", values), ("index", "mixed"): (index, values)}


DTYPES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "F16": "float16",
          "BF16": "bfloat16", "U32": "uint32", "I32": "int32", "F32": "float32", "F64": "float64", "I64": "int64",
          "U64": "uint64", "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}


def read_safetensors(path):
    """(metadata, {name: array}); the library itself gives no float8 to numpy."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        array = numpy.frombuffer(data[begin + first:begin + last], numpy.dtype(DTYPES[entry["dtype"]]))
        arrays[name] = array.reshape(entry["shape"])
    return header["__metadata__"], arrays


@pytest.fixture
def load_shards(shardwise, tmp_path):
    """load_shards(path, *options): (report, [{tensor: ({origin, extent}, array)} per device])."""

    def call(path, *options):
        folder = tmp_path / "shards"
        done = subprocess.run([shardwise, "load", str(path), "--json", "--dump", str(folder), *options],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        devices = []
        for file in sorted(folder.glob("device-*.safetensors"), key=lambda p: int(p.stem.split("-")[1])):
            metadata, arrays = read_safetensors(file)
            shards = json.loads(metadata["shards"])
            devices.append({name: (shards[name], array) for name, array in arrays.items()})
        return json.loads(done.stdout), devices

    return call
