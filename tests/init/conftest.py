"""Fixtures of the tests of `shardwise init`: the command, and Keras to compare with."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def keras():
    os.environ["KERAS_BACKEND"] = "jax"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import keras

    return keras


@pytest.fixture
def run(built):
    """run(*args, prefix): exit status and the document that `shardwise ARGS --json` prints."""
    binary = built("shardwise_cli")

    def call(*arguments, prefix=()):
        done = subprocess.run([*prefix, binary, *map(str, arguments), "--json"], capture_output=True, text=True,
                              timeout=300)
        assert done.stdout, f"exit {done.returncode}: {done.stderr}"
        return done.returncode, json.loads(done.stdout)

    return call


@pytest.fixture
def spec(tmp_path):
    """spec([variable, ...]): path of a JSON spec of them."""
    made = []

    def write(variables):
        path = tmp_path / f"spec{len(made)}.json"
        path.write_text(json.dumps({"variables": variables}))
        made.append(path)
        return path

    return write
