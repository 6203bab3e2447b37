"""tools/check_layers.py passes on the project and fails on each planted violation."""

import shutil
import subprocess
import sys

import check_layers
import pytest


@pytest.fixture
def tree(root, tmp_path):
    for folder in ("include", "src"):
        shutil.copytree(root / folder, tmp_path / folder)
    return tmp_path


def new_violations(tree, before):
    return [line for line in check_layers.violations(tree) if line not in before]


def plant(tree, path, line):
    file = tree / path
    file.parent.mkdir(parents=True, exist_ok=True)
    old = file.read_text() if file.exists() else "#pragma once\n"
    file.write_text(old + line + "\n")
    return len(old.splitlines()) + 1


def test_project_obeys(root):
    assert list(check_layers.violations(root)) == []


@pytest.mark.parametrize(
    "path, line, says",
    [
        ("src/base/planted.h", '#include "io/memory.h"', "base may not include io"),
        ("src/mesh/planted.cc", '#include "checkpoint/catalog/readers.h"', "mesh may not include checkpoint/catalog"),
        ("src/plan/planted.cc", '#include "shardwise/load.h"', "plan may not include load"),
        ("src/plan/planted.cc", '#include "shardwise/file.h"', "plan may not include io"),
        ("src/checkpoint/safetensors/planted.cc", '#include "shardwise/mesh.h"', "may not include mesh"),
        ("src/checkpoint/catalog/planted.cc", '#include "checkpoint/hdf5/hdf5.h"', "may not include checkpoint/hdf5"),
        ("src/load/planted.cc", '#include "checkpoint/safetensors/x.h"', "load may not include checkpoint/safetensors"),
        ("src/device/host/planted.cc", '#include "plan/planted.h"', "device may not include plan"),
        ("src/codec/planted.cc", "#include <liburing.h>", "this room may not include it"),
        ("src/plan/planted.cc", "#  include <thread>", "this room may not include it"),
        ("src/mesh/planted.cc", "#include <chrono>", "this room may not include it"),
        ("src/load/planted.cc", "#include <boost/any.hpp>", "this room may not include it"),
        ("src/base/planted.cc", '#include "somewhere/else.h"', "no room has it"),
        ("src/base/planted.cc", '#include "shardwise/shardwise_next.h"', "no room has it"),
        ("src/load/planted.cc", '#include "testing/matchers.h"', "only tests may"),
        ("src/attic/planted.cc", "", "its folder is no room"),
        ("include/shardwise/planted.h", "", "no room has it"),
        ("include/shardwise/shape.h", "#include <fmt/format.h>", "a public header holds nothing of another project"),
        ("include/shardwise/shape.h", '#include "base/checked.h"', "a public header holds nothing of another project"),
        ("include/shardwise/mesh.h", '#include "shardwise/device.h"', "mesh may not include device"),
        ("src/device/planted.cc", 'void* p() { return dlopen("x", 0); }', "plugins have one place"),
        ("src/io/planted.cc", 'const char* e() { return std::getenv("X"); }', "only the command reads"),
        ("src/io/planted.cc", 'void say() { std::printf("x"); }', "prints nothing"),
        ("src/io/planted.cc", "void end() { std::abort(); }", "never aborts"),
    ],
)
def test_planted_violation_is_found(tree, path, line, says):
    before = list(check_layers.violations(tree))
    number = plant(tree, path, line)
    found = new_violations(tree, before)
    assert len(found) == 1, found
    assert says in found[0]
    assert path in found[0]
    if line:
        assert f"{path}:{number}:" in found[0]


@pytest.mark.parametrize(
    "path, line",
    [
        ("src/plan/planted_test.cc", '#include "testing/matchers.h"\n#include <gmock/gmock.h>\n#include <thread>'),
        ("src/io/planted.cc", "// dlopen( and std::abort() in a comment\nconst char* s = \"printf(\";"),
        ("src/load/planted.cc", '#include "shardwise/plan.h"\n#include "codec/filters.h"\n#include <thread>'),
        ("src/load/planted.cc", "int fprintf_like = 0; int n = snprintf(nullptr, 0, \"x\");"),
    ],
)
def test_legal_line_is_not_found(tree, path, line):
    before = list(check_layers.violations(tree))
    plant(tree, path, line)
    assert new_violations(tree, before) == []


def test_command_fails(root, tmp_path):
    command = [sys.executable, root / "tools" / "check_layers.py", tmp_path]
    plant(tmp_path, "src/base/planted.h", "#include <string>")
    assert subprocess.run(command).returncode == 0
    plant(tmp_path, "src/base/planted.h", '#include "io/memory.h"')
    assert subprocess.run(command).returncode == 1
