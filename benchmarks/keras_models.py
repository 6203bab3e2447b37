"""The two models of the Keras benchmarks, on eight CPU devices: one with a large embedding, one of many blocks."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
from keras import layers
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel


def distribute():
    """Eight devices; embeddings and kernels are cut in eight."""
    mesh = DeviceMesh((1, 8), ("batch", "model"))
    layout_map = LayoutMap(mesh)
    layout_map["words/embeddings"] = ("model", None)
    layout_map[".*_(up|gate)/kernel"] = (None, "model")
    layout_map[".*_down/kernel"] = ("model", None)
    keras.distribution.set_distribution(ModelParallel(layout_map=layout_map))


def build(kind, mib, initializer="zeros"):
    """About `mib` MiB of float32: "embedding" is nearly all one tensor, "blocks" is tensors of 16 MiB and a quarter of
    embedding."""
    width = 1024
    inputs = keras.Input((None,), dtype="int32")
    rows = mib * 256 if kind == "embedding" else mib * 64
    x = layers.Embedding(rows, width, embeddings_initializer=initializer, name="words")(inputs)
    for k in range(0 if kind == "embedding" else mib * 3 // 4 // 48):
        dense = {"use_bias": False, "kernel_initializer": initializer}
        hidden = layers.Dense(4096, name=f"b{k}_up", **dense)(x) * layers.Dense(4096, name=f"b{k}_gate", **dense)(x)
        x = layers.LayerNormalization(name=f"b{k}_norm")(layers.Dense(width, name=f"b{k}_down", **dense)(hidden))
    return keras.Model(inputs, layers.LayerNormalization(name="norm")(x))
