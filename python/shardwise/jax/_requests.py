"""What a load is asked for: one Request per array; and the plan that fills them all."""

import dataclasses

import jax
import numpy as np
from jax.sharding import NamedSharding, Sharding, SingleDeviceSharding

from .. import _core
from ._options import LoadOptions

Box = tuple[tuple[int, ...], tuple[int, ...]]  # origin, extent


@dataclasses.dataclass
class Request:
    """An array to be made of a stored tensor seen through `view` (None = as stored), or of values that are made.

    dtype: a name; None = as stored. sharding: None = uncommitted, on JAX's default device. made: an initializer and how
    it rounds ("eager" or "jit"); `tensor` is empty then.
    """

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str | None = None
    view: _core.View | None = None
    sharding: Sharding | None = None
    made: tuple[_core.Initializer, str] | None = None


@dataclasses.dataclass
class Plan:
    """A LoadPlan with the JAX devices and the requests that it is for."""

    load_plan: _core.LoadPlan
    requests: list[Request]
    shardings: list[Sharding]
    devices: list[jax.Device]
    keeps: bool  # blocks of host memory become the arrays; else they are copied to the devices and dropped

    def __str__(self) -> str:
        return str(self.load_plan)


def default_device() -> jax.Device:
    """Where JAX puts what is not told a place."""
    device = jax.config.jax_default_device
    return device if isinstance(device, jax.Device) else jax.local_devices(backend=device)[0]


def make_plan(catalog: _core.Catalog, requests: list[Request], options: LoadOptions, label: dict | None = None) -> Plan:
    """Plans all requests as one load. Raises ValueError, KeyError and what JAX raises for shardings that do not divide.

    label: names layouts for reports, by request name, as axes of the sharding's mesh.
    """
    shardings = [r.sharding or SingleDeviceSharding(default_device()) for r in requests]
    mesh = _one_mesh(shardings)
    devices = list(mesh.devices.flat) if mesh is not None else _all_devices(shardings)
    variables = []
    _make_names_unique(requests)
    for request, sharding in zip(requests, shardings):
        axes = (label or {}).get(request.name) or _axes(sharding)
        boxes = _boxes(sharding, request.shape, devices)
        placement = _core.place_boxes(request.name, request.shape, boxes, axes)
        made = request.made and (request.shape, *request.made)
        variables.append((request.name, request.tensor, request.dtype, request.view, placement, made))
    keeps = all(d.platform == "cpu" for d in devices)
    load_plan = _core.plan_load(
        catalog,
        _core.DataParallel(_core_mesh(mesh, devices)),
        variables=variables,
        select=None if variables else lambda name: False,
        staging=options.staging,
        retain=keeps,
        share_replicas=keeps,
        local_devices=[k for k, d in enumerate(devices) if d.process_index == jax.process_index()],
    )
    return Plan(load_plan, requests, shardings, devices, keeps)


def _make_names_unique(requests):
    seen = {}
    for request in requests:
        count = seen[request.name] = seen.get(request.name, 0) + 1
        if count > 1:
            request.name += f"#{count}"


def _one_mesh(shardings):
    """The mesh of all shardings when they are NamedShardings of the same one, else None."""
    meshes = {s.mesh for s in shardings if isinstance(s, NamedSharding)}
    if len(meshes) != 1 or not all(isinstance(s, NamedSharding) for s in shardings):
        return None
    (mesh,) = meshes
    return mesh if mesh.size and isinstance(mesh, jax.sharding.Mesh) else None


def _all_devices(shardings):
    return sorted({d for s in shardings for d in s.device_set}, key=lambda d: d.id) or [default_device()]


def _core_mesh(mesh, devices):
    described = _core.host_devices(len(devices))
    for device, own in zip(devices, described):
        own.id = f"{device.platform}:{device.id}"
        if device.platform == "cpu" or device.process_index != jax.process_index():
            continue
        stats = device.memory_stats() or {}
        own.memory_limit = stats.get("bytes_limit")
        own.memory_in_use = stats.get("bytes_in_use", 0)
    if mesh is None:
        return _core.DeviceMesh([len(devices)], ["device"], described)
    return _core.DeviceMesh([int(n) for n in mesh.devices.shape], [str(a) for a in mesh.axis_names], described)


def _axes(sharding):
    """The layout for reports: a mesh axis, or several joined by "+", per dimension."""
    if not isinstance(sharding, NamedSharding):
        return []
    return [None if not a else a if isinstance(a, str) else "+".join(map(str, a)) for a in sharding.spec]


def _boxes(sharding, shape, devices) -> list[Box | None]:
    """The part of each device, None where it holds none. Raises JAX's ValueError for what does not divide."""
    if isinstance(sharding, NamedSharding):
        sharding.check_compatible_aval(tuple(shape))  # a spec that is longer than the rank: below, an IndexError
    of_device = sharding.devices_indices_map(tuple(shape))
    boxes = []
    for device in devices:
        index = of_device.get(device)
        if index is None:
            boxes.append(None)
            continue
        ends = [s.indices(n) for s, n in zip(index, shape)]
        boxes.append((tuple(e[0] for e in ends), tuple(e[1] - e[0] for e in ends)))
    return boxes


def numpy_dtype(name: str) -> np.dtype:
    """np.dtype for any name of the library; those that numpy lacks are ml_dtypes's."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
