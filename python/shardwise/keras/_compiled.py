"""Built-in initializers on accelerators: one compiled program per (initializer, shape, sharding, dtype), with the seed
an argument. Keras compiles one per variable, or makes the whole tensor on one device.
"""

import functools
import json

import jax
import numpy as np
from jax.extend import core
from keras.src import initializers

from . import _keras

_PROGRAMS = 4096  # kept; of a model there are some dozens


def make(initializer, shape: tuple[int, ...], dtype: str, sharding, rounding: str) -> jax.Array:
    """The value that Keras's initializer gives, each device computing its own shard.

    rounding: "jit" as one program rounds, "eager" as one operation after the other does.
    """
    config = _keras.initializer_config(initializer)
    config.pop("seed", None)
    program = _program(type(initializer).__name__, json.dumps(config, sort_keys=True), shape, dtype, sharding, rounding)
    return program(np.array([getattr(initializer, "seed", 0), 0], np.uint32))


@functools.lru_cache(maxsize=_PROGRAMS)
def _program(class_name, config, shape, dtype, sharding, rounding):
    cls, options = getattr(initializers, class_name), json.loads(config)

    def compute(key):
        initializer = cls(**options)
        if hasattr(initializer, "seed"):
            initializer.seed = key  # where Keras draws a key from a number, it takes an array as the key
        return initializer(shape, dtype=dtype)

    if rounding == "eager":
        return _one_by_one(compute, shape, sharding)
    return jax.jit(compute, out_shardings=sharding)


def _one_by_one(compute, shape, sharding):
    """The same function with a program for each of its operations (the draw, the factor, the sum), as Keras runs them:
    a compiler that sees a product and a sum together rounds once. Numbers are arguments for the same reason.
    """
    closed = jax.make_jaxpr(compute)(np.zeros(2, np.uint32))
    constants = dict(zip(closed.jaxpr.constvars, closed.consts))
    steps = [(_program_of(equation, shape, sharding), equation) for equation in closed.jaxpr.eqns]
    (result,) = closed.jaxpr.outvars

    def run(key):
        values = constants | {closed.jaxpr.invars[0]: key}
        for program, equation in steps:
            results = program(*(_value(atom, values) for atom in equation.invars))
            values.update(zip(equation.outvars, results))
        return values[result]

    return run


def _program_of(equation, shape, sharding):
    """One operation of a jaxpr as a program that returns a list; results of the tensor's shape are made in shards."""
    bound = equation.primitive.get_bind_params(equation.params)
    functions, parameters = bound if isinstance(bound, tuple) else ((), bound)  # JAX before 0.10 and since

    def operation(*values):
        results = equation.primitive.bind(*functions, *values, **parameters)
        return list(results) if equation.primitive.multiple_results else [results]

    places = [sharding if variable.aval.shape == shape else None for variable in equation.outvars]
    return jax.jit(operation, out_shardings=places)


def _value(atom, values):
    return np.asarray(atom.val, atom.aval.dtype) if isinstance(atom, core.Literal) else values[atom]
