"""shardwise verify."""

import h5py
import numpy
from cli_support import DTYPES, random_array, shardwise, write_safetensors


def verify(a, b, *options, expect):
    return shardwise("verify", a, b, *options, "--json", expect=expect).json


def test_equal_checkpoints_of_other_order(tmp_path, rng):
    tensors = {name: random_array(rng, dtype, (3, 4)) for name, _, dtype in DTYPES}
    a = write_safetensors(tmp_path / "a.safetensors", tensors)
    b = write_safetensors(tmp_path / "b.safetensors", dict(reversed(tensors.items())), {"note": "other header"})
    found = verify(a, b, expect=0)
    assert found["same"] and sorted(found["equal"]) == sorted(tensors)
    assert found["different"] == found["missing"] == found["extra"] == []
    assert shardwise("verify", a, b).out == f"{len(tensors)} equal, 0 different, 0 missing, 0 extra\n"


def test_all_kinds_of_differences(tmp_path, rng):
    same = rng.standard_normal((4, 4), numpy.float32)
    bit = same.copy()
    bit.view("uint32")[3, 3] ^= 1
    a = {"same": same, "value": same, "dtype": same, "shape": same, "both": same, "gone": same}
    b = {
        "same": same,
        "value": bit,
        "dtype": same.view("int32"),
        "shape": same.reshape(16),
        "both": same.astype("float64").reshape(2, 8),
        "new": same,
    }
    a, b = write_safetensors(tmp_path / "a.safetensors", a), write_safetensors(tmp_path / "b.safetensors", b)
    found = verify(a, b, expect=1)
    assert not found["same"]
    assert found["equal"] == ["same"]
    assert sorted(found["different"]) == ["both", "dtype", "shape", "value"]
    assert (found["missing"], found["extra"]) == (["gone"], ["new"])
    assert found["reasons"]["dtype"] == "dtype float32 and int32"
    assert found["reasons"]["shape"] == "shape (4, 4) and (16,)"
    assert found["reasons"]["both"] == "dtype float32 and float64, shape (4, 4) and (2, 8)"
    assert found["reasons"]["value"].startswith("values, fingerprints ")
    run = shardwise("verify", a, b, expect=1)
    assert "1 equal, 4 different, 1 missing, 1 extra" in run.out
    for line in ("different  value: values", "missing    gone", "extra      new"):
        assert line in run.out


def test_exchanged_values_are_found(tmp_path):
    x, y = numpy.zeros((2, 2), "float32"), numpy.ones((2, 2), "float32")
    a = write_safetensors(tmp_path / "a.safetensors", {"x": x, "y": y, "swap": numpy.array([1, 2], "int8")})
    b = write_safetensors(tmp_path / "b.safetensors", {"x": y, "y": x, "swap": numpy.array([2, 1], "int8")})
    assert sorted(verify(a, b, expect=1)["different"]) == ["swap", "x", "y"]


def test_no_common_name_is_explained(tmp_path):
    zeros = numpy.zeros(2, "float32")
    a = write_safetensors(tmp_path / "a.safetensors", {"x": zeros})
    b = write_safetensors(tmp_path / "b.safetensors", {"y": zeros})
    assert "compared by name" in shardwise("verify", a, b, expect=1).out


def test_select(tmp_path):
    zeros = numpy.zeros(2, "float32")
    a = write_safetensors(tmp_path / "a.safetensors", {"x": zeros, "only": zeros})
    b = write_safetensors(tmp_path / "b.safetensors", {"x": zeros})
    assert verify(a, b, "--select", "x", expect=0)["equal"] == ["x"]
    assert verify(a, b, "--select", "only", expect=1)["missing"] == ["only"]
    assert "matches none" in shardwise("verify", a, b, "--select", "nowhere", expect=2).err


def test_an_hdf5_file_against_safetensors(tmp_path, rng):
    """By Keras's names: dataset paths without a leading slash."""
    kernel, bias = rng.standard_normal((64, 32), numpy.float32), rng.standard_normal(32, numpy.float32)
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:
        file.create_dataset("layers/dense/vars/0", data=kernel, chunks=(16, 32), compression="gzip", shuffle=True)
        file.create_dataset("layers/dense/vars/1", data=bias)
    tensors = {"layers/dense/vars/0": kernel, "layers/dense/vars/1": bias}
    b = write_safetensors(tmp_path / "b.safetensors", tensors)
    assert len(verify(tmp_path / "a.weights.h5", b, expect=0)["equal"]) == 2
    b = write_safetensors(tmp_path / "b.safetensors", tensors | {"layers/dense/vars/1": bias[::-1]})
    assert verify(tmp_path / "a.weights.h5", b, expect=1)["different"] == ["layers/dense/vars/1"]


def test_an_unreadable_side(small, tmp_path):
    for pair in ((small[0], tmp_path / "none"), (tmp_path / "none", small[0])):
        assert str(tmp_path / "none") in shardwise("verify", *pair, expect=4).err
