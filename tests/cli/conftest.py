"""Fixtures for the tests of the command."""

import pathlib
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cli_support  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def binary_is_built(built):
    built("shardwise_cli")


@pytest.fixture
def rng():
    return numpy.random.default_rng(20251)


@pytest.fixture
def small(tmp_path, rng):
    """(path, tensors) of a small checkpoint with tensors that 1, 2, 3, 4, 6 and 8 devices divide."""
    tensors = {
        "embeddings.weight": rng.standard_normal((48, 24), numpy.float32),
        "layer.0.kernel": rng.standard_normal((24, 96), numpy.float32),
        "layer.0.bias": rng.standard_normal(96, numpy.float32),
        "step": numpy.array(7, numpy.int64),
    }
    return cli_support.write_safetensors(tmp_path / "small.safetensors", tensors, {"format": "pt"}), tensors


@pytest.fixture
def large(tmp_path, rng):
    """(path, tensors) of a checkpoint of 12 MiB whose largest tensor takes most of it."""
    tensors = {
        "embeddings": rng.standard_normal((2048, 1024), numpy.float32),
        "kernel": rng.standard_normal((1024, 1024), numpy.float32),
        "bias": rng.standard_normal(1024, numpy.float32),
    }
    return cli_support.write_safetensors(tmp_path / "large.safetensors", tensors), tensors
