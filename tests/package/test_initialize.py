"""sw.sharded() and shardwise.jax.normal: the bits that Keras and JAX give, made shard by shard."""

import jax
import keras
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec as P
from keras import initializers, layers
from keras.src.backend.jax import core

import shardwise.jax
import shardwise.keras as sw
from shardwise.jax import _versions
from shardwise.keras import _compiled, _initialize
from zoo import MODELS, sequential

# Before jaxlib 0.8.2 the normal values of an array have JAX's bits only when all of it is made at once: by Keras.
IS_STEADY = _versions.has_steady_logarithms()

INITIALIZERS = {
    "zeros": lambda: initializers.Zeros(),
    "ones": lambda: initializers.Ones(),
    "constant": lambda: initializers.Constant(0.3),
    "identity": lambda: initializers.Identity(2.0),
    "random_normal": lambda: initializers.RandomNormal(0.5, 2.0, seed=3),
    "random_uniform": lambda: initializers.RandomUniform(-3.0, 1.0, seed=4),
    "truncated_normal": lambda: initializers.TruncatedNormal(0.1, 0.7, seed=5),
    "variance_scaling": lambda: initializers.VarianceScaling(1.0, "fan_in", "untruncated_normal", seed=6),
    "glorot_uniform": lambda: initializers.GlorotUniform(seed=7),
    "glorot_normal": lambda: initializers.GlorotNormal(),
    "he_uniform": lambda: initializers.HeUniform(),
    "he_normal": lambda: initializers.HeNormal(seed=8),
    "lecun_uniform": lambda: initializers.LecunUniform(seed=9),
    "lecun_normal": lambda: initializers.LecunNormal(seed=10),
}


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert a.value.sharding == b.value.sharding and a.value.dtype == b.value.dtype, a.path
        assert a.value.committed == b.value.committed
        assert np.asarray(a.value).tobytes() == np.asarray(b.value).tobytes(), a.path


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_bits_are_keras(name, dtype, distribution):
    variables = []
    for scope in (False, True):
        keras.utils.set_random_seed(1)
        initializer = INITIALIZERS[name]()
        make = lambda: keras.Variable(initializer, shape=(64, 48), dtype=dtype, name="embeddings")
        with keras.name_scope("words"):
            if not scope:
                variables.append(make())
                continue
            with sw.sharded(defer=False) as report:
                variables.append(make())
                assert variables[-1]._value is not None
    is_shardwise = IS_STEADY or not ("normal" in name or name == "variance_scaling")
    assert (report.initialized, report.initialized_whole) == (is_shardwise, not is_shardwise)
    assert len({str(s.index) for s in variables[1].value.addressable_shards}) == 8
    same(variables[:1], variables[1:])


@pytest.mark.parametrize("seed", [2**32 + 5, -3])
def test_seeds_beyond_32_bits_fail_as_in_keras(seed, distribution):
    def make():
        return keras.Variable(initializers.RandomNormal(seed=seed), shape=(64, 48), name="embeddings")

    with pytest.raises(OverflowError) as theirs:
        make()
    with pytest.raises(OverflowError) as ours, sw.sharded(defer=False):
        make()
    assert str(ours.value) == str(theirs.value)


def test_large_variables_round_as_compiled_programs(distribution):
    keras.utils.set_random_seed(1)
    initializer = initializers.RandomNormal(0.5, 2.0, seed=3)
    with keras.name_scope("words"):
        theirs = keras.Variable(initializer, shape=(8192, 1024), name="embeddings")
        with sw.sharded(defer=False):
            ours = keras.Variable(initializer, shape=(8192, 1024), name="embeddings")
    same([ours], [theirs])


@pytest.mark.parametrize("name", ["random_normal", "random_uniform", "truncated_normal", "glorot_normal", "identity"])
def test_compiled_programs_of_any_size(name, distribution, monkeypatch):
    """As above, but what Keras compiles is not a matter of the size, which is not the same in all versions."""
    if not hasattr(core, "should_shard_at_init"):
        pytest.skip(f"Keras {keras.__version__} compiles no initializer")
    monkeypatch.setattr(core, "should_shard_at_init", lambda layout, shape: True)
    initializer = INITIALIZERS[name]()
    with keras.name_scope("words"):
        theirs = keras.Variable(initializer, shape=(512, 384), name="embeddings")
        with sw.sharded(defer=False) as report:
            ours = keras.Variable(initializer, shape=(512, 384), name="embeddings")
    assert report.initialized == 1
    same([ours], [theirs])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("shape", [(64, 48), (8192, 1024)], ids=["eager", "jit"])
def test_programs_of_accelerators(shape, dtype, distribution, monkeypatch):
    """What happens where shards are not host memory, on devices that are: Keras's bits, and few programs."""
    monkeypatch.setattr(_initialize, "is_host_memory", lambda sharding: False)
    _compiled._program.cache_clear()
    names = ["identity", "random_normal", "truncated_normal", "variance_scaling", "glorot_uniform"]
    for name in names if dtype == "float32" else names[1:3]:
        for seed in (3, 4):
            keras.utils.set_random_seed(1)
            initializer = INITIALIZERS[name]()
            initializer.seed = seed
            with keras.name_scope("words"):
                theirs = keras.Variable(initializer, shape=shape, dtype=dtype, name="embeddings")
                with sw.sharded(defer=False) as report:
                    ours = keras.Variable(initializer, shape=shape, dtype=dtype, name="embeddings")
            assert report.initialized == 1
            same([ours], [theirs])
        assert _compiled._program.cache_info().hits == _compiled._program.cache_info().misses


@pytest.mark.parametrize("name", ["dense", "embeddings", "custom", "adam"])
def test_models_start_as_in_keras(name, distribution):
    keras.utils.set_random_seed(5)
    theirs = MODELS[name]()
    keras.utils.set_random_seed(5)
    with sw.sharded() as report:
        ours = MODELS[name]()
    assert report.initialized
    same(ours.variables, theirs.variables)


def test_what_is_loaded_is_not_initialised(distribution, tmp_path):
    build = lambda: sequential(layers.Dense(32, name="wide_a"), layers.Dense(8, name="b"), shape=(16,))
    build().save_weights(tmp_path / "m.weights.h5")
    with sw.sharded(progress=False) as report:
        model = build()
        assert all(v._value is None for v in model.variables)
        model.load_weights(tmp_path / "m.weights.h5")
        assert all(v._value is not None for v in model.variables)
    assert report.initialized == 0 and report.variables == 4


def test_touching_initialises(distribution):
    keras.utils.set_random_seed(5)
    theirs = sequential(layers.Dense(32, name="wide_a"), layers.Dense(8, name="b"), shape=(16,))
    keras.utils.set_random_seed(5)
    x = np.ones((2, 16), "float32")
    with sw.sharded() as report:
        ours = sequential(layers.Dense(32, name="wide_a"), layers.Dense(8, name="b"), shape=(16,))
        assert report.initialized == 0
        np.testing.assert_array_equal(ours.layers[0].kernel.numpy(), np.asarray(theirs.layers[0].kernel.value))
        assert report.initialized == 1
        # Inside a trace, and inside a stateless call with values of its own.
        np.testing.assert_array_equal(np.asarray(jax.jit(ours)(x)), np.asarray(jax.jit(theirs)(x)))
        given = [v.value * 2 for v in theirs.variables]
        (doubled, _), (expected, _) = (m.stateless_call(given, [], x) for m in (ours, theirs))
        np.testing.assert_array_equal(np.asarray(doubled), np.asarray(expected))
    same(ours.variables, theirs.variables)


def test_training_inside_and_after(distribution):
    histories = []
    for scope in (False, True):
        keras.utils.set_random_seed(5)
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(16, 16)).astype("float32"), rng.normal(size=(16, 8)).astype("float32")

        def work():
            model = sequential(layers.Dense(32, name="wide_a"), layers.Dropout(0.1), layers.Dense(8), shape=(16,))
            model.compile("adam", "mse")
            model.fit(x, y, epochs=2, verbose=0, batch_size=8)
            return model

        if scope:
            with sw.sharded():
                model = work()
        else:
            model = work()
        histories.append(model.fit(x, y, epochs=1, verbose=0, batch_size=8).history["loss"])
    assert histories[0] == histories[1]


def test_a_failed_load_leaves_first_values(distribution, tmp_path):
    build = lambda last: sequential(layers.Dense(32, name="wide_a"), layers.Dense(last, name="b"), shape=(16,))
    build(8).save_weights(tmp_path / "m.weights.h5")
    keras.utils.set_random_seed(5)
    theirs = build(4)
    keras.utils.set_random_seed(5)
    with sw.sharded(progress=False):
        ours = build(4)
        with pytest.raises(ValueError, match="could not be loaded"):
            ours.load_weights(tmp_path / "m.weights.h5")
    same(ours.variables, theirs.variables)


def test_orthogonal_stays_with_keras(distribution):
    initializer = initializers.Orthogonal(seed=11)
    with keras.name_scope("words"):
        theirs = keras.Variable(initializer, shape=(64, 48), name="embeddings")
        with sw.sharded() as report:
            ours = keras.Variable(initializer, shape=(64, 48), name="embeddings")
    assert report.initialized == 0 and report.initialized_whole == 1
    assert "initialised whole by Keras: 1 variables" in str(report)
    same([ours], [theirs])


def test_custom_initializers_stay_with_keras(distribution):
    generator = keras.random.SeedGenerator(3)
    calls = []

    def own(shape, dtype):
        calls.append(shape)
        return keras.random.uniform(shape, dtype=dtype, seed=generator)

    with sw.sharded() as report:
        a = keras.Variable(own, shape=(4, 4))
        b = keras.Variable(initializers.RandomNormal(seed=generator), shape=(4, 4))
        assert calls == [(4, 4)] and a._value is not None and b._value is not None
    assert report.initialized == 0


@pytest.mark.parametrize("spec", [P(), P("x"), P("x", "y"), P(None, ("y", "x"))], ids=str)
def test_jax_random(spec):
    mesh = jax.make_mesh((2, 4), ("x", "y"))
    sharding = NamedSharding(mesh, spec)
    key, old = jax.random.key(17), jax.random.PRNGKey(17)
    shape = (24, 32)
    pairs = [
        (shardwise.jax.normal(key, shape, sharding=sharding), jax.random.normal(key, shape)),
        (shardwise.jax.normal(old, shape, "bfloat16", sharding=sharding), jax.random.normal(old, shape, "bfloat16")),
        (
            shardwise.jax.uniform(key, shape, "float16", -2.0, 3.0, sharding=sharding),
            jax.random.uniform(key, shape, "float16", -2.0, 3.0),
        ),
        (
            shardwise.jax.truncated_normal(key, -1.0, 2.5, shape, sharding=sharding),
            jax.random.truncated_normal(key, -1.0, 2.5, shape),
        ),
        (shardwise.jax.bits(key, shape, "uint8", sharding=sharding), jax.random.bits(key, shape, "uint8")),
        (shardwise.jax.bernoulli(key, 0.3, shape, sharding=sharding), jax.random.bernoulli(key, 0.3, shape)),
        (
            shardwise.jax.randint(key, shape, -5, 1000, "int16", sharding=sharding),
            jax.random.randint(key, shape, -5, 1000, "int16"),
        ),
    ]
    for ours, theirs in pairs:
        assert ours.sharding == sharding and ours.dtype == theirs.dtype
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


def test_other_keys_are_refused():
    sharding = NamedSharding(jax.make_mesh((8,), ("x",)), P("x"))
    with pytest.raises(NotImplementedError, match="rbg"):
        shardwise.jax.normal(jax.random.key(1, impl="rbg"), (8,), sharding=sharding)
    with pytest.raises(ValueError):
        shardwise.jax.normal(jax.random.key(1), (9,), sharding=sharding)
