"""A stack of plain Keras layers with Gemma's shapes, its layout map, and its files in every format."""

import json
import os
import pathlib

DEVICES = 8


class Sizes:
    """Vocabulary, width, layers, heads, head width and feed-forward width; about 1 GiB of float32 by default."""

    def __init__(self, vocabulary=64000, width=1024, layers=12, heads=8, head=128, feed=4096):
        self.vocabulary, self.width, self.layers = vocabulary, width, layers
        self.heads, self.head, self.feed = heads, head, feed

    def variables(self):
        """{Hugging Face name: (shape in that file, Keras layer name)} in the order of the stack."""
        d, n, f = self.width, self.heads * self.head, self.feed
        out = {"model.embed_tokens.weight": ((self.vocabulary, d), "token_embedding")}
        for i in range(self.layers):
            hf, keras = f"model.layers.{i}.", f"decoder_block_{i}_"
            for kind in ("q", "k", "v"):
                out[f"{hf}self_attn.{kind}_proj.weight"] = ((n, d), f"{keras}attention_{kind}")
            out[f"{hf}self_attn.o_proj.weight"] = ((d, n), f"{keras}attention_output")
            out[f"{hf}mlp.gate_proj.weight"] = ((f, d), f"{keras}ffw_gating")
            out[f"{hf}mlp.up_proj.weight"] = ((f, d), f"{keras}ffw_gating_2")
            out[f"{hf}mlp.down_proj.weight"] = ((d, f), f"{keras}ffw_linear")
            for norm in ("input_layernorm", "post_attention_layernorm"):
                out[f"{hf}{norm}.weight"] = ((d,), f"{keras}{norm}")
        out["model.norm.weight"] = ((d,), "final_normalization")
        return out


def build_keras(sizes):
    """The stack under ModelParallel on 8 virtual devices, initialised with zeros. Import keras first."""
    import keras
    from keras import layers

    mesh = keras.distribution.DeviceMesh((1, DEVICES), ("batch", "model"), keras.distribution.list_devices())
    rules = keras.distribution.LayoutMap(mesh)
    rules["token_embedding/embeddings"] = ("model", "batch")
    rules["decoder_block.*attention_(q|k|v).kernel"] = ("batch", "model", None)
    rules["decoder_block.*attention_output.kernel"] = ("model", None, "batch")
    rules["decoder_block.*ffw_gating.kernel"] = ("batch", "model")
    rules["decoder_block.*ffw_gating_2.kernel"] = ("batch", "model")
    rules["decoder_block.*ffw_linear.kernel"] = ("model", "batch")
    keras.distribution.set_distribution(keras.distribution.ModelParallel(layout_map=rules))
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(sizes.vocabulary, sizes.width, embeddings_initializer="zeros", name="token_embedding")(tokens)
    zeros = {"kernel_initializer": "zeros"}
    for i in range(sizes.layers):
        name = f"decoder_block_{i}_"
        x = layers.LayerNormalization(center=False, name=name + "input_layernorm")(x)
        heads = [layers.EinsumDense("btd,dnh->btnh", (None, sizes.heads, sizes.head), name=f"{name}attention_{k}", **zeros)(x)
                 for k in "qkv"]
        x = layers.EinsumDense("btnh,nhd->btd", (None, sizes.width), name=name + "attention_output", **zeros)(layers.Add()(heads))
        x = layers.LayerNormalization(center=False, name=name + "post_attention_layernorm")(x)
        gates = [layers.Dense(sizes.feed, use_bias=False, name=name + k, **zeros)(x) for k in ("ffw_gating", "ffw_gating_2")]
        x = layers.Dense(sizes.width, use_bias=False, name=name + "ffw_linear", **zeros)(layers.Multiply()(gates))
    x = layers.LayerNormalization(center=False, name="final_normalization")(x)
    return keras.Model(tokens, x)


def layout_json(kind):
    """Rules for `shardwise --layout`: by Hugging Face name, and by dataset path as Keras writes this stack."""
    if kind == "row":
        return {"rules": {".*": ["model"]}, "uneven": "replicate"}
    if kind == "column":
        return {"rules": {r".*(proj|embed_tokens)\.weight": [None, "model"], r".*(embedding|ffw|dense).*/vars/0": [None, "model"]},
                "uneven": "replicate"}
    return {"rules": {
        r"model\.embed_tokens\.weight": ["model", None],
        r".*self_attn\.[qkv]_proj\.weight": ["model", None],
        r".*self_attn\.o_proj\.weight": [None, "model"],
        r".*mlp\.(gate|up)_proj\.weight": ["model", None],
        r".*mlp\.down_proj\.weight": [None, "model"],
        # Keras: embeddings, EinsumDense (q, k, v: (D, N, H); every fourth is the output: (N, H, D)), Dense.
        r"layers/embedding/vars/0": ["model", None],
        r"layers/einsum_dense(_\d+)?/vars/0": ["model", None, None],
        r"layers/dense(_\d+)?/vars/0": [None, "model"],
    }, "uneven": "replicate"}


def make_files(folder, sizes):
    """Writes model.{safetensors,weights.h5,weights.json,keras} with random values; returns {format: path}. Run in a child
    process: it holds the model twice."""
    os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras
    import numpy
    import safetensors.numpy

    folder = pathlib.Path(folder)
    paths = {"safetensors": folder / "model.safetensors", "keras-h5": folder / "model.weights.h5",
             "keras-json": folder / "sharded.weights.json", "keras": folder / "model.keras"}
    model = build_keras(sizes)
    random = numpy.random.default_rng(1)
    tensors = {}
    for name, (shape, layer) in sizes.variables().items():
        tensors[name] = random.standard_normal(shape, numpy.float32)
        variable = model.get_layer(layer).weights[0]
        value = tensors[name] if len(shape) == 1 or "embed" in name else tensors[name].T
        variable.assign(numpy.ascontiguousarray(value).reshape(variable.shape))
    safetensors.numpy.save_file(tensors, paths["safetensors"])
    del tensors
    model.save_weights(paths["keras-h5"])
    model.save_weights(paths["keras-json"], max_shard_size=0.3)
    model.save(paths["keras"])
    del keras
    (folder / "files.json").write_text(json.dumps({k: str(v) for k, v in paths.items()}))


if __name__ == "__main__":
    import sys

    make_files(sys.argv[1], Sizes(**json.loads(sys.argv[2])))
