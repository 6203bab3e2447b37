"""What `shardwise init` makes: the values that Keras makes, on every mesh, in the file that --save writes."""

import json

import ml_dtypes
import numpy
import pytest
import safetensors.numpy
import safetensors

SEED = 42
# name, shape, class, config: every initializer that the command takes.
VARIABLES = [
    ("zeros", (16, 8), "Zeros", {}),
    ("ones", (24,), "Ones", {}),
    ("constant", (8, 8), "Constant", {"value": 0.3}),
    ("identity", (8, 16), "Identity", {"gain": 2.0}),
    ("random_normal", (64, 40), "RandomNormal", {"mean": 0.1, "stddev": 0.02, "seed": SEED}),
    ("truncated_normal", (33, 24), "TruncatedNormal", {"stddev": 0.3, "seed": 7}),
    ("random_uniform", (5, 16, 8), "RandomUniform", {"minval": -1, "maxval": 2.5, "seed": SEED}),
    ("variance_scaling", (40, 64), "VarianceScaling",
     {"scale": 1.0, "mode": "fan_in", "distribution": "untruncated_normal", "seed": 3}),
    ("einsum", (8, 64, 16), "VarianceScaling",
     {"scale": 2.0, "mode": "fan_out", "distribution": "uniform", "seed": 4, "input_axes": [1], "output_axes": [0, 2]}),
    ("glorot_uniform", (64, 32), "GlorotUniform", {"seed": SEED}),
    ("glorot_normal", (3, 3, 16, 8), "GlorotNormal", {"seed": 1}),
    ("he_normal", (64, 32), "HeNormal", {"seed": 2**32 - 1}),
    ("he_uniform", (64, 32), "HeUniform", {"seed": 0}),
    ("lecun_normal", (64, 32), "LecunNormal", {"seed": SEED}),
    ("lecun_uniform", (64, 32), "LecunUniform", {"seed": SEED}),
]
MESHES = [["--devices", "1"], ["--devices", "4"], ["--mesh", "batch=2,model=4"], ["--devices", "8", "--threads", "3"]]
# Everything whose first or last dimension divides is cut, rows here and columns there.
LAYOUT = {"rules": {"(zeros|ones|identity|random_normal|einsum|he_normal|glorot_uniform)": ["model"],
                    "(constant|truncated_normal|variance_scaling|he_uniform|lecun_.*)": [None, "model"],
                    "random_uniform": [None, "model", None], "glorot_normal": [None, None, "model"]}}


def entries(dtype):
    return [
        {"name": name, "shape": list(shape), "dtype": dtype, "initializer": {"class_name": kind, "config": config}}
        for name, shape, kind, config in VARIABLES
    ]


def read(path):
    """All tensors of a file by the safetensors library, as numpy arrays."""
    with safetensors.safe_open(path, framework="numpy") as file:
        try:
            return {name: file.get_tensor(name) for name in file.keys()}
        except (TypeError, safetensors.SafetensorError):
            pytest.fail(f"safetensors cannot read {path}")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_values_are_those_of_keras_on_every_mesh(run, spec, tmp_path, keras, dtype):
    layout = tmp_path / "layout.json"
    layout.write_text(json.dumps(LAYOUT))
    path = spec(entries(dtype))
    expected = {}
    for name, shape, kind, config in VARIABLES:
        value = getattr(keras.initializers, kind)(**config)(shape, dtype=dtype)
        expected[name] = numpy.asarray(value)
    fingerprints = []
    for number, mesh in enumerate(MESHES):
        out = tmp_path / f"out{number}.safetensors"
        status, report = run("init", path, *mesh, "--layout", layout, "--uneven", "replicate", "--save", out)
        assert status == 0, report
        got = read(out)
        assert got.keys() == expected.keys()
        for name, value in expected.items():
            assert got[name].dtype == value.dtype and got[name].shape == value.shape
            assert got[name].tobytes() == value.tobytes(), f"{name} on {mesh}"
        fingerprints.append({tensor["name"]: tensor["fingerprint"] for tensor in report["tensors"]})
        row = next(tensor for tensor in report["tensors"] if tensor["name"] == "glorot_uniform")
        first = expected["glorot_uniform"].astype(numpy.float64).ravel()[: len(row["first_values"])]
        assert row["first_values"] == first.tolist() and len(first) >= 4
    assert all(each == fingerprints[0] for each in fingerprints), "a fingerprint depends on the mesh"
    assert None not in fingerprints[0].values()


def test_float64_and_integers_of_constants(run, spec, tmp_path):
    out = tmp_path / "out.safetensors"
    path = spec([{"name": "d", "shape": [7], "dtype": "float64", "initializer": {"class_name": "Constant",
                                                                               "config": {"value": 0.1}}},
                 {"name": "i", "shape": [3], "dtype": "int32", "initializer": "ones"},
                 {"name": "scalar", "shape": [], "initializer": "ones"}, {"name": "none", "shape": [0, 4]}])
    assert run("init", path, "--devices", 2, "--save", out)[0] == 0
    got = read(out)
    assert got["d"].tolist() == [0.1] * 7 and got["i"].tolist() == [1, 1, 1]
    assert got["scalar"].shape == () and got["scalar"] == 1 and got["none"].shape == (0, 4)


def test_seeds_are_those_that_keras_draws(run, spec, tmp_path, keras):
    out = tmp_path / "out.safetensors"
    path = spec([{"name": "a", "shape": [6, 6], "initializer": "glorot_uniform"},
                 {"name": "b", "shape": [6, 6], "initializer": {"class_name": "HeNormal", "config": {}}}])
    assert run("init", path, "--seed", 1337, "--save", out)[0] == 0
    keras.utils.set_random_seed(1337)
    initializers = [keras.initializers.GlorotUniform(), keras.initializers.HeNormal()]
    for name, initializer in zip("ab", initializers, strict=True):
        assert read(out)[name].tobytes() == numpy.asarray(initializer((6, 6))).tobytes()
    other = tmp_path / "other.safetensors"
    assert run("init", path, "--seed", 1338, "--save", other)[0] == 0
    assert read(other)["a"].tobytes() != read(out)["a"].tobytes()


def test_rounding_of_a_compiled_initializer(run, spec, tmp_path, keras):
    import jax

    config = {"mean": 0.3, "stddev": 0.7, "seed": 9}
    initializer = keras.initializers.RandomNormal(**config)
    compiled = jax.jit(lambda: initializer((64, 64), dtype="float32"))()
    out = tmp_path / "out.safetensors"
    variable = {"shape": [64, 64], "initializer": {"class_name": "RandomNormal", "config": config}}
    path = spec([{"name": "eager", **variable}, {"name": "jit", "rounding": "jit", **variable},
                 {"name": "keras", "rounding": "keras", **variable}])
    assert run("init", path, "--devices", 4, "--save", out)[0] == 0
    got = read(out)
    assert got["eager"].tobytes() == numpy.asarray(initializer((64, 64))).tobytes()
    assert got["jit"].tobytes() == numpy.asarray(compiled).tobytes()
    assert got["keras"].tobytes() == got["eager"].tobytes(), "far below 250 MiB"
    assert got["jit"].tobytes() != got["eager"].tobytes()


def test_a_small_gemma_has_the_values_of_the_layers_that_keras_hub_uses(run, tmp_path, keras):
    """The embeddings and the first kernels of gemma_2b, cut to the rows that a selection makes affordable here."""
    out = tmp_path / "out.safetensors"
    select = r"decoder_block_0/attention/(key|value)/kernel|decoder_block_1/pre_ffw_norm/scale"
    status, report = run("init", "--model", "gemma_2b", "--seed", 1337, "--select", select, "--devices", 4, "--save", out)
    assert status == 0, report
    keras.utils.set_random_seed(1337)
    keras.initializers.VarianceScaling(scale=1.0, mode="fan_in", distribution="untruncated_normal")
    attention = keras.initializers.get("glorot_uniform")
    layers = [keras.layers.EinsumDense("bsd,kdh->bskh", output_shape=(None, 1, 256), kernel_initializer=attention)
              for _ in range(2)]
    for layer in layers:
        layer.build((None, None, 2048))
    got = read(out)
    for name, layer in zip(["key", "value"], layers, strict=True):
        assert got[f"decoder_block_0/attention/{name}/kernel"].tobytes() == numpy.asarray(layer.kernel.value).tobytes()
    assert not got["decoder_block_1/pre_ffw_norm/scale"].any()


def test_orthogonal_is_orthogonal_and_the_same_everywhere(run, spec, tmp_path):
    variable = {"name": "q", "shape": [256, 128], "initializer": {"class_name": "Orthogonal", "config": {"seed": 5}}}
    path = spec([variable])
    files = []
    for devices in (1, 4):
        out = tmp_path / f"q{devices}.safetensors"
        status, report = run("init", path, "--mesh", f"model={devices}", "--save", out)
        assert status == 0, report
        assert report["generated"]["whole_bytes"] > 0
        files.append(read(out)["q"])
    assert files[0].tobytes() == files[1].tobytes()
    numpy.testing.assert_allclose(files[0].T @ files[0], numpy.eye(128), atol=1e-5)


def test_part_is_loaded_and_the_rest_is_made(run, spec, tmp_path, keras):
    stored = {"kernel": numpy.random.default_rng(1).standard_normal((64, 32), numpy.float32)}
    checkpoint = tmp_path / "model.safetensors"
    safetensors.numpy.save_file(stored, checkpoint)
    path = spec([{"name": "kernel", "shape": [64, 32], "initializer": "glorot_uniform"},
                 {"name": "head", "shape": [32, 8], "initializer": {"class_name": "GlorotUniform",
                                                                    "config": {"seed": SEED}}}])
    status, report = run("load", checkpoint, "--model", path)
    assert status == 2 and "head" in report["error"]["message"]
    dump = tmp_path / "dump"
    status, report = run("load", checkpoint, "--model", path, "--init-missing", "--devices", 2, "--dump", dump)
    assert status == 0, report
    assert report["measured"]["bytes_read"] == 64 * 32 * 4
    assert report["measured"]["bytes_generated"] == 32 * 8 * 4
    got = read(dump / "device-0.safetensors")
    assert got["kernel"].tobytes() == stored["kernel"].tobytes()
    head = numpy.asarray(keras.initializers.GlorotUniform(seed=SEED)((32, 8)))
    assert got["head"].tobytes() == head.tobytes()


def test_saved_files_verify(run, spec, tmp_path):
    path = spec(entries("bfloat16"))
    a, b = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    assert run("init", path, "--devices", 8, "--save", a)[0] == 0
    assert run("init", path, "--devices", 1, "--discard", "--save", b)[0] == 0
    assert run("verify", a, b)[0] == 0
    with safetensors.safe_open(a, framework="numpy") as file:
        assert set(file.keys()) == {name for name, *_ in VARIABLES}
    assert ml_dtypes.bfloat16  # what numpy calls bfloat16
