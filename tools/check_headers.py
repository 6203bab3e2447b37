"""Checks that every header compiles alone, with nothing included before it; a public one without src/ in the way.

    python3 tools/check_headers.py [--root ROOT] [--jobs N]        exit status 1 and the compiler's words per failure
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-x", "c++"]


def compile_alone(root, header):
    """None, or what the compiler said. Twice, so that a missing `#pragma once` shows too."""
    public = header.is_relative_to(root / "include")
    roots = ["include"] if public else ["include", "src", "."]
    name = header.relative_to(root / ("include" if public else "src" if header.is_relative_to(root / "src") else "."))
    command = [os.environ.get("CXX", "g++"), *FLAGS, *(f"-I{root / r}" for r in roots), "-"]
    source = f'#include "{name}"\n#include "{name}"\n'
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    return run.stderr if run.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    headers = sorted(h for f in ("include", "src", "testing") for h in (options.root / f).rglob("*.h")
                     if not h.name.endswith("-inl.h"))  # those are included once per instruction set, after others
    if not headers:
        print(f"no header under {options.root}")
        return 1
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda h: compile_alone(options.root, h), headers))
    broken = [(h, a) for h, a in zip(headers, answers) if a is not None]
    for header, answer in broken:
        print(f"{header} does not compile alone:\n{answer}")
    print(f"headers: {len(headers) - len(broken)} of {len(headers)} compile alone")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
