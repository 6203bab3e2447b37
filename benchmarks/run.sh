#!/usr/bin/env bash
# Sets up, builds, and compares shardwise with the raw read limit and with other loaders. Arguments: benchmarks/compare.py.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
cd "$root"
ensure_packages run build
ensure_venv "$root/.venv-bench" -r "$root/scripts/requirements.txt" fastsafetensors runai-model-streamer
use_compiler_cache
cmake --preset release -DSHARDWISE_BUILD_TESTS=OFF -B build/bench >/dev/null
cmake --build build/bench --target shardwise_cli -j "$(nproc)"
SHARDWISE_BUILD="$root/build/bench" exec .venv-bench/bin/python benchmarks/compare.py "$@"
