"""Sharded random arrays, with the bits of jax.random: on CPU devices each shard is made alone, in its own memory."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

from .. import _core
from . import _handover, _versions
from ._options import LoadOptions
from ._requests import Request, make_plan


def normal(key, shape, dtype="float32", *, sharding: Sharding, options: LoadOptions = LoadOptions()) -> jax.Array:
    """jax.random.normal(key, shape, dtype), placed as `sharding` says; no device ever holds the whole (but one does
    with jaxlib before 0.8.2 on CPU devices, for what is normally distributed).

    key: of jax.random.key(seed) or PRNGKey(seed), threefry2x32. dtype: float16, bfloat16, float32 (float64 with x64).
    Raises ValueError (shape, dtype, a sharding that does not divide), NotImplementedError (another kind of key).
    """
    return _make("normal", (0.0, 1.0), key, shape, dtype, sharding, options)


def uniform(
    key, shape, dtype="float32", minval=0.0, maxval=1.0, *, sharding: Sharding, options: LoadOptions = LoadOptions()
) -> jax.Array:
    """jax.random.uniform: in [minval, maxval). Otherwise as normal()."""
    return _make("uniform", (minval, maxval), key, shape, dtype, sharding, options)


def truncated_normal(
    key, lower, upper, shape, dtype="float32", *, sharding: Sharding, options: LoadOptions = LoadOptions()
) -> jax.Array:
    """jax.random.truncated_normal(key, lower, upper, shape, dtype). Otherwise as normal()."""
    return _make("truncated_normal", (0.0, 1.0, lower, upper), key, shape, dtype, sharding, options)


def bernoulli(key, p, shape, *, sharding: Sharding, options: LoadOptions = LoadOptions()) -> jax.Array:
    """jax.random.bernoulli(key, p, shape), p a number: bool. Otherwise as normal()."""
    return _make("bernoulli", (p,), key, shape, "bool", sharding, options)


def bits(key, shape, dtype="uint32", *, sharding: Sharding, options: LoadOptions = LoadOptions()) -> jax.Array:
    """jax.random.bits(key, shape, dtype). Otherwise as normal()."""
    return _make("bits", (), key, shape, dtype, sharding, options)


def randint(
    key, shape, minval, maxval, dtype="int32", *, sharding: Sharding, options: LoadOptions = LoadOptions()
) -> jax.Array:
    """jax.random.randint(key, shape, minval, maxval, dtype): in [minval, maxval). Otherwise as normal()."""
    return _make("randint", (minval, maxval), key, shape, dtype, sharding, options)


def _make(kind, parameters, key, shape, dtype, sharding, options):
    words = _words(key)
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    name = str(jax.dtypes.canonicalize_dtype(dtype))
    if any(d.platform != "cpu" for d in sharding.device_set):
        return _on_device(kind, tuple(parameters), shape, name, sharding)(key)
    if kind in ("normal", "truncated_normal") and not _versions.has_steady_logarithms():
        return jax.device_put(_on_device(kind, tuple(parameters), shape, name, None)(key), sharding)
    source = (
        _core.random_integers(int(parameters[0]), int(parameters[1]), words)
        if kind == "randint"
        else _core.random_values(kind, [float(p) for p in parameters], words)
    )
    request = Request(kind, "", shape, name, None, sharding, (source, "eager"))
    (array,), _ = _handover.run(make_plan(_core.Catalog(), [request], options), options)
    return array


def _words(key) -> tuple[int, int]:
    """The two words of a threefry key."""
    if not jax.config.jax_threefry_partitionable:
        raise NotImplementedError("jax_threefry_partitionable is off: an element depends on the whole shape then")
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if str(jax.random.key_impl(key)) != "fry" and "threefry" not in str(jax.random.key_impl(key)):
            raise NotImplementedError(f"a key of {jax.random.key_impl(key)}; only threefry2x32 is made here")
        key = jax.random.key_data(key)
    words = np.asarray(key)
    if words.shape != (2,) or words.dtype != np.uint32:
        raise NotImplementedError(f"a key of shape {words.shape}; only a single key of threefry2x32 is made here")
    return int(words[0]), int(words[1])


@functools.lru_cache(maxsize=256)
def _on_device(kind, parameters, shape, dtype, sharding):
    """A compiled program of a key, which makes the shards on their devices."""
    make = {
        "normal": lambda k: jax.random.normal(k, shape, dtype),
        "uniform": lambda k: jax.random.uniform(k, shape, dtype, *parameters),
        "truncated_normal": lambda k: jax.random.truncated_normal(k, *parameters[2:], shape, dtype),
        "bernoulli": lambda k: jax.random.bernoulli(k, *parameters, shape),
        "bits": lambda k: jax.random.bits(k, shape, dtype),
        "randint": lambda k: jax.random.randint(k, shape, *parameters, dtype),
    }[kind]
    return jax.jit(make, out_shardings=sharding)
