"""Memory of loaded arrays: who keeps it, when it goes, and how much a load needs beside it."""

import gc
import os
import subprocess
import sys
import textwrap
import weakref

import jax
import numpy as np
import pytest
import safetensors.numpy
from jax.sharding import NamedSharding, PartitionSpec as P

import shardwise.jax

MIB = 1 << 20


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) << 10


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "m.safetensors"
    rng = np.random.default_rng(0)
    safetensors.numpy.save_file({f"t{k}": rng.random((1024, 2048), np.float32) for k in range(8)}, path)
    return path


def free():
    gc.collect()
    jax.block_until_ready(jax.numpy.zeros(1))  # jaxlib drops references to Python objects at its next call


def test_blocks_go_with_their_last_user(file, monkeypatch):
    blocks = []
    as_numpy = shardwise.jax._load._handover.as_numpy

    def spy(block, *args):
        blocks.append(weakref.ref(block))
        return as_numpy(block, *args)

    monkeypatch.setattr(shardwise.jax._load._handover, "as_numpy", spy)
    sharding = NamedSharding(jax.make_mesh((8,), ("x",)), P("x"))
    free()
    before = resident()
    arrays = shardwise.jax.load(file, sharding)
    shard = arrays["t0"].addressable_shards[3].data
    assert resident() - before > 60 * MIB
    del arrays
    free()
    assert sum(block() is not None for block in blocks) == 1  # the shard that is still used
    assert resident() - before < 6 * MIB
    np.testing.assert_array_equal(np.asarray(shard)[0, :3], np.asarray(shard[0, :3]))
    del shard
    free()
    assert not any(block() for block in blocks)


def test_a_hundred_loads_leave_nothing(file):
    sharding = NamedSharding(jax.make_mesh((8,), ("x",)), P(None, "x"))
    names = {"t0": sharding, "t5": sharding}
    shardwise.jax.load(file, names)
    free()
    before = resident()
    for _ in range(30):
        shardwise.jax.load(file, names)
    free()
    assert resident() - before < 8 * MIB  # a block of one load is 1 MiB


PEAK = """
    import os, sys
    os.environ.update(XLA_FLAGS="--xla_force_host_platform_device_count=8", JAX_PLATFORMS="cpu")
    import jax
    from jax.sharding import NamedSharding, PartitionSpec as P
    import shardwise.jax
    from shardwise.jax import LoadOptions
    mesh = jax.make_mesh((8,), ("x",))
    sharding = NamedSharding(mesh, P("x"))
    jax.block_until_ready(jax.device_put(jax.numpy.zeros(8), sharding))
    options = LoadOptions(staging=16 << 20)
    shardwise.jax.load(sys.argv[1], {"t0": sharding}, options=options)

    def status(name):
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith(name)) << 10

    open("/proc/self/clear_refs", "w").write("5")
    before = status("VmRSS")
    arrays = shardwise.jax.load(sys.argv[1], lambda name, shape: NamedSharding(mesh, P(None, "x")), options=options)
    held = sum(a.nbytes for a in arrays.values())
    plan = shardwise.jax.plan(sys.argv[1], sharding, options=options)
    print(status("VmHWM") - before - held, plan.load_plan.host_peak_bytes)
"""


def test_host_peak_is_staging_and_a_little(file):
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PEAK), str(file)], capture_output=True, text=True, env=dict(os.environ)
    )
    assert answer.returncode == 0, answer.stderr
    above, predicted = map(int, answer.stdout.split())
    assert above <= predicted
    assert above <= 16 * MIB + 32 * MIB
