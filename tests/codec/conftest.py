import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Driver:
    """Asks the codec driver one question a time; see codec_driver.cc for the questions."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the driver died of {words}"
        return answer.rstrip("\n")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def driver():
    build = pathlib.Path(os.environ.get("SHARDWISE_BUILD", "build/release"))
    path = (build if build.is_absolute() else ROOT / build) / "tests" / "codec_driver"
    if not path.exists():
        pytest.fail(f"{path} is missing: build the target codec_driver first")
    driver = Driver(path)
    yield driver
    driver.close()
