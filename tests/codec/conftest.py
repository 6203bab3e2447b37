import subprocess

import pytest


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
def driver(built):
    driver = Driver(built("codec_driver"))
    yield driver
    driver.close()
