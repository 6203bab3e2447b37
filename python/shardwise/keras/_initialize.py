"""Built-in initializers made shard by shard."""

import jax
from keras.src import initializers
from keras.src.initializers.random_initializers import RandomInitializer

from .. import _core
from ..jax import _handover, _versions
from ..jax._requests import Request, make_plan
from . import _compiled, _keras
from ._recorder import sharding_of, target_dtype
from ._settings import Settings

_NATIVE = (
    "Zeros Ones Constant Identity RandomNormal RandomUniform TruncatedNormal VarianceScaling GlorotUniform "
    "GlorotNormal HeUniform HeNormal LecunUniform LecunNormal"
).split()  # Orthogonal needs the whole tensor, and its bits are those of the LAPACK that Keras finds
_CLASSES = {getattr(initializers, name) for name in _NATIVE}


def request_for(variable, initializer) -> Request | None:
    """What makes a variable's first value shard by shard; None when Keras has to make it."""
    source = source_of(initializer)
    if source is None:
        return None
    sharding, dtype, shape = sharding_of(variable), target_dtype(variable), tuple(variable._shape)
    if not is_host_memory(sharding) or not (_versions.has_steady_logarithms() or _is_uniform(initializer)):
        return None
    try:
        source.check(shape, dtype)
    except ValueError:
        return None
    return Request(variable.path, "", shape, dtype, None, sharding, (source, _rounding(variable, sharding)))


def compiled_value(variable, initializer) -> jax.Array | None:
    """A variable's first value where shards are not host memory; None when Keras has to make it."""
    sharding = sharding_of(variable)
    if source_of(initializer) is None or sharding is None or is_host_memory(sharding):
        return None
    rounding = _rounding(variable, sharding)
    return _compiled.make(initializer, tuple(variable._shape), target_dtype(variable), sharding, rounding)


def _is_uniform(initializer):
    """Whether no value is made by a logarithm."""
    normal = isinstance(initializer, (initializers.RandomNormal, initializers.TruncatedNormal))
    return not normal and "normal" not in getattr(initializer, "distribution", "")


def is_host_memory(sharding) -> bool:
    """Whether shards are blocks of this process's memory."""
    return all(d.platform == "cpu" for d in (sharding.device_set if sharding else jax.local_devices()))


def source_of(initializer) -> _core.Initializer | None:
    """The library's initializer for one of Keras's; None for others, and for those that draw from a generator."""
    if type(initializer) not in _CLASSES:
        return None
    config = _keras.initializer_config(initializer)
    if isinstance(initializer, RandomInitializer):
        if not isinstance(initializer.seed, int) or not 0 <= initializer.seed < 2**32:
            return None  # beyond 32 bits Keras says what it says
        config["seed"] = initializer.seed
    try:
        return _core.make_initializer(type(initializer).__name__, config)
    except (KeyError, ValueError, TypeError, RuntimeError):
        return None


def _rounding(variable, sharding):
    """How Keras computes it: compiled as one program from a certain size on, else op by op."""
    if sharding is None or _keras.is_nnx(variable):
        return "eager"
    return "jit" if _keras.compiles_initializer(sharding, variable._shape) else "eager"


def initialize(variables: list, requests: list[Request], settings: Settings, report) -> None:
    """Makes the values of all variables in one run, then gives them out."""
    if not requests:
        return
    options = settings.load_options()
    arrays, statistics = _handover.run(make_plan(_core.Catalog(), requests, options), options)
    report.initialized += len(requests)
    report.seconds += statistics["seconds"]
    for variable, array in zip(variables, arrays):
        variable._direct_assign(array)
