"""Models of every kind of layer that stores weights, as functions; `wide` in a layer's name: its kernel is cut."""

import keras
import numpy as np
from keras import layers

STORES_NESTED = tuple(int(n) for n in keras.__version__.split(".")[:2]) >= (3, 15)


def sequential(*parts, shape, **kwargs):
    model = keras.Sequential([keras.Input(shape, **kwargs), *parts])
    return model


def dense():
    return sequential(layers.Dense(32, name="wide_a"), layers.Dense(8, use_bias=False, name="wide_b"), shape=(16,))


def mixed_precision():
    return sequential(
        layers.Dense(32, name="wide_a", dtype="mixed_bfloat16"),
        layers.Dense(8, name="wide_b", dtype="bfloat16"),
        layers.Dense(8, name="c", dtype="float16"),
        shape=(16,),
    )


def convolutions():
    return sequential(
        layers.Conv2D(8, 3, name="wide_conv2"),
        layers.DepthwiseConv2D(3),
        layers.SeparableConv2D(8, 3),
        layers.Conv2DTranspose(4, 3),
        layers.Reshape((-1, 4)),
        layers.Conv1D(8, 3, name="wide_conv1"),
        layers.SeparableConv1D(4, 2),
        layers.Conv1DTranspose(4, 2),
        shape=(12, 12, 3),
    )


def volumes():
    return sequential(layers.Conv3D(4, 2, name="wide_conv3"), layers.Conv3DTranspose(4, 2), shape=(5, 5, 5, 2))


def normalisations():
    return sequential(
        layers.BatchNormalization(),
        layers.LayerNormalization(),
        layers.GroupNormalization(2),
        layers.UnitNormalization(),
        layers.RMSNormalization(),
        layers.BatchNormalization(scale=False, center=False),
        layers.SpectralNormalization(layers.Dense(8, name="wide_dense")),
        shape=(8,),
    )


def embeddings():
    inputs = keras.Input((6,), dtype="int32")
    embedding = layers.ReversibleEmbedding(64, 16, name="tied")
    x = embedding(inputs)
    x = x + layers.Embedding(64, 16, name="words")(inputs)
    x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 16), bias_axes="d", name="wide_einsum")(x)
    untied = layers.ReversibleEmbedding(64, 16, tie_weights=False, name="untied")
    return keras.Model(inputs, [embedding(x, reverse=True), untied(untied(inputs), reverse=True)])


def attention():
    inputs = keras.Input((6, 16))
    x = layers.MultiHeadAttention(2, 8, name="mha")(inputs, inputs)
    x = layers.GroupQueryAttention(8, 4, 2, name="gqa")(x, x)
    return keras.Model(inputs, layers.Dense(4, name="wide_head")(x))


def recurrent():
    return sequential(
        layers.Bidirectional(layers.LSTM(8, return_sequences=True)),
        layers.GRU(8, return_sequences=True),
        layers.SimpleRNN(8),
        layers.PReLU(),
        shape=(5, 4),
    )


def preprocessing():
    inputs = keras.Input((4,))
    normalization = layers.Normalization()
    normalization.adapt(np.random.default_rng(0).normal(3, 2, (64, 4)).astype("float32"))
    x = normalization(inputs)
    x = layers.Dropout(0.5)(x)
    x = layers.GaussianNoise(0.1)(x)
    return keras.Model(inputs, layers.Dense(8, name="wide_dense")(x))


def shared_and_nested():
    inside = keras.Input((16,))
    inner = keras.Model(inside, layers.Dense(16, name="wide_inner")(layers.LayerNormalization()(inside)), name="inner")
    shared = layers.Dense(16, name="wide_shared")
    inputs = keras.Input((16,))
    return keras.Model(inputs, shared(inner(shared(inner(inputs)))))


@keras.saving.register_keras_serializable("zoo")
class Block(layers.Layer):
    """Containers of containers, a weight of its own, and a load_own_variables that computes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        nested = [layers.Dense(8, name="wide_b"), layers.Dense(8, name="b")]
        # Before 3.15 Keras neither saves nor loads what is in a container of a container.
        self.parts = [layers.Dense(8, name="wide_a"), nested if STORES_NESTED else layers.Identity()]
        self.flat = [] if STORES_NESTED else nested
        self.named = {"x": layers.Dense(8, name="x"), "y": layers.LayerNormalization()}

    def all_parts(self):
        return [self.parts[0], *(self.parts[1] if STORES_NESTED else self.flat), *self.named.values()]

    def build(self, shape):
        self.scale = self.add_weight(shape=(8,), name="scale", initializer="random_normal")
        self.table = self.add_weight(shape=(8, 4), name="embeddings", initializer="random_normal")
        self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="count")
        for layer in self.all_parts():
            layer.build((None, 8))

    def call(self, x):
        for layer in self.all_parts():
            x = layer(x)
        return x * self.scale + keras.ops.sum(self.table)

    def save_own_variables(self, store):
        store["scale_halved"] = np.asarray(self.scale) / 2
        store["table_transposed"] = np.asarray(self.table).T.copy()
        store["count"] = np.asarray(self.count)

    def load_own_variables(self, store):
        self.scale.assign(store["scale_halved"] * 2)
        self.table.assign(np.transpose(store["table_transposed"]))
        self.count.assign(store["count"])


def custom():
    return sequential(Block(name="block"), shape=(8,))


@keras.saving.register_keras_serializable("zoo")
class Subclassed(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(16, name="wide_first")
        self._private = layers.Dense(4, name="wide_last")
        self.norm = layers.BatchNormalization()

    def build(self, shape):
        self.first.build((None, 8))
        self.norm.build((None, 16))
        self._private.build((None, 16))
        self.built = True

    def call(self, x):
        return self._private(self.norm(self.first(x)))


def subclassed():
    model = Subclassed()
    model.build((None, 8))
    return model


def quantized(mode):
    def build():
        inputs = keras.Input((6,), dtype="int32")
        x = layers.Embedding(64, 16, name="words")(inputs)
        x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 16), bias_axes="d", name="wide_einsum")(x)
        x = layers.Dense(8, name="wide_dense")(x)
        model = keras.Model(inputs, x)
        model.quantize(mode)
        return model

    return build


def calibrated(mode):
    """A layer as it is after GPTQ or AWQ: values are not those of a calibration, only their kinds are."""

    def build():
        layer = layers.Dense(16, name="wide_dense", dtype=keras.dtype_policies.get(f"{mode}/4/8_from_float32"))
        model = sequential(layer, shape=(32,))
        setattr(layer, f"is_{mode}_calibrated", True)
        generator = np.random.default_rng(keras.random.randint((), 0, 1 << 30, "int32").item())
        for variable in layer.variables:
            variable.assign(generator.integers(0, 8, variable.shape).astype(variable.dtype))
        return model

    return build


def lora():
    model = sequential(
        layers.EinsumDense("ab,bc->ac", output_shape=16, name="wide_einsum"),
        layers.Dense(16, name="wide_dense"),
        shape=(8,),
    )
    for layer in model.layers:
        layer.enable_lora(2)
    return model


def compiled(optimizer, words="words", hidden="wide_dense"):
    def build():
        inputs = keras.Input((8,), dtype="int32")
        x = layers.Embedding(64, 16, name=words)(inputs)
        x = layers.Dense(16, name=hidden)(layers.Flatten()(x))
        model = keras.Model(inputs, layers.Dense(1, name="head")(x))
        model.compile(optimizer(), loss="mse", metrics=["mae"])
        model.optimizer.build(model.trainable_variables)
        for k, variable in enumerate(model.optimizer.variables):
            if variable.shape:
                variable.assign(keras.random.uniform(variable.shape, seed=k).astype(variable.dtype))
        return model

    return build


MODELS = {
    "dense": dense,
    "mixed_precision": mixed_precision,
    "convolutions": convolutions,
    "volumes": volumes,
    "normalisations": normalisations,
    "embeddings": embeddings,
    "attention": attention,
    "recurrent": recurrent,
    "preprocessing": preprocessing,
    "shared_and_nested": shared_and_nested,
    "custom": custom,
    "subclassed": subclassed,
    "int8": quantized("int8"),
    "int4": quantized("int4"),
    "float8": quantized("float8"),
    "lora": lora,
    "adam": compiled(lambda: keras.optimizers.Adam(amsgrad=True, use_ema=True)),
    # Keras cannot fit an Adafactor with variables that are split: their row statistics get a layout of two dimensions.
    "adafactor": compiled(keras.optimizers.Adafactor, "plain", "hidden"),
    "muon": compiled(keras.optimizers.Muon),
    "loss_scale": compiled(lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(momentum=0.9))),
}
