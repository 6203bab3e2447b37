"""Recorder: what a load assigns, kept until one plan can bring all of it, and what it takes to undo it."""

import jax
from keras.src.backend.common.stateless_scope import in_stateless_scope

from .. import _core
from ..jax import _handover
from ..jax._requests import Plan, Request, make_plan
from . import _errors, _keras
from ._lazy import LazyTensor, can_become
from ._report import Report, WholeRead
from ._settings import Settings

_FAILED = "holds no value: a load with keep_old=False failed after its old value was released; load it again"


class Recorder:
    """Assigns of lazy tensors, and a journal of everything else that changed. Thread-compatible.

    `assign` and `value` are Keras's own methods, of Variable.
    """

    def __init__(self, settings: Settings, report: Report, assign):
        self.settings = settings
        self.report = report
        self._assign = assign
        self._pending = {}  # id -> (variable, lazy tensor), in the order of assigns
        self._old = {}  # id -> (variable, raw value before the first change)
        self._attributes = {}  # id -> (object, its attributes before it loaded)
        self._catalogs = {}  # id of a reader -> its catalog
        self.dry = False  # plan only: nothing is assigned

    # ---- Recording ----

    def assign(self, variable, value):
        """Variable.assign: a lazy tensor is recorded, anything else assigned at once."""
        if not isinstance(value, LazyTensor):
            return self._assign_now(variable, value)
        if tuple(value.shape) != tuple(variable.shape):
            raise _errors.shape_mismatch(variable, value.shape)
        if in_stateless_scope() or not can_become(value, target_dtype(variable)):
            return self._assign_now(variable, value if self.dry else value.read())
        self._pending.pop(id(variable), None)
        self._pending[id(variable)] = (variable, value)
        return value

    def _assign_now(self, variable, value):
        self._pending.pop(id(variable), None)
        if self.dry:
            return value
        if not in_stateless_scope():
            self._keep(variable)
        return self._assign(variable, value)

    def is_pending(self, variable) -> bool:
        return id(variable) in self._pending

    def snapshot(self, saveable) -> None:
        """To be called before an object loads its own variables."""
        if id(saveable) not in self._attributes:
            self._attributes[id(saveable)] = (saveable, dict(vars(saveable)))

    def _keep(self, variable):
        if self.settings.keep_old:
            self._old.setdefault(id(variable), (variable, variable._value, variable._initializer))

    def add_catalog(self, reader, catalog: _core.Catalog) -> None:
        self._catalogs[id(reader)] = (reader, catalog)

    # ---- Carrying out ----

    def plans(self) -> list[Plan]:
        """One plan per checkpoint for what is pending."""
        options = self.settings.load_options()
        return [make_plan(catalog, requests, options, labels) for catalog, requests, labels, _ in self._groups()]

    def commit(self) -> list:
        """Loads what is pending and gives each variable its array, through its own assign. Returns these variables.
        On an error nothing of what is pending was assigned (with keep_old)."""
        groups = list(self._groups())
        self._pending.clear()
        with _keras.as_outside():
            if self.settings.keep_old:
                self._load_then_assign(groups)
            else:
                for catalog, requests, labels, variables in groups:
                    for part in _parts(requests, self.settings.release_bytes):
                        self._release_load_assign(catalog, requests, labels, variables, part)
        return [variable for *_, variables in groups for variable in variables]

    def _load_then_assign(self, groups):
        loaded = []
        for catalog, requests, labels, variables in groups:
            loaded.append((variables, self._run(catalog, requests, labels)))
        while loaded:
            variables, arrays = loaded.pop()
            arrays.reverse()
            for variable in variables:
                self._keep(variable)
                self._assign(variable, arrays.pop())
                variable._initializer = None

    def _release_load_assign(self, catalog, requests, labels, variables, part):
        for k in part:
            _keras.set_raw_value(variables[k], None)
            variables[k]._initializer = _no_value(variables[k].path)
        arrays = self._run(catalog, [requests[k] for k in part], labels)
        for k, array in zip(part, arrays):
            self._assign(variables[k], array)
            variables[k]._initializer = None

    def _run(self, catalog, requests, labels):
        options = self.settings.load_options()
        arrays, statistics = _handover.run(make_plan(catalog, requests, options, labels), options)
        self.report.add(statistics, len(requests))
        return arrays

    def _groups(self):
        """(catalog, requests, labels, variables) per checkpoint."""
        by_reader = {}
        for variable, lazy in self._pending.values():
            by_reader.setdefault(id(lazy._reader), []).append((variable, lazy))
        for reader, pairs in by_reader.items():
            requests = [_request(variable, lazy) for variable, lazy in pairs]
            labels = {r.name: axes for r, (v, _) in zip(requests, pairs) if (axes := _keras.layout_axes(v._layout))}
            yield self._catalogs[reader][1], requests, labels, [variable for variable, _ in pairs]

    def read(self, catalog: _core.Catalog, lazy: LazyTensor):
        """The values of a lazy tensor as a numpy array on the host; counted in the report."""
        values = read_values(catalog, lazy)
        self.report.whole_reads.append(WholeRead(lazy._tensor.name, values.nbytes))
        budget = self.settings.host_budget
        if budget is not None and self.report.whole_bytes > budget:
            raise _core.ResourceExhaustedError(
                f"'{lazy._tensor.name}' was read whole ({values.nbytes} bytes): {self.report.whole_bytes} bytes in "
                f"all, host_budget is {budget}"
            )
        return values

    # ---- Ending ----

    def rollback(self) -> list:
        """Everything as it was before. Returns the variables that had no value then."""
        self._pending.clear()
        for variable, value, initializer in self._old.values():
            _keras.set_raw_value(variable, value)
            variable._initializer = initializer
        without = [variable for variable, value, _ in self._old.values() if value is None]
        for saveable, attributes in self._attributes.values():
            now = vars(saveable)
            for name in [n for n in now if n not in attributes or now[n] is not attributes[n]]:
                if name in attributes:
                    now[name] = attributes[name]
                else:
                    del now[name]
        self.forget()
        return without

    def settle(self) -> None:
        """Lazy tensors that objects kept as attributes become numpy arrays, as Keras would have given them."""
        for saveable, _ in self._attributes.values():
            for name, value in list(vars(saveable).items()):
                if isinstance(value, LazyTensor):
                    vars(saveable)[name] = value.read()

    def forget(self) -> None:
        """Lets old values go."""
        self._old.clear()
        self._attributes.clear()
        self._catalogs.clear()


def target_dtype(variable) -> str:
    """What JAX holds a variable's value as."""
    return str(jax.dtypes.canonicalize_dtype(variable._dtype))


def sharding_of(variable):
    """The jax Sharding that a variable's values have, or None: JAX's default device, uncommitted."""
    _keras.initialize_layout(variable)
    layout = _keras.backend_layout(variable._layout)
    return layout if layout is None or isinstance(layout, jax.sharding.Sharding) else layout.sharding


def read_values(catalog, lazy):
    """The values of a lazy tensor as a numpy array."""
    stored = lazy._tensor.dtype
    direct = lazy._cast is None or _core.can_cast(stored, lazy._cast)
    variable = ("value", lazy._tensor.name, lazy._cast if direct else None, lazy._view, None, None)
    mesh = _core.DeviceMesh([1], ["host"], _core.host_devices(1))
    plan = _core.plan_load(catalog, _core.DataParallel(mesh), variables=[variable])
    ((array,), _, _) = _core.load(plan)
    values = _handover.as_numpy(array.block(0, writable=True), array.dtype, array.shape)
    return values if direct else values.astype(lazy.dtype)


def _request(variable, lazy):
    dtype = target_dtype(variable)
    return Request(
        name=variable.path,
        tensor=lazy._tensor.name,
        shape=tuple(variable.shape),
        dtype=None if dtype == lazy._tensor.dtype else dtype,
        view=None if lazy._view.is_identity else lazy._view,
        sharding=sharding_of(variable),
    )


def _parts(requests, most):
    """Numbers of requests in groups of about `most` bytes."""
    part, size = [], 0
    for k, request in enumerate(requests):
        nbytes = _nbytes(request)
        if part and size + nbytes > most:
            yield part
            part, size = [], 0
        part.append(k)
        size += nbytes
    if part:
        yield part


def _nbytes(request):
    count = 1
    for extent in request.shape:
        count *= extent
    return count * 4


def _no_value(path):
    def fail(*args, **kwargs):
        raise RuntimeError(f"Variable {path} {_FAILED}")

    return fail
