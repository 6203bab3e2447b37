"""shardwise.jax.load against jax.device_put of the whole tensor."""

import jax
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from jax.sharding import NamedSharding, PartitionSpec as P

import shardwise
import shardwise.jax

SPECS = [P(), P("x"), P(None, "y"), P("x", "y"), P("y", "x"), P(("x", "y")), P(None, ("y", "x"))]
DTYPES = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int32", "bool"]


@pytest.fixture(scope="module")
def grid():
    return jax.make_mesh((2, 4), ("x", "y"))


def values(dtype, shape=(16, 24), seed=0):
    numbers = np.random.default_rng(seed).integers(-8, 8, shape)
    return numbers.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("jax") / "model.safetensors"
    safetensors.numpy.save_file({dtype: values(dtype) for dtype in DTYPES}, path)
    return path


def pointers(array):
    return [shard.data.unsafe_buffer_pointer() for shard in sorted(array.addressable_shards, key=lambda s: s.device.id)]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_dtype_equals_device_put(file, grid, spec):
    sharding = NamedSharding(grid, spec)
    arrays = shardwise.jax.load(file, sharding)
    assert set(arrays) == set(DTYPES)
    for dtype, array in arrays.items():
        expected = jax.device_put(values(dtype), sharding)
        assert array.sharding == expected.sharding and array.dtype == expected.dtype and array.committed
        for ours, theirs in zip(array.addressable_shards, expected.addressable_shards):
            assert ours.device == theirs.device and ours.index == theirs.index
            np.testing.assert_array_equal(np.asarray(ours.data), np.asarray(theirs.data))


def test_each_device_reads_our_memory(file, grid):
    sharding = NamedSharding(grid, P("x", "y"))
    plan = shardwise.jax.plan(file, sharding)
    loaded, _, _ = shardwise.load(plan.load_plan)
    for array in loaded:
        for k, device in enumerate(plan.devices):
            block = array.block(k)
            assert block.ctypes.data % 64 == 0
            if array.dtype == "float8_e5m2":
                continue  # DLPack as numpy knows it has one float8 only
            on_device = jax.dlpack.from_dlpack(array.dlpack(k, device.id), copy=False)
            assert on_device.devices() == {device}
            assert on_device.unsafe_buffer_pointer() == block.ctypes.data


def test_load_hands_over_without_a_copy(tmp_path, grid, monkeypatch):
    blocks = []
    load = shardwise._core.load

    def spy(plan, **kwargs):
        loaded, *rest = load(plan, **kwargs)
        blocks.extend({array.name: [array.block(k).ctypes.data for k in range(8)]} for array in loaded)
        return loaded, *rest

    monkeypatch.setattr(shardwise._core, "load", spy)
    safetensors.numpy.save_file({"cut": values("float32"), "whole": values("bfloat16")}, tmp_path / "m.safetensors")
    layouts = {"cut": NamedSharding(grid, P("x", "y")), "whole": NamedSharding(grid, P())}
    arrays = shardwise.jax.load(tmp_path / "m.safetensors", layouts)
    found = {name: p for block in blocks for name, p in block.items()}
    assert pointers(arrays["cut"]) == found["cut"] and len(set(found["cut"])) == 8
    # All replicas are one block.
    assert pointers(arrays["whole"]) == found["whole"] and len(set(found["whole"])) == 1


def test_a_subset_of_devices_in_another_order(file):
    devices = np.array(jax.devices())[[6, 1, 4, 3]]
    sharding = NamedSharding(jax.sharding.Mesh(devices, ("a",)), P("a"))
    single = jax.sharding.SingleDeviceSharding(jax.devices()[5])
    arrays = shardwise.jax.load(file, {"float32": sharding, "int8": single})
    expected = jax.device_put(values("float32"), sharding)
    for ours, theirs in zip(arrays["float32"].addressable_shards, expected.addressable_shards, strict=True):
        assert ours.device == theirs.device
        np.testing.assert_array_equal(np.asarray(ours.data), np.asarray(theirs.data))
    assert arrays["int8"].devices() == {jax.devices()[5]}
    np.testing.assert_array_equal(np.asarray(arrays["int8"]), values("int8"))


def test_pytree_of_shape_dtype_structs(tmp_path, grid):
    safetensors.numpy.save_file({"a.b": values("float32"), "a.c": values("int8")}, tmp_path / "m.safetensors")
    sharding = NamedSharding(grid, P("x"))
    tree = {"a": {"b": jax.ShapeDtypeStruct((16, 24), "bfloat16", sharding=sharding), "c": sharding}}
    out = shardwise.jax.load(tmp_path / "m.safetensors", tree)
    np.testing.assert_array_equal(np.asarray(out["a"]["b"]), values("float32").astype(ml_dtypes.bfloat16))
    assert out["a"]["c"].dtype == np.int8
    tree["a"]["b"] = jax.ShapeDtypeStruct((16, 25), "float32", sharding=sharding)
    with pytest.raises(ValueError, match=r"'a.b' has shape \(16, 24\), but \(16, 25\)"):
        shardwise.jax.load(tmp_path / "m.safetensors", tree)


def test_function_chooses(file, grid):
    out = shardwise.jax.load(
        file, lambda name, shape: NamedSharding(grid, P()) if name == "float32" else None, dtype="float16"
    )
    assert list(out) == ["float32"] and out["float32"].dtype == np.float16


def test_wide_types_become_what_jax_holds(tmp_path, grid):
    content = {"f": np.linspace(0, 1, 8), "i": np.arange(8)}
    safetensors.numpy.save_file(content, tmp_path / "m.safetensors")
    out = shardwise.jax.load(tmp_path / "m.safetensors", NamedSharding(grid, P("x")))
    for name, value in content.items():
        expected = jax.device_put(value, NamedSharding(grid, P("x")))
        assert out[name].dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(out[name]), np.asarray(expected))


def test_errors_are_those_of_python(file, tmp_path, grid):
    with pytest.raises(FileNotFoundError):
        shardwise.jax.load(tmp_path / "none.safetensors", NamedSharding(grid, P()))
    with pytest.raises(KeyError, match="no tensor 'nothing'"):
        shardwise.jax.load(file, {"nothing": NamedSharding(grid, P())})
    with pytest.raises(ValueError, match="only valid for values of rank at least 3"):
        shardwise.jax.load(file, {"float32": NamedSharding(jax.make_mesh((8,), ("z",)), P(None, None, "z"))})
    (tmp_path / "cut.safetensors").write_bytes(file.read_bytes()[:-9])
    with pytest.raises(shardwise.DataLossError, match="cut.safetensors") as caught:
        shardwise.jax.load(tmp_path / "cut.safetensors", NamedSharding(grid, P()))
    assert isinstance(caught.value, OSError) and isinstance(caught.value, ValueError)
    assert issubclass(shardwise.ResourceExhaustedError, MemoryError)


def test_jit_donation_and_deletion(file, grid):
    array = shardwise.jax.load(file, {"float32": NamedSharding(grid, P("x", "y"))})["float32"]
    expected = np.asarray(array).copy()
    doubled = jax.jit(lambda x: x * 2, donate_argnums=0)(array)
    np.testing.assert_array_equal(np.asarray(doubled), expected * 2)
    again = shardwise.jax.load(file, {"float32": NamedSharding(grid, P("x", "y"))})["float32"]
    np.testing.assert_array_equal(np.asarray(again), expected)
    product = jax.jit(lambda x: x * x + 1)(again)
    again.delete()
    np.testing.assert_array_equal(np.asarray(product), expected * expected + 1)


def test_scalars_and_empty_tensors(tmp_path, grid):
    content = {"scalar": np.float32(3), "empty": np.zeros((0, 4), np.float32)}
    safetensors.numpy.save_file({k: np.asarray(v) for k, v in content.items()}, tmp_path / "m.safetensors")
    out = shardwise.jax.load(tmp_path / "m.safetensors", NamedSharding(grid, P()))
    assert out["scalar"] == 3 and out["scalar"].shape == () and out["empty"].shape == (0, 4)
