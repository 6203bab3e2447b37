"""What the tests of the command share: running it, and making and reading safetensors files without a library."""

import dataclasses
import json
import math
import os
import pathlib
import subprocess

import ml_dtypes
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]

# safetensors name, shardwise name, numpy type: every dtype of whole bytes that both sides hold.
DTYPES = [
    ("BOOL", "bool", numpy.dtype(bool)),
    ("I8", "int8", numpy.dtype("int8")),
    ("I16", "int16", numpy.dtype("int16")),
    ("I32", "int32", numpy.dtype("int32")),
    ("I64", "int64", numpy.dtype("int64")),
    ("U8", "uint8", numpy.dtype("uint8")),
    ("U16", "uint16", numpy.dtype("uint16")),
    ("U32", "uint32", numpy.dtype("uint32")),
    ("U64", "uint64", numpy.dtype("uint64")),
    ("F16", "float16", numpy.dtype("float16")),
    ("BF16", "bfloat16", numpy.dtype(ml_dtypes.bfloat16)),
    ("F32", "float32", numpy.dtype("float32")),
    ("F64", "float64", numpy.dtype("float64")),
    ("C64", "complex64", numpy.dtype("complex64")),
    ("F8_E4M3", "float8_e4m3fn", numpy.dtype(ml_dtypes.float8_e4m3fn)),
    ("F8_E5M2", "float8_e5m2", numpy.dtype(ml_dtypes.float8_e5m2)),
    ("F8_E8M0", "float8_e8m0fnu", numpy.dtype(ml_dtypes.float8_e8m0fnu)),
]
NUMPY_OF = {name: dtype for name, _, dtype in DTYPES}
SAFETENSORS_OF = {dtype: name for name, _, dtype in DTYPES}


def binary():
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", "build/release"))
    return (build if build.is_absolute() else ROOT / build) / "shardwise"


@dataclasses.dataclass
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def shardwise(*arguments, expect=0, **options):
    """Runs the command; fails the test unless it exits with `expect`."""
    command = [binary(), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)
    said = f"exit {done.returncode}, not {expect}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert done.returncode == expect, said
    return Run(done.returncode, done.stdout, done.stderr)


def random_array(rng, dtype, shape):
    """Any bits are a value of the type (bool apart): NaNs, infinities and subnormals come along."""
    count = math.prod(shape)
    if dtype == numpy.dtype(bool):
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    raw = rng.integers(0, 256, count * dtype.itemsize, dtype=numpy.uint8)
    return raw.view(dtype).reshape(shape)


def write_safetensors(path, tensors, metadata=None):
    """tensors: {name: array}."""
    header, end = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, array in tensors.items():
        header[name] = {
            "dtype": SAFETENSORS_OF[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(numpy.ascontiguousarray(array).tobytes())
    return path


def read_safetensors(path):
    """(tensors, metadata) of a file."""
    content = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        data = content[begin + first : begin + last]
        tensors[name] = numpy.frombuffer(data, NUMPY_OF[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def write_sparse(path, count, shape):
    """A file of `count` float32 tensors without a byte on disk: all zeros."""
    size = math.prod(shape) * 4
    header = {
        f"layer.{i:04}": {"dtype": "F32", "shape": list(shape), "data_offsets": [i * size, (i + 1) * size]}
        for i in range(count)
    }
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + count * size)
    return path
