"""Fixtures of all Python tests."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def built():
    """built(target): path of a program of the build in $SHARDWISE_BUILD; a test that wants one that is missing fails."""
    folder = ROOT / os.environ.get("SHARDWISE_BUILD", "build/release")

    def find(target):
        path = folder / ("shardwise" if target == "shardwise_cli" else f"tests/{target}")
        if not path.exists():
            pytest.fail(f"{path} is missing: build the target {target} first")
        return path

    return find
