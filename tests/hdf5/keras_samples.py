"""Keras files of every kind, small. Run with KERAS_BACKEND=jax: keras_samples.py FOLDER"""

import pathlib
import sys

import keras
from keras import layers

folder = pathlib.Path(sys.argv[1])
keras.utils.set_random_seed(1)


def model(dtype=None):
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8, dtype=dtype)(tokens)
    x = layers.LayerNormalization(dtype=dtype)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(5, activation="relu", dtype=dtype, name="hidden")(x)
    x = layers.Dropout(0.1)(x)
    return keras.Model(tokens, layers.Dense(3, dtype=dtype, name="out")(x))


class Wide(layers.Layer):
    """One layer with many variables: its group needs a B-tree of two levels."""

    def build(self, _):
        self.all = [self.add_weight(shape=(2,), initializer="ones", name=f"w{i}") for i in range(170)]
        self.flag = self.add_weight(shape=(3,), dtype="bool", initializer="zeros", trainable=False, name="flag")
        self.count = self.add_weight(shape=(), dtype="int64", initializer="zeros", trainable=False, name="count")

    def call(self, x):
        return x


trained = model()
trained.compile("adam", "mse")
trained.optimizer.build(trained.trainable_variables)
trained.save_weights(folder / "trained.weights.h5")
trained.save_weights(folder / "sharded.weights.json", max_shard_size=3e-6)
trained.save(folder / "legacy.h5")
model("bfloat16").save_weights(folder / "bfloat16.weights.h5")
model("float16").save_weights(folder / "float16.weights.h5")
model("float64").save_weights(folder / "float64.weights.h5")
quantized = model()
quantized.quantize("int8")
quantized.save_weights(folder / "int8.weights.h5")
entry = keras.Input((2,))
keras.Model(entry, Wide()(entry)).save_weights(folder / "wide.weights.h5")
