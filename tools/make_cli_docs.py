"""Writes docs/cli.md from the help of the command.

    python3 tools/make_cli_docs.py [--shardwise build/release/shardwise] [--check]

--check changes nothing: exit status 1 when the page is not what the help says.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cli.md"

INTRODUCTION = """# The shardwise command

Made by `tools/make_cli_docs.py` from the help of the command; change the help, not this page.

"""

JSON = """## JSON

With `--json` a command prints exactly one document on stdout, also when it fails; messages still go to stderr.

| command | members |
| --- | --- |
"""

MEMBERS = {
    "all, on failure": "`error {code, message, exit_code}`; `plan` and `load` add it to the plan, once there is one",
    "`inspect`": "`format`, `path`, `files[] {path, bytes, deflated}`, `tensor_count`, `bytes`, "
    "`tensors[] {name, dtype, shape, bytes, extent_count, extents[] {file, begin, end, filters}}`, `metadata`, "
    "`warnings[]`; with `--fingerprint` also `tensors[].fingerprint` and `fingerprint`. At most 64 extents of a tensor "
    "are listed",
    "`plan`": "`devices[] {id, bytes, peak_bytes, limit_bytes}` (`limit_bytes` null = unlimited), "
    "`host {staging_bytes, peak_bytes}`, `reads {count, bytes, wanted_bytes}`, "
    "`tensors[] {name, dtype, shape, layout, shard_shape, shard_bytes, replicas}`, `unmatched_rules[]`, "
    "`replicated[] {name, bytes, extra_bytes}`, `generated {bytes, whole_bytes}`, "
    "`load_then_shard {device0_peak_bytes, host_peak_bytes, largest, largest_peak_bytes}`, and more",
    "`init`": "what `load` has, and `tensors[].first_values`; with `--dry-run` what `plan` has",
    "`load`": "what `plan` has, `tensors[].fingerprint`, `fingerprint`, `measured {seconds, bytes_per_second, "
    "device_peak_bytes[], host_peak_bytes, process_peak_bytes, bytes_read}` and more; with `--check` also "
    "`check {checked, unchecked[], wrong[]}`",
    "`verify`": "`a`, `b`, `same`, `equal[]`, `different[]`, `missing[]`, `extra[]`: names of tensors; "
    "`reasons {name: text}` for those that differ",
    "`bench`": "`path`, `bytes`, `tensors`, `devices`, `repeat`, "
    "`phases[] {name, resident, notes[], rows[] {what, seconds, bytes_per_second, of_raw, how}}`",
}

NOTE = """
`host_peak_bytes` is all of the process's memory that is not in a device's arena: predicted in `host`, measured in
`measured` (`process_peak_bytes`, the highest resident size above that at the start, less the peaks of the devices; null
where the kernel does not tell, and with `--discard`, where the devices have their peaks at different times: compare
`process_peak_bytes` with the sum of all that was predicted then).
"""


def help_of(shardwise, *command):
    return subprocess.run([shardwise, *command, "--help"], capture_output=True, text=True, check=True).stdout.rstrip()


def page(shardwise):
    main = help_of(shardwise)
    commands = re.findall(r"^  (\w+) ", main.split("\nCommands:\n")[1].split("\n\n")[0], re.M)
    text = INTRODUCTION + f"```text\n$ shardwise --help\n{main}\n```\n\n"
    for command in commands:
        help_text = help_of(shardwise, command)
        text += f"## shardwise {command}\n\n```text\n$ shardwise {command} --help\n{help_text}\n```\n\n"
    rows = "".join(f"| {command} | {members} |\n" for command, members in MEMBERS.items())
    return text + JSON + rows + NOTE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardwise", default=ROOT / "build" / "release" / "shardwise")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = page(options.shardwise)
    if not options.check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is out of date: run python3 tools/make_cli_docs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
