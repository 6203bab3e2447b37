"""Runs clang-tidy over the folders that are held to it, sparing files that were found clean before.

    python3 tools/run_tidy.py --build build/release [--jobs N] [FILE...]

A file is clean under a key: the hash of its text, of the project's headers that it includes, of .clang-tidy and of the
clang-tidy version. Keys of clean files are kept in the user's cache folder, so another checkout profits too.
Exit status 1 when anything was found.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
ROOTS = ["include", "src", "cli", "."]


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "shardwise" / "tidy"


def project_text(path, seen):
    """Texts of the file and of every header of the project that it reaches, each once."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    text = path.read_text()
    yield f"{path}\n{text}"
    for name in INCLUDE.findall(text):
        for root in [path.parent, *map(pathlib.Path, ROOTS)]:
            yield from project_text(root / name, seen)


def key_of(path, common):
    digest = hashlib.sha256(common)
    if (path.parent / ".clang-tidy").exists():
        digest.update((path.parent / ".clang-tidy").read_bytes())
    for text in project_text(path, set()):
        digest.update(text.encode())
    return digest.hexdigest()


def check(path, key, build):
    if (cache_folder() / key).exists():
        return True, ""
    run = subprocess.run(["clang-tidy", "-p", build, "--quiet", str(path)], capture_output=True, text=True)
    # A file that compile_commands.json lacks is skipped with status 0.
    clean = run.returncode == 0 and "warning:" not in run.stdout and "Skipping" not in run.stdout + run.stderr
    if clean:
        (cache_folder() / key).touch()
    return clean, run.stdout + run.stderr


# Folders that are held to .clang-tidy. The others have not been brought to it yet; a folder that has joins here.
CHECKED = ["src/base", "src/concurrency", "src/plan", "src/load"]


def files_to_check():
    """Sources of the checked folders; not tests, nor what includes CLI11, which takes a minute a file."""
    files = sorted(p for folder in CHECKED for p in pathlib.Path(folder).rglob("*.cc"))
    return [p for p in files if not p.name.endswith("_test.cc") and "<CLI/" not in p.read_text()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release", help="folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or files_to_check()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common = version + pathlib.Path(".clang-tidy").read_bytes()
    cache_folder().mkdir(parents=True, exist_ok=True)
    keys = [key_of(p, common) for p in files]
    known = sum((cache_folder() / k).exists() for k in keys)
    print(f"clang-tidy: {len(files)} files, {known} of them unchanged since they were found clean", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        dirty = []
        for path, (clean, text) in zip(files, pool.map(lambda f, k: check(f, k, options.build), files, keys)):
            if not clean:
                dirty.append(str(path))
                print(text, flush=True)
    print(f"clang-tidy: {len(files) - len(dirty)} of {len(files)} clean {' '.join(dirty)}")
    return bool(dirty) or not files


if __name__ == "__main__":
    sys.exit(main())
