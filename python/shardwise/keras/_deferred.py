"""Variables whose initialisation waits, because a load in the same scope is likely to make it needless."""

import jax
import jax.numpy as jnp
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.initializers.constant_initializers import Constant, Identity, Ones, Zeros
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.utils.jax_utils import is_in_jax_tracing_scope

from . import _patches


class Deferred:
    """Variables without a value, each with what would initialise it. Thread-compatible."""

    def __init__(self):
        self._waiting = {}  # id -> (variable, initializer, Keras's function that initialises)
        self._loaded = {}  # the same, of those that a load gave a value

    def add(self, variable, initializer, initialize) -> bool:
        """Whether the variable waits from now on; False: Keras initialises it now, as ever."""
        if not can_wait(initializer):
            return False
        variable._initialize_layout()
        variable._value = None
        self._waiting[id(variable)] = (variable, initializer, initialize)
        return True

    def holds(self, variable) -> bool:
        return id(variable) in self._waiting

    def forget(self, variable) -> None:
        """The variable has got a value."""
        entry = self._waiting.pop(id(variable), None)
        if entry is not None:
            self._loaded[id(variable)] = entry

    def restore(self, variable) -> None:
        """The value was taken back."""
        if id(variable) in self._loaded:
            self._waiting[id(variable)] = self._loaded.pop(id(variable))

    def touch(self, variable):
        """Initialises the variable; or, where only shapes are being found out, returns zeros without memory."""
        if in_stateless_scope() and is_in_jax_tracing_scope():
            return jnp.zeros(variable._shape, target(variable))
        self._initialize(*self._waiting.pop(id(variable)))
        return None

    def initialize_all(self) -> None:
        while self._waiting:
            self._initialize(*self._waiting.pop(next(iter(self._waiting))))

    @staticmethod
    def _initialize(variable, initializer, initialize):
        with _patches.suspended(), jax.ensure_compile_time_eval():
            initialize(variable, initializer)
            variable._initializer = None


def target(variable):
    return jax.dtypes.canonicalize_dtype(variable._dtype)


def can_wait(initializer) -> bool:
    """Initializers of Keras whose values do not depend on when they are called: constants, and those with a number as
    their seed. Others may draw from a generator that somebody else draws from too."""
    kind = type(initializer)
    if not kind.__module__.startswith("keras.src.initializers"):
        return False
    if isinstance(initializer, RandomInitializer):
        return isinstance(initializer.seed, int)
    return isinstance(initializer, (Constant, Identity, Ones, Zeros))

