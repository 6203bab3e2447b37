"""docs/python.md: its blocks of Python run in order, and print what the page says."""

import contextlib
import io
import os
import pathlib
import sys

import keras
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

import markdown


@pytest.fixture
def clean(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    keras.distribution.set_distribution(None)


def test_guide(clean):
    blocks = [b for b in markdown.blocks(ROOT / "docs" / "python.md") if b.language == "python"]
    assert len(blocks) > 5
    blocks += [b for b in markdown.blocks(ROOT / "README.md") if b.language == "python"]
    names = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.text, str(block.file), "exec"), names)
        expected = (block.next_text or "").splitlines()
        difference = markdown.difference(expected, printed.getvalue().splitlines())
        assert difference is None, f"{block}: {difference}"
