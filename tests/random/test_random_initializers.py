"""Each of Keras's initializers, eager and compiled, against Keras itself."""

import jax
import keras
import numpy as np
import pytest
import scipy.signal
from random_support import DTYPES, Refused, same_bits

SHAPE = (1031, 1021)
CONV = (3, 5, 67, 1051)

DRAWN = [
    ("RandomNormal", {}), ("RandomNormal", {"mean": 0.3, "stddev": 0.02}),
    ("TruncatedNormal", {}), ("TruncatedNormal", {"mean": -1.0, "stddev": 0.7}),
    ("RandomUniform", {}), ("RandomUniform", {"minval": -0.5, "maxval": 0.25}),
    ("GlorotUniform", {}), ("GlorotNormal", {}), ("HeUniform", {}), ("HeNormal", {}), ("LecunUniform", {}),
    ("LecunNormal", {}),
] + [
    ("VarianceScaling", {"scale": scale, "mode": mode, "distribution": distribution})
    for scale, mode, distribution in (
        (1.0, "fan_in", "untruncated_normal"), (0.37, "fan_out", "truncated_normal"), (2.0, "fan_avg", "uniform"),
        (0.5, "fan_avg", "untruncated_normal"), (3.0, "fan_out", "uniform"))
]


@pytest.fixture(autouse=True)
def wide_for_float64(request):
    if "callspec" in dir(request.node) and request.node.callspec.params.get("dtype") == "float64":
        with jax.enable_x64(True):
            yield
    else:
        yield


def both(driver, name, config, shape, dtype, rounding):
    made = keras.initializers.get({"class_name": name, "config": config})
    call = jax.jit(lambda: made(shape, dtype=dtype)) if rounding == "jit" else lambda: made(shape, dtype=dtype)
    ours = driver.values(initializer={"class_name": name, "config": config}, shape=shape, dtype=dtype,
                         rounding=rounding)
    return ours, np.asarray(call())


@pytest.mark.parametrize("rounding", ["eager", "jit"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, config", DRAWN, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x.values())))
def test_drawn(driver, name, config, dtype, rounding):
    ours, theirs = both(driver, name, {**config, "seed": 42}, SHAPE, dtype, rounding)
    assert same_bits(ours, theirs) == 0


@pytest.mark.parametrize("rounding", ["eager", "jit"])
@pytest.mark.parametrize("seed", [0, 1337, 2**32 - 1])
def test_seeds_and_kernels_of_convolutions(driver, seed, rounding):
    for name in ("GlorotUniform", "HeNormal"):
        ours, theirs = both(driver, name, {"seed": seed}, CONV, "float32", rounding)
        assert same_bits(ours, theirs) == 0, name
    axes = {"input_axes": [0, 3], "output_axes": [1, -2]}
    ours, theirs = both(driver, "LecunNormal", {"seed": seed, **axes}, CONV, "float32", rounding)
    assert same_bits(ours, theirs) == 0


@pytest.mark.parametrize("shape", [(), (1,), (7,), (0, 3), (1, 1), (13, 1), (1, 17)])
def test_small_shapes(driver, shape):
    for name in ("GlorotUniform", "HeNormal", "RandomNormal"):
        ours, theirs = both(driver, name, {"seed": 3}, shape, "float32", "eager")
        assert same_bits(ours, theirs) == 0, name


@pytest.mark.parametrize("dtype", [*DTYPES, "int32", "uint8", "bool"])
def test_constants(driver, dtype):
    cases = [("Zeros", {}), ("Ones", {}), ("Constant", {"value": 3.7}), ("Constant", {"value": 0.1})]
    for name, config in cases:
        ours, theirs = both(driver, name, config, (3, 41), dtype, "eager")
        assert same_bits(ours, theirs) == 0, name
    if dtype in DTYPES:
        for gain in (1.0, -2.0, 0.1):
            ours, theirs = both(driver, "Identity", {"gain": gain}, (33, 41), dtype, "eager")
            assert same_bits(ours, theirs) == 0, gain


@pytest.mark.parametrize("dtype, bound", [("float32", 3e-6), ("float64", 2e-14)])
@pytest.mark.parametrize("shape", [(64, 64), (257, 96), (96, 257), (3, 3, 16, 32)])
def test_orthogonal(driver, dtype, bound, shape):
    """The same matrix, but for the rounding of another LAPACK."""
    ours, theirs = both(driver, "Orthogonal", {"gain": 1.5, "seed": 8}, shape, dtype, "eager")
    assert np.abs(ours - theirs).max() < bound


WINDOWS = ["boxcar", "triang", "blackman", "hamming", "hann", "bartlett", "flattop", "parzen", "bohman",
           "blackmanharris", "nuttall", "barthann", "cosine", "exponential", "tukey", "taylor", "lanczos"]


@pytest.mark.parametrize("window", WINDOWS)
def test_windows(driver, window):
    """Band 0 of the unscaled cosines is the window itself."""
    for length, periodic in ((1, False), (2, False), (31, False), (64, False), (64, True), (31, True)):
        config = {"window": window, "scaling": None, "periodic": periodic}
        with jax.enable_x64(True):
            found = driver.values(initializer={"class_name": "STFT", "config": config}, shape=(length, 1, 3),
                                  dtype="float64")
        assert np.abs(found[:, 0, 0] - scipy.signal.get_window(window, length, periodic)).max() < 1e-14


@pytest.mark.parametrize("dtype, bound", [("float32", 3e-7), ("float64", 3e-7), ("bfloat16", 2e-2), ("float16", 3e-3)])
@pytest.mark.parametrize("side", ["real", "imag"])
@pytest.mark.parametrize("scaling", [None, "density", "spectrum"])
def test_stft(driver, dtype, bound, side, scaling):
    config = {"side": side, "window": "hann", "scaling": scaling, "periodic": True}
    ours, theirs = both(driver, "STFT", config, (64, 1, 33), dtype, "eager")
    assert np.abs(ours.astype(float) - theirs.astype(float)).max() < bound


def test_every_name_that_keras_takes(driver):
    from keras.src.initializers import ALL_OBJECTS_DICT

    for name, cls in ALL_OBJECTS_DICT.items():
        if cls is keras.initializers.Initializer:
            continue
        assert driver.ask(describe=name)["text"].split("(")[0] == cls.__name__


@pytest.mark.parametrize("config", [
    {"class_name": "VarianceScaling", "config": {"scale": 0.0}},
    {"class_name": "RandomNormal", "config": {"seed": "a"}},
    {"class_name": "RandomNormal", "config": {"std": 1}},
    {"class_name": "STFT", "config": {"side": "left"}},
    {"class_name": "STFT", "config": {"scaling": "x"}},
    {"class_name": "Nope", "config": {}},
])
def test_refusals_have_keras_words(driver, config):
    with pytest.raises((ValueError, TypeError)) as theirs:
        keras.initializers.get(config)
    with pytest.raises(Refused) as ours:
        driver.ask(describe=config)
    last = str(theirs.value).strip().splitlines()[-1].removeprefix("Exception encountered: ").split(": {")[0]
    assert last in str(ours.value)


@pytest.mark.parametrize("name, shape", [("Identity", (2, 2, 2)), ("Identity", (3,)), ("Orthogonal", (3,))])
def test_refused_shapes_have_keras_words(driver, name, shape):
    with pytest.raises(ValueError) as theirs:
        keras.initializers.get(name)(shape)
    config = {} if name == "Identity" else {"seed": 1}
    with pytest.raises(Refused) as ours:
        driver.values(initializer={"class_name": name, "config": config}, shape=shape, dtype="float32")
    assert str(theirs.value) in str(ours.value)
