import os
import pathlib

from random_support import ROOT, Driver, jax  # jax from there, where it is told how to start

import pytest


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", "build/release"))
    path = (build if build.is_absolute() else ROOT / build) / "tests" / "random_driver"
    if not path.exists():
        pytest.fail(f"{path} is missing: build the target random_driver first")
    driver = Driver(path, tmp_path_factory.mktemp("random"))
    yield driver
    driver.close()


@pytest.fixture
def wide():
    """JAX with 64-bit types, for one test."""
    with jax.enable_x64(True):
        yield
