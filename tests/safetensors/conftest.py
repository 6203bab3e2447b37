"""Fixtures: the safetensors driver, given many files in one run."""

import json
import struct
import subprocess

import pytest


@pytest.fixture(scope="session")
def verdicts(built):
    """verdicts([bytes of a file, ...]) -> [what the driver says of it, ...]."""
    driver = built("safetensors_driver")

    def run(files):
        sent = b"".join(struct.pack("<Q", len(file)) + file for file in files)
        done = subprocess.run([driver], input=sent, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(files)
        return answers

    return run
