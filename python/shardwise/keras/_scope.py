"""Scope: what Keras's functions do in a thread while sw.sharded() or sw.load_weights() is at work there."""

import io
import os
import pathlib
import warnings

import numpy as np
from keras.src.backend.common.stateless_scope import get_stateless_scope, in_stateless_scope
from keras.src.backend.common.variables import Variable
from keras.src.saving import saving_lib

from .. import _core
from . import _by_name, _deferred, _patches
from ._recorder import Recorder, read_values
from ._report import Report
from ._safe_open import LazyFile
from ._rules import unmatched_rules
from ._settings import Settings
from ._store import LazyStore


class Unopened:
    """Stands for an HDF5 file that Keras would have opened; nothing is asked of it but its name."""

    def __init__(self, path_or_io, open_it):
        self.filename = str(path_or_io)
        self.open_it = open_it

    def __bool__(self):
        return True

    def close(self):
        pass


class Reader:
    """Reads values of lazy tensors of one checkpoint: through the recorder while its load runs, alone afterwards."""

    def __init__(self, catalog: _core.Catalog):
        self.catalog = catalog
        self.recorder = None

    def read(self, lazy) -> np.ndarray:
        return self.recorder.read(self.catalog, lazy) if self.recorder else read_values(self.catalog, lazy)


class Scope:
    """Thread-compatible: belongs to the thread that opened it."""

    def __init__(self, settings: Settings, *, waits: bool | None = None, dry: bool = False):
        """waits: whether first values are made when they are asked for, or at once; None: by Keras. dry: plan only."""
        self.settings = settings
        self.report = Report()
        self.recorder = Recorder(settings, self.report, _patches.original(Variable, "assign"))
        self.recorder.dry = dry
        self.deferred = None if waits is None else _deferred.Deferred(settings, self.report, waits=waits)
        self.plans = []  # of a dry run
        self._walking = False
        self._readers = []

    # ---- Variables ----

    def assign(self, variable, value):
        result = self.recorder.assign(variable, value)
        if self.deferred is not None and not in_stateless_scope() and not self.recorder.is_pending(variable):
            self.deferred.forget(variable)
        return result

    def before_value(self, variable):
        """Called before a variable's value is read: makes sure that it has one. A placeholder inside of traces."""
        if self.recorder.is_pending(variable) and not self.recorder.dry:
            self.commit()
        if self.deferred is not None and self.deferred.holds(variable) and not _has_stateless_value(variable):
            return self.deferred.touch(variable)
        return None

    def defer(self, variable, initializer, initialize) -> bool:
        return self.deferred is not None and self.deferred.add(variable, initializer, initialize)

    # ---- Loading ----

    def open(self, path: str | os.PathLike) -> tuple[_core.Catalog, Reader]:
        catalog = _core.open_checkpoint(os.fspath(path))
        reader = Reader(catalog)
        reader.recorder = self.recorder
        self._readers.append(reader)
        self.recorder.add_catalog(reader, catalog)
        self.report.path, self.report.format = catalog.path, catalog.format
        return catalog, reader

    def safe_open(self, path):
        return LazyFile(*self.open(path))

    def defer_open(self, store, path_or_io, open_it):
        if isinstance(path_or_io, io.BytesIO):
            return open_it()
        return Unopened(path_or_io, open_it)

    def load_state(self, own, saveable, weights_store, args, kwargs):
        """Keras's walk over the object graph. The outermost call gets a lazy store, and one plan for all in the end."""
        if self._walking:
            self.recorder.snapshot(saveable)
            return own(saveable, weights_store, *args, **kwargs)
        store = self._lazy_store(weights_store)
        if store is None:
            with _patches.suspended():
                return own(saveable, weights_store, *args, **kwargs)
        self._walking = True
        try:
            self.recorder.snapshot(saveable)
            own(saveable, store, *args, **kwargs)
            self._finish(saveable, store, kwargs)
        except BaseException:
            self.rollback()
            raise
        finally:
            self._walking = False

    def load_by_name(self, model, catalog, reader, skip_mismatch, skipped: set[int]):
        """Tensors into the variables of their names; `skipped`: ids of variables to leave alone."""
        optimizer = getattr(model, "optimizer", None)
        variables = [v for v in model.variables if id(v) not in skipped]
        names = {info.name for info in catalog.tensors}
        slots = [v for v in getattr(optimizer, "variables", []) if v.path in names]
        try:
            left_over = _by_name.assign_by_name(variables + slots, catalog, reader, skip_mismatch)
            self._conclude(model, left_over)
        except BaseException:
            self.rollback()
            raise

    def _finish(self, saveable, store, kwargs):
        if kwargs.get("failed_saveables") and not kwargs.get("skip_mismatch"):
            self.rollback()  # the caller raises, and tells which objects failed and why
        else:
            self._conclude(saveable, store.left_over())

    def _conclude(self, saveable, left_over):
        """One plan for all that was recorded."""
        self.report.left_over = left_over
        self.report.unmatched_rules = unmatched_rules(saveable)
        if self.recorder.dry:
            self.plans += self.recorder.plans()
            self.rollback()
            return
        self.commit()
        self.recorder.settle()
        self.recorder.forget()

    def rollback(self):
        for variable in self.recorder.rollback():
            if self.deferred is not None:
                self.deferred.restore(variable)

    def _lazy_store(self, store):
        """Our view of what `store` would read; None when Keras has to read it itself (said in the report)."""
        if isinstance(store, LazyStore):
            return store
        unopened = getattr(store, "h5_file", None)
        if not isinstance(unopened, Unopened):
            return None
        try:
            catalog, reader = self.open(_path_of(store))
            return LazyStore(catalog, reader)
        except NotImplementedError as error:
            self.report.fallback = str(error)
            warnings.warn(f"shardwise leaves this load to Keras: {error}", stacklevel=2)
            store.h5_file = unopened.open_it()
            return None

    def commit(self):
        variables = self.recorder.commit()
        if self.deferred is not None:
            for variable in variables:
                self.deferred.forget(variable)

    def close(self, failed: bool) -> None:
        """Ends the scope: what is pending is loaded, what is uninitialised initialised; after a failure neither."""
        try:
            if failed:
                self.rollback()
                return
            self.commit()
            if self.deferred is not None:
                self.deferred.initialize_all()
        finally:
            for reader in self._readers:
                reader.recorder = None
            self.recorder.forget()


def _has_stateless_value(variable) -> bool:
    return in_stateless_scope() and get_stateless_scope().get_current_value(variable) is not None


def _path_of(store) -> str:
    """The path of the checkpoint that a store of Keras's was made for."""
    archive = getattr(store, "archive", None)
    if archive is not None:
        if archive.filename is None:
            raise NotImplementedError("the archive is not a file on disk")
        return archive.filename
    path = store.path if isinstance(store, saving_lib.ShardedH5IOStore) else store.path_or_io
    return str(pathlib.Path(path))
