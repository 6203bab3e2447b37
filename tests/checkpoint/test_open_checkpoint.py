"""open_checkpoint() finds the format of files that other programs wrote, by their content."""

import json
import pickle
import shutil
import zipfile

import h5py
import numpy as np
import pytest
from safetensors.numpy import save_file

KERNEL = np.arange(12, dtype=np.float32).reshape(3, 4)


def write_h5(path, **how):
    """A file as Keras lays out one Dense layer's weights."""
    with h5py.File(path, "w", **how) as file:
        file.create_group("layers/dense/vars").attrs["name"] = "dense"
        file["layers/dense/vars/0"] = KERNEL
        file["layers/dense/vars/1"] = KERNEL[0]


def write_keras(path, h5):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        archive.writestr("config.json", "{}")
        archive.write(h5, "model.weights.h5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    write_h5(folder / "m.weights.h5")
    write_h5(folder / "user_block.h5", userblock_size=2048)
    write_keras(folder / "m.keras", folder / "m.weights.h5")
    with zipfile.ZipFile(folder / "m.keras") as archive:
        archive.extractall(folder / "unpacked")
    shutil.copy(folder / "m.weights.h5", folder / "m_00000.weights.h5")
    (folder / "m.weights.json").write_text(json.dumps(
        {"metadata": {"total_size": 64.0}, "weight_map": {"/layers/dense/vars": ["m_00000.weights.h5"]}}))
    save_file({"dense/kernel": KERNEL, "dense/bias": KERNEL[0].copy()}, folder / "m.safetensors")
    (folder / "hub").mkdir()
    save_file({"dense/kernel": KERNEL}, folder / "hub" / "model-00001-of-00002.safetensors")
    save_file({"dense/bias": KERNEL[0].copy()}, folder / "hub" / "model-00002-of-00002.safetensors")
    (folder / "hub" / "model.safetensors.index.json").write_text(json.dumps(
        {"metadata": {"total_size": 64},
         "weight_map": {"dense/kernel": "model-00001-of-00002.safetensors",
                        "dense/bias": "model-00002-of-00002.safetensors"}}))
    return folder


@pytest.mark.parametrize("name, format", [
    ("m.weights.h5", "keras-h5"), ("user_block.h5", "keras-h5"), ("m.keras", "keras"), ("unpacked", "keras-h5"),
    ("m.weights.json", "keras-json"), ("m.safetensors", "safetensors"), ("hub", "safetensors-index"),
    ("hub/model.safetensors.index.json", "safetensors-index")])
def test_every_format_whatever_the_name(name, format, folder, open_all, tmp_path):
    paths = [folder / name]
    if name in ("m.weights.h5", "user_block.h5", "m.keras", "m.safetensors"):
        paths.append(tmp_path / "renamed.bin")
        shutil.copy(folder / name, paths[1])
    for found in open_all(*paths):
        assert found["code"] == "OK", found
        assert found["format"] == format and found["warnings"] == []
        assert sorted(found["tensors"].values()) == [["float32", [3, 4]], ["float32", [4]]]


def test_other_programs_files_are_named(open_all, tmp_path):
    np.savez(tmp_path / "a.npz", x=KERNEL)
    np.save(tmp_path / "a.npy", KERNEL)
    for protocol in range(2, 6):
        (tmp_path / f"{protocol}.pkl").write_bytes(pickle.dumps({"x": KERNEL}, protocol))
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:  # as torch.save() lays it out
        archive.writestr("m/data.pkl", pickle.dumps({}))
        archive.writestr("m/data/0", b"1234")
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    expected = {"a.npz": "numpy .npz archive", "a.npy": "numpy .npy file", "m.pt": "PyTorch archive (pickle)",
                "m.gguf": "GGUF file", **{f"{p}.pkl": "Python pickle" for p in range(2, 6)}}
    for name, found in zip(expected, open_all(*(tmp_path / name for name in expected)), strict=True):
        assert found["code"] == "UNIMPLEMENTED", found
        assert found["message"].startswith(f"{tmp_path / name}: ") and expected[name] in found["message"]


def test_an_archive_without_weights_is_refused(open_all, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    for found in open_all(tmp_path / "m.zip", tmp_path / "empty.zip"):
        assert found["code"] == "DATA_LOSS" and "model.weights.h5" in found["message"], found


def test_every_truncation_fails(folder, open_all, tmp_path):
    """Cut to any length, a checkpoint is refused; what is cut is never taken for a smaller one."""
    for name in ("m.safetensors", "m.weights.h5", "m.keras"):
        whole = (folder / name).read_bytes()
        paths = []
        for size in range(0, len(whole), max(1, len(whole) // 97)):
            paths.append(tmp_path / f"{name}.{size}")
            paths[-1].write_bytes(whole[:size])
        for path, found in zip(paths, open_all(*paths), strict=True):
            assert found["code"] != "OK", (path, found)
