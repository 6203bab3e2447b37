"""scripts/stages.sh, the runner of scripts/test.sh: goes on after a failure, counts, and fails when it must."""

import subprocess

import pytest

JUNIT = """cat > "$results/{name}.xml" <<'X'
<testsuites><testsuite><testcase name="a"/><testcase name="b"/>
<testcase name="c">{third}</testcase></testsuite></testsuites>
X
"""


@pytest.fixture
def run(root, tmp_path):
    def run_script(stages, *names):
        script = f'set -uo pipefail\nroot="{root}"\n. "$root/scripts/stages.sh"\n{stages}\n'
        script += f'run_stages "{tmp_path}/results" "$@"\n'
        answer = subprocess.run(["bash", "-c", script, "x", *names], capture_output=True, text=True)
        return answer.returncode, answer.stdout.splitlines(), answer.stderr

    return run_script


def stage_of_tests(name, third="", then=""):
    return f"tests {name} 'some tests'\nstage_{name}() {{\n{JUNIT.format(name=name, third=third)}\n{then}\n}}\n"


GOOD = "check good 'always fine'\nstage_good() { echo fine; }\n"
BAD = "check bad 'never fine'\nstage_bad() { false; echo unreachable; }\n"


def test_all_pass(run):
    status, lines, _ = run(GOOD + stage_of_tests("unit"))
    assert (status, lines[-1]) == (0, "4 passed, 0 failed")


def test_goes_on_after_a_failure(run):
    status, lines, _ = run(BAD + GOOD + stage_of_tests("unit", "<failure/>", "false"))
    assert (status, lines[-1]) == (1, "3 passed, 2 failed")
    assert any(line.startswith("failed: bad unit;") for line in lines)
    assert "unreachable" not in "\n".join(lines)


def test_skipped_tests_are_neither(run):
    status, lines, _ = run(stage_of_tests("unit", "<skipped/>"))
    assert (status, lines[-1]) == (0, "2 passed, 0 failed")
    assert "1 skipped; their reasons are in the logs" in lines


def test_failure_without_a_failed_test_counts(run):
    # As when a build breaks, or a runner crashes after it wrote its results.
    status, lines, _ = run(stage_of_tests("unit", then="exit 3"))
    assert (status, lines[-1]) == (1, "3 passed, 1 failed")


def test_failed_test_counts_even_when_the_runner_says_fine(run):
    status, lines, _ = run(stage_of_tests("unit", "<error/>"))
    assert (status, lines[-1]) == (1, "2 passed, 1 failed")


def test_no_test_is_a_failure(run):
    status, lines, _ = run("tests empty 'nothing'\nstage_empty() { :; }\n" + GOOD)
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")


def test_results_of_an_earlier_run_do_not_count(run):
    run(stage_of_tests("unit"))
    status, lines, _ = run("tests unit 'nothing now'\nstage_unit() { :; }\n")
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")


def test_only_the_stages_asked_for(run):
    status, lines, _ = run(GOOD + BAD, "good")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")


def test_unknown_stage(run):
    status, lines, errors = run(GOOD, "goood")
    assert (status, lines) == (2, [])
    assert 'no stage "goood"' in errors and "good" in errors


def test_script_lists_its_stages(root):
    script = root / "scripts" / "test.sh"
    listed = subprocess.run([script, "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    assert {"unit", "python", "asan", "tsan", "tidy", "fuzz", "install", "docs"} <= set(names)
    text = script.read_text()
    assert all(f"stage_{name}()" in text for name in names)


def test_ci_runs_the_script_and_nothing_else(root):
    lines = (root / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    assert commands == ['exec "$(dirname "${BASH_SOURCE[0]}")/../scripts/test.sh"']
