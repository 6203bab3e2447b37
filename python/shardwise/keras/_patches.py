"""What of Keras is replaced while a scope of shardwise is open, and how it comes back.

Each patch hands over to the scope of the calling thread (and asyncio task), if that has one, and otherwise to Keras's
own function: other threads notice nothing. Patches are counted, so that nested and concurrent scopes share them; the
last one to close puts everything back.
"""

import contextlib
import contextvars
import functools
import importlib.util
import sys
import threading

from keras.src.backend.common.variables import Variable
from keras.src.backend.jax import core as jax_core
from keras.src.saving import saving_lib

from . import _keras

_current = contextvars.ContextVar("shardwise_scope", default=None)
_lock = threading.Lock()
_open = 0
_undo = []


def current():
    """The innermost open scope of this thread, or None."""
    return _current.get()


@contextlib.contextmanager
def installed(scope):
    """Keras's functions go to `scope` in this thread until the end of the with-block."""
    _install()
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)
        _uninstall()


@contextlib.contextmanager
def suspended():
    """Keras's own behaviour in this thread."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def original(owner, name):
    """Keras's own function, patched or not."""
    function = vars(owner)[name]
    return getattr(function, "shardwise_original", function)


def _install():
    global _open
    with _lock:
        if _open == 0:
            for owner, name, make in _patches():
                own = vars(owner)[name]
                setattr(owner, name, make(own))
                _undo.append((owner, name, own))
        _open += 1


def _uninstall():
    global _open
    with _lock:
        _open -= 1
        if _open == 0:
            while _undo:
                setattr(*_undo.pop())


def _patches():
    """(owner, name, function that makes the replacement of what is there)."""
    yield Variable, "assign", _assign
    for cls in _keras.value_classes():
        yield cls, "value", _value
    yield _keras.initializing_class(), "_initialize_with_initializer", _initialize
    if _keras.nnx_class() is not None:
        yield jax_core, "jnp", _WithoutDummies
    yield saving_lib, "_load_state", _load_state
    yield saving_lib, "is_memory_sufficient", _is_memory_sufficient
    yield saving_lib.H5IOStore, "_get_h5_file", _get_h5_file
    if hasattr(saving_lib, "get_attr_skipset"):
        yield saving_lib, "get_attr_skipset", _get_attr_skipset
    if importlib.util.find_spec("safetensors") is not None:
        yield importlib.import_module("safetensors"), "safe_open", _safe_open


class _WithoutDummies:
    """jax.numpy for Keras's NNX variables, which begin with zeros of their full size on device 0: of no size here."""

    def __init__(self, own):
        self._own = own

    def __getattr__(self, name):
        return getattr(self._own, name)

    def zeros(self, shape, dtype=None, **kwargs):
        is_dummy = sys._getframe(1).f_code is _keras.nnx_class().__init__.__code__ and current() is not None
        return self._own.zeros(() if is_dummy else shape, dtype, **kwargs)


def _assign(own):
    @functools.wraps(own)
    def assign(self, value):
        scope = current()
        return own(self, value) if scope is None else scope.assign(self, value)

    assign.shardwise_original = own
    return assign


def _value(own):
    def value(self):
        scope = current()
        if scope is not None:
            placeholder = scope.before_value(self)
            if placeholder is not None:
                return self._maybe_autocast(placeholder)
        return own.fget(self)

    value.shardwise_original = own
    return property(value, own.fset, own.fdel, own.__doc__)


def _initialize(own):
    @functools.wraps(own)
    def _initialize_with_initializer(self, initializer):
        scope = current()
        if scope is None or not scope.defer(self, initializer, own):
            own(self, initializer)

    _initialize_with_initializer.shardwise_original = own
    return _initialize_with_initializer


def _load_state(own):
    @functools.wraps(own)
    def _load_state(saveable, weights_store, *args, **kwargs):
        scope = current()
        if scope is None:
            return own(saveable, weights_store, *args, **kwargs)
        return scope.load_state(own, saveable, weights_store, args, kwargs)

    _load_state.shardwise_original = own
    return _load_state


def _get_attr_skipset(own):
    remembered = functools.cache(own)

    @functools.wraps(own)
    def get_attr_skipset(obj_type):
        # Keras (3.15) means to remember what it finds on an empty layer, and makes one for each layer of the model.
        return own(obj_type) if current() is None else remembered(obj_type)

    return get_attr_skipset


def _is_memory_sufficient(own):
    @functools.wraps(own)
    def is_memory_sufficient(model):
        # An error here sends load_model to the one of its three ways that copies nothing: the store on the archive.
        if current() is not None:
            raise NotImplementedError("shardwise reads the weights out of the archive by range")
        return own(model)

    return is_memory_sufficient


def _safe_open(own):
    @functools.wraps(own, updated=())
    def safe_open(filename, framework="pt", *args, **kwargs):
        scope = current()
        if scope is None or framework not in ("np", "numpy"):
            return own(filename, framework, *args, **kwargs)
        return scope.safe_open(filename)

    return safe_open


def _get_h5_file(own):
    @functools.wraps(own)
    def _get_h5_file(self, path_or_io, mode=None):
        scope = current()
        if scope is None or (mode or self.mode) != "r":
            return own(self, path_or_io, mode=mode)
        return scope.defer_open(self, path_or_io, functools.partial(own, self, path_or_io, mode=mode))

    return _get_h5_file
