"""Every format, dtype, mesh and layout: shards equal what numpy slices out of what h5py and safetensors read."""

import json

import ml_dtypes
import numpy
import pytest

MESHES = ["a=1", "a=2", "a=8", "a=2,b=4", "a=1,b=8", "a=2,b=2,c=2", "a=3", "a=2,b=3"]
KERAS = [(kind, dtype) for kind in ("h5", "json", "keras", "deflated keras") for dtype in ("float32", "bfloat16", "float16")]
KERAS.append(("chunked h5", "float32"))


def check(devices, values):
    """Every device holds, bit for bit, its box of every tensor; together they hold every element."""
    seen = {name: numpy.zeros(array.shape, bool) for name, array in values.items()}
    for shards in devices:
        assert set(shards) == set(values)
        for name, (part, shard) in shards.items():
            box = tuple(slice(o, o + e) for o, e in zip(part["origin"], part["extent"], strict=True))
            expected = numpy.asarray(values[name][box])
            assert shard.dtype == expected.dtype and shard.shape == expected.shape, name
            assert shard.tobytes() == expected.tobytes(), f"{name} {box}"
            seen[name][box] = True
    assert all(array.all() for array in seen.values())


MATRICES = r".*(24x48|48x6x8)|layers/(embedding|dense.*)/vars/0"


def layouts(tmp_path, mesh):
    """--layout options: rows, columns, two axes where the mesh has them, and auto."""
    axes = [axis.split("=")[0] for axis in mesh.split(",")]
    for name, rule in {"rows": [axes[-1]], "columns": [None, axes[-1]], "both": axes[:2]}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"rules": {MATRICES: rule}, "uneven": "replicate"}))
        yield str(path)
    yield "auto"


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("kind", ["safetensors", "index"])
def test_safetensors_shards_equal_numpy_slices(safetensors_files, load_shards, tmp_path, kind, mesh):
    path, values = safetensors_files[kind, "mixed"]
    for layout in layouts(tmp_path, mesh):
        report, devices = load_shards(path, "--mesh", mesh, "--layout", layout)
        check(devices, values)
        assert all(tensor["fingerprint"] for tensor in report["tensors"])


@pytest.mark.parametrize("mesh", ["a=1", "a=2,b=4", "a=3"])
@pytest.mark.parametrize("kind, dtype", KERAS)
def test_keras_shards_equal_numpy_slices_of_h5py(keras_files, load_shards, tmp_path, kind, dtype, mesh):
    path, values = keras_files[kind, dtype]
    for layout in layouts(tmp_path, mesh):
        _, devices = load_shards(path, "--mesh", mesh, "--layout", layout, "--staging", "8MiB")
        check(devices, values)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_fingerprints_do_not_depend_on_format_mesh_or_layout(keras_files, load_shards, tmp_path, dtype):
    seen = set()
    for (kind, of), (path, _) in keras_files.items():
        if of != dtype:
            continue
        for mesh in ("a=1", "a=2,b=4"):
            for layout in layouts(tmp_path, mesh):
                report, _ = load_shards(path, "--mesh", mesh, "--layout", layout)
                seen.add(tuple(sorted((t["name"], t["fingerprint"]) for t in report["tensors"])))
    assert len(seen) == 1


@pytest.mark.parametrize("target", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind, dtype", [("h5", "float32"), ("keras", "bfloat16"), ("json", "float16"), ("chunked h5", "float32")])
def test_casts_equal_numpys(keras_files, load_shards, tmp_path, kind, dtype, target):
    path, values = keras_files[kind, dtype]
    cast = {name: array.astype(target) if ml_dtypes_float(array.dtype) else array for name, array in values.items()}
    for layout in layouts(tmp_path, "a=8"):
        _, devices = load_shards(path, "--mesh", "a=8", "--layout", layout, "--dtype", target)
        check(devices, cast)


def ml_dtypes_float(dtype):
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def test_keras_reads_what_we_verify(shardwise, keras_files):
    """verify: the same weights in all formats are equal; another seed's are not."""
    import subprocess

    paths = [path for (_, dtype), (path, _) in keras_files.items() if dtype == "float32"]
    for path in paths[1:]:
        done = subprocess.run([shardwise, "verify", str(paths[0]), str(path), "--json"], capture_output=True, text=True)
        report = json.loads(done.stdout)
        assert done.returncode == 0, report
        assert len(report["equal"]) == len(keras_files["h5", "float32"][1])
        assert not (report["different"] or report["missing"] or report["extra"])
    other = keras_files["h5", "float16"][0]
    done = subprocess.run([shardwise, "verify", str(paths[0]), str(other), "--json"], capture_output=True, text=True)
    assert done.returncode == 1
    assert json.loads(done.stdout)["different"]
