"""Uniform, normal and truncated normal values, bit for bit against JAX on a processor with fused multiply-add."""

import itertools

import jax
import numpy as np
import pytest
from random_support import DTYPES, same_bits

COUNT = 2**20 + 3  # odd: the last vector is not full
LIMITS = [(0.0, 1.0), (-0.05, 0.05), (-0.3, 0.7), (2.0, 3.0), (0.1, 0.33)]
SCALES = [(0.0, 1.0), (0.0, 0.05), (0.3, 0.05), (-3.0, 7.3)]
# Python's numbers reach 16-bit types through float32: these would be rounded otherwise if they did not.
ROUNDED_TWICE = [1 + 2**-8 + 2**-30, 1 + 2**-11 + 2**-30]


@pytest.fixture(autouse=True)
def wide_for_float64(request):
    if "callspec" in dir(request.node) and request.node.callspec.params.get("dtype") == "float64":
        with jax.enable_x64(True):
            yield
    else:
        yield


def key_of(words):
    return jax.numpy.array(words, jax.numpy.uint32)


def oracle(draw, key, rounding):
    return np.asarray((jax.jit(draw) if rounding == "jit" else draw)(key_of(key)))


def test_every_float32_normal(driver):
    """Draws from several keys until each of the 2^23 inputs was met."""
    met, count = np.zeros(2**23, bool), 2**24
    for seed in range(16):
        ask = dict(key=(seed, 0), shape=(count,))
        met[driver.values(distribution="bits", dtype="uint32", **ask) >> 9] = True
        ours = driver.values(distribution="normal", dtype="float32", **ask)
        assert same_bits(ours, jax.random.normal(key_of((seed, 0)), (count,))) == 0
        if met.all():
            return
    assert met.all()


@pytest.mark.parametrize("rounding", ["eager", "jit"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_uniform(driver, dtype, rounding):
    limits = LIMITS + [(low, 2.0) for low in ROUNDED_TWICE]
    for (low, high), key in itertools.product(limits, [(42, 0), (0, 7)]):
        ours = driver.values(distribution="uniform", key=key, shape=(COUNT,), dtype=dtype, rounding=rounding,
                             parameters=dict(minval=low, maxval=high))
        theirs = oracle(lambda k: jax.random.uniform(k, (COUNT,), dtype, low, high), key, rounding)
        assert same_bits(ours, theirs) == 0, (low, high, key)
        if dtype in ("float16", "bfloat16"):  # every one of the 1024 or 128 inputs was met
            drawn = driver.values(distribution="uniform", key=key, shape=(COUNT,), dtype=dtype)
            assert len(np.unique(drawn.astype(np.float32))) == {"float16": 1024, "bfloat16": 128}[dtype]


@pytest.mark.parametrize("rounding", ["eager", "jit"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_normal(driver, dtype, rounding):
    for mean, stddev in SCALES + [(0.0, scale) for scale in ROUNDED_TWICE]:
        ours = driver.values(distribution="normal", key=(42, 0), shape=(COUNT,), dtype=dtype, rounding=rounding,
                             parameters=dict(mean=mean, stddev=stddev))
        theirs = oracle(lambda k: jax.random.normal(k, (COUNT,), dtype) * stddev + mean, (42, 0), rounding)
        assert same_bits(ours, theirs) == 0, (mean, stddev)


@pytest.mark.parametrize("rounding", ["eager", "jit"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_truncated_normal(driver, dtype, rounding):
    cases = [(mean, stddev, -2.0, 2.0) for mean, stddev in SCALES + [(0.0, scale) for scale in ROUNDED_TWICE]]
    cases += [(0.0, 1.0, *limits) for limits in [(-1.0, 3.0), (0.5, 0.6), (-100.0, 100.0), (3.0, 4.0), (-0.1, 0.1)]]
    for mean, stddev, lower, upper in cases:
        ours = driver.values(distribution="truncated_normal", key=(42, 0), shape=(COUNT,), dtype=dtype,
                             rounding=rounding,
                             parameters=dict(mean=mean, stddev=stddev, lower=lower, upper=upper))
        theirs = oracle(lambda k: jax.random.truncated_normal(k, lower, upper, (COUNT,), dtype) * stddev + mean,
                        (42, 0), rounding)
        assert same_bits(ours, theirs) == 0, (mean, stddev, lower, upper)


@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated_normal"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_every_target_and_any_box(driver, dtype, kind):
    ask = dict(distribution=kind, key=(3, 4), dtype=dtype, shape=(67, 89, 31))
    whole = driver.values(**ask)
    for target in driver.ask(targets=True)["values"]:
        assert same_bits(driver.values(target=target, **ask), whole) == 0, target
        box = ([1, 7, 5], [60, 80, 13])
        assert same_bits(driver.values(target=target, box=box, **ask), whole[1:61, 7:87, 5:18].copy()) == 0, target
