from random_support import Driver, jax  # jax from there, where it is told how to start

import pytest


@pytest.fixture(scope="session")
def driver(built, tmp_path_factory):
    driver = Driver(built("random_driver"), tmp_path_factory.mktemp("random"))
    yield driver
    driver.close()


@pytest.fixture
def wide():
    """JAX with 64-bit types, for one test."""
    with jax.enable_x64(True):
        yield
