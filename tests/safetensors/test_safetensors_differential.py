"""shardwise and the reference implementation of safetensors take the same files and read the same tensors from them.

Where shardwise is stricter on purpose, safetensors_reference.STRICTER says so: the class of files, as Python recognises
it, and the words that shardwise must refuse it with.
"""

import os
import random

import pytest
import safetensors
from safetensors_mutations import some_file
from safetensors_reference import is_stricter_here, reference, same_tensors

COUNT = 12_000
@pytest.fixture(scope="module")
def seed():
    return int(os.environ.get("SHARDWISE_SEED", random.SystemRandom().randrange(1 << 32)))


@pytest.fixture(scope="module")
def cases(seed, verdicts):
    generator = random.Random(seed)
    files = [some_file(generator) for _ in range(COUNT)]
    return list(zip(files, map(reference, files), verdicts(files), strict=True))


def test_verdicts_and_tensors_are_those_of_the_reference(cases, seed):
    accepted = stricter = 0
    for file, theirs, ours in cases:
        told = f"SHARDWISE_SEED={seed}; file {file!r}; reference: {theirs}; shardwise: {ours}"
        if isinstance(theirs, str):
            assert ours["code"] != "OK", told
        elif ours["code"] == "OK":
            assert same_tensors(file, theirs, ours), told
            accepted += 1
        else:
            assert is_stricter_here(file, ours["message"]), told
            stricter += 1
    print(f"SHARDWISE_SEED={seed}: {accepted} of {COUNT} accepted, {stricter} refused by listed classes alone")
    assert COUNT * 0.2 < accepted < COUNT * 0.8
    assert stricter < COUNT * 0.1


def test_refusals_are_data_loss_and_name_the_file(cases, seed):
    for file, _, ours in cases:
        if ours["code"] != "OK":
            assert ours["code"] == "DATA_LOSS" and ours["message"].startswith("m: "), (seed, file, ours)


def test_open_files_agree_too(cases, seed, tmp_path):
    """safe_open, from a file: the same verdict, names and metadata as from bytes."""
    path = tmp_path / "m.safetensors"
    for file, theirs, ours in cases[::40]:
        path.write_bytes(file)
        try:
            with safetensors.safe_open(path, "np") as opened:
                names, metadata = set(opened.keys()), opened.metadata()
        except (safetensors.SafetensorError, OSError):
            assert ours["code"] != "OK" and isinstance(theirs, str), (seed, file)
            continue
        if ours["code"] == "OK":
            assert {t["name"] for t in ours["tensors"]} == names, (seed, file)
            assert ours["metadata"] == (metadata or {}), (seed, file)
