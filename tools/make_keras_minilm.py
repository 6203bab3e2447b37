"""The MiniLM sentence encoder as a real Keras model, saved by real Keras in each of its formats.

    KERAS_BACKEND=jax python tools/make_keras_minilm.py model.safetensors FOLDER

Writes minilm.weights.h5, minilm.weights.json (with its shards) and minilm.keras, whose weights are those of the
safetensors file. Before saving, the model is run and compared with a plain numpy encoder over the original weights.
"""

import pathlib
import sys

import keras
import numpy
from keras import layers, ops
from safetensors.numpy import load_file

WIDTH, HEADS, INNER, BLOCKS, VOCABULARY, POSITIONS = 384, 12, 1536, 6, 30522, 512
EPSILON = 1e-12
MAX_SHARD_GB = 0.046  # just above the largest variable: Keras does not split one, so this makes two files


def encoder_block(x, mask, n):
    attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name=f"attention_{n}")
    x = layers.LayerNormalization(epsilon=EPSILON, name=f"attention_norm_{n}")(x + attention(x, x, attention_mask=mask))
    inner = layers.Dense(INNER, name=f"inner_{n}")(x)
    outer = layers.Dense(WIDTH, name=f"outer_{n}")(ops.gelu(inner, approximate=False))
    return layers.LayerNormalization(epsilon=EPSILON, name=f"outer_norm_{n}")(x + outer)


def build():
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    mask = keras.Input((None,), dtype="int32", name="mask")
    positions = ops.cumsum(ops.ones_like(tokens), axis=1) - 1
    x = layers.Embedding(VOCABULARY, WIDTH, name="words")(tokens)
    x = x + layers.Embedding(POSITIONS, WIDTH, name="positions")(positions)
    x = x + layers.Embedding(2, WIDTH, name="types")(ops.zeros_like(tokens))
    x = layers.LayerNormalization(epsilon=EPSILON, name="embedding_norm")(x)
    for n in range(BLOCKS):
        x = encoder_block(x, ops.cast(mask[:, None, :], "bool"), n)
    return keras.Model([tokens, mask], x, name="minilm")


def fill(model, stored):
    def norm(layer, prefix):
        model.get_layer(layer).set_weights([stored[f"{prefix}.weight"], stored[f"{prefix}.bias"]])

    def dense(layer, prefix):
        model.get_layer(layer).set_weights([stored[f"{prefix}.weight"].T, stored[f"{prefix}.bias"]])

    for layer, name in (("words", "word"), ("positions", "position"), ("types", "token_type")):
        model.get_layer(layer).set_weights([stored[f"embeddings.{name}_embeddings.weight"]])
    norm("embedding_norm", "embeddings.LayerNorm")
    for n in range(BLOCKS):
        block = f"encoder.layer.{n}"
        weights = []
        for part in ("query", "key", "value"):
            weights.append(stored[f"{block}.attention.self.{part}.weight"].T.reshape(WIDTH, HEADS, WIDTH // HEADS))
            weights.append(stored[f"{block}.attention.self.{part}.bias"].reshape(HEADS, WIDTH // HEADS))
        weights.append(stored[f"{block}.attention.output.dense.weight"].T.reshape(HEADS, WIDTH // HEADS, WIDTH))
        weights.append(stored[f"{block}.attention.output.dense.bias"])
        model.get_layer(f"attention_{n}").set_weights(weights)
        norm(f"attention_norm_{n}", f"{block}.attention.output.LayerNorm")
        dense(f"inner_{n}", f"{block}.intermediate.dense")
        dense(f"outer_{n}", f"{block}.output.dense")
        norm(f"outer_norm_{n}", f"{block}.output.LayerNorm")


def reference(stored, tokens):
    """The encoder in numpy, on one sentence without padding."""
    from scipy.special import erf, softmax

    def norm(x, prefix):
        x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * stored[f"{prefix}.weight"] + stored[f"{prefix}.bias"]

    def dense(x, prefix):
        return x @ stored[f"{prefix}.weight"].T + stored[f"{prefix}.bias"]

    x = stored["embeddings.word_embeddings.weight"][tokens] + stored["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + stored["embeddings.position_embeddings.weight"][: len(tokens)], "embeddings.LayerNorm")
    for n in range(BLOCKS):
        block = f"encoder.layer.{n}"
        query, key, value = (dense(x, f"{block}.attention.self.{part}").reshape(len(tokens), HEADS, -1).swapaxes(0, 1)
                             for part in ("query", "key", "value"))
        mixed = softmax(query @ key.swapaxes(1, 2) / numpy.sqrt(WIDTH / HEADS), -1) @ value
        mixed = dense(mixed.swapaxes(0, 1).reshape(len(tokens), WIDTH), f"{block}.attention.output.dense")
        x = norm(x + mixed, f"{block}.attention.output.LayerNorm")
        inner = dense(x, f"{block}.intermediate.dense")
        inner = inner * (1 + erf(inner / numpy.sqrt(2))) / 2
        x = norm(x + dense(inner, f"{block}.output.dense"), f"{block}.output.LayerNorm")
    return x


def main(source, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stored = load_file(source)
    model = build()
    fill(model, stored)
    tokens = numpy.array([101, 1037, 2158, 2003, 5983, 2833, 1012, 102], "int32")  # "A man is eating food."
    answer = numpy.asarray(model([tokens[None], numpy.ones_like(tokens)[None]]))[0]
    difference = float(abs(answer - reference(stored, tokens)).max())
    if not difference < 1e-4:
        sys.exit(f"the Keras model does not compute what the weights say: off by {difference}")
    print(f"  Keras {keras.__version__}, {len(model.weights)} variables; output within {difference:.1g} of numpy's")
    model.save_weights(folder / "minilm.weights.h5")
    model.save_weights(folder / "minilm.weights.json", max_shard_size=MAX_SHARD_GB)
    model.save(folder / "minilm.keras")
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        print(f"  {path.stat().st_size:>12,} bytes  {path.name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
