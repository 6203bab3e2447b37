"""Initialisation: shardwise against Keras under ModelParallel, and against a fill of fresh memory.

    python3 benchmarks/init.py [--rounds 3] [--scale 1|0.1] [--out FILE.json]

One run on the same cores, both using all, every measurement a process of its own, rounds interleaved; medians are
compared. Keras (JAX, 8 virtual CPU devices) makes the variables of a Gemma-like model of 1 GiB with its layout map, timed
from the first variable until all values are there; imports and start are not counted. shardwise makes the same variables,
bit for bit, on 8 host devices; timed is the load itself. Bars: 8 times Keras's speed; zeros and ones at 0.8 of the fill.
"""

import argparse
import contextlib
import ctypes
import json
import mmap
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from touch import touch

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEVICES = 8
FILL_BYTES = 1 << 30


def variables(scale):
    """[(path, shape, initializer class, config)] of a Gemma-like model: 64000 x 1024 and 12 blocks, about 1 GiB."""
    vocabulary, d, heads, head, f, layers = int(64000 * scale), 1024, 8, 128, 4096, max(1, int(12 * scale))
    out = [("token_embedding/embeddings", (vocabulary, d), "VarianceScaling",
            {"distribution": "untruncated_normal", "seed": 1})]
    for i in range(layers):
        block = f"decoder_block_{i}/"
        for norm in ("pre_attention_norm", "pre_ffw_norm"):
            out.append((f"{block}{norm}/scale", (d,), "Zeros", {}))
        for kind in ("query", "key", "value"):
            out.append((f"{block}attention/{kind}/kernel", (heads, d, head), "GlorotUniform", {"seed": 10 * i + 2}))
        out.append((f"{block}attention/attention_output/kernel", (heads, head, d), "GlorotUniform", {"seed": 10 * i + 2}))
        out.append((f"{block}ffw_gating/kernel", (d, f), "GlorotUniform", {"seed": 10 * i + 3}))
        out.append((f"{block}ffw_gating_2/kernel", (d, f), "GlorotUniform", {"seed": 10 * i + 4}))
        out.append((f"{block}ffw_linear/kernel", (f, d), "GlorotUniform", {"seed": 10 * i + 5}))
    return [*out, ("final_normalization/scale", (d,), "Zeros", {})]


def keras_child(scale):
    os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu",
                      XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}")
    import jax
    import keras

    mesh = keras.distribution.DeviceMesh((1, DEVICES), ("batch", "model"), keras.distribution.list_devices())
    rules = keras.distribution.LayoutMap(mesh)
    rules["token_embedding/embeddings"] = ("model", "batch")
    rules["decoder_block.*attention.*(query|key|value).kernel"] = ("model", "batch", None)
    rules["decoder_block.*attention_output.kernel"] = ("model", None, "batch")
    rules["decoder_block.*ffw_gating.kernel"] = ("batch", "model")
    rules["decoder_block.*ffw_gating_2.kernel"] = ("batch", "model")
    rules["decoder_block.*ffw_linear.kernel"] = ("model", "batch")
    distribution = keras.distribution.ModelParallel(layout_map=rules, batch_dim_name="batch")
    touch(3072)
    begin = time.perf_counter()
    made = []
    with distribution.scope():
        for path, shape, kind, config in variables(scale):
            *folders, name = path.split("/")
            with contextlib.ExitStack() as scopes:
                for folder in folders:
                    scopes.enter_context(keras.name_scope(folder))
                initializer = getattr(keras.initializers, kind)(**config)
                made.append(keras.Variable(initializer, shape=shape, dtype="float32", name=name))
                assert made[-1].path == path
    jax.block_until_ready([variable.value for variable in made])
    return {"seconds": time.perf_counter() - begin, "bytes": sum(variable.value.nbytes for variable in made)}


def fill_child():
    """Fresh memory, huge pages advised, filled by as many threads as there are cores."""
    memory = mmap.mmap(-1, FILL_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    count = len(os.sched_getaffinity(0))
    part = FILL_BYTES // count
    threads = [threading.Thread(target=ctypes.memset, args=(address + i * part, 0x3F, part)) for i in range(count)]
    touch(FILL_BYTES >> 20)
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"seconds": time.perf_counter() - begin, "bytes": FILL_BYTES}


def shardwise(binary, spec, *extra):
    touch(2048)
    done = subprocess.run([binary, "init", spec, "--mesh", f"batch=1,model={DEVICES}", "--no-fingerprint", "--json", *extra],
                          capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)["measured"]
    return {"seconds": measured["seconds"], "bytes": measured["bytes_generated"],
            "host_peak_bytes": measured["host_peak_bytes"]}


def child(*arguments):
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def write_spec(path, entries):
    path.write_text(json.dumps({"variables": [
        {"name": name, "shape": shape, "rounding": "keras", "initializer": {"class_name": kind, "config": config}}
        for name, shape, kind, config in entries]}))
    return str(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--out")
    parser.add_argument("--child", choices=["keras", "fill"])
    options = parser.parse_args()
    if options.child:
        print(json.dumps(keras_child(options.scale) if options.child == "keras" else fill_child()))
        return
    binary = str(pathlib.Path(os.environ.get("SHARDWISE_BUILD", ROOT / "build" / "release")) / "shardwise")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model = write_spec(folder / "model.json", variables(options.scale))
        constants = {kind: write_spec(folder / f"{kind}.json", [(f"v{i}", (8192, 2048), kind, {}) for i in range(16)])
                     for kind in ("Zeros", "Ones")}
        rows = {"shardwise": lambda: shardwise(binary, model, "--layout", "gemma"),
                "keras": lambda: child("--child", "keras", "--scale", str(options.scale)),
                "fill": lambda: child("--child", "fill"),
                "zeros": lambda: shardwise(binary, constants["Zeros"]),
                "ones": lambda: shardwise(binary, constants["Ones"])}
        for _ in range(options.rounds):
            for name, measure in rows.items():
                results.setdefault(name, []).append(measure())
    seconds = {name: statistics.median(r["seconds"] for r in each) for name, each in results.items()}
    size = {name: each[0]["bytes"] for name, each in results.items()}
    for name in rows:
        print(f"{name:<10} {size[name] / 2**30:6.2f} GiB  {seconds[name]:8.3f} s  {size[name] / 2**30 / seconds[name]:8.2f} GiB/s")
    fill = size["fill"] / seconds["fill"]
    bars = {"times Keras (8 or more)": seconds["keras"] / seconds["shardwise"],
            "zeros of a fill (0.8 or more)": size["zeros"] / seconds["zeros"] / fill,
            "ones of a fill (0.8 or more)": size["ones"] / seconds["ones"] / fill}
    for name, value in bars.items():
        print(f"{name:<32} {value:6.2f}")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"results": results, "bars": bars}, indent=1))


if __name__ == "__main__":
    main()
