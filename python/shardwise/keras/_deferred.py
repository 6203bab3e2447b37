"""Variables whose first values wait, because a load in the same scope is likely to make them needless."""

import jax
import jax.numpy as jnp
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.initializers import Initializer
from keras.src.utils.jax_utils import is_in_jax_tracing_scope

from . import _keras, _patches
from ._initialize import compiled_value, initialize, request_for, source_of
from ._report import Report
from ._settings import Settings


class Deferred:
    """Variables without a value, each with what would initialise it. Thread-compatible.

    Only initializers of Keras wait whose values do not depend on when they are called: constants, and those with a
    number as their seed. Others may draw from a generator that somebody else draws from too.
    """

    def __init__(self, settings: Settings, report: Report, *, waits: bool):
        self._settings = settings
        self._report = report
        self._waits = waits
        self._waiting = {}  # id -> (variable, initializer, Keras's function that initialises)
        self._loaded = {}  # the same, of those that a load gave a value

    def add(self, variable, initializer, initialize_as_keras) -> bool:
        """Whether the variable is taken care of here; False: Keras initialises it now, as ever."""
        if source_of(initializer) is None:
            self._report.initialized_whole += isinstance(initializer, Initializer)
            return False
        _keras.initialize_layout(variable)
        _keras.set_raw_value(variable, None)
        self._waiting[id(variable)] = (variable, initializer, initialize_as_keras)
        if not self._waits and not in_stateless_scope():
            self.touch(variable)
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
            return jnp.zeros(variable._shape, jax.dtypes.canonicalize_dtype(variable._dtype))
        self._initialize([self._waiting.pop(id(variable))])
        return None

    def initialize_all(self) -> None:
        entries = list(self._waiting.values())
        self._waiting.clear()
        self._initialize(entries)
        self._loaded.clear()

    def _initialize(self, entries):
        variables, requests = [], []
        with _patches.suspended(), jax.ensure_compile_time_eval():
            for variable, initializer, initialize_as_keras in entries:
                variable._initializer = None
                request = request_for(variable, initializer)
                if request is not None:
                    variables.append(variable)
                    requests.append(request)
                elif (value := compiled_value(variable, initializer)) is not None:
                    variable._direct_assign(value)
                    self._report.initialized += 1
                else:
                    self._report.initialized_whole += 1
                    initialize_as_keras(variable, initializer)
            initialize(variables, requests, self._settings, self._report)
