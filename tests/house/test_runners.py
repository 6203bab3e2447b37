"""tools/run_fuzzers.py and tools/run_tidy.py fail when there is something to find, and when there is nothing to run."""

import json
import os
import subprocess
import sys

import pytest

FAKE_TARGET = """#!/bin/sh
echo "stat::number_of_executed_units: 42"
exit {status}
"""


@pytest.fixture
def fuzz(root, tmp_path):
    """Runs the tool in a folder with one target of that exit status; a status of None makes none."""

    def run(status, seeds=True):
        (tmp_path / "fuzz/seeds/toy").mkdir(parents=True)
        (tmp_path / "build/fuzz").mkdir(parents=True)
        if seeds:
            (tmp_path / "fuzz/seeds/toy/one").write_text("seed")
        if status is not None:
            (tmp_path / "fuzz/toy_fuzz.cc").touch()
            (tmp_path / "build/fuzz/toy_fuzz").write_text(FAKE_TARGET.format(status=status))
            (tmp_path / "build/fuzz/toy_fuzz").chmod(0o755)
        command = [sys.executable, root / "tools/run_fuzzers.py", "--build", "build", "--out", "out", "--seconds", "1"]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return answer.returncode, answer.stdout

    return run


def test_sound_target(fuzz):
    assert fuzz(0) == (0, "toy_fuzz: 42 inputs, nothing found\n")


@pytest.mark.parametrize("status", [1, 77])
def test_crashing_target(fuzz, status):
    code, text = fuzz(status)
    assert code == 1 and f"toy_fuzz: FAILED (status {status})" in text


def test_no_target(fuzz):
    assert fuzz(None) == (1, "no fuzz target in fuzz/\n")


def test_no_seeds(fuzz):
    assert fuzz(0, seeds=False) == (1, "toy_fuzz: no seeds in fuzz/seeds/toy\n")


@pytest.fixture
def tidy(root, tmp_path):
    """Runs the tool on a file of that text."""

    def run(text, known=True):
        folder = tmp_path / "src/base"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "toy.cc").write_text(text)
        (tmp_path / ".clang-tidy").write_text((root / ".clang-tidy").read_text())
        database = [{"directory": str(tmp_path), "file": "src/base/toy.cc", "command": "g++ -c src/base/toy.cc"}]
        (tmp_path / "compile_commands.json").write_text(json.dumps(database if known else []))
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [sys.executable, root / "tools/run_tidy.py", "--build", "."]
        answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return answer.returncode, answer.stdout

    return run


CLEAN = "int twice(int x) { return 2 * x; }\n"
LONG = "int f(int x) {\n" + "  x += 2;\n" * 81 + "  return x;\n}\n"


def test_tidy_remembers_clean_files_only(tidy):
    code, text = tidy(CLEAN)
    assert code == 0 and "1 of 1 clean" in text and "1 files, 0 of them unchanged" in text
    code, text = tidy(CLEAN)
    assert code == 0 and "1 files, 1 of them unchanged" in text
    for _ in range(2):
        code, text = tidy("int* nothing() { return 0; }\n")
        assert code == 1 and "modernize-use-nullptr" in text and "0 of 1 clean src/base/toy.cc" in text
        assert "0 of them unchanged" in text


def test_tidy_finds_long_functions(tidy):
    code, text = tidy(LONG)
    assert code == 1 and "readability-function-size" in text


def test_tidy_does_not_skip_a_file_that_is_not_built(tidy):
    code, text = tidy(CLEAN, known=False)
    assert code == 1 and "0 of 1 clean src/base/toy.cc" in text


def test_tidy_without_files(root, tmp_path):
    (tmp_path / ".clang-tidy").write_text("Checks: '-*'\n")
    command = [sys.executable, root / "tools/run_tidy.py"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True).returncode == 1
