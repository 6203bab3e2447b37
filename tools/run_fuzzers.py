"""Runs every fuzz target of fuzz/ for some seconds, from its seeds. Exit status 1 when one fails or none exists.

    python3 tools/run_fuzzers.py --build build/fuzz [--seconds 30] [--jobs N] [--out FOLDER] [TARGET...]

A target fails on a crash, a sanitizer's report, an input that takes over 10 seconds, or over 512 MiB of memory. The
input that did it is left in FOLDER.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def run(target, options):
    reader = target.removesuffix("_fuzz")
    corpus = options.out / f"{target}.corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = pathlib.Path("fuzz/seeds") / reader
    if not any(seeds.glob("*")):
        return False, f"{target}: no seeds in {seeds}"
    command = [options.build / "fuzz" / target, corpus, seeds, f"-max_total_time={options.seconds}", "-timeout=10",
               "-rss_limit_mb=512", "-print_final_stats=1", f"-artifact_prefix={options.out}/{target}-"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    (options.out / f"{target}.log").write_text(answer.stdout)
    executed = re.search(r"number_of_executed_units:\s*(\d+)", answer.stdout)
    if answer.returncode != 0 or not executed:
        return False, f"{target}: FAILED (status {answer.returncode})\n" + answer.stdout[-4000:]
    return True, f"{target}: {executed[1]} inputs, nothing found"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/fuzz"))
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/fuzz/found"))
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    targets = options.targets or sorted(p.stem for p in pathlib.Path("fuzz").glob("*_fuzz.cc"))
    if not targets:
        print("no fuzz target in fuzz/")
        return 1
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda t: run(t, options), targets))
    print("\n".join(text for _, text in answers))
    return not all(ok for ok, _ in answers)


if __name__ == "__main__":
    sys.exit(main())
