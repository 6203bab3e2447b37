#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Works on a fresh Debian 12 machine.
#
#   scripts/test.sh             everything
#   scripts/test.sh STAGE...    some of it, for example: scripts/test.sh unit python
#   scripts/test.sh --list      the stages
#
# FUZZ_SECONDS (default 30): how long each fuzz target runs. Ends with "N passed, N failed"; exit status 0 only when
# something ran and nothing failed. Logs and JUnit files: build/test-results/.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$root/scripts/stages.sh"
cd "$root" || exit 1

export LC_ALL=C.UTF-8 KERAS_BACKEND=jax JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=3 PYTHONDONTWRITEBYTECODE=1
jobs=$(nproc)

check setup   "system packages and the Python environment"
check format  "clang-format finds nothing to change"
check layers  "no room includes what it may not; no file or line is too long"
check headers "every header compiles alone"
check build   "release build without a warning"
tests unit    "unit tests of the rooms"
tests python  "comparisons with Python's h5py, safetensors, Keras, numpy"
tests package "the Python package: pip install, and Keras and JAX against it"
tests docs    "the examples of README.md and docs/ run and print what they say"
tests install "install to a prefix, and a project that uses it"
tests asan    "unit tests under the address and undefined-behaviour sanitizers"
tests tsan    "tests with threads under the thread sanitizer"
check tidy    "clang-tidy finds nothing"
check fuzz    "each reader's fuzz target, ${FUZZ_SECONDS:-30} s"

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1
  shift
  use_compiler_cache
  cmake --preset "$preset" -Wno-dev
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

run_ctest() { ctest --preset "$1" -j "$jobs" --no-tests=error --output-junit "$results/ctest.xml" "${@:2}"; }
run_pytest() {
  SHARDWISE_BUILD="$root/build/release" .venv/bin/python -m pytest -q -rs -p no:cacheprovider --durations=10 \
    --junitxml="$results/pytest.xml" "$@"
}

stage_setup() {
  ensure_packages run build test
  ensure_test_venv
}
stage_format() { git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror; }
stage_layers() { python3 tools/check_layers.py && python3 tools/check_files.py; }
stage_headers() { python3 tools/check_headers.py --jobs "$jobs"; }
stage_build() { configure_and_build release; }
stage_unit() {
  configure_and_build release
  run_ctest release
}
stage_python() {
  configure_and_build release
  run_pytest tests --ignore=tests/docs --ignore=tests/install --ignore=tests/package
}
# Flags as the release preset's: the objects are those that the build stage made. The compiler's name counts for that too.
install_package() {
  use_compiler_cache
  CXX=/usr/bin/c++ CMAKE_CXX_COMPILER_LAUNCHER=${SHARDWISE_COMPILER_LAUNCHER:-} CMAKE_BUILD_PARALLEL_LEVEL="$jobs" \
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps \
    --config-settings=cmake.build-type=RelWithDebInfo \
    --config-settings=cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" \
    --config-settings=cmake.define.SHARDWISE_WARNINGS_AS_ERRORS=ON .
}
stage_package() {
  install_package
  run_pytest tests/package
}
stage_docs() {
  configure_and_build release
  run_pytest tests/docs
}
stage_install() {
  configure_and_build release
  run_pytest tests/install
}
stage_asan() {
  configure_and_build debug
  run_ctest debug
}
stage_tsan() {
  local rooms=(concurrency io device load) targets=() room
  for room in "${rooms[@]}"; do
    compgen -G "src/$room/*_test.cc" >/dev/null && targets+=("${room}_test")
  done
  configure_and_build tsan "${targets[@]}"
  run_ctest tsan -R '^(concurrency|io|device|load)\.'
}
stage_tidy() {
  cmake --preset release -Wno-dev
  python3 tools/run_tidy.py --build build/release --jobs "$jobs"
}
stage_fuzz() {
  local targets=(fuzz/*_fuzz.cc)
  targets=("${targets[@]#fuzz/}")
  configure_and_build fuzz "${targets[@]%.cc}"
  python3 tools/run_fuzzers.py --build build/fuzz --seconds "${FUZZ_SECONDS:-30}" --jobs "$jobs" --out "$results"
}

case ${1:-} in
  --list)
    list_stages
    exit 0
    ;;
  -h | --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    list_stages
    exit 0
    ;;
esac
if [[ $# -gt 0 && " $* " != *" setup "* ]]; then
  ensure_packages run build test && ensure_test_venv || exit 1
fi
run_stages "$root/build/test-results" "$@"
