"""The tests of the Python package with several pairs of Keras and JAX, each in a virtual environment of its own.

    python3 tools/check_versions.py [--folder FOLDER] [KERAS:JAX...]       for example 3.12.4:0.8.3

Builds the package once; wants what `scripts/setup.sh` installs, and some 2 GiB of disk a pair. Ends with a table; exit
status 1 when a pair failed. The pair of scripts/requirements.txt is what scripts/test.sh runs.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import count_junit

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Each minor version of Keras that is claimed (shardwise/keras/_versions.py), with the oldest, the newest and other JAX.
PAIRS = ["3.12.4:0.8.0", "3.13.2:0.8.3", "3.14.1:0.9.2", "3.15.0:0.10.0", "3.15.1:0.10.2"]
# What the tests import besides, in the versions of scripts/requirements.txt; everything else is pip's choice.
ALONGSIDE = {"h5py", "numpy", "pytest", "safetensors", "scipy"}


def pins():
    lines = (ROOT / "scripts/requirements.txt").read_text().splitlines()
    return [line for line in lines if line.split("==")[0] in ALONGSIDE]


def run(command, log, **options):
    with open(log, "a") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options).returncode == 0


def build_wheel(folder):
    log = folder / "wheel.txt"
    command = [ROOT / ".venv/bin/python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    if not run(command, log, env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}):
        sys.exit(f"the package does not build; see {log}")
    return max(folder.glob("shardwise-*.whl"), key=lambda p: p.stat().st_mtime)


def check(pair, folder, wheel):
    """One pair: (a line for the table, whether it is well)."""
    keras, jax = pair.split(":")
    place = folder / pair.replace(":", "-jax-")
    place.mkdir(parents=True, exist_ok=True)
    log, python = place / "log.txt", place / "venv/bin/python"
    log.unlink(missing_ok=True)
    (place / "pytest.xml").unlink(missing_ok=True)
    wanted = [f"keras=={keras}", f"jax=={jax}", "flax", *pins()]
    ready = (
        run([sys.executable, "-m", "venv", place / "venv"], log)
        and run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted], log)
        and run([python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel], log)
    )
    if not ready:
        return f"{pair:16} could not be installed; see {log}", False
    junit = place / "pytest.xml"
    command = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", f"--junitxml={junit}", "tests/package"]
    environment = {**os.environ, "SHARDWISE_BUILD": str(ROOT / "build/release"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    well = run(command, log, cwd=ROOT, env=environment)
    passed, failed, skipped = count_junit.count(place)
    return f"{pair:16} {passed:4} passed {failed:3} failed {skipped:3} skipped   {log}", well and not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/versions")
    parser.add_argument("--wheel", type=pathlib.Path, help="the package, built already")
    parser.add_argument("pairs", nargs="*", metavar="KERAS:JAX")
    options = parser.parse_args()
    pairs = options.pairs or PAIRS
    for pair in pairs:
        if not re.fullmatch(r"[\d.]+:[\d.]+", pair):
            parser.error(f"{pair}: not KERAS:JAX")
    options.folder.mkdir(parents=True, exist_ok=True)
    wheel = options.wheel or build_wheel(options.folder)
    all_well = True
    for pair in pairs:
        line, well = check(pair, options.folder, wheel)
        print(line, flush=True)
        all_well &= well
    return not all_well


if __name__ == "__main__":
    sys.exit(main())
