"""What is installed: stubs for everything, docstrings, types."""

import ast
import importlib.resources
import inspect

import shardwise
import shardwise.jax
import shardwise.keras
from shardwise import _core

FOLDER = importlib.resources.files("shardwise")


def stub():
    return ast.parse((FOLDER / "_core.pyi").read_text())


def test_package_is_marked_as_typed():
    assert (FOLDER / "py.typed").is_file()


def test_stubs_are_of_this_module():
    """Every public name, and every method and property of every class."""
    found = {}
    for node in stub().body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = None
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        assert name in found, name
        if inspect.isclass(value) and not issubclass(value, Exception):
            methods = {m for m in vars(value) if not m.startswith("_")}
            assert methods <= found[name], name


def test_stubs_say_types():
    """No argument or result is left without one."""
    for node in ast.walk(stub()):
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None, node.name
            for argument in node.args.args[1:] + node.args.kwonlyargs:
                assert argument.annotation is not None, (node.name, argument.arg)


def test_everything_public_is_described():
    for module in (shardwise, shardwise.jax, shardwise.keras):
        assert module.__doc__
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, name
                assert inspect.getmodule(value) is None or not (value.__doc__ or "").startswith("partial")
