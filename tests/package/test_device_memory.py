"""What each device holds at the peak of a load or an initialisation, by accounting of all live arrays."""

import collections
import contextlib

import jax
import keras
import pytest
from keras import layers
from keras.src.backend.jax import distribution_lib

import shardwise.keras as sw
from shardwise.jax import _handover

ROWS, WIDTH = 8192, 256  # 8 MiB of float32, cut eightfold
SLACK = 64 << 10  # seeds, counters and what else is small


def pieces(array):
    """An array's shards as arrays. Not by `addressable_shards`, which keep each other alive in JAX 0.8."""
    return [array.addressable_data(k) for k in range(len(array.sharding.addressable_devices))]


def live():
    """Bytes of every device, each buffer counted once."""
    buffers = {}
    for array in jax.live_arrays():
        for data in [] if array.is_deleted() else pieces(array):
            buffers[data.unsafe_buffer_pointer(), data.device.id] = data.nbytes
    used = collections.Counter()
    for (_, device), nbytes in buffers.items():
        used[device] += nbytes
    return used


@contextlib.contextmanager
def peaks(monkeypatch):
    """Largest bytes per device above what was there, seen whenever an array is handed over or distributed."""
    before, most = live(), collections.Counter()

    def watch(function):
        def watched(*args, **kwargs):
            result = function(*args, **kwargs)
            for device, used in live().items():
                most[device] = max(most[device], used - before[device])
            return result

        return watched

    with monkeypatch.context() as patch:
        patch.setattr(_handover, "_to_jax", watch(_handover._to_jax))
        patch.setattr(distribution_lib, "distribute_tensor", watch(distribution_lib.distribute_tensor))
        yield most


def build():
    inputs = keras.Input((4,), dtype="int32")
    x = layers.Embedding(ROWS, WIDTH, name="words")(inputs)
    return keras.Model(inputs, layers.Dense(512, name="wide_out")(x))


def shards(model):
    """Bytes of each device in a model's variables."""
    held = collections.Counter()
    for variable in model.variables:
        for data in pieces(variable.value):
            held[data.device.id] += data.nbytes
    return held


def assert_at_most(most, held, times=1):
    assert len(held) == 8 and max(held.values()) < 2.4 * (ROWS * WIDTH * 4 // 8)
    for device, bytes_held in held.items():
        assert held[device] * 0.9 <= most[device] <= times * bytes_held + SLACK, (device, most, held)


@pytest.fixture
def saved(distribution, tmp_path):
    model = build()
    model.save_weights(tmp_path / "m.weights.h5")
    model.save(tmp_path / "m.keras")
    return tmp_path


def test_keras_needs_the_whole_on_one_device(saved, monkeypatch):
    """The accounting sees what it should: Keras's own load."""
    model = build()
    with peaks(monkeypatch) as most:
        model.load_weights(saved / "m.weights.h5")
    assert most[0] > ROWS * WIDTH * 4


def test_a_load_needs_its_shards(saved, monkeypatch):
    with peaks(monkeypatch) as most:
        with sw.sharded(progress=False):
            model = build()
            model.load_weights(saved / "m.weights.h5")
    assert_at_most(most, shards(model))


def test_load_model_needs_its_shards(saved, monkeypatch):
    with peaks(monkeypatch) as most:
        with sw.sharded(progress=False):
            model = keras.saving.load_model(saved / "m.keras")
    assert_at_most(most, shards(model))


def test_first_values_need_their_shards(distribution, monkeypatch):
    with peaks(monkeypatch) as most:
        with sw.sharded():
            model = build()
    assert_at_most(most, shards(model))


@pytest.mark.parametrize("keep_old", [True, False])
def test_a_load_over_values(keep_old, saved, monkeypatch):
    """The old values are there besides, or go before the new ones come."""
    with peaks(monkeypatch) as most:
        model = build()
        held = shards(model)
        most.clear()  # of Keras's first values
        sw.load_weights(model, saved / "m.weights.h5", progress=False, keep_old=keep_old)
    assert_at_most(most, held, times=2 if keep_old else 1)
    assert (max(most.values()) > 1.9 * max(held.values())) == keep_old
