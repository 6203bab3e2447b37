"""Fixtures: the driver's catalogs, and a folder of models that Keras saved in all its formats."""

import json
import os
import pathlib
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def catalog_of(built):
    """catalog_of(format, path): what the driver prints, parsed."""
    driver = built("keras_driver")

    def run(kind, path):
        done = subprocess.run([driver, kind, path], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The folder that keras_models.py fills: <model>.weights.h5, .keras, and .<n>.weights.json of several shard sizes."""
    folder = tmp_path_factory.mktemp("keras")
    script = pathlib.Path(__file__).with_name("keras_models.py")
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, script, folder], check=True, env=environment, timeout=600,
                   stdout=subprocess.DEVNULL)
    return folder
