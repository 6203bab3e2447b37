"""Writes the seeds of hdf5_fuzz: small files with every structure the reader knows. make_seeds_hdf5.py [FOLDER]"""

import pathlib
import sys

import h5py
import numpy

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "seeds" / "hdf5")
FLOATS = numpy.arange(6, dtype="<f4").reshape(2, 3)


def write(name, fill, **options):
    path = FOLDER / f"{name}.h5"
    with h5py.File(path, "w", **options) as file:
        fill(file)
    # An odd last byte asks for right checksums, an even one leaves them. Bytes behind the end of file are ignored.
    path.write_bytes(path.read_bytes() + (b"\1" if options.get("libver") else b"\0"))


def keras(file):
    file["layers/dense/vars/0"] = FLOATS
    file["layers/dense/vars"].attrs["name"] = "dense"
    half = file.create_dataset("vars/0", data=numpy.arange(4, dtype="<u2").view("V2"))
    half.attrs["dtype"] = "bfloat16"
    file["flag"] = numpy.array([True, False])


def chunks(file):
    file.create_dataset("a", data=FLOATS, chunks=(2, 2), compression="gzip", shuffle=True, fletcher32=True)
    part = file.create_dataset("b", (20,), "<i2", chunks=(4,), fillvalue=9)
    part[5:9] = 1


def chunk_tree(file):
    file.create_dataset("d", data=numpy.arange(66, dtype="<u1"), chunks=(1,))


def compact(file):
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(file.id, b"c", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((4,)), settings)
    file.create_dataset("never", (3,), "<f8", fillvalue=5)
    file["same"] = file["c"]
    file.attrs["names"] = numpy.array([b"one", b"three"])


def links(file):
    file["d"] = FLOATS
    for i in range(10):
        file[f"g/{i}"] = file["d"]
        file["d"].attrs[f"a{i}"] = "text"


def group_tree(file):
    file["d"] = numpy.int8(1)
    for i in range(20):
        file[f"{i}"] = file["d"]


def tracked(file):
    file["b"] = FLOATS
    file["a"] = numpy.float32(1)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("keras", keras)
    write("chunks", chunks)
    write("chunk_tree", chunk_tree)
    write("compact", compact)
    write("group_tree", group_tree)
    write("user_block", tracked, userblock_size=512)
    write("tracked", tracked, track_order=True)
    write("paged", tracked, fs_strategy="page", fs_page_size=512)
    write("new_keras", keras, libver="latest")
    write("new_compact", compact, libver="latest")
    write("new_links", links, libver="latest")
