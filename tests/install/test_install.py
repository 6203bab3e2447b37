"""`cmake --install`, and a project of somebody else that finds and uses what was installed."""

import os
import subprocess

import installed
import numpy
import pytest
from safetensors.numpy import save_file

PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\nfind_package({} REQUIRED)\n"

@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "w.safetensors"
    save_file({"w": numpy.arange(16, dtype=numpy.uint8).reshape(16, 1) * 3}, path)
    return path


@pytest.fixture(scope="module")
def consumer(prefix, tmp_path_factory):
    source = installed.ROOT / "tests" / "install" / "consumer"
    return installed.build(source, tmp_path_factory.mktemp("consumer"), prefix) / "consumer"


def test_consumer_loads(consumer, weights):
    lines = installed.run(consumer, weights).splitlines()
    assert lines == [f"host:{d}: 2 bytes, first {6 * d}" for d in range(8)]


def test_consumer_reports_what_is_wrong(consumer, tmp_path):
    answer = subprocess.run([consumer, tmp_path / "missing"], capture_output=True, text=True)
    assert answer.returncode == 1 and answer.stdout.startswith("NOT_FOUND: ")


def test_examples_build_against_it(prefix, weights, tmp_path):
    folder = installed.build(installed.ROOT / "examples", tmp_path / "build", prefix)
    assert "uint8        (16, 1)              w" in installed.run(folder / "inspect", weights)
    lines = installed.run(folder / "shard_and_load", weights).splitlines()
    assert "w: 1 parts of (16, 1), 4 of each" in lines
    assert lines[-1] == "host:3 holds 64 B"


def test_installed_headers_are_the_public_ones(prefix):
    def names(folder):
        return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())

    assert names(prefix / "include") == names(installed.ROOT / "include")


def test_installed_command_runs(prefix, weights):
    command = prefix / "bin" / "shardwise"
    assert installed.run(command, "--version").startswith("shardwise 0.")
    assert "uint8" in installed.run(command, "inspect", weights)


def test_nothing_of_the_build_tree_is_left(prefix):
    for path in prefix.rglob("*.cmake"):
        text = path.read_text()
        assert str(installed.ROOT) not in text and str(installed.BUILD) not in text, path


@pytest.mark.parametrize("version, accepted", [("0.1", True), ("0.2", False), ("1.0", False)])
def test_version_is_checked(prefix, tmp_path, version, accepted):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(f"shardwise {version}"))
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    assert (subprocess.run(command, capture_output=True).returncode == 0) == accepted


def test_a_missing_library_is_named(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format("shardwise"))
    environment = os.environ | {"PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""}
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert answer.returncode != 0 and "shardwise needs liburing" in answer.stderr
