"""Compares dumped shards with what another library reads from the checkpoint, every value, bit for bit.

    python tools/check_shards.py CHECKPOINT FOLDER

CHECKPOINT is a .safetensors file or a safetensors index (read by the safetensors library), or a Keras .weights.h5
(read by h5py). FOLDER is what `shardwise load CHECKPOINT --dump FOLDER` wrote: device-K.safetensors, whose metadata
says which part of each tensor device K holds. Exit status 1 when a value, shape, dtype or tensor differs, or a part is
missing.
"""

import json
import pathlib
import sys

import ml_dtypes  # noqa: F401  numpy learns bfloat16 and float8 from it
import numpy
from safetensors import safe_open


class SafetensorsSource:
    library = "the safetensors library"

    def __init__(self, path):
        names = {path.name}
        if path.suffix == ".json":
            names = set(json.loads(path.read_text())["weight_map"].values())
        self.files = [safe_open(path.parent / name, "numpy") for name in sorted(names)]
        self.where = {name: file for file in self.files for name in file.keys()}

    def names(self):
        return set(self.where)

    def read(self, name):
        return self.where[name].get_tensor(name)


class HDF5Source:
    library = "h5py"

    def __init__(self, path):
        import h5py

        self.file, self.found = h5py.File(path), set()
        self.file.visititems(lambda name, item: self.found.add(name) if isinstance(item, h5py.Dataset) else None)

    def names(self):
        return self.found

    def read(self, name):
        return self.file[name][()]


def same_bits(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return numpy.ascontiguousarray(a).tobytes() == numpy.ascontiguousarray(b).tobytes()


class Device:
    """The shards of one device, and what they were found to be."""

    def __init__(self, path):
        self.file = safe_open(path, "numpy")
        metadata = self.file.metadata()
        self.id = metadata["device"]
        self.shards = json.loads(metadata["shards"])
        self.tensors = self.values = self.bytes = 0

    def compare(self, name, whole, seen):
        """True when this device's part of `name` is that part of `whole`. Marks the part in `seen`."""
        part = self.shards[name]
        box = tuple(slice(o, o + e) for o, e in zip(part["origin"], part["extent"]))
        shard = self.file.get_tensor(name)
        self.tensors += 1
        self.values += shard.size
        self.bytes += shard.nbytes
        seen[box] = True
        return same_bits(shard, numpy.asarray(whole[box]))


def main(checkpoint, folder):
    checkpoint = pathlib.Path(checkpoint)
    source = HDF5Source(checkpoint) if checkpoint.suffix == ".h5" else SafetensorsSource(checkpoint)
    devices = [Device(p) for p in sorted(pathlib.Path(folder).glob("device-*.safetensors"))]
    wrong = []
    for name in sorted(source.names()):
        whole = source.read(name)
        seen = numpy.zeros(whole.shape, bool)
        for device in devices:
            if name not in device.shards:
                wrong.append(f"{name}: not on {device.id}")
            elif not device.compare(name, whole, seen):
                wrong.append(f"{name}: differs on {device.id}")
        if not seen.all():
            wrong.append(f"{name}: {seen.size - int(seen.sum())} values are on no device")
    extra = {name for device in devices for name in device.shards} - source.names()
    wrong += [f"{name}: the checkpoint has no such tensor" for name in sorted(extra)]

    for device in devices:
        print(f"  {device.id:<8} {device.tensors:>5} shards  {device.values:>12,} values  {device.bytes:>12,} bytes")
    for line in wrong:
        print(f"  WRONG  {line}")
    if not wrong and devices and source.names():
        print(f"  every value on {len(devices)} devices equals what {source.library} reads")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
