"""A Gemma 3 model in GGUF, as a Hugging Face checkpoint: bfloat16 safetensors in several files with an index.

    python tools/gguf_to_safetensors.py MODEL.gguf FOLDER [FILES]        needs gguf and numpy

Quantised blocks are dequantised to float32 and rounded to nearest even. Names become Hugging Face's; the norms' weights
lose the 1 that GGUF stores in them. One tensor is held in memory at a time.
"""

import json
import pathlib
import re
import sys

import gguf
import numpy

OUTSIDE_BLOCKS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
IN_BLOCK = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "post_ffw_norm": "post_feedforward_layernorm",
}


def hugging_face_name(name):
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if block:
        return f"model.layers.{block[1]}.{IN_BLOCK[block[2]]}.weight"
    return f"{OUTSIDE_BLOCKS[name.removesuffix('.weight')]}.weight"


def shape_of(tensor):
    return [int(extent) for extent in reversed(tensor.shape)]


def bytes_of(tensor):
    return 2 * int(numpy.prod(shape_of(tensor)))


def bfloat16_bits(tensor):
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype("<f4").reshape(shape_of(tensor))
    if tensor.name.endswith("norm.weight"):
        values = values - 1
    bits = values.view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def split(tensors, count):
    """The tensors in `count` groups of about equal size, in order."""
    share = sum(map(bytes_of, tensors)) / count
    groups, filled = [[]], 0
    for tensor in tensors:
        if filled >= share and len(groups) < count:
            groups.append([])
            filled = 0
        groups[-1].append(tensor)
        filled += bytes_of(tensor)
    return groups


def write_file(path, tensors):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for tensor in tensors:
        begin, end = end, end + bytes_of(tensor)
        entry = {"dtype": "BF16", "shape": shape_of(tensor), "data_offsets": [begin, end]}
        header[hugging_face_name(tensor.name)] = entry
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors:
            file.write(bfloat16_bits(tensor).data)


def main(model, folder, count=3):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    groups = split(gguf.GGUFReader(model).tensors, int(count))
    weight_map = {}
    for number, tensors in enumerate(groups, 1):
        name = f"model-{number:05d}-of-{len(groups):05d}.safetensors"
        write_file(folder / name, tensors)
        weight_map |= {hugging_face_name(tensor.name): name for tensor in tensors}
    total = sum(bytes_of(tensor) for tensors in groups for tensor in tensors)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
