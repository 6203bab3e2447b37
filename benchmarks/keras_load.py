"""Keras's own load and initialisation against shardwise's, run by turns in one process. Ratios of medians.

    .venv/bin/python benchmarks/keras_load.py [--mib 1024] [--rounds 3] [--what h5 keras init] [--kind embedding blocks]

h5, json, keras: load_weights of a file in that format. Each replaces the values that the other left: a tenth of a second
of shardwise's time is to give back a gigabyte of small pages that Keras's values lie on. "in place" is the same with
values that shardwise made, as a model has that was built inside sw.sharded(). model: keras.saving.load_model of a .keras.

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


def timed(work, mib, before=None):
    if before:
        before()
    gc.collect()
    touch(3 * mib)
    began = time.perf_counter()
    result = work()
    jax.block_until_ready([v.value for v in getattr(result, "variables", [])])
    return time.perf_counter() - began


def by_turns(rounds, mib, theirs, ours, before=None):
    """Median seconds of each; the first round warms both up and does not count. `before` is not measured."""
    pairs = [(timed(theirs, mib, before), timed(ours, mib, before)) for _ in range(rounds + 1)][1:]
    return [statistics.median(p[k] for p in pairs) for k in range(2)]


def tell(kind, what, seconds):
    theirs, ours = seconds
    print(f"{kind:<10} {what:<14} Keras {theirs:7.2f} s   shardwise {ours:7.2f} s   {theirs / ours:5.1f} x")


def load(model, path, with_keras):
    if with_keras:
        model.load_weights(path)
    else:
        sw.load_weights(model, path, progress=False)
    return model


def load_model(path, with_keras):
    if with_keras:
        return keras.saving.load_model(path, compile=False)
    with sw.sharded(progress=False):
        return keras.saving.load_model(path, compile=False)


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
    parser.add_argument("--what", nargs="+", default=["h5", "keras", "model", "init"], choices=["h5", "json", "keras", "model", "init"])
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
            files = {"h5": "m.weights.h5", "json": "m.weights.json", "keras": "m.keras", "model": "m.keras"}
            for what in options.what:
                if what == "init":
                    makes = [lambda flag=flag: initialise(kind, options.mib, flag) for flag in (True, False)]
                    tell(kind, what, by_turns(options.rounds, options.mib, *makes))
                    continue
                path = str(pathlib.Path(folder) / files[what])
                if files[what] == "m.keras":
                    model.save(path)
                else:
                    model.save_weights(path, **({"max_shard_size": options.mib / 1024} if what == "json" else {}))
                if what == "model":
                    loads = [lambda flag=flag: load_model(path, flag) for flag in (True, False)]
                    tell(kind, "load_model", by_turns(options.rounds, options.mib, *loads))
                else:
                    loads = [lambda flag=flag: load(model, path, flag) for flag in (True, False)]
                    tell(kind, files[what], by_turns(options.rounds, options.mib, *loads))
                    in_place = by_turns(options.rounds, options.mib, *loads, before=lambda: load(model, path, False))
                    tell(kind, f"{what} in place", in_place)
                pathlib.Path(path).unlink()
            del model


if __name__ == "__main__":
    main()
