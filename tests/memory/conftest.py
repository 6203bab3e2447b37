"""Fixtures for the tests of the memory bound."""

import json
import pathlib
import subprocess
import uuid

import numpy
import pytest


@pytest.fixture(scope="session")
def shardwise(built):
    """Path of the command."""
    return str(built("shardwise_cli"))


def write_checkpoint(path, tensors):
    """A safetensors file of random float32 tensors {name: shape}, written piece by piece. Returns its size."""
    header, offset = {}, 0
    for name, shape in tensors.items():
        size = 4 * int(numpy.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    piece = numpy.random.default_rng(5).standard_normal(1 << 20, numpy.float32).tobytes()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for begin in range(0, offset, len(piece)):
            file.write(piece[: min(len(piece), offset - begin)])
    return offset


@pytest.fixture(scope="session")
def big(tmp_path_factory):
    """(path, bytes) of a 384 MiB checkpoint: one large tensor (128 MiB) and 64 of 4 MiB, column and row shaped."""
    path = tmp_path_factory.mktemp("memory") / "big.safetensors"
    tensors = {"embed": (32768, 1024)}
    tensors.update({f"layer.{i}.kernel": (1024, 1024) for i in range(64)})
    yield path, write_checkpoint(path, tensors)
    path.unlink()


@pytest.fixture(scope="session")
def layout(tmp_path_factory):
    """Columns for the large tensor, rows for half of the others, columns for the other half."""
    path = tmp_path_factory.mktemp("memory") / "layout.json"
    path.write_text(json.dumps({"rules": {
        "embed": [None, "model"],
        r"layer\.\d*[02468]\.kernel": ["model", None],
        r"layer\.\d*[13579]\.kernel": [None, "model"],
    }}))
    return str(path)


@pytest.fixture
def run(shardwise):
    """run(args, prefix): the JSON that `shardwise ARGS --json` prints, and its exit status."""

    def call(*args, prefix=()):
        done = subprocess.run([*prefix, shardwise, *map(str, args), "--json"], capture_output=True, text=True, timeout=300)
        assert done.stdout, f"exit {done.returncode}: {done.stderr}"
        return json.loads(done.stdout), done.returncode

    return call


@pytest.fixture
def memory_group():
    """memory_group(limit): command prefix that runs a command under a kernel memory limit, swap included."""
    root = pathlib.Path("/sys/fs/cgroup/memory")
    made = []

    def make(limit):
        group = root / f"shardwise-{uuid.uuid4().hex[:12]}"
        try:
            group.mkdir()
            made.append(group)
            (group / "memory.limit_in_bytes").write_text(str(limit))
        except OSError as error:
            pytest.skip(f"no cgroup v1 memory controller to make groups in: {error}")
        return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]

    yield make
    for group in made:
        group.rmdir()
