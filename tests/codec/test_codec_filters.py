"""Chunks that h5py wrote, decoded whole and in pieces."""

import itertools

import h5py
import numpy as np
import pytest

SHAPES = [(1,), (3,), (255,), (1000,), (17, 23), (128, 128)]
OPTIONS = [
    {"compression": "gzip"},
    {"shuffle": True},
    {"fletcher32": True},
    {"compression": "gzip", "shuffle": True},
    {"compression": "gzip", "fletcher32": True},
    {"shuffle": True, "fletcher32": True},
    {"compression": "gzip", "shuffle": True, "fletcher32": True},
]
NAMES = {h5py.h5z.FILTER_DEFLATE: "deflate", h5py.h5z.FILTER_FLETCHER32: "fletcher32"}


def filter_steps(dataset):
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
    return ",".join(NAMES.get(code, f"shuffle{dataset.dtype.itemsize}") for code, *_ in filters)


def write(path, values, options):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, **options)
    with h5py.File(path, "r") as file:
        mask, stored = file["x"].id.read_direct_chunk((0,) * values.ndim)
        return filter_steps(file["x"]), mask, stored


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128", "V3", "V5"])
def test_chunks_of_h5py(driver, tmp_path, dtype):
    random = np.random.default_rng(1)
    for number, (shape, options) in enumerate(itertools.product(SHAPES, OPTIONS)):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        raw = (random.integers(0, 256, size) * (random.random(size) < 0.3)).astype(np.uint8)
        values = raw.view(dtype).reshape(shape)
        steps, mask, stored = write(tmp_path / f"{number}.h5", values, options)
        (tmp_path / "in").write_bytes(stored)
        for question, *more in (["decode"], ["stream", 1 + size // 3], ["stream", size]):
            (tmp_path / "out").unlink(missing_ok=True)
            assert driver(question, steps, mask, tmp_path / "in", tmp_path / "out", size, *more) == "ok", (steps, shape)
            assert (tmp_path / "out").read_bytes() == raw.tobytes(), (question, steps, shape)


def test_a_checksum_of_h5py_that_differs(driver, tmp_path):
    values = np.arange(999, dtype=np.uint8)
    steps, mask, stored = write(tmp_path / "x.h5", values, {"fletcher32": True})
    for place in (0, 500, 998, 999, 1002):
        damaged = bytearray(stored)
        damaged[place] ^= 1
        (tmp_path / "in").write_bytes(damaged)
        answer = driver("decode", steps, mask, tmp_path / "in", tmp_path / "out", values.nbytes)
        assert answer.startswith("DATA_LOSS: Fletcher-32 checksum is ")


def test_a_filter_that_was_skipped(driver, tmp_path):
    values = np.random.default_rng(2).standard_normal(1000).astype(np.float32)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", (1000,), "f4", chunks=(1000,), shuffle=True, compression="gzip")
        planes = np.frombuffer(values.tobytes(), np.uint8).reshape(1000, 4).T.tobytes()
        dataset.id.write_direct_chunk((0,), planes, filter_mask=2)  # shuffled, not deflated
    with h5py.File(tmp_path / "x.h5", "r") as file:
        np.testing.assert_array_equal(file["x"][...], values)
        mask, stored = file["x"].id.read_direct_chunk((0,))
        steps = filter_steps(file["x"])
    (tmp_path / "in").write_bytes(stored)
    assert mask == 2
    assert driver("decode", steps, mask, tmp_path / "in", tmp_path / "out", values.nbytes) == "ok"
    assert (tmp_path / "out").read_bytes() == values.tobytes()
