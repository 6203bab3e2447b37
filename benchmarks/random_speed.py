"""Random tensors against jitted, warm JAX: one run, interleaved rounds, both using all cores.

    cmake --preset release -DSHARDWISE_BUILD_BENCHMARKS=ON && cmake --build --preset release --target random_speed
    .venv/bin/python benchmarks/random_speed.py [--rounds 5] [--mib 256] [--target AVX2]

Prints medians: seconds per GiB of output, how many times faster, and elements per second and core. With --bound, instead,
how far ours is from what the processor can do: instructions per element (counted by valgrind, which must be there) and
per cycle; of the 4 that processors of today start in a cycle.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("SHARDWISE_BUILD", ROOT / "build/release"))
CORES = len(os.sched_getaffinity(0))
KINDS = {
    "uniform": lambda key, n, dtype: jax.random.uniform(key, (n,), dtype, -0.05, 0.05),
    "normal": lambda key, n, dtype: jax.random.normal(key, (n,), dtype),
    "truncated_normal": lambda key, n, dtype: jax.random.truncated_normal(key, -2.0, 2.0, (n,), dtype),
}
WIDTH_OF_CORE = 4
WIDTH = {"float32": 4, "bfloat16": 2, "float16": 2}


class Ours:
    def __init__(self, target):
        self.target = target
        self.process = subprocess.Popen([BUILD / "benchmarks/random_speed"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, kind, dtype, elements, threads=CORES):
        self.process.stdin.write(f"{kind} {dtype} {elements} {threads} {self.target}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def of_jax(kind, dtype, elements):
    make = jax.jit(KINDS[kind], static_argnums=(1, 2))
    key = jax.numpy.array([42, 0], jax.numpy.uint32)

    def once():
        begin = time.perf_counter()
        jax.block_until_ready(make(key, elements, dtype))
        return time.perf_counter() - begin

    once()
    return once


def instructions(kind, dtype, elements):
    """Instructions that the whole program takes for a tensor."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", BUILD / "benchmarks/random_speed"]
        subprocess.run(command, input=f"{kind} {dtype} {elements} 1\n", text=True, check=True, capture_output=True)
        return int(re.search(r"^(?:summary|totals): (\d+)", pathlib.Path(out.name).read_text(), re.M)[1])


def print_bound(options):
    """One core's instructions per cycle; the clock is measured beside, in the same rounds."""
    ours, step = Ours(""), 1 << 20
    print(f"instructions: per element, per cycle, of {WIDTH_OF_CORE} per cycle; one core")
    for dtype in options.dtypes.split(","):
        elements = options.mib * 2**20 // WIDTH[dtype]
        for kind in options.kinds.split(","):
            per_element = (instructions(kind, dtype, 2 * step) - instructions(kind, dtype, step)) / step
            rounds = [(ours(kind, dtype, elements, 1), ours("clock", "-", 100_000_000)) for _ in range(options.rounds)]
            seconds, of_clock = (min(column) for column in zip(*rounds))
            per_cycle = per_element * elements / (seconds * 1e8 / of_clock)
            print(f"{kind:17} {dtype:9} {per_element:6.2f}  {per_cycle:5.2f}  {per_cycle / WIDTH_OF_CORE:5.0%}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=256, help="size of each tensor")
    parser.add_argument("--target", default="", help="instruction set of ours; default: the best")
    parser.add_argument("--kinds", default="uniform,normal,truncated_normal")
    parser.add_argument("--dtypes", default="float32,bfloat16,float16")
    parser.add_argument("--bound", action="store_true", help="instructions per element and cycle instead")
    options = parser.parse_args()
    if options.bound:
        return print_bound(options)
    ours = Ours(options.target)
    per_gib = 1024 / options.mib
    print(f"{CORES} cores, {options.mib} MiB, {options.rounds} rounds; s/GiB: median")
    print("kind              dtype       JAX    ours   times   M elements/s/core")
    for dtype in options.dtypes.split(","):
        elements = options.mib * 2**20 // WIDTH[dtype]
        for kind in options.kinds.split(","):
            theirs = of_jax(kind, dtype, elements)
            ours(kind, dtype, elements)
            rounds = [(theirs(), ours(kind, dtype, elements)) for _ in range(options.rounds)]
            jax_s, our_s = (statistics.median(column) for column in zip(*rounds))
            print(f"{kind:17} {dtype:9} {jax_s * per_gib:6.2f}  {our_s * per_gib:6.3f}  {jax_s / our_s:6.1f}  "
                  f"{elements / our_s / CORES / 1e6:8.0f}", flush=True)
    elements = options.mib * 2**18
    # There are machines that write zeros faster than other bytes.
    for kind, fill_kind in (("zeros", "fill0"), ("ones", "fill1")):
        rounds = [(ours(fill_kind, "float32", elements), ours(kind, "float32", elements)) for _ in range(options.rounds)]
        fill, made = (statistics.median(column) for column in zip(*rounds))
        print(f"{kind:17} float32   fill {fill * per_gib:.3f}  ours {made * per_gib:.3f}: {fill / made:.2f} of a fill")


if __name__ == "__main__":
    main()
