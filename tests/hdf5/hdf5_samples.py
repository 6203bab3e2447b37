"""HDF5 files that h5py writes: SAMPLES shardwise reads, REFUSED it names and refuses. name -> function(path)."""

import h5py
import numpy
from h5py import h5d, h5p, h5s, h5t

SAMPLES, REFUSED = {}, {}
DTYPES = ["<f2", "<f4", "<f8", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "bool"]


def sample(function):
    SAMPLES[function.__name__] = function
    return function


def refused(*words):
    def register(function):
        REFUSED[function.__name__] = (function, words)
        return function

    return register


def values(shape, dtype, seed=0):
    rng = numpy.random.default_rng(seed)
    data = rng.integers(0, 256, int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize, numpy.uint8)
    return (data % 2 if dtype == "bool" else data).view(dtype).reshape(shape)


def bfloat16(group, name, shape):
    dataset = group.create_dataset(name, data=values(shape, "<u2").view("V2"))
    dataset.attrs["dtype"] = "bfloat16"


def fill_file(file):
    for dtype in DTYPES:
        file[f"types/{dtype}"] = values((3, 2), dtype)
    for rank in range(5):
        file[f"ranks/{rank}"] = values((2,) * rank, "<f4", rank)
    file["empty/0"] = numpy.zeros((0, 3), "<f4")
    file["empty/1"] = numpy.zeros((4, 0, 2), "<i8")
    bfloat16(file, "layers/dense/vars/0", (3, 5))
    file["layers/dense/vars"].attrs["name"] = "dense"


@sample
def plain(path):
    with h5py.File(path, "w") as file:
        fill_file(file)


@sample
def user_block_512(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        fill_file(file)


@sample
def user_block_4096_with_text(path):
    user_block_of(path, 4096)
    with open(path, "r+b") as file:
        file.write(b"#!/bin/sh\n" * 400)


def user_block_of(path, size):
    with h5py.File(path, "w", userblock_size=size) as file:
        fill_file(file)


@sample
def latest(path):
    with h5py.File(path, "w", libver="latest") as file:
        for dtype in DTYPES[:8]:
            file[f"a/{dtype}"] = values((3, 2), dtype)
        for dtype in DTYPES[8:]:
            file[f"b/{dtype}"] = values((3, 2), dtype)
        file["b/scalar"] = numpy.float32(1.5)
        bfloat16(file, "c/0", (7,))
        file["c"].attrs["name"] = "dense"


@sample
def v108(path):
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        file["a/b/c"] = values((3, 2), "<f4")
        file.create_dataset("chunks", data=values((5, 7), "<f4"), chunks=(2, 3), compression="gzip", fletcher32=True)


@sample
def v110(path):
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file["a/b/c"] = values((3, 2), "<f4")
        file.create_dataset("fill", (4,), "<f4", fillvalue=7)


@sample
def tracked_order(path):
    with h5py.File(path, "w", track_order=True) as file:
        for name in "zebra", "ape", "mole":
            file[name] = values((3,), "<f4")
        for name in "z", "a":
            file["mole"].attrs[name] = name


@sample
def paged(path):
    with h5py.File(path, "w", fs_strategy="page", fs_page_size=4096) as file:
        fill_file(file)


def file_with_sizes(path, offsets, lengths):
    settings = h5p.create(h5p.FILE_CREATE)
    settings.set_sizes(offsets, lengths)
    with h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, settings)) as file:
        fill_file(file)
        file.create_dataset("chunks", data=values((5, 7), "<f4"), chunks=(2, 3))
        file.attrs["text"] = ["one", "two"]


@sample
def sizes_4_4(path):
    file_with_sizes(path, 4, 4)


@sample
def sizes_4_8(path):
    file_with_sizes(path, 4, 8)


@sample
def sizes_8_4(path):
    file_with_sizes(path, 8, 4)


@sample
def chunked(path):
    rng = numpy.random.default_rng(5)
    filters = [{}, {"compression": "gzip"}, {"shuffle": True}, {"fletcher32": True},
               {"compression": "gzip", "shuffle": True}, {"compression": 9, "shuffle": True, "fletcher32": True}]
    with h5py.File(path, "w") as file:
        for i in range(60):
            rank = int(rng.integers(1, 6))
            shape = tuple(int(n) for n in rng.integers(1, 8, rank))
            chunks = tuple(int(rng.integers(1, n + 1)) for n in shape)
            dtype = DTYPES[i % len(DTYPES)]
            file.create_dataset(f"{i}", data=values(shape, dtype, i), chunks=chunks, **filters[i % len(filters)])
        noise = rng.integers(0, 256, (300, 40), numpy.uint8)
        file.create_dataset("incompressible", data=noise, chunks=(50, 40), compression="gzip")


@sample
def partly_written(path):
    rng = numpy.random.default_rng(6)
    with h5py.File(path, "w") as file:
        for i in range(40):
            rank = int(rng.integers(1, 4))
            shape = tuple(int(n) for n in rng.integers(1, 12, rank))
            chunks = tuple(int(n) for n in rng.integers(1, 5, rank))
            dataset = file.create_dataset(f"{i}", shape, "<i4", chunks=chunks, maxshape=(None,) * rank,
                                          fillvalue=[None, 7][i % 2], compression=[None, "gzip"][i // 2 % 2])
            for _ in range(3):
                dataset[tuple(int(rng.integers(0, n)) for n in shape)] = int(rng.integers(1, 1000))


@sample
def resized(path):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("d", data=values((20, 20), "<f4"), chunks=(3, 4), maxshape=(None, None))
        dataset.resize((7, 30))
        dataset.resize((31, 9))
        dataset[30] = 1
        short = file.create_dataset("short", data=values((3,), "<f4"), chunks=(8,), maxshape=(None,))
        short.resize((2,))
        file.create_dataset("none", (0, 5), "<f4", chunks=(2, 5), maxshape=(None, 5))


@sample
def chunk_trees(path):
    with h5py.File(path, "w") as file:
        for count in 1, 60, 70, 3000:
            file.create_dataset(f"{count}", data=values((count,), "<i2"), chunks=(1,))
        backwards = file.create_dataset("backwards", (500,), "<i4", chunks=(2,))
        for i in reversed(range(500)):
            backwards[i] = i


@sample
def chunk_tree_of_four_levels(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values((200, 200), "<u1"), chunks=(1, 1))


@sample
def compact_and_late(path):
    with h5py.File(path, "w") as file:
        for name, layout, shape in ("compact", h5d.COMPACT, (5,)), ("scalar", h5d.COMPACT, ()):
            settings = h5p.create(h5p.DATASET_CREATE)
            settings.set_layout(layout)
            space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
            h5d.create(file.id, name.encode(), h5t.IEEE_F32LE, space, settings)
            file[name][...] = 3.25
        for name, when in ("early", h5d.ALLOC_TIME_EARLY), ("late", h5d.ALLOC_TIME_LATE):
            settings = h5p.create(h5p.DATASET_CREATE)
            settings.set_alloc_time(when)
            settings.set_fill_value(numpy.array(2, "<i4"))
            h5d.create(file.id, name.encode(), h5t.STD_I32LE, h5s.create_simple((4, 2)), settings)
        file.create_dataset("never", (4, 4), "<f4")
        file.create_dataset("never_seven", (4,), "<f8", fillvalue=7)
        file.create_dataset("never_true", (4,), "bool", fillvalue=True)
        file.create_dataset("never_chunked", (9, 9), "<f4", chunks=(2, 2), fillvalue=-1)


@sample
def hard_links(path):
    with h5py.File(path, "w") as file:
        file["a/x"] = values((3,), "<f4")
        file["b"] = file["a/x"]
        file["c"] = file["a"]
        file["a/y"] = file["b"]


@sample
def many_attributes(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("g")
        for number, padding in enumerate([h5t.STR_NULLTERM, h5t.STR_NULLPAD, h5t.STR_SPACEPAD]):
            text_type = h5t.C_S1.copy()
            text_type.set_size(9)
            text_type.set_strpad(padding)
            attribute = h5py.h5a.create(group.id, f"fixed{number}".encode(), text_type, h5s.create(h5s.SCALAR))
            attribute.write(numpy.array([b"some text", b"some te", b"some t   "][number], "S9"), mtype=text_type)
        group.attrs["list"] = ["one", "", "three" * 100]
        group.attrs["bytes"] = numpy.array([b"a", b"bcd"])
        group.attrs["square"] = numpy.array([["a", "b"], ["c", "d"]], dtype=h5py.string_dtype())
        group.attrs["ascii"] = numpy.array("plain", dtype=h5py.string_dtype("ascii"))
        group.attrs["unicode"] = "\u00e9\u4e2d"
        group.attrs["long"] = "x" * 100_000
        group.attrs["names"] = numpy.array([b"layer_%05d" % i for i in range(4000)])
        group.attrs["number"] = 3.5
        group.attrs["empty"] = numpy.zeros(0)
        group.attrs["no_names"] = numpy.zeros(0, "S1")
        group.attrs["nothing"] = h5py.Empty("<f4")
        group.attrs["flag"] = True
        group.attrs["pair"] = numpy.zeros(2, [("a", "<i4"), ("b", "<f8")])
        group.attrs["reference"] = file.ref
        file["d"] = values((2,), "<f4")
        file["d"].attrs["units"] = "m"
        for i in range(100):
            file["d"].attrs[f"text{i}"] = f"number {i}" * i


def wide(path, count, seed, removed=0, libver=None):
    """A group of `count` names, added in a random order, some of them removed, half of those added again."""
    rng = numpy.random.default_rng(seed)
    with h5py.File(path, "w", libver=libver) as file:
        file["target"] = numpy.float32(1)
        group = file.create_group("g")
        names = [f"name_{i:05}_{'x' * (i % 9)}" for i in range(count)]
        for name in rng.permutation(names):
            group[str(name)] = file["target"]
        for name in rng.permutation(names)[:removed]:
            del group[str(name)]
        for name in rng.permutation(names)[: removed // 2]:
            if str(name) not in group:
                group[str(name)] = file["target"]


for number, (many, removed) in enumerate([(5, 0), (9, 3), (160, 80), (700, 0), (900, 870)]):
    SAMPLES[f"wide_{many}_less_{removed}"] = lambda path, n=number, m=many, r=removed: wide(path, m, n, r)
    SAMPLES[f"wide_{many}_less_{removed}_new"] = lambda path, n=number, m=many, r=removed: wide(path, m, n, r, "latest")


@sample
def group_tree_of_three_levels(path):
    with h5py.File(path, "w") as file:
        file["target"] = numpy.float32(1)
        for i in range(2700):
            file[f"g/{i}"] = file["target"]


@refused("'/be'", "big-endian")
def big_endian(path):
    with h5py.File(path, "w") as file:
        file["be"] = numpy.arange(4, dtype=">f4")


@refused("'/g/c'", "compound")
def compound(path):
    with h5py.File(path, "w") as file:
        file["g/c"] = numpy.zeros(2, [("a", "<i4"), ("b", "<f8")])


@refused("'/s'", "string")
def text(path):
    with h5py.File(path, "w") as file:
        file["s"] = "text"


@refused("'/v'", "variable-length sequence")
def sequences(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (2,), h5py.vlen_dtype("<i4"))


@refused("'/e'", "enumeration")
def enumeration(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("e", (2,), h5py.enum_dtype({"A": 1, "B": 2}))


@refused("'/a'", "array")
def arrays(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", (2,), numpy.dtype(("<f4", (3,))))


@refused("'/r'", "reference")
def references(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("r", (1,), h5py.ref_dtype)


@refused("'/b'", "bitfield")
def bitfield(path):
    with h5py.File(path, "w") as file:
        h5d.create(file.id, b"b", h5t.STD_B8LE, h5s.create_simple((2,)))


@refused("'/n'", "null dataspace")
def null(path):
    with h5py.File(path, "w") as file:
        file["n"] = h5py.Empty("<f4")


@refused("'/o'", "opaque")
def opaque(path):
    with h5py.File(path, "w") as file:
        file["o"] = values((2, 2), "<u2").view("V2")


@refused("'/o'", "dtype = bfloat16")
def opaque_of_three(path):
    with h5py.File(path, "w") as file:
        file["o"] = numpy.zeros(2, "V3")
        file["o"].attrs["dtype"] = "bfloat16"


@refused("'/d'", "dtype = bfloat16")
def lying_attribute(path):
    with h5py.File(path, "w") as file:
        file["d"] = values((2,), "<f2")
        file["d"].attrs["dtype"] = "bfloat16"


@refused("Not allowed: H5 file with SoftLink", "'soft'")
def soft_link(path):
    with h5py.File(path, "w") as file:
        file["soft"] = h5py.SoftLink("/nowhere")


@refused("Not allowed: H5 file with ExternalLink", "'out'")
def external_link(path):
    with h5py.File(path, "w") as file:
        file["out"] = h5py.ExternalLink("other.h5", "/a")


@refused("'/type'", "committed")
def committed_type(path):
    with h5py.File(path, "w") as file:
        file["type"] = numpy.dtype("<f4")


@refused("'/d'", "shared")
def use_of_committed_type(path):
    with h5py.File(path, "w") as file:
        file["type"] = numpy.dtype("<f4")
        file.create_dataset("d", (3,), dtype=file["type"])


@refused("'/d'", "lzf")
def lzf(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values((40,), "<f4"), compression="lzf")


@refused("'/d'", "szip")
def szip(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values((64,), "<i4"), compression="szip", chunks=(32,))


@refused("'/d'", "scaleoffset")
def scale_offset(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values((40,), "<i4"), scaleoffset=0)


@refused("'/d'", "external Dataset")
def external_storage(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (4,), "<f4", external=[("data.bin", 0, 16)])


@refused("'/d'", "virtual Dataset")
def virtual(path):
    with h5py.File(path, "w") as file:
        layout = h5py.VirtualLayout((4,), "<f4")
        layout[:] = h5py.VirtualSource("other.h5", "d", (4,))
        file.create_virtual_dataset("d", layout)


@refused("'/d'", "layout version")
def new_chunk_index(path):
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("d", data=values((40,), "<f4"), chunks=(8,))


@refused("'/d'", "never written")
def never_filled(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (4,), "<f4", fill_time="never")


@refused("'/g/self'", "cycle")
def cycle(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("g")
        group["self"] = group


@refused("'/d'", "shape bomb")
def shape_bomb(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (1 << 20, 1 << 20), "<f4", chunks=(1, 1 << 20), compression="gzip")[0, 0] = 1
