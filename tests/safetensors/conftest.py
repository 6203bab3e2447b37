"""Fixtures: the safetensors driver, given many files in one run."""

import json
import os
import pathlib
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def verdicts():
    """verdicts([bytes of a file, ...]) -> [what the driver says of it, ...]."""
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", "build/release"))
    driver = (build if build.is_absolute() else ROOT / build) / "tests" / "safetensors_driver"
    if not driver.exists():
        pytest.fail(f"{driver} is missing: build the target safetensors_driver first")

    def run(files):
        sent = b"".join(struct.pack("<Q", len(file)) + file for file in files)
        done = subprocess.run([driver], input=sent, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(files)
        return answers

    return run
