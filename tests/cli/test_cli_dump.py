"""shardwise load --dump: shards, compared with what numpy cuts out of the tensors."""

import itertools
import json
import math

import ml_dtypes
import numpy
import pytest
import safetensors
from cli_support import DTYPES, random_array, read_safetensors, shardwise, write_safetensors

MESHES = {
    "model=1": (1,),
    "model=2": (2,),
    "model=8": (8,),
    "model=3": (3,),
    "model=6": (6,),
    "batch=2,model=4": (2, 4),
    "batch=4,model=2": (4, 2),
    "batch=2,model=3": (2, 3),
    "a=2,b=2,c=2": (2, 2, 2),
    "a=1,b=2,c=3": (1, 2, 3),
}


def expected_box(shape, layout, axis_names, mesh_shape, device):
    """The slice of `device`, from its coordinates on the grid."""
    place = numpy.unravel_index(device, mesh_shape)
    box = []
    for d, extent in enumerate(shape):
        axis = layout[d] if d < len(layout) else None
        if axis is None:
            box.append(slice(0, extent))
            continue
        a = axis_names.index(axis)
        width = extent // mesh_shape[a]
        box.append(slice(place[a] * width, (place[a] + 1) * width))
    return tuple(box)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == numpy.ascontiguousarray(b).tobytes()


def dump(path, folder, *options):
    shardwise("load", path, "--dump", folder, *options)
    return {int(p.name.split("-")[1].split(".")[0]): read_safetensors(p) for p in folder.iterdir()}


def all_dtypes(rng, shape):
    return {name: random_array(rng, dtype, shape) for name, _, dtype in DTYPES}


@pytest.mark.parametrize("mesh", MESHES)
def test_every_dtype_in_rules_of_one_axis(tmp_path, rng, mesh):
    """Each tensor twice: its first dimension over one axis, its last over another (or the same)."""
    tensors = {f"{d}.{name}": a for d in ("row", "column") for name, a in all_dtypes(rng, (24, 5, 48)).items()}
    tensors |= {"scalar": numpy.float32(1.5).reshape(()), "nothing": numpy.zeros((0, 24), "float32")}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    names, mesh_shape = [part.split("=")[0] for part in mesh.split(",")], MESHES[mesh]
    layouts = {"row": [names[0]], "column": [None, None, names[-1]]}
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": {r"row\..*": layouts["row"], r"column\..*": layouts["column"]}}))

    devices = dump(path, tmp_path / "out", "--mesh", mesh, "--layout", rules)
    assert sorted(devices) == list(range(math.prod(mesh_shape)))
    for device, (shards, metadata) in devices.items():
        assert shards.keys() == tensors.keys() and metadata["device"] == f"host:{device}"
        boxes = json.loads(metadata["shards"])
        for name, array in tensors.items():
            box = expected_box(array.shape, layouts.get(name.split(".")[0], []), names, mesh_shape, device)
            assert same_bits(shards[name], array[box]), (name, device)
            assert boxes[name]["shape"] == list(array.shape)
            assert boxes[name]["origin"] == [s.start for s in box]
            assert boxes[name]["extent"] == [s.stop - s.start for s in box]


@pytest.mark.parametrize("mesh", ["batch=2,model=4", "batch=2,model=3", "batch=4,model=2"])
@pytest.mark.parametrize("layout", [["batch", "model"], ["model", "batch"], [None, "batch", "model"]])
def test_two_axes(tmp_path, rng, mesh, layout):
    tensors = {
        "x": random_array(rng, numpy.dtype("float32"), (24, 24, 24)),
        "y": random_array(rng, numpy.dtype("int16"), (48, 24, 12)),
    }
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"x": layout, "y": layout}))
    for device, (shards, _) in dump(path, tmp_path / "out", "--mesh", mesh, "--layout", rules).items():
        for name, array in tensors.items():
            box = expected_box(array.shape, layout, ["batch", "model"], MESHES[mesh], device)
            assert same_bits(shards[name], array[box])


@pytest.mark.parametrize("mesh", MESHES)
def test_auto_splits_large_tensors_over_all_devices(tmp_path, rng, mesh):
    tensors = {
        "large": random_array(rng, numpy.dtype("float32"), (384, 1200)),
        "small": random_array(rng, numpy.dtype("float32"), (48, 48)),
    }
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    devices = dump(path, tmp_path / "out", "--mesh", mesh)
    seen = numpy.zeros((384, 1200), int)
    for shards, metadata in devices.values():
        part = json.loads(metadata["shards"])["large"]
        box = tuple(slice(o, o + e) for o, e in zip(part["origin"], part["extent"]))
        assert same_bits(shards["large"], tensors["large"][box])
        assert same_bits(shards["small"], tensors["small"])
        seen[box] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize(
    "options", [("--discard",), ("--staging", "8MiB"), ("--threads", 1), ("--discard", "--threads", 5)]
)
def test_the_way_of_loading_changes_no_byte(large, tmp_path, options):
    path, tensors = large
    mesh = ("--mesh", "batch=2,model=4")
    plain, other = dump(path, tmp_path / "a", *mesh), dump(path, tmp_path / "b", *mesh, *options)
    for device in range(8):
        for name in tensors:
            assert same_bits(plain[device][0][name], other[device][0][name])


def test_files_are_read_by_the_safetensors_library(tmp_path, rng):
    tensors = {name: random_array(rng, dtype, (6, 8)) for name, _, dtype in DTYPES if name not in ("C64", "F8_E8M0")}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    dump(path, tmp_path / "out", "--devices", 2)
    with safetensors.safe_open(tmp_path / "out" / "device-1.safetensors", "numpy") as file:
        assert set(file.keys()) == tensors.keys()
        assert file.metadata()["device"] == "host:1" and file.metadata()["mesh"].startswith("<DeviceMesh shape=(1, 2)")
        assert same_bits(file.get_tensor("F32"), tensors["F32"])


def test_only_devices_fills_these_devices_alone(small, tmp_path):
    path, _ = small
    options = ("--devices", 4, "--layout", tmp_path / "rules.json")
    (tmp_path / "rules.json").write_text(json.dumps({".*kernel": [None, "model"], ".*weight": ["model"]}))
    every, some = dump(path, tmp_path / "a", *options), dump(path, tmp_path / "b", *options, "--only-devices", "0,3")
    assert sorted(every) == [0, 1, 2, 3] and sorted(some) == [0, 3]
    for device in some:
        for name, shard in some[device][0].items():
            assert same_bits(shard, every[device][0][name])
    loaded = shardwise("load", path, *options, "--only-devices", "0,3", "--json").json
    assert loaded["measured"]["device_peak_bytes"][1:3] == [0, 0]
    # One device alone wants its quarter of the two split tensors, and the others whole.
    alone = shardwise("load", path, *options, "--only-devices", "0", "--json").json
    split = every[0][0]["layer.0.kernel"].nbytes + every[0][0]["embeddings.weight"].nbytes
    assert alone["reads"]["wanted_bytes"] == split + 96 * 4 + 8


def test_select(small, tmp_path):
    devices = dump(small[0], tmp_path / "out", "--devices", 2, "--select", "bias$|step")
    assert all(shards.keys() == {"layer.0.bias", "step"} for shards, _ in devices.values())


FLOATS = {"float64": "float64", "float32": "float32", "float16": "float16", "bfloat16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("source, target", list(itertools.permutations(FLOATS, 2)))
def test_casts_are_those_of_numpy_and_ml_dtypes(tmp_path, rng, source, target):
    special = numpy.array([0.0, -0.0, 1e-8, 6e-5, 65504, 65520, 1e39, numpy.inf, -numpy.inf, numpy.nan, 3.14159, 1 / 3])
    with numpy.errstate(over="ignore"):
        values = numpy.concatenate([special, rng.standard_normal(500)]).astype(FLOATS[source]).reshape(8, 64)
        expected = values.astype(FLOATS[target])
    tensors = {"x": values, "count": numpy.arange(8)}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    (tmp_path / "rules.json").write_text(json.dumps({"x": [None, "model"]}))
    options = ("--devices", 4, "--layout", tmp_path / "rules.json", "--dtype", target)
    for device, (shards, metadata) in dump(path, tmp_path / "out", *options).items():
        assert json.loads(metadata["shards"])["x"]["dtype"] == target
        shard, wanted = shards["x"], expected[:, device * 16 : (device + 1) * 16]
        assert shard.dtype == wanted.dtype
        nan = numpy.isnan(wanted.astype("float64"))
        assert (numpy.isnan(shard.astype("float64")) == nan).all()
        assert shard[~nan].tobytes() == wanted[~nan].tobytes()
        assert same_bits(shards["count"], tensors["count"])


def test_existing_files_are_replaced_and_no_partial_ones_stay(small, tmp_path):
    out = tmp_path / "deep" / "out"
    dump(small[0], out, "--devices", 2)
    (out / "device-0.safetensors").write_bytes(b"old")
    assert sorted(dump(small[0], out, "--devices", 2)) == [0, 1]
    assert sorted(p.name for p in out.iterdir()) == ["device-0.safetensors", "device-1.safetensors"]


def test_a_folder_that_cannot_be_written(small, tmp_path):
    (tmp_path / "file").write_text("in the way")
    run = shardwise("load", small[0], "--dump", tmp_path / "file", expect=1)
    assert str(tmp_path / "file") in run.err
