"""Checks what no compiler looks at: length of files and lines, ASCII, `#pragma once`, one newline at the end.

    python3 tools/check_files.py [ROOT]        exit status 1 and one line per violation
"""

import pathlib
import sys

MAX_FILE_LINES = 600
MAX_COLUMNS = 150
FREE_WIDTH = {".md", ".cc", ".h"}  # clang-format sees to C++
FOLDERS = ["include", "src", "cli", "testing", "tests", "fuzz", "benchmarks", "examples", "tools", "scripts", "cmake",
           "docs"]
SUFFIXES = {".h", ".cc", ".py", ".sh", ".cmake", ".md", ".txt"}


def problems(path):
    data = path.read_bytes()
    if not data.isascii():
        yield f"line {data[: next(i for i, b in enumerate(data) if b > 127)].count(10) + 1} is not ASCII"
        return
    if data and (not data.endswith(b"\n") or data.endswith(b"\n\n")):
        yield "must end with one newline"
    lines = data.decode().splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield f"{len(lines)} lines; the limit is {MAX_FILE_LINES}: does it hold one idea?"
    if path.suffix == ".h" and not path.name.endswith("-inl.h") and "#pragma once" not in lines:
        yield "has no #pragma once"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and path.suffix not in FREE_WIDTH:
            yield f"line {number} has {len(line)} columns; the limit is {MAX_COLUMNS}"
        if path.suffix != ".py" and (line != line.rstrip() or "\t" in line):
            yield f"line {number} ends with a blank or holds a tab"


def violations(root):
    top = [p for p in root.iterdir() if p.is_file()]
    inside = [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.is_file() and "seeds" not in p.parts]
    for path in sorted(top + inside):
        if path.suffix in SUFFIXES:
            for problem in problems(path):
                yield f"{path}: {problem}"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "files: all within the house's limits")
    sys.exit(bool(found))
