"""The command around it: dry runs, refusals, Ctrl-C, and what is left behind."""

import os
import signal
import subprocess
import time

import pytest
from init_support import binary

MIB = 1 << 20


def test_dry_run_of_a_model_says_what_fits_and_what_would_not(run):
    arguments = ["init", "--model", "gemma2_9b", "--dry-run", "--mesh", "batch=1,model=8", "--layout", "gemma"]
    begin = time.monotonic()
    text = subprocess.run([binary(), *arguments, "--device-memory", "8GiB"], capture_output=True, text=True, timeout=60)
    seconds = time.monotonic() - begin
    assert text.returncode == 0, text.stderr
    assert "7437 MiB of it for 'token_embedding/embeddings' alone: it does not fit" in text.stdout
    assert seconds < 1 or os.getloadavg()[0] > 2, f"{seconds} s on an idle machine"
    status, report = run(*arguments, "--device-memory", "8GiB")
    assert status == 0
    total = 9_241_705_984 * 4
    norms = (42 * 4 + 1) * 3584 * 4
    assert {device["bytes"] for device in report["devices"]} == {(total - norms) // 8 + norms}
    whole = 256000 * 3584 * 4
    assert report["load_then_shard"]["largest"] == "token_embedding/embeddings"
    assert report["load_then_shard"]["largest_peak_bytes"] == 2 * whole + whole // 8
    assert "measured" not in report
    status, report = run(*arguments, "--device-memory", "4GiB")
    assert status == 3
    assert "'token_embedding/embeddings'" in report["error"]["message"]


def test_plan_of_a_model_without_a_checkpoint(run):
    status, report = run("plan", "--model", "llama3_8b", "--devices", 8, "--dtype", "bfloat16")
    assert status == 0
    assert report["generated"]["bytes"] == 8_030_261_248 * 2
    assert report["reads"]["bytes"] == 0


@pytest.mark.parametrize(("arguments", "says"), [
    ([], "SPEC or a --model"),
    (["spec.json", "--model", "gemma_2b"], "not both"),
    (["--model", "gemma_99b"], "gemma2_27b"),
    (["no-such-file.json"], "neither a built-in model"),
    (["--model", "gemma_2b", "--dry-run", "--save", "x"], "--save"),
    (["--model", "gemma_2b", "--seed", "-1"], "--seed"),
    (["--model", "gemma_2b", "--select", "nothing like that"], "matches none"),
])
def test_wrong_usage(run, arguments, says):
    status, report = run("init", *arguments)
    assert status == 2 and says in report["error"]["message"]


def test_a_spec_with_errors_names_the_file_and_the_variable(run, spec):
    path = spec([{"name": "v", "shape": [2], "initializer": {"class_name": "RandomNormal", "config": {"sddev": 1}}}])
    status, report = run("init", path)
    assert status == 2
    for part in (str(path), "variable 0 'v'", "sddev"):
        assert part in report["error"]["message"]


def test_what_does_not_fit_is_refused_before_anything_is_made(run, spec, tmp_path):
    out = tmp_path / "out.safetensors"
    path = spec([{"name": "v", "shape": [1024, 1024], "initializer": "ones"}])
    status, report = run("init", path, "--device-memory", "3MiB", "--save", out)
    assert status == 3 and "4194304" in report["error"]["message"]
    path = spec([{"name": "q", "shape": [4096, 4096], "initializer": "orthogonal"}])
    status, report = run("init", path, "--staging", "16MiB", "--save", out)
    assert status == 3 and "variable 'q'" in report["error"]["message"]
    assert os.listdir(tmp_path) == ["spec0.json", "spec1.json"] or not out.exists()


def test_ctrl_c_stops_it_and_leaves_nothing(spec, tmp_path):
    variables = [{"name": f"v{i}", "shape": [8192, 8192], "initializer": "random_normal"} for i in range(2000)]
    path = spec(variables)
    out = tmp_path / "saved"
    out.mkdir()
    process = subprocess.Popen(
        [binary(), "init", str(path), "--devices", "4", "--discard", "--select", "v1?[0-9]$", "--save",
         str(out / "big.safetensors")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 60
    while not os.listdir(out) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, process.communicate()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert os.listdir(out) == [], "a partial file was left"


def test_a_disk_that_is_full_fails_the_save(spec):
    done = subprocess.run([binary(), "init", str(spec([{"name": "v", "shape": [64]}])), "--save", "/no/such/out"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "/no/such/out" in done.stderr
