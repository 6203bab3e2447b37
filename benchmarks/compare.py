"""shardwise against the raw read limit and against other loaders: one run, same files, interleaved rounds.

    benchmarks/run.sh [--rounds 5] [--only warm|cold] [--formats safetensors,keras-h5] [--size 1|0.1] [--out FILE.json]

Every measurement is a process of its own; rounds go through all of them in turn, so that a machine whose speed drifts
treats all alike. Medians are compared. Warm: the file was read just before. Cold: its pages were dropped from the cache,
and that was checked. Writes a table and, with --out, all figures.
"""

import argparse
import json
import mmap
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from touch import touch

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = pathlib.Path(__file__).resolve().parent
LAYOUTS = ("row", "column", "gemma")
OF_FORMAT = {"safetensors": [name for name in ("keras", "safetensors load_file", "safetensors get_slice rows",
                                               "safetensors get_slice columns", "fastsafetensors",
                                               "runai-model-streamer") if name != "keras"],
             "keras-h5": ["keras"], "keras-json": ["keras"], "keras": ["keras"]}
SIZES = {"1": {}, "0.1": {"vocabulary": 16000, "width": 512, "layers": 6, "heads": 4, "feed": 2048}}


def parts(path):
    """The files that a checkpoint consists of."""
    if path.name.endswith(".weights.json"):
        return [path, *sorted(path.parent.glob(path.name.replace(".weights.json", "_*.weights.h5")))]
    return [path]


def resident_pages(path):
    """Pages of a file in the page cache, by mincore."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_WRITE, flags=mmap.MAP_PRIVATE) as mapped:
        pages = (len(mapped) + mmap.PAGESIZE - 1) // mmap.PAGESIZE
        vector = (ctypes.c_ubyte * pages)()
        anchor = ctypes.c_char.from_buffer(mapped)
        if libc.mincore(ctypes.c_void_p(ctypes.addressof(anchor)), ctypes.c_size_t(len(mapped)), vector) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        del anchor
        return sum(v & 1 for v in vector)


def prepare(path, phase):
    """Puts the checkpoint into the page cache, or out of it and checks that."""
    for part in parts(path):
        with open(part, "rb", buffering=0) as file:
            if phase == "warm":
                while file.read(8 << 20):
                    pass
                continue
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if phase == "cold" and resident_pages(part) > 0:
            raise RuntimeError(f"{part}: still in the page cache")


def run(command):
    """The JSON that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout[done.stdout.index("{"):])


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.sizes = SIZES[arguments.size]
        self.binary = str(pathlib.Path(os.environ.get("SHARDWISE_BUILD", ROOT / "build" / "release")) / "shardwise")
        self.seconds = {}  # (format, phase, what) -> [seconds]

    def make_files(self):
        environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu",
                       "KERAS_BACKEND": "jax", "TF_CPP_MIN_LOG_LEVEL": "3"}
        subprocess.run([sys.executable, HERE / "gemma_like.py", self.folder, json.dumps(self.sizes)], check=True, env=environment)
        sys.path.insert(0, str(HERE))
        import gemma_like

        for layout in LAYOUTS:
            (self.folder / f"{layout}.json").write_text(json.dumps(gemma_like.layout_json(layout)))
        return {name: pathlib.Path(path) for name, path in json.loads((self.folder / "files.json").read_text()).items()}

    def keep(self, key, seconds):
        self.seconds.setdefault(key, []).append(seconds)

    def round(self, kind, path, phase):
        # Raw and shardwise's three layouts in one process, cache and memory prepared before each by the command itself.
        report = run([self.binary, "bench", str(path), "--json", "--only", phase, "--repeat", "3", "--layout", str(self.folder / "gemma.json")])
        for row in report["phases"][0]["rows"]:
            self.keep((kind, phase, f"bench {row['what']}"), row["seconds"])
        for layout in LAYOUTS:
            prepare(path, phase)
            touch(sum(part.stat().st_size for part in parts(path)) >> 20)  # more, and the host takes it back at once
            report = run([self.binary, "load", str(path), "--json", "--mesh", "batch=1,model=8", "--layout", str(self.folder / f"{layout}.json")])
            self.keep((kind, phase, f"shardwise {layout}"), report["measured"]["seconds"])
        for peer in OF_FORMAT[kind]:
            if kind == "keras" and self.arguments.skip_slow:
                continue
            prepare(path, phase)
            self.keep((kind, phase, peer), run([sys.executable, HERE / "peer.py", peer, str(path), json.dumps(self.sizes)])["seconds"])

    def run_all(self):
        files = self.make_files()
        phases = [self.arguments.only] if self.arguments.only else ["warm", "cold"]
        for number in range(self.arguments.rounds):
            for kind in self.arguments.formats.split(","):
                for phase in phases:
                    print(f"round {number + 1}: {kind} {phase}", file=sys.stderr, flush=True)
                    self.round(kind, files[kind], phase)
        self.table(files)

    def table(self, files):
        results = []
        for (kind, phase, what), seconds in self.seconds.items():
            size = sum(part.stat().st_size for part in parts(files[kind]))
            middle = statistics.median(seconds)
            results.append({"format": kind, "phase": phase, "what": what, "median_seconds": middle, "seconds": seconds,
                            "mib_per_second": size / middle / 2**20})
        for kind, phase in dict.fromkeys((r["format"], r["phase"]) for r in results):
            rows = [r for r in results if (r["format"], r["phase"]) == (kind, phase)]
            raw = next(r for r in rows if r["what"] == "bench raw")["median_seconds"]
            peers = [r["median_seconds"] for r in rows if r["what"] in OF_FORMAT[kind]]
            print(f"\n{kind}, {phase} (median of {len(rows[0]['seconds'])})")
            print(f"  {'':32} {'s':>8} {'MiB/s':>8} {'of raw':>7} {'x best peer':>12}")
            for r in rows:
                best = f"{min(peers) / r['median_seconds']:.2f}" if peers else "-"
                print(f"  {r['what']:32} {r['median_seconds']:8.3f} {r['mib_per_second']:8.0f} {raw / r['median_seconds']:7.2f} {best:>12}")
        if self.arguments.out:
            pathlib.Path(self.arguments.out).write_text(json.dumps(results, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["warm", "cold"])
    parser.add_argument("--formats", default="safetensors,keras-h5,keras-json,keras")
    parser.add_argument("--size", choices=SIZES, default="1", help="GiB, about")
    parser.add_argument("--skip-slow", action="store_true", help="not Keras's load_weights of a .keras (a minute each)")
    parser.add_argument("--out")
    parser.add_argument("--folder", help="where the files are made; default: a temporary folder, removed afterwards")
    arguments = parser.parse_args()
    if arguments.folder:
        os.makedirs(arguments.folder, exist_ok=True)
        Bench(arguments, arguments.folder).run_all()
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Bench(arguments, folder).run_all()


if __name__ == "__main__":
    main()
