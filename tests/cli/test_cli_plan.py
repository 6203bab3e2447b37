"""shardwise plan."""

import json

import numpy
from cli_support import shardwise, write_safetensors

FIELDS = {"devices", "host", "reads", "tensors", "unmatched_rules", "replicated", "load_then_shard"}


def write_layout(tmp_path, layout):
    path = tmp_path / "layout.json"
    path.write_text(json.dumps(layout))
    return path


def test_json_has_the_documented_schema(small, tmp_path):
    path, tensors = small
    layout = write_layout(tmp_path, {"rules": {".*weight|.*kernel": [None, "model"], "nothing.*": ["model"]}})
    plan = shardwise("plan", path, "--devices", 8, "--layout", layout, "--device-memory", "1MiB", "--json").json
    assert FIELDS <= plan.keys()
    assert [d["id"] for d in plan["devices"]] == [f"host:{k}" for k in range(8)]
    shards = {"embeddings.weight": 48 * 3 * 4, "layer.0.kernel": 24 * 12 * 4, "layer.0.bias": 96 * 4, "step": 8}
    for device in plan["devices"]:
        # The allocator rounds every shard up to 64 bytes.
        assert sum(shards.values()) <= device["bytes"] <= device["peak_bytes"]
        assert device["peak_bytes"] == sum(-(-bytes // 64) * 64 for bytes in shards.values())
        assert device["limit_bytes"] == 2**20
    assert plan["host"]["staging_bytes"] == 64 * 2**20 and plan["host"]["peak_bytes"] > 0
    assert plan["reads"]["bytes"] >= plan["reads"]["wanted_bytes"] == sum(a.nbytes for a in tensors.values())
    assert plan["reads"]["count"] >= 1
    for entry in plan["tensors"]:
        array = tensors[entry["name"]]
        assert entry["dtype"] == str(array.dtype) and entry["shape"] == list(array.shape)
        assert entry["shard_bytes"] == shards[entry["name"]]
        split = entry["name"].endswith(("weight", "kernel"))
        assert entry["layout"] == ([None, "model"] if split else [None] * array.ndim)
        assert entry["replicas"] == (1 if split else 8)
        assert entry["shard_shape"] == ([array.shape[0], array.shape[1] // 8] if split else list(array.shape))
    assert plan["unmatched_rules"] == ["nothing.*"]
    assert plan["replicated"] == []
    # Keras's 2T + T/N, and the replicas it already holds.
    assert plan["load_then_shard"]["device0_peak_bytes"] >= 2 * tensors["layer.0.kernel"].nbytes
    assert plan["load_then_shard"]["host_peak_bytes"] >= tensors["layer.0.kernel"].nbytes


def test_limits_are_null_when_there_are_none(small):
    plan = shardwise("plan", small[0], "--devices", 2, "--json").json
    assert [d["limit_bytes"] for d in plan["devices"]] == [None, None]


def test_large_tensors_that_stay_whole_are_reported(large):
    path, tensors = large
    plan = shardwise("plan", path, "--devices", 4, "--layout", "replicated", "--json").json
    assert {r["name"] if isinstance(r, dict) else r for r in plan["replicated"]} == {"embeddings", "kernel"}
    text = shardwise("plan", path, "--devices", 4, "--layout", "replicated").out
    assert "embeddings" in text and "36 MiB" in text  # three more copies of 12 MiB


def test_text_shows_devices_limits_and_the_host(large):
    text = shardwise("plan", large[0], "--devices", 4, "--device-memory", "16MiB").out
    assert "host:0" in text and "16 MiB" in text and "staging 64 MiB" in text


def test_the_default_mesh_serves_every_built_in_layout(small):
    for layout in ("auto", "replicated", "gemma", "llama", "bert"):
        plan = shardwise("plan", small[0], "--devices", 2, "--layout", layout, "--json").json
        assert len(plan["devices"]) == 2


def test_what_does_not_fit_is_printed_and_refused(large):
    path, _ = large
    options = ("--devices", 8, "--device-memory", "1MiB")
    run = shardwise("plan", path, *options, expect=3)
    assert "host:0" in run.out and "1 MiB" in run.out
    assert run.err.startswith("error: ") and "host:0" in run.err
    run = shardwise("plan", path, *options, "--json", expect=3)
    assert FIELDS <= run.json.keys() and run.json["devices"][0]["peak_bytes"] > 2**20
    assert run.json["error"]["code"] == "RESOURCE_EXHAUSTED" and run.json["error"]["exit_code"] == 3
    needed = run.json["devices"][0]["peak_bytes"]
    shardwise("plan", path, "--devices", 8, "--device-memory", needed)
    shardwise("plan", path, "--devices", 8, "--device-memory", needed - 1, expect=3)


def test_a_plan_reads_no_tensor(tmp_path):
    # 4 GiB that are not there: reading them would take a while, allocating them too.
    header = json.dumps({"x": {"dtype": "F32", "shape": [2**15, 2**15], "data_offsets": [0, 2**32]}}).encode()
    path = tmp_path / "sparse.safetensors"
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 2**32)
    plan = shardwise("plan", path, "--devices", 8, "--json").json
    assert plan["devices"][0]["bytes"] == 2**29


def test_dtype_and_select_and_only_devices_are_part_of_the_plan(small):
    path, _ = small
    plan = shardwise("plan", path, "--devices", 2, "--dtype", "bfloat16", "--select", "kernel|step", "--json").json
    assert {t["name"]: t["dtype"] for t in plan["tensors"]} == {"layer.0.kernel": "bfloat16", "step": "int64"}
    layout = ("--layout", "replicated")
    whole = shardwise("plan", path, "--devices", 4, *layout, "--json").json
    part = shardwise("plan", path, "--devices", 4, *layout, "--only-devices", "1,3", "--json").json
    assert part["devices"][1] | {"local": True} == whole["devices"][1] | {"local": True}
    assert part["tensors"] == whole["tensors"]


def test_uneven_dimensions_are_refused_or_replicated(tmp_path):
    path = write_safetensors(tmp_path / "a.safetensors", {"x": numpy.zeros((10, 3), "float32")})
    layout = write_layout(tmp_path, {"x": ["model"]})
    run = shardwise("plan", path, "--devices", 4, "--layout", layout, expect=2)
    assert "'x'" in run.err and "10" in run.err and "4" in run.err and "model" in run.err
    plan = shardwise("plan", path, "--devices", 4, "--layout", layout, "--uneven", "replicate", "--json").json
    assert plan["tensors"][0]["replicas"] == 4 and plan["tensors"][0]["layout"] == [None, None]


def test_dialects(tmp_path):
    path = write_safetensors(tmp_path / "a.safetensors", {"block/kernel": numpy.zeros((8, 8), "float32")})
    layout = write_layout(tmp_path, {"kernel": ["model"]})
    options = ("plan", path, "--devices", 2, "--layout", layout, "--json")
    assert shardwise(*options).json["unmatched_rules"] == ["kernel"]
    found = shardwise(*options, "--dialect", "search").json
    assert found["unmatched_rules"] == [] and found["tensors"][0]["replicas"] == 1


def test_limit_cuts_the_text_only(small):
    path, tensors = small
    text = shardwise("plan", path, "--limit", 1).out
    assert "embeddings.weight" not in text and "layer.0.kernel" in text
    assert "step" not in shardwise("plan", path, "--limit", 0).out
    assert "step" in shardwise("plan", path, "--limit", "all").out
    assert len(shardwise("plan", path, "--limit", 1, "--json").json["tensors"]) == len(tensors)
