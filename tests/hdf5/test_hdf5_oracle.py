"""shardwise reads from HDF5 files what h5py reads, and names what it does not support."""

import json
import subprocess

import pytest
from hdf5_samples import REFUSED, SAMPLES

KERAS = {"trained": 23, "bfloat16": 7, "float16": 7, "float64": 7, "int8": 10, "wide": 172}


def differences(got, expected):
    """Up to five keys whose values differ, shortened: pytest's own comparison of large values takes minutes."""
    keys = [key for key in sorted(set(got) | set(expected)) if got.get(key) != expected.get(key)]
    return [f"{key}: got {str(got.get(key))[:300]}, expected {str(expected.get(key))[:300]}" for key in keys[:5]]


def check_equal(path, driver, ours, theirs):
    """Compares all of a file; returns the number of datasets."""
    expected, got = theirs(path), ours(path)
    assert "error" not in expected, expected["error"]
    assert "error" not in got, got["error"]
    assert differences(got["datasets"], expected["datasets"]) == []
    listed = json.loads(subprocess.run([driver, "list", path], capture_output=True, check=True).stdout)
    attributes = {item["path"]: item["attributes"] for item in listed["groups"] + listed["datasets"]}
    assert differences(attributes, expected["attributes"]) == []
    return len(got["datasets"])


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name, tmp_path, driver, ours, theirs):
    path = tmp_path / f"{name}.h5"
    SAMPLES[name](path)
    assert check_equal(path, driver, ours, theirs) > 0


@pytest.mark.parametrize("name", KERAS)
def test_keras_weights(name, keras_files, driver, ours, theirs):
    assert check_equal(keras_files / f"{name}.weights.h5", driver, ours, theirs) == KERAS[name]


def test_keras_shards(keras_files, driver, ours, theirs):
    shards = sorted(keras_files.glob("sharded_*.weights.h5"))
    assert len(shards) > 1
    assert sum(check_equal(path, driver, ours, theirs) for path in shards) == KERAS["trained"]


def test_keras_legacy(keras_files, driver, ours, theirs):
    assert check_equal(keras_files / "legacy.h5", driver, ours, theirs) > 0


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path, ours):
    make, words = REFUSED[name]
    path = tmp_path / f"{name}.h5"
    make(path)
    answer = ours(path)
    assert "error" in answer, answer
    assert all(word in answer["error"] for word in (*words, str(path))), answer["error"]
    assert answer["error"].startswith(("UNIMPLEMENTED: ", "DATA_LOSS: ")), answer["error"]
