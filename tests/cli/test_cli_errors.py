"""Exit codes, and what is said with them."""

import json

import pytest
from cli_support import shardwise

COMMANDS = ["inspect", "plan", "load", "bench"]


def fails(*arguments, expect, code, says):
    """Fails the same way in text and in JSON, with a message on stderr; returns the message."""
    run = shardwise(*arguments, expect=expect)
    assert run.err.startswith("error: ") and run.err.endswith("\n")
    for part in says:
        assert str(part) in run.err
    document = shardwise(*arguments, "--json", expect=expect).json
    assert document["error"]["code"] == code and document["error"]["exit_code"] == expect
    assert run.err == f"error: {document['error']['message']}\n"
    return run.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_does_not_exist(tmp_path, command):
    fails(command, tmp_path / "none.safetensors", expect=4, code="NOT_FOUND", says=[tmp_path / "none.safetensors"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_no_checkpoint(tmp_path, command):
    path = tmp_path / "text.safetensors"
    path.write_text("This is not a checkpoint.\n" * 100)
    fails(command, path, expect=4, code="DATA_LOSS", says=[path])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_truncated_file(small, command):
    path, _ = small
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.truncate(size - 1)
    fails(command, path, expect=4, code="DATA_LOSS", says=[path, size - 1])


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_options_point_to_the_help_of_the_command(small, command):
    says = ["--bogus", f"shardwise {command} --help"]
    fails(command, small[0], "--bogus", expect=2, code="INVALID_ARGUMENT", says=says)


@pytest.mark.parametrize(
    "arguments",
    [(), ("frobnicate",), ("load",), ("verify", "only-one"), ("init",), ("convert", "x")],
)
def test_wrong_commands(arguments):
    fails(*arguments, expect=2, code="INVALID_ARGUMENT", says=["--help"])


@pytest.mark.parametrize(
    "options, says",
    [
        (["--mesh", "model"], ["model", "batch=2,model=4"]),
        (["--mesh", "model=0"], ["model=0"]),
        (["--mesh", "model=-2"], ["model=-2"]),
        (["--mesh", "model=2,model=2"], ["model"]),
        (["--mesh", "model=99999999999"], ["99999999999"]),
        (["--mesh", "model=4", "--devices", "2"], ["--mesh model=4 has 4 devices", "--devices says 2"]),
        (["--devices", "0"], ["--devices"]),
        (["--devices", "many"], ["--devices"]),
        (["--device-memory", "12 parsecs"], ["--device-memory", "12 parsecs"]),
        (["--device-memory", "-1"], ["--device-memory"]),
        (["--staging", "1MiB"], ["8 MiB"]),
        (["--layout", "nosuch"], ["nosuch", "auto", "gemma"]),
        (["--dialect", "glob"], ["--dialect", "fullmatch", "search"]),
        (["--uneven", "pad"], ["--uneven", "refuse", "replicate"]),
        (["--dtype", "int8"], ["--dtype int8", "bfloat16"]),
        (["--dtype", "float7"], ["--dtype float7", "bfloat16"]),
        (["--select", "("], ["--select"]),
        (["--select", "nowhere"], ["--select 'nowhere' matches none of the 4 tensors"]),
        (["--only-devices", "7"], ["7"]),
        (["--only-devices", "x"], ["--only-devices"]),
        (["--limit", "few"], ["--limit"]),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("command", ["plan", "load"])
def test_options_that_cannot_work(small, command, options, says):
    code = "NOT_FOUND" if "nosuch" in options else "INVALID_ARGUMENT"
    fails(command, small[0], *options, expect=2, code=code, says=says)


@pytest.mark.parametrize(
    "layout, says",
    [
        ("{", []),
        ("[]", []),
        ('{"rules": {"(": ["model"]}}', ["("]),
        ('{"rules": {".*kernel": ["modle"]}}', ["modle", "model"]),
        ('{"rules": {".*kernel": ["model", "model"]}}', ["model"]),
        ('{"rules": {".*bias": [null, "model"]}}', ["layer.0.bias"]),
        ('{"rules": {".*": ["model"], "layer.*": ["model"]}}', ["layer.0.kernel"]),
        ('{"rules": {".*kernel": ["model"]}, "uneven": "pad"}', ["uneven", "refuse", "replicate"]),
    ],
)
def test_layout_files_that_cannot_work(small, tmp_path, layout, says):
    path = tmp_path / "layout.json"
    path.write_text(layout)
    fails("plan", small[0], "--devices", 2, "--layout", path, expect=2, code="INVALID_ARGUMENT", says=says)


def test_an_error_in_a_layout_file_names_the_file(small, tmp_path):
    path = tmp_path / "layout.json"
    path.write_text("{")
    fails("plan", small[0], "--layout", path, expect=2, code="INVALID_ARGUMENT", says=[path])


def test_json_is_one_document_even_for_unknown_options():
    run = shardwise("load", "x", "--json", "--bogus", expect=2)
    assert json.loads(run.out)["error"]["exit_code"] == 2
