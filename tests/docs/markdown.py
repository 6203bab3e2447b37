"""Fenced blocks of Markdown files, and the comparison of console blocks with what the commands print."""

import dataclasses
import pathlib
import re

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclasses.dataclass
class Block:
    file: pathlib.Path
    line: int
    language: str
    text: str
    next_text: str | None  # the text block that follows at once: what a C++ block prints

    def __str__(self):
        return f"{self.file.name}:{self.line}"


def blocks(file):
    text = file.read_text()
    matches = list(FENCE.finditer(text))
    for match, following in zip(matches, [*matches[1:], None]):
        line = text.count("\n", 0, match.start()) + 1
        adjacent = following and following[1] == "text" and not text[match.end() : following.start()].strip("\n")
        yield Block(file, line, match[1], match[2], following[2] if adjacent else None)


def commands(text):
    """(command, expected lines) of a console block; a command may go on after a backslash at the end of its line."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


# What differs from run to run: times, rates, checksums of values, measured host memory.
VARYING = [
    (r"\b\d+(\.\d+)? s\b", "TIME"),
    (r"\b[\d.]+ [KMGT]?i?B/s", "RATE"),
    (r"\b[0-9a-f]{16}\b", "CHECKSUM"),
    (r"(seconds, summed over threads:).*", r"\1 TIMES"),
    (r"^(host, beside these).*", r"\1 HOST"),
    (r"\b\d+ reads, (buffered|direct)\b", "READS"),
    (r"\s+", " "),
]


def normal(line):
    for pattern, instead in VARYING:
        line = re.sub(pattern, instead, line)
    return line.strip()


def trimmed(lines):
    """The lines in normal form, without blank ones at either end."""
    return "\n".join(map(normal, lines)).strip("\n").splitlines()


def difference(expected, printed):
    """None when equal; else the first line that is not. A line `...` stands for any lines."""
    expected, printed = trimmed(expected), trimmed(printed)
    at = 0
    skipping = False
    for line in expected:
        if line == "...":
            skipping = True
            continue
        while skipping and at < len(printed) and printed[at] != line:
            at += 1
        if at == len(printed) or printed[at] != line:
            return f"documented: {line}\nprinted:    {printed[at] if at < len(printed) else '(the end)'}"
        at, skipping = at + 1, False
    if at < len(printed) and not skipping:
        return f"printed beyond what is documented: {printed[at]}"
    return None
