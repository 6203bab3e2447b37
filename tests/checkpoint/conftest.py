"""Fixtures: the driver that opens checkpoints."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def open_all():
    """open_all(path, ...) -> [what was found, ...]."""
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", "build/release"))
    driver = (build if build.is_absolute() else ROOT / build) / "tests" / "checkpoint_driver"
    if not driver.exists():
        pytest.fail(f"{driver} is missing: build the target checkpoint_driver first")

    def run(*paths):
        done = subprocess.run([driver, *paths], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
