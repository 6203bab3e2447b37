"""The progress bar, on a terminal only."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from cli_support import binary, shardwise


def stderr_on_a_terminal(*arguments, columns=100):
    """What the command draws on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([binary(), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    drawn = b""
    try:
        while chunk := os.read(ours, 4096):
            drawn += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return drawn.decode()


def test_drawn_on_a_terminal_and_wiped_at_the_end(large):
    drawn = stderr_on_a_terminal("load", large[0], "--devices", 2)
    lines = [line for line in re.split(r"\r\x1b\[K", drawn) if line]
    assert lines and all(line.startswith("loading ") for line in lines)
    assert re.match(r"loading 100% \[#{24}\] 12 MiB of 12 MiB", lines[-1])
    assert drawn.endswith("\r\x1b[K")


def test_never_wider_than_the_terminal(large):
    drawn = stderr_on_a_terminal("load", large[0], "--devices", 2, columns=30)
    assert all(len(line) < 30 for line in re.split(r"\r\x1b\[K", drawn))


def test_not_drawn_in_json_format(large):
    assert stderr_on_a_terminal("load", large[0], "--json") == ""


def test_not_drawn_into_a_pipe(large):
    assert shardwise("load", large[0], "--devices", 2).err == ""
    assert shardwise("inspect", large[0], "--fingerprint").err == ""
