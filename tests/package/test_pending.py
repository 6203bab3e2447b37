"""Assigns that wait, asked for in the middle of something: the variable gets what it would have got before that."""

import jax
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from keras import layers

import shardwise.keras as sw
from zoo import sequential


def call(model, x, given):
    model(x)


def trace(model, x, given):
    jax.jit(model)(x)


def call_stateless(model, x, given):
    outputs, _ = model.stateless_call(given, [], x)
    np.testing.assert_array_equal(np.asarray(outputs), 0)  # of the values that are given


@pytest.mark.parametrize("ask", [call, trace, call_stateless])
def test_values_asked_for_inside(ask, distribution, tmp_path):
    values = np.random.default_rng(0).normal(size=(16, 32)).astype("float32")
    safetensors.numpy.save_file({"kernel": values}, tmp_path / "m.safetensors")
    model = sequential(
        layers.Dense(32, name="wide_a", dtype="mixed_bfloat16"), layers.Dense(8, dtype="float32"), shape=(16,)
    )
    kernel = model.layers[0].kernel
    sharding = kernel.value.sharding
    given = [np.zeros(v.shape, "float32") for v in model.variables]
    with sw.sharded(progress=False) as report:
        with safetensors.safe_open(tmp_path / "m.safetensors", framework="np") as file:
            kernel.assign(file.get_tensor("kernel"))
        ask(model, np.ones((2, 16), "float32"), given)
    assert report.variables == 1 and not report.whole_reads
    assert isinstance(kernel._value, jax.Array) and not isinstance(kernel._value, jax.core.Tracer)
    assert kernel.value.sharding == sharding and kernel.value.dtype == "float32"
    np.testing.assert_array_equal(np.asarray(kernel.value), values)
