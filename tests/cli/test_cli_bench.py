"""shardwise bench: what it measures. How fast is no matter of tests."""

import numpy
import pytest
from cli_support import random_array, shardwise, write_safetensors, write_sparse

ROWS = ["raw", "load row", "load column", "load auto"]


def test_both_phases_measure_the_same_bytes(large):
    path, tensors = large
    found = shardwise("bench", path, "--devices", 4, "--repeat", 1, "--json").json
    assert found["bytes"] == sum(a.nbytes for a in tensors.values())
    assert (found["tensors"], found["devices"], found["repeat"]) == (3, 4, 1)
    assert [phase["name"] for phase in found["phases"]] == ["warm", "cold"]
    for phase in found["phases"]:
        assert [row["what"] for row in phase["rows"]] == ROWS
        raw = phase["rows"][0]
        assert raw["of_raw"] == 1 and "thread" in raw["how"]
        for row in phase["rows"]:
            assert row["seconds"] > 0 and row["bytes_per_second"] == pytest.approx(found["bytes"] / row["seconds"])
            assert row["of_raw"] == pytest.approx(raw["seconds"] / row["seconds"])


def test_the_page_cache_is_as_said(large):
    """Or it is said that it is not: some file systems keep what they are told to forget."""
    warm, cold = shardwise("bench", large[0], "--repeat", 1, "--json").json["phases"]
    assert warm["resident"] is None or warm["resident"] >= 0.99 or any("not warm" in note for note in warm["notes"])
    assert cold["resident"] is None or cold["resident"] <= 0.01 or any("not cold" in note for note in cold["notes"])


def test_text(large):
    run = shardwise("bench", large[0], "--repeat", 1, "--only", "warm")
    assert run.out.startswith(f"{large[0]}: 12 MiB in 3 tensors, 8 devices, best of 1\n\nwarm")
    assert all(f"\n  {what} " in run.out for what in ROWS) and "cold" not in run.out


def test_select_measures_a_part(tmp_path, rng):
    tensors = {f"layer.{i}": random_array(rng, numpy.dtype("float32"), (64, 64)) for i in range(4)}
    path = write_safetensors(tmp_path / "a.safetensors", tensors)
    found = shardwise("bench", path, "--only", "warm", "--repeat", 1, "--select", "[02]$", "--json").json
    assert (found["bytes"], found["tensors"]) == (2 * 64 * 64 * 4, 2)


def test_what_does_not_fit_this_machine_is_refused(tmp_path):
    path = write_sparse(tmp_path / "huge.safetensors", 4096, (16384, 16384))  # 4 TiB of nothing
    assert "--select" in shardwise("bench", path, expect=3).err


def test_one_more_layout(large):
    options = ("--only", "warm", "--repeat", 1, "--layout", "bert", "--json")
    (phase,) = shardwise("bench", large[0], *options).json["phases"]
    assert [row["what"] for row in phase["rows"]] == [*ROWS, "load bert"]
    assert "nosuch" in shardwise("bench", large[0], "--layout", "nosuch", expect=2).err
