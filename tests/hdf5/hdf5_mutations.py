"""Small HDF5 files and random changes of them. Deterministic for a seed."""

import random
import struct

import h5py
import numpy

SPECIAL = [0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 255, 256, 0x7F, 0x80, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
           0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]


def plain(file):
    file["layers/dense/vars/0"] = numpy.arange(6, dtype="<f4").reshape(2, 3)
    file["layers/dense/vars/1"] = numpy.arange(3, dtype="<i8")
    file["layers/dense/vars"].attrs["name"] = "dense"
    half = file.create_dataset("b", data=numpy.arange(4, dtype="<u2").view("V2"))
    half.attrs["dtype"] = "bfloat16"
    file["flag"] = numpy.array([True, False])
    file["scalar"] = numpy.float64(2.5)


def chunks(file):
    data = numpy.arange(35, dtype="<i4").reshape(5, 7)
    file.create_dataset("all", data=data, chunks=(2, 3), compression="gzip", shuffle=True, fletcher32=True)
    file.create_dataset("raw", data=data.astype("<f8"), chunks=(3, 3))
    part = file.create_dataset("part", (20,), "<i2", chunks=(4,), fillvalue=9, compression="gzip")
    part[5:9] = 1
    part[18] = 2


def chunk_tree(file):
    file.create_dataset("d", data=numpy.arange(130, dtype="<u1"), chunks=(1,))


def odds(file):
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((4,)), settings)
    file["compact"][...] = numpy.arange(4)
    file.create_dataset("never", (3, 2), "<f4", fillvalue=5)
    file["same"] = file["compact"]
    file["half"] = numpy.arange(5, dtype="<f2")
    file.attrs["names"] = numpy.array([b"one", b"three"])


def wide(file):
    for i in range(40):
        file[f"{i}"] = numpy.int8(i)


def dense(file):
    for i in range(12):
        file[f"{i}"] = numpy.int16(i)


BASES = {"plain": (plain, {}), "chunks": (chunks, {}), "chunk_tree": (chunk_tree, {}), "odds": (odds, {}),
         "wide": (wide, {}), "latest": (plain, {"libver": "latest"}), "latest_odds": (odds, {"libver": "latest"}),
         "dense": (dense, {"libver": "latest"}), "user_block": (plain, {"userblock_size": 512})}


def base_file(name, path):
    fill, options = BASES[name]
    with h5py.File(path, "w", **options) as file:
        fill(file)
    return path.read_bytes()


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        width = rng.choice([1, 2, 4, 8])
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            data[at : at + width] = (rng.choice(SPECIAL) % (1 << 8 * width)).to_bytes(width, "little")
        elif kind == 3:
            old = int.from_bytes(data[at : at + width], "little")
            data[at : at + width] = ((old + rng.choice([-8, -1, 1, 8])) % (1 << 8 * width)).to_bytes(width, "little")
        elif kind == 4:
            other = rng.randrange(len(data))
            data[at : at + 8] = data[other : other + 8]
        else:
            at -= at % 8
            data[at : at + 8] = struct.pack("<Q", rng.randrange(len(data) // 8) * 8)
    if rng.randrange(40) == 0:
        del data[rng.randrange(len(data)) :]
    return bytes(repaired(data))


def repaired(data):
    """The file with right checksums again for version 2 object headers and superblocks."""
    at = -1
    while (at := data.find(b"OHDR", at + 1)) >= 0:
        flags = data[at + 5] if at + 6 < len(data) else 0
        begin = at + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        end = begin + width + int.from_bytes(data[begin : begin + width], "little")
        if end + 4 <= len(data) and end - at < 5000:
            data[end : end + 4] = struct.pack("<I", lookup3(data[at:end]))
    if data[:4] == b"\x89HDF" and data[8] in (2, 3) and len(data) > 48:
        data[44:48] = struct.pack("<I", lookup3(data[:44]))
    return data


def lookup3(data):
    """Bob Jenkins's hash, initial value 0: the checksum of version 2 metadata."""
    mask = 0xFFFFFFFF

    def rotate(x, k):
        return (x << k | x >> (32 - k)) & mask

    s = [(0xDEADBEEF + len(data)) & mask] * 3
    last = max(0, (len(data) - 1) // 12 * 12)
    for at in range(0, last + 12, 12):
        block = bytes(data[at : at + 12]).ljust(12, b"\0")
        s = [(x + y) & mask for x, y in zip(s, struct.unpack("<3I", block))]
        if at == last:
            break
        for i, k in enumerate((4, 6, 8, 16, 19, 4)):
            t, o, a = i % 3, (i + 2) % 3, (i + 1) % 3
            s[t] = ((s[t] - s[o]) & mask) ^ rotate(s[o], k)
            s[o] = (s[o] + s[a]) & mask
    for i, k in enumerate((14, 11, 25, 16, 4, 14, 24)):
        t, o = (i + 2) % 3, (i + 1) % 3
        s[t] = ((s[t] ^ s[o]) - rotate(s[o], k)) & mask
    return s[2]


def random_source(name, number):
    return random.Random(f"{name} {number}")
