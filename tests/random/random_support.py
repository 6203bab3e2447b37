"""What the tests of the random room share: the driver, and comparison by bits."""

import json
import os
import pathlib
import subprocess

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "0"

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float32": np.float32, "float64": np.float64}


class Refused(Exception):
    """The library's Status."""


class Driver:
    """Asks the random driver one question a time; see random_driver.cc for the questions."""

    def __init__(self, path, folder):
        self.out = str(folder / "values")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the driver died of {question}"
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def values(self, *, shape, dtype, **question):
        """The values of a box, a range or all of a tensor, as a numpy array."""
        self.ask(shape=list(shape), dtype=dtype, out=self.out, **question)
        found = np.fromfile(self.out, dtype=DTYPES.get(dtype, dtype))
        if "range" in question:
            return found
        return found.reshape(question["box"][1] if "box" in question else shape)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def same_bits(ours, theirs):
    """Differences in bits, NaNs and signs of zero included."""
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    return np.count_nonzero(ours.view(f"u{ours.itemsize}") != theirs.view(f"u{ours.itemsize}"))
