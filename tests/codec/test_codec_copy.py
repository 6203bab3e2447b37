"""Strided copies against numpy's transposed and sliced assignment, alone and with a conversion."""

import ml_dtypes
import numpy as np
import pytest

DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "uint8": np.uint8, "float64": np.float64}


def random_slices(random, shape):
    slices = []
    for extent in shape:
        start, stop = sorted(random.integers(0, extent + 1, 2))
        slices.append(slice(int(start), int(max(stop, start + 1)) if start < extent else int(stop), int(random.integers(1, 3))))
    return tuple(slices)


@pytest.mark.parametrize("seed", range(60))
def test_slices_of_permuted_arrays(driver, tmp_path, seed):
    random = np.random.default_rng(seed)
    source_type, target_type = random.choice(["float32", "bfloat16", "float64"], 2) if seed % 2 else ["uint8"] * 2
    rank = int(random.integers(1, 6))
    shape = [int(e) for e in random.integers(1, {1: 5000, 2: 300, 3: 60, 4: 20, 5: 9}[rank], rank)]
    source = (random.standard_normal(shape) * 100).astype(DTYPES[source_type])
    view = source[random_slices(random, shape)]
    order = random.permutation(rank)
    moved = view.transpose(order)
    target = np.full([e + int(random.integers(0, 3)) for e in moved.shape], 7, DTYPES[target_type])
    inner = target[tuple(slice(0, e) for e in moved.shape)]
    before = target.copy()
    inner[...] = moved.astype(DTYPES[target_type])

    source.tofile(tmp_path / "in")
    before.tofile(tmp_path / "out")
    offset = (view.__array_interface__["data"][0] - source.__array_interface__["data"][0]) // source.itemsize
    dims = [
        f"{e}:{s // source.itemsize}:{t // target.itemsize}" for e, s, t in zip(moved.shape, moved.strides, inner.strides)
    ]
    if 0 in moved.shape:
        offset = 0
    assert driver("copy", source_type, target_type, offset, tmp_path / "in", 0, tmp_path / "out", *dims) == "ok"
    assert (tmp_path / "out").read_bytes() == target.tobytes()
