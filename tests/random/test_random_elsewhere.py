"""How far JAX is from us where it has no fused multiply-add: docs/random.md states these bounds."""

import os
import subprocess
import sys

import numpy as np
import pytest

COUNT = 2**21
BOUNDS = {"uniform": 6e-8, "normal": 1e-6, "truncated_normal": 1e-6}
SCRIPT = """
import sys, jax, numpy as np
key = jax.numpy.array([42, 0], jax.numpy.uint32)
n = int(sys.argv[1])
np.savez(sys.argv[2], uniform=jax.random.uniform(key, (n,), "float32", -0.3, 0.9), normal=jax.random.normal(key, (n,)),
         truncated_normal=jax.random.truncated_normal(key, -2.0, 2.0, (n,)), bits=jax.random.bits(key, (n,)))
"""


@pytest.fixture(scope="module")
def without_fma(tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "values.npz"
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX"
    subprocess.run([sys.executable, "-c", SCRIPT, str(COUNT), str(path)], check=True, timeout=300,
                   env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"})
    return np.load(path)


@pytest.mark.parametrize("kind", BOUNDS)
def test_absolute_bound(driver, without_fma, kind):
    limits = dict(minval=-0.3, maxval=0.9) if kind == "uniform" else {}
    ours = driver.values(distribution=kind, key=(42, 0), shape=(COUNT,), dtype="float32", parameters=limits)
    difference = np.abs(ours.astype(float) - without_fma[kind].astype(float))
    assert np.count_nonzero(difference) > 0  # else there was a fused multiply-add after all
    assert difference.max() <= BOUNDS[kind]
    print(kind, difference.max(), np.count_nonzero(difference) / COUNT)


def test_bits_are_the_same_everywhere(driver, without_fma):
    ours = driver.values(distribution="bits", key=(42, 0), shape=(COUNT,), dtype="uint32")
    assert np.array_equal(ours, without_fma["bits"])
