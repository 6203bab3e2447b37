"""Blocks of memory that we own become JAX arrays: on CPU devices without a copy, elsewhere shard by shard."""

import jax
import numpy as np

from .. import _core
from ._options import LoadOptions
from ._requests import Plan, Request, numpy_dtype

_PACKED = {"int4": True, "uint4": False}  # two elements a byte in files, one a byte in numpy; True = signed


def run(plan: Plan, options: LoadOptions) -> tuple[list[jax.Array], dict]:
    """The arrays of a plan, in the order of its requests, and the load's statistics. All or nothing."""
    common = {"progress": options.progress, "threads": options.threads, "fingerprints": options.fingerprints}
    if plan.keeps:
        loaded, statistics, fingerprints = _core.load(plan.load_plan, **common)
        arrays = []
        for k, (request, sharding) in enumerate(zip(plan.requests, plan.shardings)):
            arrays.append(_to_jax(loaded[k], request, sharding, plan.devices))
            loaded[k] = None
    else:
        arrays, statistics, fingerprints = _run_discarding(plan, common)
    return arrays, statistics | {"fingerprints": fingerprints}


def _run_discarding(plan, common):
    """Each array goes to its devices as soon as it is complete; its host memory is dropped before the next waits."""
    index = {request.name: k for k, request in enumerate(plan.requests)}
    arrays = [None] * len(plan.requests)

    def take(loaded):
        k = index[loaded.name]
        array = _to_jax(loaded, plan.requests[k], plan.shardings[k], plan.devices)
        arrays[k] = jax.block_until_ready(array)

    _, statistics, fingerprints = _core.load(plan.load_plan, on_array=take, **common)
    return arrays, statistics, fingerprints


def _to_jax(loaded: _core.ShardedArray, request: Request, sharding, devices) -> jax.Array:
    shards, places = [], []
    for k, device in enumerate(devices):
        box = loaded.placement.box(k)
        if box is None or device.process_index != jax.process_index():
            continue
        shards.append(as_numpy(loaded.block(k), loaded.dtype, box[1]))
        places.append(device)
    if request.sharding is None:
        return jax.device_put(shards[0])
    return jax.make_array_from_single_device_arrays(
        tuple(request.shape), sharding, jax.device_put(shards, places), dtype=shards[0].dtype if shards else None
    )


def as_numpy(block: np.ndarray, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a block as an array of `dtype`: a view, except for the packed types, which are unpacked."""
    if dtype not in _PACKED:
        return block.view(numpy_dtype(dtype)).reshape(shape)
    nibbles = np.empty((block.size, 2), np.uint8)
    nibbles[:, 0] = block & 15
    nibbles[:, 1] = block >> 4
    values = nibbles.reshape(-1)
    if _PACKED[dtype]:
        values = ((values ^ 8).astype(np.int8) - 8).astype(np.int8)
    return values.astype(numpy_dtype(dtype)).reshape(shape)
