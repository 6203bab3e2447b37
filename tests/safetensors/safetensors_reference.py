"""What the reference implementation of safetensors makes of a file, and where shardwise is stricter on purpose."""

import json
import math
import struct

import safetensors

NAMES = {"BOOL": "bool", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn", "U8": "uint8",
         "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn", "F8_E8M0": "float8_e8m0fnu",
         "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "I16": "int16", "U16": "uint16",
         "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32", "F32": "float32", "C64": "complex64",
         "F64": "float64", "I64": "int64", "U64": "uint64"}


def reference(file):
    """[(name, entry)] as the reference reads it, or the text of its refusal."""
    try:
        return safetensors.deserialize(file)
    except safetensors.SafetensorError as error:
        return str(error)


def same_tensors(file, theirs, ours):
    expected = {name: (NAMES[t["dtype"]], t["shape"], bytes(t["data"])) for name, t in theirs}
    got = {}
    for tensor in ours["tensors"]:
        data = b"".join(file[begin:end] for begin, end in tensor["ranges"])
        got[tensor["name"]] = (tensor["dtype"], tensor["shape"], data)
    return expected == got and len(got) == len(ours["tensors"])


class Pairs(list):
    """A JSON object, with every key that was written."""

    def get(self, key, default=None):
        return dict(self).get(key, default)


def header_of(file):
    (length,) = struct.unpack("<Q", file[:8])
    return json.loads(file[8 : 8 + length], object_pairs_hook=Pairs)


def entries(header):
    return [(key, value) for key, value in header if key != "__metadata__"]


def repeats_a_key(header):
    objects = [header, header.get("__metadata__") or Pairs()]
    return any(len({key for key, _ in pairs}) != len(pairs) for pairs in objects)


def holds_nul(header):
    return any("\0" in key for key, _ in entries(header))


def lists_its_fields(header):
    return any(not isinstance(value, Pairs) for _, value in entries(header))


def dtype_is_an_object(header):
    return any(isinstance(v, Pairs) and not isinstance(v.get("dtype"), str) for _, v in entries(header))


def shapes(header):
    return [value.get("shape") for _, value in entries(header) if isinstance(value, Pairs)]


def has_a_rank_over_64(header):
    return any(len(shape) > 64 for shape in shapes(header))


def has_an_extent_over_int64(header):
    return any(extent >= 1 << 63 for shape in shapes(header) for extent in shape)


def has_an_empty_shape_that_overflows(header):
    return any(0 in shape and math.prod(extent or 1 for extent in shape) >= 1 << 63 for shape in shapes(header))


# What the reference takes and shardwise refuses: (recognised here by, words of the refusal).
STRICTER = [
    (repeats_a_key, ("there twice", "twice", "overlap", "takes")),
    (holds_nul, ("NUL",)),
    (lists_its_fields, ("its entry is an array",)),
    (dtype_is_an_object, ("dtype is an object",)),
    (has_a_rank_over_64, ("rank is above the limit of 64",)),
    (has_an_extent_over_int64, ("is over 2^63-1",)),
    (has_an_empty_shape_that_overflows, ("has more than 2^63 elements",)),
]


def is_stricter_here(file, message):
    header = header_of(file)
    return any(belongs(header) and any(word in message for word in words) for belongs, words in STRICTER)
