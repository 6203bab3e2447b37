"""Placements against jax.sharding.NamedSharding on eight simulated devices."""

import itertools
import random

import jax
import numpy as np
import pytest
from jax._src.named_sharding import DuplicateSpecError
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESHES = [([8], "x"), ([2, 4], "xy"), ([4, 2], "xy"), ([8, 1], "xy"), ([2, 2, 2], "xyz"), ([2, 1, 4], "xyz"), ([1], "x")]
MESHES += [([2], "x"), ([3], "x"), ([6], "x"), ([2, 3], "xy"), ([3, 2], "xy"), ([1, 3], "xy"), ([7], "x")]

REFUSALS = (ValueError, DuplicateSpecError)


def jax_boxes(shape, mesh_shape, axes, layout):
    devices = np.array(jax.devices()[: int(np.prod(mesh_shape))]).reshape(mesh_shape)
    spec = PartitionSpec(*[tuple(a.split("+")) if a and "+" in a else a for a in layout])
    sharding = NamedSharding(Mesh(devices, tuple(axes)), spec)
    sharding.check_compatible_aval(tuple(shape))
    indices = sharding.devices_indices_map(tuple(shape))
    boxes = []
    for device in devices.flat:
        bounds = [s.indices(n)[:2] for s, n in zip(indices[device], shape)]
        boxes.append({"origin": [a for a, _ in bounds], "extent": [b - a for a, b in bounds]})
    return boxes


def random_question(source):
    mesh_shape, axes = source.choice(MESHES)
    shape = [source.choice([0, 1, 2, 3, 4, 6, 8, 12, 24, 48]) for _ in range(source.randrange(5))]
    free = list(axes)
    source.shuffle(free)
    layout = []
    for _ in range(source.randrange(len(shape) + 2)):
        entry = None
        if free and source.random() < 0.6:
            entry = free.pop()
            if free and source.random() < 0.25:
                entry += "+" + free.pop()
        layout.append(entry)
    mesh = {"shape": mesh_shape, "axes": list(axes), "devices": int(np.prod(mesh_shape))}
    return {"ask": "place", "mesh": mesh, "shape": shape, "layout": layout}


def test_boxes_are_jaxs(ask):
    source = random.Random(5)
    asked = [random_question(source) for _ in range(1200)]
    placed = refused = 0
    for question, answer in zip(asked, ask(asked)):
        mesh = question["mesh"]
        try:
            expected = jax_boxes(question["shape"], mesh["shape"], mesh["axes"], question["layout"])
        except REFUSALS:
            assert answer["code"] == "INVALID_ARGUMENT", question
            refused += 1
            continue
        assert answer.get("devices") == expected, question
        distinct = {str(box) for box in expected}
        assert answer["boxes"] == len(distinct)
        assert answer["replicas"] * len(distinct) == len(expected)
        placed += 1
    assert placed > 400 and refused > 200


def test_uneven_replicate_leaves_exactly_the_indivisible_dimensions_whole(ask):
    shapes = list(itertools.product([6, 8, 12], repeat=2))
    mesh = {"shape": [2, 4], "axes": ["x", "y"], "devices": 8}
    asked = [
        {"ask": "place", "mesh": mesh, "shape": list(shape), "layout": ["y", "x"], "uneven": "replicate"} for shape in shapes
    ]
    for (rows, columns), answer in zip(shapes, ask(asked)):
        layout = ["y" if rows % 4 == 0 else None, "x" if columns % 2 == 0 else None]
        assert answer["layout"] == layout
        assert answer["devices"] == jax_boxes([rows, columns], [2, 4], "xy", layout)
        assert len(answer["notes"]) == layout.count(None)


@pytest.mark.parametrize("layout", [["x", "x"], ["nope"], ["x", None, None], ["x+x"]])
def test_what_jax_refuses(ask, layout):
    with pytest.raises(REFUSALS):
        jax_boxes([8, 8], [2, 4], "xy", layout)
    mesh = {"shape": [2, 4], "axes": ["x", "y"], "devices": 8}
    (answer,) = ask([{"ask": "place", "mesh": mesh, "shape": [8, 8], "layout": layout}])
    assert answer["code"] == "INVALID_ARGUMENT"
