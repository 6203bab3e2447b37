"""LazyTensor: a stored tensor that stands for its values without reading them."""

import numpy as np

from .. import _core
from ..jax._requests import numpy_dtype
from . import _numpy
from ._index import Basic, parse_index


class LazyTensor(np.lib.mixins.NDArrayOperatorsMixin):
    """A tensor of a checkpoint, seen through reshape, transpose, slice and a change of dtype.

    What says only where values lie stays lazy: shape, dtype, len(), slicing, reshape, transpose, astype, and numpy's
    functions for these. Anything else (arithmetic, np.asarray) reads the values, whole, into host memory; `reader`
    counts that. Immutable; thread-safe.
    """

    __slots__ = ("_cast", "_reader", "_tensor", "_value", "_view", "__weakref__")

    def __init__(self, reader, tensor: _core.TensorInfo, view: _core.View | None = None, cast: str | None = None):
        self._reader = reader  # has read(lazy) -> numpy array
        self._tensor = tensor
        self._view = view if view is not None else _core.View(tensor.shape)
        self._cast = cast
        self._value = None

    # ---- What is known without reading ----

    @property
    def shape(self) -> tuple[int, ...]:
        return self._view.shape

    @property
    def dtype(self) -> np.dtype:
        return numpy_dtype(self._cast or self._tensor.dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<LazyTensor '{self._tensor.name}' shape={self.shape} dtype={self.dtype}>"

    # ---- What stays lazy ----

    def reshape(self, *shape, order="C"):
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        if order not in ("C", "A"):
            return self.read().reshape(shape, order=order)
        return self._with_view(self._view.reshape(shape))

    def ravel(self, order="C"):
        return self.reshape(-1) if order in ("C", "A", "K") else self.read().ravel(order)

    flatten = ravel

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes
        axes = tuple(range(self.ndim))[::-1] if not axes else tuple(int(a) % max(self.ndim, 1) for a in axes)
        return self._with_view(self._view.transpose(axes))

    @property
    def T(self):
        return self.transpose()

    @property
    def mT(self):
        return self.swapaxes(-1, -2)

    def swapaxes(self, a, b):
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(order)

    def squeeze(self, axis=None):
        axes = _numpy.axes_of(axis, self.ndim) if axis is not None else [d for d, n in enumerate(self.shape) if n == 1]
        if any(self.shape[d] != 1 for d in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self.reshape([n for d, n in enumerate(self.shape) if d not in axes])

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        name = np.dtype(dtype).name
        if name == self.dtype.name:
            return self
        if casting == "unsafe" and can_become(self, name):
            return LazyTensor(self._reader, self._tensor, self._view, name)
        return self.read().astype(dtype, order=order, casting=casting, copy=copy)

    def __getitem__(self, key):
        index = parse_index(key, self.shape)
        if not isinstance(index, Basic):
            return self.read()[key]
        view = self._view.slice(index.begin, index.end, index.step)
        return self._with_view(view.reshape(index.shape))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _with_view(self, view):
        return LazyTensor(self._reader, self._tensor, view, self._cast)

    # ---- What reads ----

    def read(self) -> np.ndarray:
        """The values, whole, in host memory."""
        return self._value if self._value is not None else self._reader.read(self)

    def settle(self):
        """Reads once, for good: afterwards the checkpoint is not needed any more."""
        self._value = self.read()

    def __array__(self, dtype=None, copy=None):
        value = self.read()
        if dtype is not None and value.dtype != dtype:
            return value.astype(dtype)
        return value.copy() if copy else value

    def __array_function__(self, function, types, args, kwargs):
        return _numpy.call(function, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*_numpy.read_all(inputs), **_numpy.read_all(kwargs))

    def __float__(self):
        return float(self.read())

    def __int__(self):
        return int(self.read())

    def __index__(self):
        return self.read().__index__()

    def __bool__(self):
        return bool(self.read())

    def __getattr__(self, name):
        # Methods of arrays that are not listed above: of the values, read.
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'LazyTensor' object has no attribute {name!r}")
        return getattr(self.read(), name)


def can_become(lazy: LazyTensor, dtype: str) -> bool:
    """Whether one conversion of the stored values to `dtype` gives what converting step by step would."""
    stored = lazy._tensor.dtype
    if lazy._cast is not None and lazy._cast != dtype and not widens(stored, lazy._cast):
        return False
    return dtype == stored or (can_convert(stored, dtype) and _core.can_cast(stored, dtype))


def can_convert(stored: str, dtype: str) -> bool:
    """Whether a load's conversion cannot fail or differ from numpy's: between floats, or to a wider integer type.

    Integers that do not fit their new type fail a load, where numpy wraps them.
    """
    return _is_float(stored) and _is_float(dtype) or widens(stored, dtype)


def widens(stored: str, dtype: str) -> bool:
    if stored == "bfloat16":
        return dtype in ("bfloat16", "float32", "float64")
    if dtype == "bfloat16":
        return stored == dtype
    try:
        return bool(np.can_cast(numpy_dtype(stored), numpy_dtype(dtype), "safe"))
    except TypeError:
        return False


def _is_float(dtype):
    return dtype in ("float16", "bfloat16", "float32", "float64")
