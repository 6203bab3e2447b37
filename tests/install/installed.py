"""An installed shardwise, and projects built against it; for tests/install and tests/docs."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SHARDWISE_BUILD", ROOT / "build" / "release")).resolve()


def run(*command, **options):
    answer = subprocess.run(command, capture_output=True, text=True, **options)
    assert answer.returncode == 0, f"{' '.join(map(str, command))}\n{answer.stdout}{answer.stderr}"
    return answer.stdout


def install(prefix):
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def build(source, folder, prefix):
    """Configures and builds a project that finds shardwise in `prefix`, with warnings as errors."""
    launcher = os.environ.get("SHARDWISE_COMPILER_LAUNCHER", "")
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", "-DCMAKE_CXX_FLAGS=-O1 -Wall -Wextra -Werror -Wno-missing-field-initializers")
    run("cmake", "--build", folder)
    return folder
