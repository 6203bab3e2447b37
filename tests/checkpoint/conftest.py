"""Fixtures: the driver that opens checkpoints."""

import json
import subprocess

import pytest


@pytest.fixture(scope="session")
def open_all(built):
    """open_all(path, ...) -> [what was found, ...]."""
    driver = built("checkpoint_driver")

    def run(*paths):
        done = subprocess.run([driver, *paths], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
