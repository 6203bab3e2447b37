"""Catalogs of Keras checkpoints against h5py: names, shapes, dtypes, and the bytes that the extents point to.

Keras itself saved the models (keras_models.py). The bytes are read straight from the files by this script.
"""

import io
import json
import os
import shutil
import zipfile
import zlib

import h5py
import numpy
import pytest

MODELS = ["trained", "bfloat16", "float16", "mixed", "int8", "recurrent", "nested", "own"]
SHARD_BYTES = [700, 1500, 4000, 1 << 20]


def by_h5py(path):
    """name -> (dtype, shape, bytes), and group -> layer name."""
    tensors, names = {}, {}

    def visit(path, item):
        if isinstance(item, h5py.Dataset):
            value = item[()]
            dtype = item.attrs.get("dtype", str(item.dtype))
            tensors[path] = (dtype, list(item.shape), numpy.asarray(value).tobytes())
        elif "name" in item.attrs and path.split("/")[-1] == "vars":
            names[path + "#name"] = item.attrs["name"]

    with h5py.File(path) as file:
        file.visititems(visit)
    return tensors, names


def streams(catalog):
    """The bytes that the extents of each of the catalog's files address."""
    out = []
    for file in catalog["files"]:
        with open(file["path"], "rb") as opened:
            data = opened.read()
        assert file["inode"] == os.stat(file["path"]).st_ino
        begin, end = file["member"]
        if begin != end:
            data = zlib.decompress(data[begin:end], -zlib.MAX_WBITS)
        assert len(data) == file["size"]
        out.append(data)
    return out


def by_catalog(catalog):
    """The same as by_h5py, from what the catalog says and nothing else."""
    assert "message" not in catalog, catalog["message"]
    data = streams(catalog)
    tensors = {}
    order = []
    for tensor in catalog["tensors"]:
        assert all(extent["raw"] for extent in tensor["extents"])
        assert len(tensor["extents"]) == (0 if 0 in tensor["shape"] else 1)
        parts = [data[e["file"]][e["begin"] : e["end"]] for e in tensor["extents"]]
        assert tensor["name"] not in tensors
        tensors[tensor["name"]] = (tensor["dtype"], tensor["shape"], b"".join(parts))
        order += [(e["file"], e["begin"]) for e in tensor["extents"]]
    assert order == sorted(order)
    return tensors


def shards_of(path):
    with open(path) as file:
        return json.load(file)["weight_map"]


@pytest.mark.parametrize("model", MODELS)
def test_weights_h5(saved, catalog_of, model):
    path = saved / f"{model}.weights.h5"
    catalog = catalog_of("h5", path)
    tensors, names = by_h5py(path)
    assert by_catalog(catalog) == tensors and len(tensors) > 4
    assert catalog["metadata"] == names
    assert catalog["format"] == "keras-h5" and not catalog["warnings"]


@pytest.mark.parametrize("size", SHARD_BYTES)
@pytest.mark.parametrize("model", MODELS)
def test_shards_hold_what_the_single_file_holds(saved, catalog_of, model, size):
    catalog = catalog_of("json", saved / f"{model}.{size}.weights.json")
    tensors, names = by_h5py(saved / f"{model}.weights.h5")
    assert by_catalog(catalog) == tensors
    # Keras gives a layer's name to the group in one of its shards only, and none to layers without variables.
    assert catalog["metadata"].items() <= names.items()
    assert catalog["format"] == "keras-json" and not catalog["warnings"]


def test_layers_do_straddle_shards(saved):
    """That the sizes were chosen well: among the maps are lists of several files, lists of one, and plain strings."""
    values = [v for m in MODELS for s in SHARD_BYTES for v in shards_of(saved / f"{m}.{s}.weights.json").values()]
    assert any(isinstance(v, list) and len(v) > 2 for v in values)
    assert any(isinstance(v, list) and len(v) == 1 for v in values)
    assert any(isinstance(v, str) for v in values)


@pytest.mark.parametrize("model", MODELS)
def test_keras_archive(saved, catalog_of, model):
    path = saved / f"{model}.keras"
    catalog = catalog_of("zip", path)
    with zipfile.ZipFile(path) as archive:
        tensors, names = by_h5py(io.BytesIO(archive.read("model.weights.h5")))
        metadata = json.loads(archive.read("metadata.json"))
    assert by_catalog(catalog) == tensors
    assert tensors.keys() == by_h5py(saved / f"{model}.weights.h5")[0].keys()
    assert catalog["metadata"] == names | metadata
    assert catalog["format"] == "keras" and not catalog["warnings"]


class Pipe(io.RawIOBase):
    """A file that cannot seek, as when an archive is written to a pipe."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def rezip(source, target, *, method=zipfile.ZIP_STORED, force_zip64=False, stream=False, order=None, extra=()):
    with zipfile.ZipFile(source) as old, open(target, "wb") as file:
        names = order or old.namelist()
        with zipfile.ZipFile(Pipe(file) if stream else file, "w", method) as new:
            for name in names:
                with new.open(name, "w", force_zip64=force_zip64) as member:
                    member.write(old.read(name))
            for name, data in extra:
                new.writestr(name, data)


ORDER = ["model.weights.h5", "config.json", "metadata.json"]
REWRITTEN = {
    "deflated": dict(method=zipfile.ZIP_DEFLATED),
    "zip64": dict(force_zip64=True),
    "zip64_deflated": dict(force_zip64=True, method=zipfile.ZIP_DEFLATED),
    "streamed": dict(stream=True),
    "streamed_zip64": dict(stream=True, force_zip64=True),
    "streamed_deflated": dict(stream=True, method=zipfile.ZIP_DEFLATED),
    "reordered": dict(order=ORDER),
    "assets": dict(extra=[("assets/layers/text/vocabulary.txt", "a\nb\n"), ("assets/na\u00efve/\u00fc.txt", "x"), ("z/", "")]),
}


@pytest.mark.parametrize("way", REWRITTEN)
@pytest.mark.parametrize("model", ["trained", "bfloat16"])
def test_archives_of_other_writers(saved, catalog_of, tmp_path, model, way):
    path = tmp_path / "m.keras"
    rezip(saved / f"{model}.keras", path, **REWRITTEN[way])
    catalog = catalog_of("zip", path)
    assert by_catalog(catalog) == by_catalog(catalog_of("zip", saved / f"{model}.keras"))
    assert catalog["metadata"]["keras_version"]
    deflated = "deflated" in way
    assert (catalog["files"][0]["member"] != [0, 0]) == deflated


def test_many_variables_in_a_deflated_archive(catalog_of, tmp_path):
    """Headers lie between the data and are found in the order of their names, which goes back and forth in the stream."""
    random = numpy.random.default_rng(1)
    plain = tmp_path / "plain.h5"
    with h5py.File(plain, "w") as file:
        for i in range(1000):
            file[f"optimizer/vars/{i}"] = random.integers(0, 50, 4000).astype("float32")
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.write(plain, "model.weights.h5")
    assert by_catalog(catalog_of("zip", path)) == by_h5py(plain)[0]


def test_archive_with_a_comment(saved, catalog_of, tmp_path):
    path = tmp_path / "m.keras"
    shutil.copy(saved / "trained.keras", path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"PK\x05\x06" + b"c" * 60000
    assert by_catalog(catalog_of("zip", path)) == by_catalog(catalog_of("zip", saved / "trained.keras"))


@pytest.mark.parametrize("method, name", [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")])
def test_other_compression_is_refused(saved, catalog_of, tmp_path, method, name):
    path = tmp_path / "m.keras"
    rezip(saved / "trained.keras", path, method=method)
    answer = catalog_of("zip", path)
    assert answer["code"] == "UNIMPLEMENTED" and name in answer["message"] and "model.weights.h5" in answer["message"]


def test_names_twice_are_refused(saved, catalog_of, tmp_path):
    path = tmp_path / "m.keras"
    shutil.copy(saved / "trained.keras", path)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.weights.h5", b"other")
    answer = catalog_of("zip", path)
    assert answer["code"] == "DATA_LOSS" and "occurs twice" in answer["message"]


def test_legacy_h5_is_read_by_path(saved, catalog_of):
    catalog = catalog_of("h5", saved / "legacy.h5")
    tensors, _ = by_h5py(saved / "legacy.h5")
    assert by_catalog(catalog) == tensors
    assert any(name.startswith("model_weights/") for name in tensors)
    assert catalog["format"] == "hdf5"
    assert catalog["metadata"]["keras_version"].startswith("3.") and catalog["metadata"]["backend"] == "jax"


def sharded_copy(saved, tmp_path):
    """The shards of `own`, whose one layer lies in many of them, to be broken. Returns index path and weight map."""
    for path in saved.glob("own.700*"):
        shutil.copy(path, tmp_path)
    index = tmp_path / "own.700.weights.json"
    return index, shards_of(index)


def straddling_group(weight_map):
    return next((g, f) for g, f in weight_map.items() if isinstance(f, list) and len(f) > 1)


def test_missing_shard(saved, catalog_of, tmp_path):
    index, weight_map = sharded_copy(saved, tmp_path)
    _, files = straddling_group(weight_map)
    (tmp_path / files[1]).unlink()
    answer = catalog_of("json", index)
    assert answer["code"] == "NOT_FOUND" and files[1] in answer["message"]


def test_variable_in_two_shards(saved, catalog_of, tmp_path):
    index, weight_map = sharded_copy(saved, tmp_path)
    group, files = straddling_group(weight_map)
    with h5py.File(tmp_path / files[0]) as first, h5py.File(tmp_path / files[1], "a") as second:
        key = next(iter(first[group]))
        second[group][key] = first[group][key][()]
    answer = catalog_of("json", index)
    assert answer["code"] == "DATA_LOSS" and f"{group[1:]}/{key}" in answer["message"]
    assert files[0] in answer["message"] and files[1] in answer["message"]


def test_variable_in_no_shard(saved, catalog_of, tmp_path):
    index, weight_map = sharded_copy(saved, tmp_path)
    group, files = straddling_group(weight_map)
    with h5py.File(tmp_path / files[0], "a") as first:
        key = next(iter(first[group]))
        del first[group][key]
    answer = catalog_of("json", index)
    assert answer["code"] == "DATA_LOSS" and f"'{group[1:]}/{key}' is in none of" in answer["message"]


def test_group_in_no_shard(saved, catalog_of, tmp_path):
    index, weight_map = sharded_copy(saved, tmp_path)
    group, files = straddling_group(weight_map)
    for name in files:
        with h5py.File(tmp_path / name, "a") as file:
            del file[group]
    answer = catalog_of("json", index)
    assert answer["code"] == "DATA_LOSS" and f"group '{group}' holds no variables" in answer["message"]


def test_variables_outside_the_map_are_left_out(saved, catalog_of, tmp_path):
    index, weight_map = sharded_copy(saved, tmp_path)
    _, files = straddling_group(weight_map)
    with h5py.File(tmp_path / files[0], "a") as first:
        first["layers/stray/vars/0"] = numpy.ones(3, "float32")
    catalog = catalog_of("json", index)
    assert by_catalog(catalog) == by_h5py(saved / "own.weights.h5")[0]
    assert len(catalog["warnings"]) == 1 and "layers/stray/vars/0" in catalog["warnings"][0]


def test_shards_in_a_cache_of_links(saved, catalog_of, tmp_path):
    """Links inside the folder are followed; links out of it are not."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir(), outside.mkdir()
    index, weight_map = sharded_copy(saved, inside)
    name = straddling_group(weight_map)[1][0]
    (inside / name).rename(inside / "blob")
    (inside / name).symlink_to("blob")
    assert by_catalog(catalog_of("json", index)) == by_h5py(saved / "own.weights.h5")[0]
    (inside / "blob").rename(outside / "blob")
    (inside / name).unlink()
    (inside / name).symlink_to("../outside/blob")
    answer = catalog_of("json", index)
    assert answer["code"] == "DATA_LOSS" and name in answer["message"]
