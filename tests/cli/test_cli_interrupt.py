"""Ctrl-C."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from cli_support import binary, write_sparse


def start(*arguments):
    def default_signals():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        [binary(), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )


def wait_until(process, condition):
    deadline = time.monotonic() + 60
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"ended too early, or nothing happened: exit {process.poll()}")
        time.sleep(0.005)


def wait_until_loading(process):
    """The main thread and the one that waits for Ctrl-C are always there; the others load."""
    wait_until(process, lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 2)
    time.sleep(0.1)


def catches_sigint(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (signal.SIGINT - 1) & 1


@pytest.fixture
def endless(tmp_path):
    """512 GiB of zeros that take no disk: no machine loads them in the time a test has."""
    return write_sparse(tmp_path / "endless.safetensors", 8192, (4096, 4096))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_one_stops_the_load_and_leaves_nothing(endless, tmp_path, number):
    out = tmp_path / "out"
    process = start("load", endless, "--devices", 4, "--discard", "--select", r"layer\.00", "--dump", out)
    wait_until_loading(process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("interrupted: ")
    assert os.listdir(out) == []


def test_json(endless):
    process = start("load", endless, "--discard", "--json")
    wait_until_loading(process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    error = json.loads(out)["error"]
    assert (error["code"], error["exit_code"]) == ("CANCELLED", 130)


@pytest.mark.parametrize("command", [("inspect", "--fingerprint"), ("verify",)])
def test_other_commands_that_read(endless, command):
    paths = [endless, endless] if command[0] == "verify" else [endless]
    process = start(command[0], *paths, *command[1:])
    wait_until_loading(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_the_second_one_kills(tmp_path):
    """Shown while a long header is read, which the first does not stop."""
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"a.tensor.with.a.name.{i}": entry for i in range(500_000)}).encode()
    path = tmp_path / "many.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    process = start("inspect", path, "--limit", 0)
    wait_until(process, lambda: catches_sigint(process))
    process.send_signal(signal.SIGINT)
    wait_until(process, lambda: not catches_sigint(process))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT


def test_an_ignored_signal_stays_ignored(endless):
    process = subprocess.Popen(
        [binary(), "load", endless, "--discard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    wait_until_loading(process)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.kill()
    process.wait(timeout=60)
