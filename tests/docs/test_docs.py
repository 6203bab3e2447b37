"""README.md and docs/ say what is so: C++ compiles, commands print what is shown, links lead somewhere."""

import os
import re
import subprocess

import installed
import markdown
import pytest
import sandbox

FILES = sorted([*installed.ROOT.glob("*.md"), *(installed.ROOT / "docs").rglob("*.md")])
BLOCKS = [block for file in FILES for block in markdown.blocks(file)]
CONSOLE = [block for block in BLOCKS if block.language == "console"]
CPP = [block for block in BLOCKS if block.language == "cpp"]
WRAPPED = """#include <cstdio>
#include <iostream>
#include "shardwise/shardwise.h"
using namespace shardwise;
int main(int, char** argv) {{
  [[maybe_unused]] const std::string path = argv[1];
{}
}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sandbox")
    sandbox.make(folder)
    return folder


def run_console(command, folder):
    environment = os.environ | {"PATH": f"{installed.BUILD}:{os.environ['PATH']}"}
    answer = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return answer.stdout.splitlines()


def test_there_is_something_to_run():
    assert CONSOLE and CPP


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_console_block(block, folder):
    for command, expected in markdown.commands(block.text):
        difference = markdown.difference(expected, run_console(command, folder))
        assert difference is None, f"{block}: $ {command}\n{difference}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Every C++ block as a program of one project against an installed shardwise."""
    prefix = installed.install(tmp_path_factory.mktemp("prefix"))
    source = tmp_path_factory.mktemp("blocks")
    project = ["cmake_minimum_required(VERSION 3.25)", "project(blocks LANGUAGES CXX)"]
    project.append("find_package(shardwise REQUIRED)")
    for number, block in enumerate(CPP):
        whole = "main(" in block.text
        (source / f"block{number}.cc").write_text(block.text if whole else WRAPPED.format(block.text))
        project.append(f"add_executable(block{number} block{number}.cc)")
        project.append(f"target_link_libraries(block{number} PRIVATE shardwise::shardwise)")
    (source / "CMakeLists.txt").write_text("\n".join(project) + "\n")
    return installed.build(source, tmp_path_factory.mktemp("build"), prefix)


@pytest.mark.parametrize("number, block", list(enumerate(CPP)), ids=[str(b) for b in CPP])
def test_cpp_block(number, block, programs, folder):
    command = [programs / f"block{number}", "model.safetensors"]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    if block.next_text is not None:
        difference = markdown.difference(block.next_text.splitlines(), answer.stdout.splitlines())
        assert difference is None, f"{block}: {difference}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_links_lead_somewhere(file):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text()):
        assert target.startswith("https://") or (file.parent / target).exists(), target


def test_paths_that_are_named_exist():
    # `scripts/test.sh`, `docs/design.md` and so on, in backquotes; <patterns> and commands with options apart.
    folders = "scripts|docs|tools|tests|src|include|cli|fuzz|benchmarks|examples|testing|cmake"
    for file in FILES:
        for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", file.read_text()):
            assert (installed.ROOT / path).exists(), f"{file.name} names {path}"


def test_readme_shows_the_product_first():
    lines = (installed.ROOT / "README.md").read_text().splitlines()
    top = "\n".join(lines[:40])
    assert "```console\n$ shardwise" in top and "```cpp" in top and "cmake --install" in top
    assert len(lines) <= 120
    scripts = set(re.findall(r"scripts/(\w+\.sh)", "\n".join(lines)))
    assert scripts == {"demo.sh", "test.sh"}


@pytest.mark.parametrize(
    "expected, printed, equal",
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["a", "c"], False),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "x"], ["a", "b", "c"], False),
        (["loaded 1 MiB in 0.1 s: 8 MiB/s"], ["loaded 1 MiB in 22.25 s: 1.5 GiB/s"], True),
        (["loaded 1 MiB in 0.1 s"], ["loaded 2 MiB in 0.1 s"], False),
        (["x  0123456789abcdef"], ["x fedcba9876543210"], True),
        (["x 0123456789abcdef"], ["x 0123456789abcde"], False),
    ],
)
def test_comparison_itself(expected, printed, equal):
    assert (markdown.difference(expected, printed) is None) == equal


def test_commands_are_split_from_their_output():
    text = "$ one \\\n    two\nout\n\n$ three\n"
    assert markdown.commands(text) == [("one      two", ["out", ""]), ("three", [])]
