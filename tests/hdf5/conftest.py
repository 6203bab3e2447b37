"""Fixtures: the HDF5 driver, and what h5py says of the same file."""

import os
import pathlib
import subprocess

import pytest
from hdf5_support import Answerer, worker_command


@pytest.fixture(scope="session")
def driver(built):
    return built("hdf5_driver")


@pytest.fixture(scope="session")
def ours(driver):
    """ours(path): what shardwise reads. It may use 256 MiB and 30 s, whatever the file."""
    with Answerer([str(driver), "serve"], seconds=30, bytes=256 << 20, may_crash=False) as answerer:
        yield answerer.ask


@pytest.fixture(scope="session")
def theirs():
    """theirs(path): what h5py reads, in another process, as it may crash on bad files."""
    with Answerer(worker_command(), seconds=60, bytes=None, may_crash=True) as answerer:
        yield answerer.ask


@pytest.fixture(scope="session")
def keras_files(tmp_path_factory):
    """A folder of files that Keras wrote."""
    folder = tmp_path_factory.mktemp("keras")
    script = pathlib.Path(__file__).with_name("keras_samples.py")
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    subprocess.run([worker_command()[0], script, folder], check=True, env=environment, timeout=600,
                   stdout=subprocess.DEVNULL)
    return folder
