"""Other processes: several that share a load, one that is interrupted, one that only imports."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time

import keras
import numpy as np
import safetensors.numpy

HERE = pathlib.Path(__file__).parent


def python(code, *args, **kwargs):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def test_two_processes_read_their_own_shards(tmp_path):
    inputs = keras.Input((4,), dtype="int32")
    x = keras.layers.Embedding(4096, 256, name="words")(inputs)
    keras.Model(inputs, keras.layers.Dense(64)(x)).save_weights(tmp_path / "m.weights.h5")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = str(HERE / "two_processes.py")
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(tmp_path), str(port), str(k)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for k in range(2)
    ]
    try:
        answers = [process.communicate(timeout=150) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (out, err) in zip(processes, answers):
        assert process.returncode == 0, err[-3000:]
        word, read, whole = out.split()[-3:]
        assert word == "same"
        assert int(read) < 0.6 * int(whole) + 100_000  # half of the embedding, and the small ones


INTERRUPTED = """
    import os, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import shardwise.jax
    from jax.sharding import SingleDeviceSharding
    place = SingleDeviceSharding(jax.devices()[0])
    first = True
    def progress(done, *rest):
        global first
        if first:
            first = False
            print("loading", flush=True)
    try:
        while True:
            shardwise.jax.load(sys.argv[1], place, options=shardwise.jax.LoadOptions(progress=progress))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_control_c_stops_a_load(tmp_path):
    safetensors.numpy.save_file({"t": np.zeros(32 << 20, np.uint8)}, tmp_path / "m.safetensors")
    process = python(INTERRUPTED, tmp_path / "m.safetensors")
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted\n" and process.returncode == 0, err


IMPORTS = """
    import os, sys, time
    os.environ.update(JAX_PLATFORMS="cpu", KERAS_BACKEND="jax")
    import shardwise
    assert not {"jax", "keras"} & set(sys.modules)
    import keras
    times = []
    began = time.process_time()
    import shardwise.keras, shardwise.jax
    print(time.process_time() - began)
"""


def test_importing_is_quick_and_lazy():
    seconds = []
    for _ in range(2):
        out, err = python(IMPORTS).communicate(timeout=120)
        seconds.append(float(out))
    assert min(seconds) < 0.1, (seconds, err)
