"""Keras models whose variables are NNX's (KERAS_NNX_ENABLED), through Keras and through shardwise. Argument: a folder.

A script of its own, because Keras reads the setting when it is imported. Prints "same".
"""

import gc
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"
os.environ["KERAS_NNX_ENABLED"] = "true"

import jax
import keras
import numpy as np
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel
from keras.src.backend.jax import core

import shardwise.keras as sw

folder = pathlib.Path(sys.argv[1])
ROWS, WIDTH = 4096, 128
layouts = LayoutMap(DeviceMesh((1, 8), ("batch", "model")))
layouts["words/embeddings"] = ("model", None)
layouts["out/kernel"] = (None, "model")


def build():
    keras.utils.clear_session(free_memory=False)  # forgets the distribution too
    keras.distribution.set_distribution(ModelParallel(layout_map=layouts))
    keras.utils.set_random_seed(3)
    inputs = keras.Input((4,), dtype="int32")
    x = keras.layers.Embedding(ROWS, WIDTH, name="words")(inputs)
    return keras.Model(inputs, keras.layers.Dense(64, name="out")(keras.layers.BatchNormalization(name="norm")(x)))


def assert_same(ours, theirs):
    for a, b in zip(ours.variables, theirs.variables, strict=True):
        assert isinstance(a, core.NnxVariable) and a._layout is not None
        assert a.value.sharding == b.value.sharding and a.value.dtype == b.value.dtype, a.path
        assert np.asarray(a.value).tobytes() == np.asarray(b.value).tobytes(), a.path


def whole_arrays():
    """Buffers as large as the embedding on one device."""
    shards = [s.data for a in jax.live_arrays() for s in a.addressable_shards]
    return {s.unsafe_buffer_pointer() for s in shards if s.size >= ROWS * WIDTH}


x = np.arange(8).reshape(2, 4)
theirs = build()
expected = np.asarray(theirs(x))
theirs.save_weights(folder / "m.weights.h5")
theirs.save(folder / "m.keras")
gc.collect()
dummies = len(whole_arrays())  # of Keras's own model

with sw.sharded(progress=False) as report:
    ours = build()
    assert len(whole_arrays()) == dummies  # none of ours
assert report.initialized >= 5
assert_same(ours, theirs)

for variable in ours.variables:
    variable.assign(np.full(variable.shape, 2, variable.dtype))
report = sw.load_weights(ours, folder / "m.weights.h5", progress=False)
assert report.variables == len(ours.variables) and not report.whole_reads
assert_same(ours, theirs)

with sw.sharded(progress=False) as report:
    loaded = build()
    loaded.load_weights(folder / "m.weights.h5")
    again = keras.saving.load_model(folder / "m.keras")
assert report.initialized == 0
assert len(whole_arrays()) <= dummies
for model in (loaded, again):
    assert_same(model, theirs)
    for _ in range(3):  # values stay alive
        gc.collect()
        np.testing.assert_array_equal(np.asarray(model(x)), expected)
    np.testing.assert_array_equal(np.asarray(jax.jit(model)(x)), np.asarray(jax.jit(theirs)(x)))
print("same")
