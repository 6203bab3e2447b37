"""Variables of Flax's NNX: nnx_model.py in a process of its own."""

import pathlib
import subprocess
import sys

import pytest


def test_nnx_variables(tmp_path):
    pytest.importorskip("flax")
    script = pathlib.Path(__file__).with_name("nnx_model.py")
    answer = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr[-3000:]
    assert answer.stdout.split()[-1:] == ["same"]
