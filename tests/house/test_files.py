"""tools/check_files.py and tools/check_headers.py pass on the project and fail on planted files."""

import subprocess
import sys

import check_files
import check_headers
import pytest


def test_project_obeys(root):
    assert list(check_files.violations(root)) == []


@pytest.mark.parametrize(
    "name, data, says",
    [
        ("long.cc", b"int x;\n" * 601, "601 lines; the limit is 600"),
        ("wide.py", b"x = 1  # " + b"y" * 150 + b"\n", "line 1 has 159 columns"),
        ("accent.cc", b"// one\n// \xc3\xa9\n", "line 2 is not ASCII"),
        ("open.h", b"int x;\n", "has no #pragma once"),
        ("blank.cc", b"int x; \n", "line 1 ends with a blank"),
        ("cut.cc", b"int x;", "must end with one newline"),
        ("loose.cc", b"int x;\n\n", "must end with one newline"),
    ],
)
def test_planted_file_is_found(tmp_path, name, data, says):
    folder = tmp_path / "src" / "base"
    folder.mkdir(parents=True)
    (folder / "good.h").write_bytes(b"#pragma once\n" + b"int x;\n" * 599)
    assert list(check_files.violations(tmp_path)) == []
    (folder / name).write_bytes(data)
    found = list(check_files.violations(tmp_path))
    assert len(found) == 1 and says in found[0] and name in found[0], found


@pytest.fixture
def headers(tmp_path):
    for folder in ("include/shardwise", "src/base"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "include/shardwise/good.h").write_text("#pragma once\n#include <string>\nstd::string good();\n")
    (tmp_path / "src/base/good.h").write_text('#pragma once\n#include "shardwise/good.h"\n')
    return tmp_path


@pytest.mark.parametrize(
    "path, text",
    [
        ("src/base/bad.h", "#pragma once\nstd::string bad();\n"),
        ("src/base/bad.h", "struct Twice {};\n"),
        ("include/shardwise/bad.h", '#pragma once\n#include "base/good.h"\n'),
    ],
)
def test_header_that_needs_others_is_found(root, headers, path, text):
    command = [sys.executable, root / "tools" / "check_headers.py", "--root", headers]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0 and "2 of 2 compile alone" in run.stdout
    (headers / path).write_text(text)
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert f"{headers / path} does not compile alone" in run.stdout


def test_no_header_is_no_success(root, tmp_path):
    command = [sys.executable, root / "tools" / "check_headers.py", "--root", tmp_path]
    assert subprocess.run(command).returncode == 1
    assert check_headers.FLAGS
