"""The memory bound: predicted, measured, and under a kernel limit that kills whoever exceeds it."""

import os
import subprocess

import pytest

from memory_support import check_host

MIB = 1 << 20
MESH = ["--mesh", "model=8"]


def drop_cache(path):
    """Lets the next load read from storage."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.parametrize("cached", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("staging", ["8MiB", "64MiB"])
@pytest.mark.parametrize("discard", [False, True], ids=["keep", "discard"])
def test_measured_peaks_are_below_the_predicted_ones(run, big, layout, staging, cached, discard):
    path, size = big
    if not cached:
        drop_cache(path)
    extra = ["--discard", "--device-memory", "34MiB"] if discard else ["--device-memory", f"{size // 8 // MIB + 1}MiB"]
    report, status = run("load", path, *MESH, "--layout", layout, "--staging", staging, *extra)
    assert status == 0, report
    for device, measured in zip(report["devices"], report["measured"]["device_peak_bytes"], strict=True):
        assert 0 < measured <= device["peak_bytes"] <= device["limit_bytes"]
        if not discard:
            assert measured == device["bytes"], "its own shards, to the byte"
    check_host(report, int(staging[:-3]) * MIB + 24 * MIB)
    assert report["measured"]["bytes_read"] == size


@pytest.mark.parametrize("cached", [True, False], ids=["warm", "cold"])
def test_four_times_the_limit_is_checked_end_to_end(run, big, memory_group, cached):
    path, size = big
    if not cached:
        drop_cache(path)
    limit = 64 * MIB
    small = path.parent / "rows.json"
    small.write_text('{"rules": {".*": ["model"]}}')
    assert size >= 4 * limit
    # The large tensor alone is twice the limit; the 64 tensors of 4 MiB are four times the limit.
    report, status = run("load", path, *MESH, "--layout", small, "--staging", "8MiB", "--select", "kernel", "--discard",
                         "--device-memory", "3MiB", prefix=memory_group(limit))
    assert status == 0, report
    assert report["measured"]["bytes_read"] == 256 * MIB >= 4 * limit
    assert all(tensor["fingerprint"] for tensor in report["tensors"])


def test_kept_arrays_fit_in_what_was_promised(run, big, layout, memory_group):
    path, size = big
    report, status = run("load", path, *MESH, "--layout", layout, "--staging", "8MiB",
                         prefix=memory_group(size + (8 + 24) * MIB))
    assert status == 0, report


def test_the_kernel_limit_bites(big, layout, shardwise, memory_group):
    """The check above can fail: with less than the arrays the kernel kills the load."""
    path, size = big
    done = subprocess.run([*memory_group(size - 64 * MIB), shardwise, "load", str(path), *MESH, "--layout", layout],
                          capture_output=True, timeout=300)
    assert done.returncode == -9


def test_what_cannot_fit_is_refused_with_the_numbers(run, big, layout):
    path, _ = big
    report, status = run("load", path, *MESH, "--layout", layout, "--device-memory", "47MiB")
    assert status == 3
    assert report["error"]["code"] == "RESOURCE_EXHAUSTED"
    for number in ("50331648", "49283072", "host:0"):
        assert number in report["error"]["message"]


def test_a_tensor_larger_than_the_staging_is_cut(run, big, layout):
    path, _ = big
    report, status = run("load", path, *MESH, "--layout", layout, "--staging", "8MiB", "--select", "embed", "--check")
    assert status == 0, report
    assert report["measured"]["host_peak_bytes"] <= 32 * MIB
