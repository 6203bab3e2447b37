"""Saves small models in every Keras format. Run with KERAS_BACKEND=jax: keras_models.py FOLDER

<model>.weights.h5, <model>.keras, and for each of several maximum shard sizes <model>.<bytes>.weights.json. Also prints
nothing and checks nothing: the tests do.
"""

import pathlib
import sys

import keras
import numpy
from keras import layers


def attention(dtype):
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8, dtype=dtype)(tokens)
    x = layers.MultiHeadAttention(2, 4, dtype=dtype)(x, x)
    x = layers.LayerNormalization(dtype=dtype)(x)
    x = layers.Dropout(0.1)(x)
    x = layers.Flatten()(x)
    return keras.Model(tokens, layers.Dense(3, dtype=dtype, name="head")(x))


def trained():
    model = attention("float32")
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(numpy.zeros((4, 6), "int32"), numpy.zeros((4, 3)), verbose=0)
    return model


def recurrent():
    return keras.Sequential([keras.Input((4, 8)), layers.LSTM(4, return_sequences=True), layers.BatchNormalization(),
                             layers.Bidirectional(layers.GRU(3)), layers.Dense(1, use_bias=False)])


def nested():
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(4), layers.Dense(4)], name="encoder")
    entry = keras.Input((5,))
    shared = layers.Dense(5, name="shared")
    return keras.Model(entry, layers.Concatenate()([inner(shared(entry)), inner(shared(shared(entry)))]))


class Own(layers.Layer):
    """Many variables of one layer, in several shards, of types that Keras has no short name for, and keys of its own."""

    def build(self, _):
        self.ws = [self.add_weight(shape=(7, 5), initializer="normal", name=f"w{i}") for i in range(13)]
        self.flag = self.add_weight(shape=(3,), dtype="bool", initializer="ones", trainable=False)
        self.count = self.add_weight(shape=(), dtype="int64", initializer="ones", trainable=False)
        self.nothing = self.add_weight(shape=(0, 3), initializer="ones", trainable=False)

    def call(self, x):
        return x + sum(keras.ops.sum(w) for w in self.ws)

    def save_own_variables(self, store):
        super().save_own_variables(store)
        store["own_key"] = numpy.arange(5, dtype="uint16")


def own():
    entry = keras.Input((2,))
    return keras.Model(entry, layers.Dense(2)(Own()(entry)))


def quantized():
    model = attention("float32")
    model.quantize("int8")
    return model


MODELS = {
    "trained": trained,
    "bfloat16": lambda: attention("bfloat16"),
    "float16": lambda: attention("float16"),
    "mixed": lambda: attention("mixed_bfloat16"),
    "int8": quantized,
    "recurrent": recurrent,
    "nested": nested,
    "own": own,
}
# From "every second variable in a shard of its own" to "all in one".
SHARD_BYTES = [700, 1500, 4000, 1 << 20]


def main(folder):
    keras.utils.set_random_seed(1)
    for name, make in MODELS.items():
        model = make()
        model.save_weights(folder / f"{name}.weights.h5")
        model.save(folder / f"{name}.keras")
        for size in SHARD_BYTES:
            model.save_weights(folder / f"{name}.{size}.weights.json", max_shard_size=size / 2**30)
        if name == "trained":
            model.save(folder / "legacy.h5")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
