"""Fingerprints against a second implementation, made from docs/fingerprint.md alone."""

import numpy as np
import pytest

MASK = 2**64 - 1


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def weight(word):
    return ((mix(word % 1024 + 1) >> 32) | 1) * (mix((word // 1024 + 1) * 0x9E3779B97F4A7C15 & MASK) | 1)


def absorb(state, value):
    return mix((state * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D + value) & MASK)


def fingerprint(name, shape, data):
    words = np.frombuffer(data + bytes(-len(data) % 4), "<u4")
    total = sum(int(word) * weight(k) for k, word in enumerate(words)) & MASK
    state = absorb(0, len(name))
    for value in [*name.encode(), len(shape), *shape, total]:
        state = absorb(state, value)
    return f"{state:016x}"


CASES = [
    ("float32", ()), ("float32", (0,)), ("bool", (1,)), ("uint8", (3,)), ("bfloat16", (7, 5)), ("float16", (2, 0, 3)),
    ("float32", (3000,)), ("float64", (40, 41)), ("complex128", (33, 2)), ("int4", (10,)), ("float8_e4m3fnuz", (5000,)),
    ("int64", (1, 1, 1, 1)), ("uint8", (9001,)),
]  # fmt: skip


@pytest.mark.parametrize("name,shape", CASES)
def test_equals_the_definition(driver, tmp_path, name, shape):
    bits = {"float32": 32, "bool": 8, "uint8": 8, "bfloat16": 16, "float16": 16, "float64": 64, "complex128": 128, "int4": 4,
            "float8_e4m3fnuz": 8, "int64": 64}[name]  # fmt: skip
    data = np.random.default_rng(1).bytes(int(np.prod(shape)) * bits // 8)
    (tmp_path / "in").write_bytes(data)
    text = ",".join(map(str, shape)) or "scalar"
    assert driver("fingerprint", name, text, tmp_path / "in") == fingerprint(name, shape, data)
