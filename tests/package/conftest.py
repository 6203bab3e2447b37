"""Tests of the installed Python package, on eight CPU devices of this process."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"

import gc

import jax
import keras
import pytest
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel


@pytest.fixture(scope="session")
def mesh():
    assert len(jax.devices()) == 8
    return DeviceMesh((2, 4), ("batch", "model"))


@pytest.fixture
def distribution(mesh):
    """A ModelParallel distribution in force, whose layout map cuts the kernels of zoo.py's models."""
    layout_map = LayoutMap(mesh)
    # Keras 3.12 and 3.13 search for a key in a path; since 3.14 it has to match all of it.
    layout_map["^(?:.*/)?(?:words|tied|untied|block)/embeddings$"] = ("model", "batch")
    layout_map[".*wide_(?!conv).*/kernel$"] = (None, "model")
    for rank in (1, 2, 3):
        layout_map[f".*wide_conv{rank}/kernel$"] = (*[None] * (rank + 1), "model")
    distribution = ModelParallel(layout_map=layout_map, batch_dim_name="batch")
    with distribution.scope():
        yield distribution


@pytest.fixture(autouse=True)
def fresh_names():
    keras.utils.clear_session(free_memory=False)
    keras.utils.set_random_seed(7)
    yield
    gc.collect()
