"""Built-in models at full size against keras-hub: `load --model` of Hugging Face's tensors, and `init --model`.

    KERAS_BACKEND=jax python tools/check_builtin_models.py [--shardwise build/release/shardwise] [MODEL ...]

Needs keras and keras-hub; CI does not run this (it takes minutes, 20 GiB of memory and some of disk). keras-hub makes
backbones of full width and two layers; what those two and the rest outside of layers hold is compared, bit for bit, on
eight devices:

- loaded: a checkpoint with all layers, names and shapes as Hugging Face has them (the other layers are holes in the
  file), through the views of the model's tree, against keras-hub's conversion of the same file;
- made: the first values after `set_random_seed(0)`, under ModelParallel.
"""

import argparse
import gc
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import ml_dtypes
import numpy as np
from check_shards import Device, same_bits
from safetensors import safe_open

KEPT = 2  # layers with values
# hidden size, query heads, key-value heads, size of a head, size of the feed-forward layers
MODELS = {
    "gemma_2b": {"model_type": "gemma", "vocab_size": 256000, "num_hidden_layers": 18, "hidden_size": 2048,
                 "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384},
    "gemma2_2b": {"model_type": "gemma2", "vocab_size": 256000, "num_hidden_layers": 26, "hidden_size": 2304,
                  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216,
                  "query_pre_attn_scalar": 256, "final_logit_softcapping": 30.0, "attn_logit_softcapping": 50.0,
                  "sliding_window": 4096},
    "llama3_8b": {"model_type": "llama", "vocab_size": 128256, "num_hidden_layers": 32, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336},
}
COMMON = {"rms_norm_eps": 1e-6, "rope_theta": 500000.0, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}


def shapes(config):
    """Name -> shape of every tensor, layer by layer."""
    v, d, f = config["vocab_size"], config["hidden_size"], config["intermediate_size"]
    heads, kv, h = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    norms = ["input", "post_attention"]
    if config["model_type"] == "gemma2":
        norms += ["pre_feedforward", "post_feedforward"]
    out = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,)}
    if config["model_type"] == "llama":
        out["lm_head.weight"] = (v, d)
    for k in range(config["num_hidden_layers"]):
        layer = f"model.layers.{k}"
        out |= {f"{layer}.self_attn.{p}_proj.weight": (n * h, d) for p, n in (("q", heads), ("k", kv), ("v", kv))}
        out |= {f"{layer}.self_attn.o_proj.weight": (d, heads * h), f"{layer}.mlp.down_proj.weight": (d, f)}
        out |= {f"{layer}.mlp.{p}_proj.weight": (f, d) for p in ("gate", "up")}
        out |= {f"{layer}.{p}_layernorm.weight": (d,) for p in norms}
    return out


def write_checkpoint(path, config):
    """bfloat16 safetensors whose values repeat after a prime number of elements, so that no two rows are equal."""
    values = np.random.default_rng(1).normal(size=1_000_003).astype(ml_dtypes.bfloat16)
    header, at, writes = {}, 0, []
    for name, shape in shapes(config).items():
        count = int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + 2 * count]}
        layer = name.split(".")[2] if ".layers." in name else "0"
        if int(layer) < KEPT:
            writes.append((at, count, len(writes) * 7919 % values.size))
        at += 2 * count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
        for offset, count, first in writes:
            file.seek(8 + len(text) + offset)
            rolled = np.roll(values, -first)
            for done in range(0, count, values.size):
                file.write(rolled[: min(values.size, count - done)].tobytes())


def backbone_class(config):
    import keras_hub

    return keras_hub.models.Llama3Backbone if config["model_type"] == "llama" else keras_hub.models.GemmaBackbone


def converted(folder, config):
    """What keras-hub makes of the folder's file."""
    small = config | COMMON | {"num_hidden_layers": KEPT, "tie_word_embeddings": config["model_type"] != "llama"}
    if config["model_type"] == "llama":
        small |= {"architectures": ["LlamaForCausalLM"], "rope_scaling": None}
    (folder / "config.json").write_text(json.dumps(small))
    return backbone_class(config).from_preset(str(folder), dtype="bfloat16")


def newly_made(config):
    """A new backbone, sharded as by Keras: its first values are those that Keras gives on a mesh."""
    import keras
    from keras.distribution import DeviceMesh, LayoutMap, ModelParallel
    from keras_hub.src.models.llama import llama_backbone

    layouts = LayoutMap(DeviceMesh((1, 8), ("batch", "model")))
    layouts["token_embedding/embeddings"] = ("model", None)
    layouts["token_embedding/reverse_embeddings"] = (None, "model")
    left_out = config["num_hidden_layers"] - KEPT

    class Decoder(llama_backbone.LlamaTransformerDecoder):
        """Draws the seeds of the layers that are left out: all are constructed before the first is built."""

        made = 0

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            Decoder.made += 1
            if Decoder.made == KEPT:
                [random.randint(1, int(1e9)) for _ in range(left_out)]

    llama_backbone.LlamaTransformerDecoder = Decoder
    arguments = {"vocabulary_size": config["vocab_size"], "num_layers": KEPT, "hidden_dim": config["hidden_size"],
                 "num_query_heads": config["num_attention_heads"],
                 "num_key_value_heads": config["num_key_value_heads"]}
    if config["model_type"] == "llama":
        arguments |= {"intermediate_dim": config["intermediate_size"]}
    else:
        arguments |= {"intermediate_dim": 2 * config["intermediate_size"], "head_dim": config["head_dim"]}
    if config["model_type"] == "gemma2":
        arguments |= {"use_post_ffw_norm": True, "use_post_attention_norm": True}
    keras.distribution.set_distribution(ModelParallel(layout_map=layouts, batch_dim_name="batch"))
    try:
        keras.utils.set_random_seed(0)
        return backbone_class(config)(dtype="bfloat16", **arguments)
    finally:
        keras.distribution.set_distribution(None)


def options(name, config):
    layers = "|".join(rf"(block|layer)_{k}/" for k in range(KEPT))
    layout = "llama" if config["model_type"] == "llama" else "gemma"
    return ["--model", name, "--mesh", "batch=1,model=8", "--layout", layout, "--uneven", "replicate", "--dtype",
            "bfloat16", "--select", f"{layers}|embedding|final|sequence"]


def report(what, theirs, found, differences):
    """`differences(path, array)` lists what is wrong with one variable. True when nothing is."""
    theirs = {v.path: v for v in theirs.weights if "seed_generator" not in v.path}
    wrong = [f"only on one side: {n}" for n in sorted(found ^ set(theirs))]
    values = 0
    for path in sorted(found & set(theirs)):
        whole = np.asarray(theirs[path].value)
        values += whole.size
        wrong += differences(path, whole)
    print(f"{what}: {len(found)} variables, {values:,} values:", *wrong or ["all equal"], sep="\n  ")
    return not wrong and bool(found)


def check_loaded(shardwise, name, folder):
    config = MODELS[name]
    write_checkpoint(folder / "model.safetensors", config)
    subprocess.run([shardwise, "load", folder / "model.safetensors", *options(name, config), "--dump", folder / "shards"],
                   check=True, stdout=subprocess.DEVNULL)
    devices = [Device(p) for p in sorted((folder / "shards").glob("device-*.safetensors"))]

    def differences(path, whole):
        seen = np.zeros(whole.shape, bool)
        wrong = [f"{path}: differs on {d.id}" for d in devices if not d.compare(path, whole, seen)]
        return wrong + ([] if seen.all() else [f"{path}: some values are on no device"])

    found = {n for device in devices for n in device.shards}
    return report(f"{name}, loaded", converted(folder, config), found, differences)


def check_made(shardwise, name, folder):
    config = MODELS[name]
    path = folder / "made.safetensors"
    subprocess.run([shardwise, "init", *options(name, config), "--seed", "0", "--save", path], check=True,
                   stdout=subprocess.DEVNULL)
    with safe_open(path, "numpy") as file:
        return report(f"{name}, made", newly_made(config), set(file.keys()),
                      lambda n, whole: [] if same_bits(file.get_tensor(n), whole) else [f"{n}: differs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardwise", default="build/release/shardwise")
    parser.add_argument("models", nargs="*", default=list(MODELS))
    args = parser.parse_args()
    good = True
    for name in args.models:
        folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        try:
            good &= check_loaded(args.shardwise, name, folder)
            gc.collect()  # backbones are cycles
            good &= check_made(args.shardwise, name, folder)
        finally:
            shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
