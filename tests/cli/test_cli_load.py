"""shardwise load: reports, checks, memory."""

import json
import os
import subprocess

import numpy
import pytest
from cli_support import binary, random_array, shardwise, write_safetensors, write_sparse

MEASURED = {"seconds", "bytes_per_second", "device_peak_bytes", "host_peak_bytes", "bytes_read"}


def test_json_adds_what_was_measured_to_the_plan(large):
    path, tensors = large
    options = ("--mesh", "batch=2,model=4", "--device-memory", "4MiB", "--json")
    plan = shardwise("plan", path, *options).json
    loaded = shardwise("load", path, *options).json
    for key, value in plan.items():
        if key != "tensors":
            assert loaded[key] == value
    assert MEASURED <= loaded["measured"].keys()
    assert loaded["measured"]["device_peak_bytes"] == [d["peak_bytes"] for d in plan["devices"]]
    assert loaded["measured"]["bytes_read"] == plan["reads"]["bytes"] == sum(a.nbytes for a in tensors.values())
    assert loaded["measured"]["seconds"] > 0
    assert 0 <= loaded["measured"]["host_peak_bytes"] <= plan["host"]["peak_bytes"]
    stored = shardwise("inspect", path, "--fingerprint", "--json").json
    assert {t["name"]: t["fingerprint"] for t in loaded["tensors"]} == {
        t["name"]: t["fingerprint"] for t in stored["tensors"]
    }
    assert loaded["fingerprint"] == stored["fingerprint"]


def test_text_shows_predicted_measured_and_allowed(large):
    run = shardwise("load", large[0], "--devices", 8, "--device-memory", "2MiB")
    rows = [line.split() for line in run.out.splitlines() if line.strip().startswith("host:")]
    measured = [row for row in rows if len(row) >= 9]
    assert [row[0] for row in measured] == [f"host:{k}" for k in range(8)]
    for row in measured:
        assert row[5:7] == ["2", "MiB"] and row[7] == row[8]
    assert "load-then-shard" in run.out and "refused, device 0 has 2 MiB" in run.out
    assert run.err == ""


def test_whether_load_then_shard_would_have_fitted_is_told(large):
    assert "would fit the 64 MiB" in shardwise("load", large[0], "--devices", 2, "--device-memory", "64MiB").out
    assert "refused" not in shardwise("load", large[0], "--devices", 2).out


def test_what_does_not_fit_is_refused_before_reading(large):
    path, _ = large
    run = shardwise("load", path, "--devices", 8, "--device-memory", "1MiB", expect=3)
    assert "limit" in run.out and run.err.startswith("error: ")
    document = shardwise("load", path, "--devices", 8, "--device-memory", "1MiB", "--json", expect=3).json
    assert "devices" in document and "measured" not in document
    assert document["error"]["code"] == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("mesh", ["model=1", "model=8", "batch=2,model=4", "a=2,b=2,c=2", "batch=2,model=3"])
def test_check_compares_every_value(small, mesh):
    path, tensors = small
    options = ("--mesh", mesh, "--check")
    assert shardwise("load", path, *options, "--json").json["check"] == {
        "checked": len(tensors),
        "unchecked": [],
        "wrong": [],
    }
    assert "every value of 4 tensors is as stored" in shardwise("load", path, *options, "--discard").out


def test_check_says_what_it_cannot_check(small):
    path, _ = small
    check = shardwise("load", path, "--devices", 2, "--check", "--dtype", "float16", "--json").json["check"]
    assert check["checked"] == 1 and len(check["unchecked"]) == 3 and check["wrong"] == []
    assert all("cast from float32 to float16" in line for line in check["unchecked"])
    layout = path.parent / "layout.json"
    layout.write_text(json.dumps({"embeddings.weight": ["model"]}))
    options = ("--devices", 2, "--layout", layout, "--check", "--only-devices", 1)
    check = shardwise("load", path, *options, "--json").json["check"]
    assert check["checked"] == 3 and check["unchecked"] == ["embeddings.weight: only a part of it was loaded"]
    assert "1 could not be checked" in shardwise("load", path, *options).out


def test_check_needs_fingerprints(small):
    assert "--no-fingerprint" in shardwise("load", small[0], "--check", "--no-fingerprint", expect=2).err


def test_no_fingerprint(small):
    loaded = shardwise("load", small[0], "--no-fingerprint", "--json").json
    assert loaded["fingerprint"] is None and all(t["fingerprint"] is None for t in loaded["tensors"])
    assert "fingerprint of" not in shardwise("load", small[0], "--no-fingerprint").out


def test_fingerprints_do_not_depend_on_the_mesh(small):
    path, _ = small
    meshes = ["model=1", "model=8", "batch=2,model=3", "a=2,b=2,c=2"]
    assert len({shardwise("load", path, "--mesh", mesh, "--json").json["fingerprint"] for mesh in meshes}) == 1


def test_discard_holds_less_than_the_arrays_need(tmp_path, rng):
    tensors = {f"layer.{i}": random_array(rng, numpy.dtype("float32"), (256, 1024)) for i in range(16)}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    kept = shardwise("load", path, "--devices", 2, "--staging", "8MiB", "--json").json
    dropped = shardwise("load", path, "--devices", 2, "--staging", "8MiB", "--discard", "--json").json
    assert kept["measured"]["device_peak_bytes"] == [8 * 2**20] * 2
    assert all(peak < 8 * 2**20 for peak in dropped["measured"]["device_peak_bytes"])
    for device, peak in zip(dropped["devices"], dropped["measured"]["device_peak_bytes"]):
        assert peak <= device["peak_bytes"]
    assert dropped["fingerprint"] == kept["fingerprint"]


@pytest.mark.parametrize("staging", ["8MiB", "16MiB", "64MiB"])
@pytest.mark.parametrize("keep", [(), ("--discard",)])
def test_the_host_stays_within_the_prediction_and_staging_plus_24_mib(tmp_path, staging, keep):
    path = write_sparse(tmp_path / "a.safetensors", 12, (4096, 1024))
    loaded = shardwise("load", path, "--devices", 4, "--staging", staging, *keep, "--json").json
    peak = loaded["measured"]["host_peak_bytes"]
    if keep:  # discarded arrays come and go: only the sum can be measured
        assert peak is None
        peak = loaded["measured"]["process_peak_bytes"] - sum(device["peak_bytes"] for device in loaded["devices"])
    assert peak <= loaded["host"]["peak_bytes"]
    assert peak <= loaded["host"]["staging_bytes"] + 24 * 2**20


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(large, threads):
    loaded = shardwise("load", large[0], "--devices", 4, "--threads", threads, "--check", "--json").json
    assert loaded["check"]["checked"] == 3


def test_output_that_cannot_be_written_is_an_error(small):
    with open("/dev/full", "w") as full:
        done = subprocess.run([binary(), "inspect", small[0]], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left" in done.stderr


def test_nothing_of_a_failed_load_stays(large, tmp_path):
    path, _ = large
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 4096)
    out = tmp_path / "out"
    shardwise("load", path, "--devices", 2, "--dump", out, expect=4)
    assert not out.exists() or os.listdir(out) == []
