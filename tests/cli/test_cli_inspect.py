"""shardwise inspect."""

import json

import numpy
import pytest
from cli_support import DTYPES, random_array, shardwise, write_safetensors


def test_text_names_every_tensor_and_the_totals(small):
    path, tensors = small
    out = shardwise("inspect", path).out
    assert out.splitlines()[0] == f"{path}: safetensors, 4 tensors, 13.9 KiB"
    for name, array in tensors.items():
        line = next(line for line in out.splitlines() if line.split()[:1] == [name])
        assert str(array.dtype) in line and str(array.shape) in line and f" {array.nbytes} " in line
    assert "format = pt" in out


def test_json_holds_what_the_file_holds(small):
    path, tensors = small
    found = shardwise("inspect", path, "--json").json
    assert (found["format"], found["path"], found["metadata"]) == ("safetensors", str(path), {"format": "pt"})
    assert found["files"] == [{"path": str(path), "bytes": path.stat().st_size, "deflated": False}]
    assert found["tensor_count"] == len(tensors) and found["bytes"] == sum(a.nbytes for a in tensors.values())
    content = path.read_bytes()
    for entry in found["tensors"]:
        array = tensors.pop(entry["name"])
        assert (entry["dtype"], entry["shape"]) == (str(array.dtype), list(array.shape))
        (extent,) = entry["extents"]
        assert extent["file"] == 0 and content[extent["begin"] : extent["end"]] == array.tobytes()
    assert not tensors


def test_every_dtype_is_named_as_numpy_names_it(tmp_path, rng):
    tensors = {name: random_array(rng, dtype, (4,)) for name, _, dtype in DTYPES}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    found = shardwise("inspect", path, "--json").json
    assert {t["name"]: t["dtype"] for t in found["tensors"]} == {name: text for name, text, _ in DTYPES}


def test_select_and_limit(small):
    path, _ = small
    found = shardwise("inspect", path, "--select", r"layer\.", "--json").json
    assert [t["name"] for t in found["tensors"]] == ["layer.0.kernel", "layer.0.bias"]
    assert len(shardwise("inspect", path, "--limit", 3, "--json").json["tensors"]) == 3
    text = shardwise("inspect", path, "--limit", 1).out
    assert "... and 3 more" in text and "layer.0.bias" not in text
    assert shardwise("inspect", path, "--limit", 0, "--json").json["tensors"] == []
    assert len(shardwise("inspect", path, "--limit", "all", "--json").json["tensors"]) == 4


def test_fingerprints_depend_on_values_dtype_and_shape_alone(tmp_path, rng):
    value = rng.standard_normal((6, 4), numpy.float32)
    changed = value.copy()
    changed[5, 3] = numpy.nextafter(changed[5, 3], numpy.float32(9))
    swapped = value.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    write_safetensors(tmp_path / "a.safetensors", {"x": value, "y": changed, "z": swapped, "s": value.reshape(4, 6)})
    write_safetensors(tmp_path / "b.safetensors", {"pad": value.view("int32"), "x": value})
    a = shardwise("inspect", tmp_path / "a.safetensors", "--fingerprint", "--json").json
    b = shardwise("inspect", tmp_path / "b.safetensors", "--fingerprint", "--json").json
    prints = {t["name"]: t["fingerprint"] for t in a["tensors"]}
    assert all(len(text) == 16 and int(text, 16) >= 0 for text in prints.values())
    assert len(set(prints.values())) == 4
    assert {t["name"]: t["fingerprint"] for t in b["tensors"]}["x"] == prints["x"]
    assert {t["name"]: t["fingerprint"] for t in b["tensors"]}["pad"] != prints["x"]
    assert a["fingerprint"] != b["fingerprint"]
    text = shardwise("inspect", tmp_path / "a.safetensors", "--fingerprint").out
    assert all(value in text for value in prints.values()) and a["fingerprint"] in text


def test_names_cannot_write_to_the_terminal(tmp_path):
    path = write_safetensors(tmp_path / "a.safetensors", {"a\x1b[31m\n": numpy.zeros(1, "int8")}, {"k\x1b[2J": "v\x07"})
    out = shardwise("inspect", path).out
    assert "\x1b" not in out and "\x07" not in out
    assert json.loads(shardwise("inspect", path, "--json").out)["tensors"][0]["name"] == "a\x1b[31m\n"


@pytest.mark.parametrize("command", ["inspect", "plan", "load"])
def test_a_checkpoint_without_tensors(tmp_path, command):
    path = write_safetensors(tmp_path / "empty.safetensors", {})
    assert shardwise(command, path, "--json").json["tensors"] == []
    assert "0 " in shardwise(command, path).out
