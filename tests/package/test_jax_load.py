"""shardwise.jax.load against jax.device_put of the whole tensor."""

import jax
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from jax.sharding import NamedSharding, PartitionSpec as P

import shardwise
import shardwise.jax

SPECS = [P(), P("x"), P(None, "y"), P("x", "y"), P("y", "x"), P(("x", "y")), P(None, ("y", "x"))]
DTYPES = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int32", "bool"]


@pytest.fixture(scope="module")
def grid():
    return jax.make_mesh((2, 4), ("x", "y"))


def values(dtype, shape=(16, 24), seed=0):
    numbers = np.random.default_rng(seed).integers(-8, 8, shape)
    return numbers.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("jax") / "model.safetensors"
    safetensors.numpy.save_file({dtype: values(dtype) for dtype in DTYPES}, path)
    return path


def pointers(array):
    return [shard.data.unsafe_buffer_pointer() for shard in sorted(array.addressable_shards, key=lambda s: s.device.id)]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_dtype_equals_device_put(file, grid, spec):
    sharding = NamedSharding(grid, spec)
    arrays = shardwise.jax.load(file, sharding)
    assert set(arrays) == set(DTYPES)
    for dtype, array in arrays.items():
        expected = jax.device_put(values(dtype), sharding)
        assert array.sharding == expected.sharding and array.dtype == expected.dtype and array.committed
        for ours, theirs in zip(array.addressable_shards, expected.addressable_shards):
            assert ours.device == theirs.device and ours.index == theirs.index
            np.testing.assert_array_equal(np.asarray(ours.data), np.asarray(theirs.data))
