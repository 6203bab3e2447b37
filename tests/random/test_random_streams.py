"""Keys, bits and what is made of whole numbers, against JAX, Keras and Python's own generator."""

import random as python_random

import jax
import keras
import numpy as np
import pytest
from random_support import Refused, same_bits
from jax.extend.random import threefry_2x32

KEYS = [(0, 0), (42, 0), (0, 1701), (0xDEADBEEF, 0xFFFFFFFF)]


def key_of(words):
    return jax.numpy.array(words, jax.numpy.uint32)


@pytest.mark.parametrize("key", KEYS)
def test_split_and_fold_in(driver, key):
    assert driver.ask(split=7, key=key)["values"] == np.asarray(jax.random.split(key_of(key), 7)).tolist()
    for data in (0, 4, 2**32 - 1):
        assert driver.ask(fold_in=data, key=key)["values"] == np.asarray(jax.random.fold_in(key_of(key), data)).tolist()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("key", KEYS)
def test_bits(driver, wide, key, dtype):
    shape = (1031, 1021)
    assert same_bits(driver.values(distribution="bits", key=key, shape=shape, dtype=dtype),
                     jax.random.bits(key_of(key), shape, dtype)) == 0


@pytest.mark.parametrize("first", [2**32 - 500, 2**32, 2**40 + 12345, 2**62 + 3])
def test_indices_beyond_32_bits(driver, first):
    shape, count = (2**33, 2**29 + 1), 1001
    index = np.arange(first, first + count, dtype=np.uint64)
    counters = np.concatenate([(index >> np.uint64(32)).astype(np.uint32), index.astype(np.uint32)])
    a, b = np.split(np.asarray(threefry_2x32(key_of((42, 7)), counters)), 2)
    ask = dict(key=(42, 7), shape=shape, range=(first, count))
    assert same_bits(driver.values(distribution="bits", dtype="uint32", **ask), a ^ b) == 0
    wide = a.astype(np.uint64) << np.uint64(32) | b
    assert same_bits(driver.values(distribution="bits", dtype="uint64", **ask), wide) == 0
    # uniform [0, 1) is exact arithmetic on these bits
    uniform = ((a ^ b) >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-23)
    assert same_bits(driver.values(distribution="uniform", dtype="float32", **ask), uniform) == 0
    box = ([first // shape[1], 11], [3, 5])
    rows = (np.arange(3)[:, None] + box[0][0]) * shape[1] + np.arange(11, 16)
    rows = rows.astype(np.uint64).ravel()
    counters = np.concatenate([(rows >> np.uint64(32)).astype(np.uint32), rows.astype(np.uint32)])
    a, b = np.split(np.asarray(threefry_2x32(key_of((42, 7)), counters)), 2)
    found = driver.values(distribution="bits", dtype="uint32", key=(42, 7), shape=shape, box=box)
    assert same_bits(found, (a ^ b).reshape(3, 5)) == 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("limits", [(0, 8), (-100, 100), (5, 5), (7, -7), (0, 256), (-128, 128), (-(2**31), 2**31),
                                    (0, 2**32), (-(2**63), 2**63 - 1), (3, 1000003)])
def test_randint(driver, wide, dtype, limits):
    found = driver.values(distribution="randint", key=(42, 0), shape=(100003,), dtype=dtype,
                          parameters=dict(minval=limits[0], maxval=limits[1]))
    assert same_bits(found, jax.random.randint(key_of((42, 0)), (100003,), *limits, dtype=dtype)) == 0


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.1, 0.5, 1 / 3, 1 - 1e-9, 1.0, 2.0, -1.0])
def test_bernoulli(driver, p):
    found = driver.values(distribution="bernoulli", key=(42, 0), shape=(1000003,), dtype="bool", parameters=dict(p=p))
    assert np.array_equal(found, np.asarray(jax.random.bernoulli(key_of((42, 0)), p, (1000003,))))


@pytest.mark.parametrize("n", [0, 1, 2, 8, 1000, 70001])
def test_permutation_and_shuffle(driver, tmp_path, n):
    for key in KEYS:
        theirs = np.asarray(jax.random.permutation(key_of(key), n))
        assert driver.ask(permutation=n, key=key)["values"] == theirs.tolist()
    rows = np.arange(3 * n, dtype=np.int16).reshape(n, 3)
    rows.tofile(tmp_path / "in")
    driver.ask(shuffle=True, row_bytes=6, key=KEYS[1], **{"in": str(tmp_path / "in"), "out": str(tmp_path / "out")})
    found = np.fromfile(tmp_path / "out", np.int16).reshape(n, 3)
    assert np.array_equal(found, np.asarray(jax.random.permutation(key_of(KEYS[1]), rows)))


@pytest.mark.parametrize("seed", [0, 1, 1337, 2**32 - 1, 2**32, 2**64 - 1])
def test_seeds_that_python_draws(driver, seed):
    generator = python_random.Random(seed)
    expected = [generator.randint(1, int(1e9)) for _ in range(2000)]
    assert driver.ask(python_seed=seed, draws=2000)["values"] == expected


def test_seeds_that_keras_draws_in_construction_order(driver):
    keras.utils.set_random_seed(812)
    layers = [keras.layers.Dense(3), keras.layers.Dropout(0.5), keras.layers.Embedding(5, 4)]
    drawn = [layers[0].kernel_initializer.seed, int(layers[1].seed_generator.state.value[0]),
             layers[2].embeddings_initializer.seed]
    assert driver.ask(python_seed=812, draws=3)["values"] == drawn


@pytest.mark.parametrize("ordered", [True, False])
def test_seed_generator(driver, ordered):
    generator = keras.random.SeedGenerator(42)
    expected = [np.asarray(generator.next(ordered=ordered)).tolist() for _ in range(20)]
    assert driver.ask(seed_generator=(42, 0), draws=20, ordered=ordered)["values"] == expected
    # The state is all that there is to save.
    state = np.asarray(generator.state.value).tolist()
    following = [np.asarray(generator.next(ordered=ordered)).tolist() for _ in range(3)]
    assert driver.ask(seed_generator=state, draws=3, ordered=ordered)["values"] == following


def test_what_is_no_tensor_is_refused(driver):
    with pytest.raises(Refused, match="negative"):
        driver.values(distribution="bits", key=(0, 0), shape=(-1,), dtype="uint32")
