"""Conversions against numpy and ml_dtypes, bit for bit."""

import fractions
import itertools

import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    "float64": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
PAIRS = list(itertools.permutations(DTYPES, 2))
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def unsigned(dtype):
    return np.dtype(f"u{dtype.itemsize}")


def special_values(dtype):
    """Zeros, subnormals, limits, infinities, NaNs of many payloads, and what rounds to these in narrower types."""
    bits = unsigned(dtype).itemsize * 8
    info = ml_dtypes.finfo(dtype)
    infinity = int(np.array(np.inf, dtype).view(unsigned(dtype)))
    patterns = {0, 1, 2, 3, infinity - 1, infinity, infinity + 1, infinity + 2, infinity | 1 << (info.nmant - 1)}
    patterns |= {infinity | 1 << i for i in range(info.nmant)}
    patterns |= {(infinity | 1 << i) + 1 for i in range(info.nmant)}
    patterns |= {1 << i for i in range(bits - 1)}
    patterns |= {(1 << i) - 1 for i in range(bits)}
    for other in DTYPES.values():
        limits = ml_dtypes.finfo(other)
        for value in (limits.max, limits.smallest_normal, limits.smallest_subnormal, limits.eps, 1 + limits.eps / 2):
            for factor in (0.25, 0.5, 0.75, 1, 1.5, 2.5):
                near = int(np.array(np.float64(value) * factor).astype(dtype).view(unsigned(dtype)))
                patterns |= {near + beside for beside in (-2, -1, 0, 1, 2) if near + beside >= 0}
    patterns = np.array(sorted(p for p in patterns if p < 1 << (bits - 1)), dtype=unsigned(dtype))
    return np.concatenate([patterns, patterns | unsigned(dtype).type(1 << (bits - 1))])


def random_values(dtype, count):
    """Random patterns, one in three of them of a magnitude that narrower types hold, one in three close to a tie."""
    random = np.random.default_rng(7)
    noise = random.integers(0, 2 ** (8 * dtype.itemsize), count, dtype=unsigned(dtype), endpoint=False)
    moderate = (random.standard_normal(count // 3) * 2.0 ** random.integers(-26, 17, count // 3)).astype(dtype)
    noise[: moderate.size] = moderate.view(unsigned(dtype))
    if dtype.itemsize > 2:
        cut = random.choice([13, 16] if dtype.itemsize == 4 else [29, 42, 45], moderate.size).astype(unsigned(dtype))
        one = unsigned(dtype).type(1)
        tie = ((moderate.view(unsigned(dtype)) >> cut) << cut) | (one << (cut - one))
        noise[moderate.size : 2 * moderate.size] = tie + random.integers(-1, 2, tie.size).astype(unsigned(dtype))
    return noise


def convert(driver, tmp_path, patterns, source, target):
    patterns.tofile(tmp_path / "in")
    assert driver("convert", source, target, tmp_path / "in", tmp_path / "out") == "ok"
    return np.fromfile(tmp_path / "out", dtype=unsigned(DTYPES[target]))


def expect_equal(actual, expected, patterns, where=slice(None)):
    bad = np.flatnonzero(actual[where] != expected[where])
    shown = [(hex(patterns[where][i]), hex(actual[where][i]), hex(expected[where][i])) for i in bad[:5]]
    assert bad.size == 0, f"{bad.size} differ; (source, ours, theirs): {shown}"


@pytest.mark.parametrize("source,target", [p for p in PAIRS if p != ("float64", "bfloat16")])
def test_every_pair_equals_numpy(driver, tmp_path, source, target):
    dtype = DTYPES[source]
    patterns = np.concatenate([special_values(dtype), random_values(dtype, 1_000_000)])
    if dtype.itemsize == 2:
        patterns = np.arange(65536, dtype=np.uint16)
    expected = patterns.view(dtype).astype(DTYPES[target]).view(unsigned(DTYPES[target]))
    expect_equal(convert(driver, tmp_path, patterns, source, target), expected, patterns)


def test_float64_to_bfloat16_equals_ml_dtypes_but_rounds_once(driver, tmp_path):
    """ml_dtypes rounds to float32 first. Ours differs exactly where that turns a value beside a tie into the tie."""
    patterns = np.concatenate([special_values(DTYPES["float64"]), random_values(DTYPES["float64"], 1_000_000)])
    values = patterns.view(np.float64)
    actual = convert(driver, tmp_path, patterns, "float64", "bfloat16")
    expected = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    rounded = values.astype(np.float32)
    became_tie = (rounded.view(np.uint32) & 0xFFFF == 0x8000) & (rounded.astype(np.float64) != values) & ~np.isnan(values)
    expect_equal(actual, expected, patterns, ~became_tie)
    assert became_tie.sum() > 1000 and (actual != expected).sum() > 100  # the test saw the cases it is about
    for i in np.flatnonzero(became_tie)[:2000]:
        value = fractions.Fraction(float(values[i]))
        candidates = [int(actual[i]) + beside for beside in (-1, 0, 1) if 0 <= (int(actual[i]) & 0x7FFF) + beside < 0x7F80]
        distance = {c: abs(fractions.Fraction(float(np.uint16(c).view(ml_dtypes.bfloat16))) - value) for c in candidates}
        assert min(distance, key=distance.get) == actual[i], hex(patterns[i])


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("source", ["bool", *INTEGERS])
def test_integers_equal_numpy_when_they_fit(driver, tmp_path, source):
    random = np.random.default_rng(3)
    for target in INTEGERS:
        limits = [np.iinfo(t) for t in (source if source != "bool" else "uint8", target)]
        low, high = max(i.min for i in limits), min(i.max for i in limits)
        values = random.integers(low, high, 5000, dtype=np.int64 if high < 2**63 else np.uint64, endpoint=True)
        array = values.astype(np.uint8).view(np.bool_) if source == "bool" else values.astype(source)
        array.tofile(tmp_path / "in")
        assert driver("convert", source, target, tmp_path / "in", tmp_path / "out") == "ok"
        np.testing.assert_array_equal(np.fromfile(tmp_path / "out", target), array.astype(target))


@pytest.mark.parametrize("place", [0, 63, 64, 999])
def test_an_integer_that_does_not_fit_is_named(driver, tmp_path, place):
    values = np.ones(1000, np.int64)
    values[place] = -2
    values.tofile(tmp_path / "in")
    answer = driver("convert", "int64", "uint8", tmp_path / "in", tmp_path / "out")
    assert answer == "INVALID_ARGUMENT: value -2 of type int64 does not fit uint8"
