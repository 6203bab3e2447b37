"""Where the command is that the tests run."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary():
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", ROOT / "build" / "release"))
    return (build if build.is_absolute() else ROOT / build) / "shardwise"
