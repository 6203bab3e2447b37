"""Backbones of keras-hub through Keras's own loading and through shardwise, from presets in local folders: bit for bit.

    KERAS_BACKEND=jax JAX_PLATFORMS=cpu python tools/check_keras_hub.py

Needs keras-hub beside the installed package; it is not among the pinned requirements, so CI does not run this. Presets
with Keras weights (one file and several), and Hugging Face's safetensors for Gemma and Llama; eight CPU devices.
"""

import json
import os
import pathlib
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import keras_hub
import numpy as np
import safetensors.numpy
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel

import shardwise.keras as sw

V, D, L, Q, K, H, F = 256, 64, 2, 8, 8, 16, 128
COMMON = {"vocabulary_size": V, "num_layers": L, "hidden_dim": D}
HEADS = {"num_query_heads": Q, "num_key_value_heads": K}
BACKBONES = {
    "Gemma": lambda h: h.GemmaBackbone(**COMMON, **HEADS, intermediate_dim=2 * F, head_dim=H),
    "Gemma2": lambda h: h.GemmaBackbone(
        **COMMON, **HEADS, intermediate_dim=2 * F, head_dim=H, use_post_ffw_norm=True, use_post_attention_norm=True
    ),
    "Llama": lambda h: h.LlamaBackbone(**COMMON, **HEADS, intermediate_dim=F),
    "Bert": lambda h: h.BertBackbone(
        vocabulary_size=V, num_layers=L, num_heads=4, hidden_dim=D, intermediate_dim=F, max_sequence_length=32
    ),
}


def layout_map(name, mesh):
    if name.startswith("Gemma"):
        return keras_hub.models.GemmaBackbone.get_layout_map(mesh)
    if name == "Llama":
        return keras_hub.models.LlamaBackbone.get_layout_map(mesh)
    layouts = LayoutMap(mesh)
    layouts[".*(intermediate|output)_dense/kernel"] = (None, "model")
    return layouts


def compare(what, name, preset):
    theirs = getattr(keras_hub.models, f"{name.rstrip('2')}Backbone").from_preset(preset)
    with sw.sharded(progress=False) as report:
        ours = getattr(keras_hub.models, f"{name.rstrip('2')}Backbone").from_preset(preset)
    for a, b in zip(ours.weights, theirs.weights, strict=True):
        assert a.value.sharding == b.value.sharding, a.path
        assert np.asarray(a.value).tobytes() == np.asarray(b.value).tobytes(), a.path
    assert not report.whole_reads and report.variables >= len(ours.weights) - 2, report
    print(f"{name:<8} {what:<26} {report.variables} variables, {report.initialized} initialised, none read whole")


def hugging_face(name, folder):
    """A folder as Hugging Face has them, with random weights in bfloat16."""
    rng = np.random.default_rng(0)
    config = {
        "model_type": name.lower(), "architectures": [f"{name}ForCausalLM"], "vocab_size": V, "num_hidden_layers": L,
        "hidden_size": D, "num_attention_heads": Q, "num_key_value_heads": K, "head_dim": H, "intermediate_size": F,
        "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "max_position_embeddings": 64, "tie_word_embeddings": name == "Gemma",
        "torch_dtype": "bfloat16", "hidden_act": "gelu_pytorch_tanh" if name == "Gemma" else "silu",
    }
    if name == "Llama":
        config["head_dim"] = D // Q
    width = config["head_dim"]
    shapes = {"model.embed_tokens.weight": (V, D), "model.norm.weight": (D,)}
    if name == "Llama":
        shapes["lm_head.weight"] = (V, D)
    for k in range(L):
        layer = f"model.layers.{k}"
        shapes |= {f"{layer}.self_attn.{p}_proj.weight": (n * width, D) for p, n in (("q", Q), ("k", K), ("v", K))}
        shapes |= {f"{layer}.self_attn.o_proj.weight": (D, Q * width), f"{layer}.mlp.down_proj.weight": (D, F)}
        shapes |= {f"{layer}.mlp.{p}_proj.weight": (F, D) for p in ("gate", "up")}
        shapes |= {f"{layer}.{p}_layernorm.weight": (D,) for p in ("input", "post_attention")}
    import ml_dtypes

    tensors = {n: rng.normal(size=s).astype(ml_dtypes.bfloat16) for n, s in shapes.items()}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    safetensors.numpy.save_file(tensors, folder / "model.safetensors")
    return str(folder)


def main():
    mesh = DeviceMesh((1, 8), ("batch", "model"))
    with tempfile.TemporaryDirectory() as folder:
        for name, build in BACKBONES.items():
            keras.distribution.set_distribution(ModelParallel(layout_map=layout_map(name, mesh), batch_dim_name="batch"))
            backbone = build(keras_hub.models)
            for what, size in (("Keras, one file", 10), ("Keras, several files", 3e-4)):
                preset = str(pathlib.Path(folder, f"{name}{size}"))
                backbone.save_to_preset(preset, max_shard_size=size)
                compare(what, name, preset)
            if name in ("Gemma", "Llama"):
                compare("Hugging Face safetensors", name, hugging_face(name, pathlib.Path(folder, f"hf-{name}")))


if __name__ == "__main__":
    main()
