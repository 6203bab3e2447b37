"""A memory limit of the kernel under which Keras's own load is killed, and shardwise's is not.

    .venv/bin/python benchmarks/keras_limit.py [--mib 512]

Builds a model with an embedding of that size over eight CPU devices, saves it, and loads it in processes of their own:
each may hold the model, its new values and 128 MiB more than what it holds before. Needs cgroup v1's or v2's memory
controller, and the right to make groups. Exit status 0 when Keras was killed and shardwise was not.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import uuid

ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))


def make_group():
    """(folder of a new control group, its file for the limit)."""
    for root, name in ROOTS:
        folder = pathlib.Path(root) / f"shardwise-{uuid.uuid4().hex[:12]}"
        try:
            folder.mkdir()
        except OSError:
            continue
        if (folder / name).exists():
            return folder, folder / name
        folder.rmdir()
    sys.exit("no memory controller to make groups in")


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) << 10


def child(way, path, mib, group, limit_file):
    import keras_models

    keras_models.distribute()
    model = keras_models.build("embedding", mib)
    import shardwise.keras as sw

    limit = resident() + (mib << 20) + (128 << 20)  # the model is there; its new values, and a little
    pathlib.Path(group, "cgroup.procs").write_text(str(os.getpid()))
    # Pages that this process holds already count where they were made; only what it takes from here on counts here.
    pathlib.Path(limit_file).write_text(str(limit - resident()))
    if way == "keras":
        model.load_weights(path)
    else:
        sw.load_weights(model, path, progress=False)
    print("loaded", flush=True)


def run(way, path, mib):
    group, limit_file = make_group()
    try:
        command = [sys.executable, __file__, "--child", way, path, "--mib", str(mib), "--group", group, limit_file]
        answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        killed = answer.returncode == -signal.SIGKILL
        print(f"{way:<10} {'killed by the kernel' if killed else answer.stdout.strip() or answer.stderr[-2000:]}")
        return answer.returncode
    finally:
        group.rmdir()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--group", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*options.child, options.mib, *options.group)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.weights.h5"
        code = "import sys, keras_models as k; k.distribute(); k.build('embedding', int(sys.argv[1])).save_weights("
        code += "sys.argv[2])"
        here = pathlib.Path(__file__).parent
        subprocess.run([sys.executable, "-c", code, str(options.mib), path], check=True, cwd=here)
        theirs, ours = run("keras", path, options.mib), run("shardwise", path, options.mib)
    sys.exit(0 if theirs == -signal.SIGKILL and ours == 0 else 1)


if __name__ == "__main__":
    main()
