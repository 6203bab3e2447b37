"""Fixtures: the mesh driver, asked many questions in one run."""

import json
import os
import subprocess

import pytest

# Before anything imports jax: eight simulated devices, on the CPU.
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"


@pytest.fixture(scope="session")
def ask(built):
    """ask([question, ...]) -> [answer, ...], in one run of the driver."""
    driver = built("mesh_driver")

    def run(questions):
        lines = "".join(json.dumps(question) + "\n" for question in questions)
        done = subprocess.run([driver], input=lines, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(questions)
        return answers

    return run
