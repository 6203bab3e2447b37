"""sw.load_weights, sw.plan and sw.sharded."""

import contextlib
import os
from collections.abc import Callable, Iterator

from ..jax._requests import Plan
from . import _by_name, _patches, _versions
from ._progress import choose
from ._report import Report
from ._scope import Scope
from ._settings import Settings


def load_weights(
    model,
    filepath: str | os.PathLike,
    skip_mismatch: bool = False,
    *,
    keep_old: bool = True,
    staging: int = 64 << 20,
    host_budget: int | None = None,
    threads: int = 0,
    progress: str | bool | Callable[[int, int, int, int], object] = "auto",
    fingerprints: bool = False,
    **kwargs,
) -> Report:
    """As `model.load_weights(filepath, skip_mismatch, **kwargs)`, but every variable is read shard by shard.

    Same values to the bit, same shardings, same errors and warnings. The walk over the model is Keras's own, so custom
    layers, quantisation, LoRA, optimizers and metrics work as they do there. Unlike Keras, a load that fails leaves the
    model as it was.

    Args:
        model: a built Keras model, on the JAX backend.
        filepath: .weights.h5, .weights.json or .keras; .safetensors, its index, or a folder with either, when the names
            of its tensors are those of the model's variables (`dense/kernel` or `dense.kernel`) or of Keras's files.
        skip_mismatch: skip objects that do not match, with a warning.
        keep_old: False releases old values before their own reads, for devices that cannot hold both; after a failure
            those variables hold no value, and say so when they are used.
        staging: bytes of host memory for reads in flight; at least 8 MiB.
        host_budget: most bytes that may be read whole on the host, for layers that compute with what they load.
        threads: 0 = one per core.
        progress: "auto" = a bar when stderr is a terminal; True, False, or a function of
            (bytes_done, bytes_total, tensors_done, tensors_total).
        fingerprints: checksums of the tensors read whole, in the report; costs a pass over the bytes.
        **kwargs: Keras's `objects_to_skip`.

    Raises:
        ValueError: Keras's, with its texts. FileNotFoundError, DataLossError (an OSError): the file.
        ResourceExhaustedError (a MemoryError): a device cannot hold its shards. KeyboardInterrupt: Ctrl-C.
    """
    settings = Settings(keep_old, 256 << 20, staging, host_budget, threads, choose(progress), fingerprints)
    if reason := _versions.stands_aside():
        model.load_weights(filepath, skip_mismatch=skip_mismatch, **kwargs)
        return Report(path=str(filepath), fallback=reason)
    with _opened(Scope(settings)) as scope:
        _load(scope, model, filepath, skip_mismatch, kwargs)
    return scope.report


def plan(model, filepath: str | os.PathLike, *, staging: int = 64 << 20, **kwargs) -> Plan:
    """What load_weights(model, filepath, **kwargs) would do: str() says the bytes and peaks of every device, and what
    Keras itself would need. Reads headers only (and values, of layers that compute with what they load); the model
    stays as it is.

    Raises: as load_weights. A plan that does not fit is returned; load_plan.check_fits() raises.
    """
    skip_mismatch = kwargs.pop("skip_mismatch", False)
    with _opened(Scope(Settings(staging=staging), dry=True)) as scope:
        _load(scope, model, filepath, skip_mismatch, kwargs)
    return scope.plans[0]


@contextlib.contextmanager
def sharded(
    *,
    keep_old: bool = True,
    staging: int = 64 << 20,
    host_budget: int | None = None,
    threads: int = 0,
    progress: str | bool | Callable[[int, int, int, int], object] = "auto",
    defer: bool = True,
) -> Iterator[Report]:
    """Inside, Keras loads and initialises straight into shards: model.load_weights, keras.saving.load_model,
    keras-hub's from_preset. In this thread only; nothing of Keras stays patched afterwards.

    Yields the report of what is loaded. Arguments as load_weights.

    Args:
        defer: variables with built-in initializers get no value before something asks for it, or a load brings it; what
            still has none at the end of the scope is initialised there. False: at once. Either way shard by shard, with
            the values that Keras gives.
    """
    if reason := _versions.stands_aside():
        yield Report(fallback=reason)
        return
    settings = Settings(keep_old, 256 << 20, staging, host_budget, threads, choose(progress))
    with _opened(Scope(settings, waits=defer)) as scope:
        yield scope.report


@contextlib.contextmanager
def _opened(scope):
    with _patches.installed(scope):
        try:
            yield scope
        except BaseException:
            scope.close(failed=True)
            raise
        scope.close(failed=False)


def _load(scope, model, filepath, skip_mismatch, kwargs):
    if _by_name.is_for(filepath):
        _by_name.load(scope, model, filepath, skip_mismatch, **kwargs)
    else:
        model.load_weights(filepath, skip_mismatch=skip_mismatch, **kwargs)
        scope.report.path = scope.report.path or str(filepath)
        if not scope.report.format and not scope.report.fallback and not scope.recorder.dry:
            scope.report.fallback = "a legacy .h5 file"
