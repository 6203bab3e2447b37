"""Programs that answer one line of JSON per path, restarted when they crash or hang."""

import json
import os
import pathlib
import resource
import select
import subprocess
import sys


def worker_command():
    return [sys.executable, str(pathlib.Path(__file__).with_name("h5py_worker.py"))]


class Answerer:
    def __init__(self, command, seconds, bytes, may_crash):
        self.command, self.seconds, self.bytes, self.may_crash = command, seconds, bytes, may_crash
        self.process = None
        self.crashes = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def ask(self, path):
        """The answer for a path; {"error": ...} when the program crashed or hung, where it may."""
        if self.process is None:
            self._start()
        answer = None
        try:
            self.process.stdin.write(os.fsencode(path) + b"\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], self.seconds)[0]:
                answer = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if answer:
            return json.loads(answer)
        self._stop()
        self.crashes += 1
        assert self.may_crash, f"{self.command[0]} crashed or took over {self.seconds} s on {path}"
        return {"error": "crashed or hung"}

    def _start(self):
        def limit():
            if self.bytes is not None:
                resource.setrlimit(resource.RLIMIT_AS, (self.bytes, self.bytes))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, preexec_fn=limit, bufsize=1 << 20)

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None
