"""The memory bound of initialisation: 16 times the limit that the kernel enforces, made and dropped."""

import json
import subprocess

import pytest

from memory_support import check_host

MIB = 1 << 20
PROMISED = 16 * MIB


@pytest.fixture(scope="module")
def gemma_like(tmp_path_factory):
    """4 GiB of variables: embeddings of 128 MiB, and kernels of 64 MiB cut by rows and by columns."""
    folder = tmp_path_factory.mktemp("init")
    variables = [{"name": "embeddings", "shape": [32768, 1024], "initializer":
                  {"class_name": "VarianceScaling", "config": {"distribution": "untruncated_normal", "seed": 1}}}]
    for i in range(62):
        kind = ["GlorotUniform", "TruncatedNormal", "RandomUniform", "Zeros"][i % 4]
        config = {} if kind == "Zeros" else {"seed": i}
        variables.append({"name": f"kernel.{i}", "shape": [4096, 4096],
                          "initializer": {"class_name": kind, "config": config}})
    (folder / "spec.json").write_text(json.dumps({"variables": variables}))
    (folder / "layout.json").write_text(json.dumps({"rules": {
        "embeddings": ["model"], r"kernel\.\d*[02468]": ["model", None], r"kernel\.\d*[13579]": [None, "model"]}}))
    return folder


@pytest.mark.parametrize("discard", [False, True], ids=["keep", "discard"])
def test_measured_peaks_are_below_the_predicted_ones(run, gemma_like, discard):
    extra = ["--discard", "--device-memory", "24MiB"] if discard else ["--device-memory", "66MiB", "--select", "[.][0-7]$"]
    report, status = run("init", gemma_like / "spec.json", "--mesh", "model=8", "--layout", gemma_like / "layout.json",
                         *extra)
    assert status == 0, report
    for device, measured in zip(report["devices"], report["measured"]["device_peak_bytes"], strict=True):
        assert 0 < measured <= device["peak_bytes"] <= device["limit_bytes"]
        if not discard:
            assert measured == device["bytes"], "its own shards, to the byte"
    check_host(report, PROMISED)


def test_four_gibibytes_are_made_inside_a_limit_of_256_mebibytes(run, gemma_like, memory_group):
    report, status = run("init", gemma_like / "spec.json", "--mesh", "model=8", "--layout", gemma_like / "layout.json",
                         "--discard", "--device-memory", "24MiB", prefix=memory_group(256 * MIB))
    assert status == 0, report
    assert report["measured"]["bytes_generated"] == 4096 * MIB
    check_host(report, PROMISED)
    assert all(tensor["fingerprint"] for tensor in report["tensors"])


def test_the_limit_bites(shardwise, gemma_like, memory_group):
    """The check above can fail: kept, the same variables are more than the limit."""
    done = subprocess.run([*memory_group(256 * MIB), shardwise, "init", str(gemma_like / "spec.json"), "--mesh", "model=8",
                           "--layout", str(gemma_like / "layout.json"), "--no-fingerprint"],
                          capture_output=True, timeout=300)
    assert done.returncode == -9
