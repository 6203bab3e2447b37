"""Keras's own load and initialisation against shardwise's, run by turns in one process. Ratios of medians.

    .venv/bin/python benchmarks/keras_load.py [--mib 1024] [--rounds 3] [--what h5 keras init] [--kind embedding blocks]

Needs the package installed (`pip install .`). Files are read warm. Absolute times of different runs are not comparable.
"""

import argparse
import gc
import pathlib
import statistics
import tempfile
import time

import keras_models
import jax
import keras
import numpy as np

import shardwise.keras as sw
from touch import touch


def timed(work, mib):
    gc.collect()
    touch(3 * mib)
    began = time.perf_counter()
    result = work()
    jax.block_until_ready([v.value for v in getattr(result, "variables", [])])
    return time.perf_counter() - began


def by_turns(rounds, mib, theirs, ours):
    """Seconds of each, best known first left out: the first round warms both up."""
    pairs = [(timed(theirs, mib), timed(ours, mib)) for _ in range(rounds + 1)][1:]
    return [statistics.median(p[k] for p in pairs) for k in range(2)]


def tell(kind, what, seconds):
    theirs, ours = seconds
    print(f"{kind:<10} {what:<12} Keras {theirs:7.2f} s   shardwise {ours:7.2f} s   {theirs / ours:5.1f} x")


def load(model, path, with_keras):
    if with_keras:
        model.load_weights(path)
    else:
        sw.load_weights(model, path, progress=False)
    return model


def initialise(kind, mib, with_keras):
    keras.utils.set_random_seed(1)
    if with_keras:
        return keras_models.build(kind, mib, "random_normal")
    with sw.sharded(progress=False):
        return keras_models.build(kind, mib, "random_normal")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--what", nargs="+", default=["h5", "keras", "init"], choices=["h5", "json", "keras", "init"])
    parser.add_argument("--kind", nargs="+", default=["embedding", "blocks"], choices=["embedding", "blocks"])
    parser.add_argument("--folder", help="where the files go; default: a temporary one")
    options = parser.parse_args()
    keras_models.distribute()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for kind in options.kind:
            model = keras_models.build(kind, options.mib)
            rng = np.random.default_rng(0)
            for variable in model.variables:
                variable.assign(rng.random(variable.shape, np.float32))
            files = {"h5": "m.weights.h5", "json": "m.weights.json", "keras": "m.keras"}
            for what in options.what:
                if what == "init":
                    makes = [lambda flag=flag: initialise(kind, options.mib, flag) for flag in (True, False)]
                    tell(kind, what, by_turns(options.rounds, options.mib, *makes))
                    continue
                path = str(pathlib.Path(folder) / files[what])
                if what == "keras":
                    model.save(path)
                else:
                    model.save_weights(path, **({"max_shard_size": options.mib / 1024} if what == "json" else {}))
                loads = [lambda flag=flag: load(model, path, flag) for flag in (True, False)]
                tell(kind, files[what], by_turns(1 if what == "keras" else options.rounds, options.mib, *loads))
                pathlib.Path(path).unlink()
            del model


if __name__ == "__main__":
    main()
