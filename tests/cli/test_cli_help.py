"""Help, version, and the page made of the help."""

import re
import subprocess
import sys

import pytest
from cli_support import ROOT, binary, shardwise

COMMANDS = ["inspect", "plan", "load", "init", "verify", "bench"]


def test_version():
    declared = re.search(r"project\(shardwise VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert shardwise("--version").out == f"shardwise {declared}\n"


def test_help_lists_the_commands_that_exist():
    text = shardwise("--help").out
    assert re.findall(r"^  (\w+)   ", text[text.index("\nCommands:") :].split("\n\n")[0], re.M) == COMMANDS
    assert "Exit codes:" in text and "130" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_teaches_with_examples(command):
    text = shardwise(command, "--help").out
    assert text == shardwise(command, "-h").out
    examples = re.findall(rf"^  shardwise {command} .+", text, re.M)
    assert len(examples) >= 3
    assert "Exit codes:" in text and "--json" in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_examples_exists(command):
    text = shardwise(command, "--help").out
    options = set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", text, re.M))
    for example in re.findall(rf"^  (shardwise {command} .+)", text, re.M):
        used = set(re.findall(r" (--[a-z-]+)", example.split(" | ")[0]))
        assert used <= options, example


def test_the_page_is_up_to_date():
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_cli_docs.py", "--check", "--shardwise", binary()],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
