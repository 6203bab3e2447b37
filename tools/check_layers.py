"""Checks that every #include goes where docs/design.md lets it, and that a few calls stay out of the library.

    python3 tools/check_layers.py [ROOT]       exit status 1 and one line per violation

CMake stops a room from linking what it may not use; only this check stops it from including it.
"""

import pathlib
import re
import sys

CATALOG = "checkpoint/catalog"
# What each room may include, itself apart.
ALLOWED = {
    "base": [],
    "concurrency": ["base"],
    "io": ["base"],
    "codec": ["base"],
    "random": ["base"],
    "mesh": ["base"],
    CATALOG: ["io", "base"],
    "checkpoint/json": ["base"],
    "checkpoint/safetensors": [CATALOG, "checkpoint/json", "io", "base"],
    "checkpoint/hdf5": [CATALOG, "io", "codec", "base"],
    "checkpoint/keras_h5": [CATALOG, "checkpoint/hdf5", "io", "base"],
    "checkpoint/keras_json": [CATALOG, "checkpoint/json", "checkpoint/keras_h5", "checkpoint/hdf5", "io", "base"],
    "checkpoint/keras_zip": [CATALOG, "checkpoint/json", "checkpoint/keras_h5", "checkpoint/hdf5", "io", "base"],
    "checkpoint": [CATALOG, "checkpoint/json", "checkpoint/safetensors", "checkpoint/hdf5", "checkpoint/keras_h5",
                   "checkpoint/keras_json", "checkpoint/keras_zip", "io", "base"],
    "plan": [CATALOG, "mesh", "random", "base"],
    "device": ["mesh", "concurrency", "base"],
    "load": ["plan", CATALOG, "mesh", "device", "random", "codec", "io", "concurrency", "base"],
    "nn": ["load", "plan", CATALOG, "checkpoint/json", "mesh", "random", "base"],
}
# The room of each public header. An umbrella belongs to no room: nothing in src/ includes it.
PUBLIC = {
    "status": "base", "bytes": "base", "dtype": "base", "shape": "base",
    "seed": "random", "generator": "random", "random": "random", "initializer": "random", "file": "io",
    "fingerprint": "codec", "mesh": "mesh", "layout": "mesh", "placement": "mesh",
    "catalog": CATALOG, "checkpoint": CATALOG, "view": "plan", "plan": "plan", "device": "device",
    "sharded_array": "load", "load": "load", "initialize": "load", "variables": "nn",
    "safetensors_writer": "checkpoint/safetensors", "shardwise": None,
}
# Headers of other projects and of the system: prefix -> rooms that may include it. Never in public headers.
FOREIGN = {
    "fmt/": list(ALLOWED), "zlib.h": ["io", "codec"], "liburing.h": ["io"], "pcre2.h": ["mesh"],
    "hwy/": ["codec", "random"],
    "nlohmann/": ["mesh", "plan", "checkpoint/json", "checkpoint/safetensors"],
    "sys/mman.h": ["base", "io", "device"], "sys/stat.h": ["io", "load", CATALOG], "sys/": ["io"], "linux/": ["io"],
    "unistd.h": ["base", "io", "device"], "fcntl.h": ["io"], "sched.h": ["io"], "time.h": ["io"], "sanitizer/": ["device"],
}
TEST_ONLY = ("gtest/", "gmock/", "sys/", "unistd.h", "fcntl.h", "stdlib.h", "malloc.h", "fstream", "filesystem",
             "thread", "chrono", "random")
TEST_SUFFIXES = ("_test.cc", "_testing.h", "_testing.cc")
# Rooms of arithmetic alone never touch files, clocks or threads.
ARITHMETIC = ["random", "mesh", "plan"]
IMPURE = {"fstream", "iostream", "filesystem", "cstdio", "thread", "mutex", "condition_variable", "chrono", "random"}
# (pattern, files that may hold it, why nobody else may)
CALLS = [
    (r"\bdlopen\b", (), "plugins have one place, which does not exist yet"),
    (r"\b(?:secure_)?getenv\b", (), "only the command reads the environment"),
    (r"\bstd::(?:cout|cerr|clog)\b|\b(?:f|v|vf)?printf\s*\(|\bputs\s*\(", (), "the library prints nothing"),
    (r"\b(?:std::)?(?:abort|terminate|quick_exit)\s*\(", (), "the library never aborts"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def room_of(folder):
    """The longest room name that `folder` (relative to src/) is or lies in: device/host belongs to device."""
    inside = [room for room in ALLOWED if folder == room or folder.startswith(room + "/")]
    return max(inside, key=len, default=None)


def may_include_system(header, room, is_test):
    if is_test and header.startswith(TEST_ONLY):
        return True
    for prefix, rooms in FOREIGN.items():
        if header.startswith(prefix):
            return room in rooms
    if header in IMPURE:
        return room not in ARITHMETIC
    return "/" not in header and not header.endswith(".h")  # the standard library


def problem_of(header, system, room, is_test):
    """Why `room` may not include `header`, or None. Room None is a public umbrella header."""
    if system:
        allowed = may_include_system(header, room, is_test)
        return None if allowed else "this room may not include it (tools/check_layers.py has the table)"
    if header.startswith("testing/"):
        return None if is_test else "only tests may include test helpers"
    folder, _, name = header.rpartition("/")
    target = PUBLIC.get(name.removesuffix(".h"), "?") if folder == "shardwise" else room_of(folder) or "?"
    if target == "?":
        return "no room has it; add it to the table in tools/check_layers.py"
    if room is None or target == room or target in ALLOWED[room]:
        return None
    return f"{room} may not include {target}"


def check_file(path, room, public):
    is_test = path.name.endswith(TEST_SUFFIXES)
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        header, system = match[1] or match[2], match[2] is not None
        problem = problem_of(header, system, room, is_test)
        if public and not problem:
            foreign = header.startswith(tuple(FOREIGN)) if system else not header.startswith("shardwise/")
            problem = "a public header holds nothing of another project or of src/" if foreign else None
        if problem:
            yield f"{path}:{text.count(chr(10), 0, match.start(1 if match[1] else 2)) + 1}: {header}: {problem}"
    code = COMMENT_OR_STRING.sub(lambda m: "\n" * m[0].count("\n"), text)
    for pattern, exempt, why in CALLS:
        for match in re.finditer(pattern, code):
            if not is_test and not path.as_posix().endswith(exempt or ("\0",)):
                yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {match[0].strip()}: {why}"


def violations(root):
    for path in sorted((root / "include/shardwise").glob("*.h")):
        if path.stem not in PUBLIC:
            yield f"{path}: no room has it; add it to the table in tools/check_layers.py"
        else:
            yield from check_file(path, PUBLIC[path.stem], public=True)
    for path in sorted([*(root / "src").rglob("*.h"), *(root / "src").rglob("*.cc")]):
        room = room_of(path.parent.relative_to(root / "src").as_posix())
        if room is None:
            yield f"{path}: its folder is no room; add it to the table in tools/check_layers.py"
        else:
            yield from check_file(path, room, public=False)


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "layers: every include goes down")
    sys.exit(bool(found))
