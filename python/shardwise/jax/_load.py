"""shardwise.jax.load and plan."""

import os
from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import Sharding

from .. import _core
from . import _handover
from ._options import LoadOptions
from ._requests import Plan, Request, make_plan


def load(
    path: str | os.PathLike,
    shardings: Any,
    *,
    dtype: str | None = None,
    options: LoadOptions = LoadOptions(),
) -> Any:
    """Loads a checkpoint into sharded jax.Arrays; each process reads only what its own devices hold.

    Args:
        path: a .safetensors file or index, a folder with one, .weights.h5, .weights.json, .keras or HDF5.
        shardings: what to load, and where to.
            - a pytree (dict, nested or not) whose leaves are jax.sharding.Shardings, or jax.ShapeDtypeStructs with a
              sharding; keys joined by "/" or "." name the tensors; the result has the same structure. Shape and dtype
              of a ShapeDtypeStruct are checked and cast to.
            - a function (name, shape) -> Sharding, or None to leave the tensor out; the result is a dict by name.
            - one Sharding for every tensor.
        dtype: floating tensors of 16 bits or more are converted to it while they are read.
        options: staging memory, threads, progress.

    Returns:
        jax.Arrays, bit for bit what `jax.device_put(whole_tensor, sharding)` gives. On CPU devices they are memory that
        was read into directly; replicas share it. It is freed when the last user goes.

    Raises:
        FileNotFoundError, DataLossError, NotImplementedError: the checkpoint cannot be read.
        KeyError: a tensor that the checkpoint lacks. ValueError: shapes, casts, shardings that do not divide.
        ResourceExhaustedError: a device cannot hold its shards; nothing was allocated.
        KeyboardInterrupt: Ctrl-C; like every error it leaves nothing behind.
    """
    catalog, requests, rebuild = _ask(path, shardings, dtype)
    arrays, _ = _handover.run(make_plan(catalog, requests, options), options)
    return rebuild(arrays)


def plan(
    path: str | os.PathLike, shardings: Any, *, dtype: str | None = None, options: LoadOptions = LoadOptions()
) -> Plan:
    """What load() with these arguments would do; str() of it says bytes and peaks. Reads headers only."""
    catalog, requests, _ = _ask(path, shardings, dtype)
    return make_plan(catalog, requests, options)


def _ask(path, shardings, dtype) -> tuple[_core.Catalog, list[Request], Callable[[list], Any]]:
    catalog = _core.open_checkpoint(os.fspath(path))
    if isinstance(shardings, Sharding):
        return _by_function(catalog, lambda name, shape: shardings, dtype)
    if callable(shardings):
        return _by_function(catalog, shardings, dtype)
    return _by_tree(catalog, shardings, dtype)


def _by_function(catalog, choose, dtype):
    requests = []
    for info in catalog.tensors:
        sharding = choose(info.name, info.shape)
        if sharding is not None:
            requests.append(_request(info, sharding, _target(info, dtype)))
    names = [r.name for r in requests]
    return catalog, requests, lambda arrays: dict(zip(names, arrays))


def _by_tree(catalog, tree, dtype):
    infos = {info.name: info for info in catalog.tensors}
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    requests, missing = [], []
    for path, leaf in leaves:
        keys = [str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path]
        info = infos.get("/".join(keys)) or infos.get(".".join(keys))
        if info is None:
            missing.append("/".join(keys))
        elif isinstance(leaf, Sharding):
            requests.append(_request(info, leaf, _target(info, dtype)))
        elif isinstance(leaf, jax.ShapeDtypeStruct):
            if tuple(leaf.shape) != info.shape:
                raise ValueError(f"tensor '{info.name}' has shape {info.shape}, but {tuple(leaf.shape)} was asked for")
            requests.append(_request(info, leaf.sharding, leaf.dtype.name))
        else:
            raise ValueError(f"'{'/'.join(keys)}' must be a Sharding or a ShapeDtypeStruct, got {type(leaf).__name__}")
    if missing:
        raise KeyError(f"{catalog.path} has no tensor {missing[0]!r}" + _more(missing))
    return catalog, requests, lambda arrays: jax.tree_util.tree_unflatten(structure, arrays)


def _more(missing):
    return f" and {len(missing) - 1} others that were asked for" if len(missing) > 1 else ""


def _target(info, dtype):
    """What a tensor becomes: the asked-for type where it is floating, and what JAX holds of it without x64."""
    wide = jax.numpy.issubdtype(info.dtype, jax.numpy.floating) and not info.dtype.startswith("float8")
    wanted = dtype if dtype is not None and wide else info.dtype
    return str(jax.dtypes.canonicalize_dtype(wanted)) if wanted in _X64 else wanted


_X64 = {"float64", "int64", "uint64", "complex128"}


def _request(info, sharding, dtype):
    return Request(info.name, info.name, info.shape, None if dtype == info.dtype else dtype, None, sharding)
