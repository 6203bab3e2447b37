"""The files that the documentation's commands use: the names and shapes of real models, with small or random values."""

import numpy
from safetensors.numpy import save_file

WIDTH, INNER, BLOCKS, VOCABULARY, POSITIONS = 384, 1536, 6, 30522, 512


def minilm_shapes():
    """Names and shapes of the MiniLM sentence encoder, the model of scripts/demo.sh."""
    norm = {"weight": (WIDTH,), "bias": (WIDTH,)}
    shapes = {f"embeddings.{kind}_embeddings.weight": (rows, WIDTH)
              for kind, rows in (("word", VOCABULARY), ("position", POSITIONS), ("token_type", 2))}

    def add(prefix, part):
        shapes.update({f"{prefix}.{name}": shape for name, shape in part.items()})

    def dense(inputs, outputs):
        return {"weight": (outputs, inputs), "bias": (outputs,)}

    add("embeddings.LayerNorm", norm)
    for n in range(BLOCKS):
        block = f"encoder.layer.{n}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            add(f"{block}.attention.{name}", dense(WIDTH, WIDTH))
        add(f"{block}.attention.output.LayerNorm", norm)
        add(f"{block}.intermediate.dense", dense(WIDTH, INNER))
        add(f"{block}.output.dense", dense(INNER, WIDTH))
        add(f"{block}.output.LayerNorm", norm)
    add("pooler.dense", dense(WIDTH, WIDTH))
    return shapes


def make(folder):
    """model.safetensors: MiniLM with random values."""
    random = numpy.random.default_rng(1)
    tensors = {name: random.standard_normal(shape, "float32") for name, shape in minilm_shapes().items()}
    tensors["embeddings.position_ids"] = numpy.arange(POSITIONS, dtype="int64")[None]
    save_file(tensors, folder / "model.safetensors")
