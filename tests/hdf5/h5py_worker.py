"""Reads paths from stdin; answers each with a line of JSON as `hdf5_driver serve` does, from h5py.

{"error": text} or {"datasets": {path: [dtype, shape, hex of values]}, "attributes": {path: {name: [text, ...]}}}.
A dataset that h5py cannot read has null for its values.
"""

import json
import sys

import h5py
import numpy

MAX_BYTES = 64 << 20
MAX_OBJECTS = 20_000


def as_latin1(text):
    """Text as the driver prints it: each byte of the file as one character."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    return data.decode("latin-1")


def text_attributes(item):
    found = {}
    for name in item.attrs:
        try:
            if h5py.check_string_dtype(item.attrs.get_id(name).dtype) is None:
                continue
            value = item.attrs[name]
        except Exception:
            continue
        if isinstance(value, h5py.Empty):
            continue
        values = [value] if isinstance(value, (str, bytes)) else numpy.asarray(value).ravel().tolist()
        found[as_latin1(name)] = [as_latin1(v) for v in values]
    return found


def described(dataset):
    dtype = dataset.dtype
    if dtype == numpy.dtype("V2") and dataset.attrs.get("dtype") == "bfloat16":
        name = "bfloat16"
    elif dtype.kind in "biuf" and dtype.newbyteorder("<") == dtype:
        name = dtype.name
    else:
        return [str(dtype), None, None]
    if dataset.shape is None:
        return [name, None, None]
    shape = list(dataset.shape)
    if dataset.size * dtype.itemsize > MAX_BYTES:
        return [name, shape, None]
    try:
        return [name, shape, dataset[()].tobytes().hex()]
    except Exception:
        return [name, shape, None]


def walk(group, path, datasets, attributes):
    attributes[as_latin1(path)] = text_attributes(group)
    for name in group:
        if len(datasets) + len(attributes) > MAX_OBJECTS:
            raise ValueError("too many objects")
        child = f"{path}/{name}" if path else name
        try:
            item = group[name]
        except Exception:
            continue
        if isinstance(item, h5py.Dataset):
            try:
                datasets[as_latin1(child)] = described(item)
                attributes[as_latin1(child)] = text_attributes(item)
            except Exception as error:
                datasets[as_latin1(child)] = [str(error), None, None]
        elif isinstance(item, h5py.Group):
            if child.count("/") < 50:
                walk(item, child, datasets, attributes)


def answer(path):
    datasets, attributes = {}, {}
    try:
        with h5py.File(path, "r") as file:
            walk(file, "", datasets, attributes)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"datasets": datasets, "attributes": attributes}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(line.rstrip("\n"))), flush=True)
