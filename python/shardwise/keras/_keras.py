"""What differs between the versions of Keras: each thing found out by what the installed one has, not by its number."""

import contextlib

import jax
from keras.src import backend
from keras.src.backend.common import global_state
from keras.src.backend.common.variables import Variable
from keras.src.backend.jax import core
from keras.src.distribution import LayoutMap

_SCOPES = ("stateless_scope", "autocast_scope")


def initialize_layout(variable) -> None:
    """Gives a variable the layout that the active distribution has for it, if it has none yet."""
    if hasattr(variable, "_initialize_layout"):
        variable._initialize_layout()
        return
    # Keras 3.12 finds the layout when it has got the first value.
    distribution = global_state.get_global_attribute("distribution")
    if variable._layout is None and distribution is not None:
        variable._layout = backend_layout(distribution.get_variable_layout(variable))


def backend_layout(layout):
    """JAX's sharding or layout for a variable's layout: a TensorLayout (since Keras 3.15), or JAX's own already."""
    return getattr(layout, "backend_layout", layout)


def layout_axes(layout) -> tuple | None:
    """Axes per dimension of a TensorLayout; None where a variable holds JAX's sharding."""
    return getattr(layout, "axes", None)


def compiles_initializer(sharding, shape) -> bool:
    """Whether Keras computes the first value of a variable in one compiled program, instead of op by op.

    Keras 3.12 never does; since then it depends on the size, and in 3.13 on whether anything is split.
    """
    return hasattr(core, "should_shard_at_init") and core.should_shard_at_init(sharding, shape)


def initializer_config(initializer) -> dict:
    """An initializer's get_config(), whole: Keras 3.15 leaves the gain of Identity out."""
    config = dict(initializer.get_config())
    if hasattr(initializer, "gain"):
        config["gain"] = initializer.gain
    return config


def initializing_class() -> type:
    """The class whose `_initialize_with_initializer` Keras calls for its variables."""
    return next(c for c in backend.Variable.__mro__ if "_initialize_with_initializer" in vars(c))


def value_classes() -> list[type]:
    """Keras's classes that have a property `value` of their own."""
    own = (c for c in backend.Variable.__mro__ if c is Variable or c.__module__ == core.__name__)
    return [c for c in own if "value" in vars(c)]


def nnx_class() -> type | None:
    """The class of variables that are NNX's as well; None without KERAS_NNX_ENABLED."""
    return getattr(core, "NnxVariable", None)


def is_nnx(variable) -> bool:
    return nnx_class() is not None and isinstance(variable, nnx_class())


def set_raw_value(variable, value) -> None:
    """Sets what a variable holds, without Keras's distributing it first. None: Keras calls its initializer when asked
    (for variables of NNX only since 3.15.1; before, it hands out the None).
    """
    if not is_nnx(variable):
        variable._value = value
    elif hasattr(core, "_set_raw_value"):
        core._set_raw_value(variable, value)
    else:
        object.__setattr__(variable, "raw_value", value)


@contextlib.contextmanager
def as_outside():
    """Assigns are as they are outside of traces, of stateless scopes and of autocast (to which Keras 3.12 rounds what
    is assigned): for values that Keras would have assigned before these began.
    """
    scopes = {name: global_state.get_global_attribute(name) for name in _SCOPES}
    for name in scopes:
        global_state.set_global_attribute(name, None)
    try:
        with jax.ensure_compile_time_eval():
            yield
    finally:
        for name, scope in scopes.items():
            global_state.set_global_attribute(name, scope)


def matches(layout_map, rule: str, paths: list[str]) -> bool:
    """Whether a key of a LayoutMap is for one of the variables: all of a path has to match, or (before 3.14) a part."""
    alone = LayoutMap(layout_map.device_mesh)
    alone[rule] = layout_map[rule]
    return any(alone[path] is not None for path in paths)
