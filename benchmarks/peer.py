"""One load by another library, in a process of its own: peer.py NAME PATH SIZES_JSON -> {"seconds", "bytes"} on stdout.

Imports, and what a user of the library must have anyway (the Keras model), are made before the clock starts. All deliver
host memory; what they cut into shards, and when, is each one's own way.
"""

import json
import os
import sys
import time

from touch import touch


def keras_load(path, sizes):
    """Model.load_weights under ModelParallel on 8 virtual CPU devices."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["KERAS_BACKEND"] = "jax"
    import jax
    import gemma_like

    model = gemma_like.build_keras(gemma_like.Sizes(**sizes))

    def work():
        model.load_weights(path)
        jax.block_until_ready([v.value for v in model.weights])
        return sum(v.value.nbytes for v in model.weights)

    return work


def safetensors_load_file(path, _):
    """safetensors.numpy.load_file: every tensor whole."""
    import safetensors.numpy

    def work():
        return sum(t.nbytes for t in safetensors.numpy.load_file(path).values())

    return work


def safetensors_get_slice(path, _, column=False):
    """safe_open().get_slice: eight shards of every matrix, by rows (or columns)."""
    import safetensors

    def work():
        total, kept = 0, []
        with safetensors.safe_open(path, "numpy") as file:
            for name in file.keys():
                view = file.get_slice(name)
                shape = view.get_shape()
                axis = 1 if column and len(shape) > 1 else 0
                step = shape[axis] // 8 if shape[axis] % 8 == 0 else shape[axis]
                for begin in range(0, shape[axis], step):
                    part = view[begin:begin + step] if axis == 0 else view[:, begin:begin + step]
                    total += part.nbytes
                    kept.append(part)
        return total

    return work


def fastsafetensors_load(path, _):
    """fastsafetensors on the CPU without GPUDirect."""
    from fastsafetensors import SafeTensorsFileLoader, SingleGroup

    def work():
        loader = SafeTensorsFileLoader(SingleGroup(), "cpu", nogds=True)
        loader.add_filenames({0: [path]})
        buffers = loader.copy_files_to_device()
        total = sum(buffers.get_tensor(key).nbytes for key in loader.get_keys())
        buffers.close()
        loader.close()
        return total

    return work


def runai_stream(path, _):
    """Run:ai model streamer, its defaults; tensors are cloned as its documentation tells whoever keeps them."""
    from runai_model_streamer import SafetensorsStreamer

    def work():
        kept = []
        with SafetensorsStreamer() as streamer:
            streamer.stream_file(path)
            for _, tensor in streamer.get_tensors():
                kept.append(tensor.clone())
        return sum(t.nbytes for t in kept)

    return work


PEERS = {
    "keras": keras_load,
    "safetensors load_file": safetensors_load_file,
    "safetensors get_slice rows": safetensors_get_slice,
    "safetensors get_slice columns": lambda path, sizes: safetensors_get_slice(path, sizes, column=True),
    "fastsafetensors": fastsafetensors_load,
    "runai-model-streamer": runai_stream,
}


def main():
    name, path, sizes = sys.argv[1:4]
    work = PEERS[name](path, json.loads(sizes))
    touch(3072)
    start = time.perf_counter()
    total = work()
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": total}))


if __name__ == "__main__":
    main()
