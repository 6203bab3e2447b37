#!/usr/bin/env bash
# Installs what is missing, builds, downloads real weights, loads them into 8 limited devices and checks every value.
# Works on a fresh Debian 12 machine. What it downloads and makes stays in .cache/shardwise-demo/.
#
#   scripts/demo.sh             MiniLM, 90.9 MB of safetensors, into 8 devices of 24 MiB
#   scripts/demo.sh gemma       Gemma 3 270M, 536 MB of bfloat16 safetensors in three files with an index
#   scripts/demo.sh keras       MiniLM as .weights.h5, sharded .weights.json and .keras, written by real Keras
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"
cache=.cache/shardwise-demo
shardwise=build/release/shardwise

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
say() { printf '%s\n' "$@"; }

# Shows a command of shardwise as a person would type it, and runs it.
show() {
  printf '\n$ shardwise %s\n' "$*"
  "$shardwise" "$@"
}

# A command that must be refused because it does not fit: exit status 3.
show_refused() {
  local status=0
  show "$@" || status=$?
  [[ $status == 3 ]] || { echo "expected exit status 3 (does not fit), got $status" >&2; return 1; }
  say "(exit status 3: refused before anything was read)"
}

build_shardwise() {
  heading "Building shardwise"
  use_compiler_cache
  local log=$cache/build.log tests=()
  [[ -e build/release/CMakeCache.txt ]] || tests=(-DSHARDWISE_BUILD_TESTS=OFF)
  mkdir -p "$cache"
  if ! { cmake --preset release -Wno-dev "${tests[@]}" && cmake --build --preset release --target shardwise_cli; } \
       >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log"
    echo "the build failed; all of it is in $log" >&2
    return 1
  fi
  "$shardwise" --version
}

# The steps that all demos share: plan, load, check, and what does not work.
load_and_check() {  # CHECKPOINT LIMIT OPTIONS...
  local checkpoint=$1 limit=$2 shards=$cache/shards
  shift 2
  heading "The plan: known before a byte is read"
  show plan "$checkpoint" "$@" --device-memory "$limit" --limit 6
  heading "The load: only the bytes of each shard, straight into that shard"
  rm -rf "$shards"
  show load "$checkpoint" "$@" --device-memory "$limit" --limit 0 --check --dump "$shards"
  heading "Every value, compared with what another library reads"
  "$python" tools/check_shards.py "$checkpoint" "$shards"
  rm -rf "$shards"
}

what_does_not_work() {  # CHECKPOINT LIMIT OPTIONS...
  heading "What would not have worked"
  "$shardwise" plan "$1" "${@:3}" --device-memory "$2" --json | "$python" tools/tell_load_then_shard.py
  say "" "All of it on one such device does not fit either:"
  show_refused plan "$1" --mesh batch=1,model=1 --device-memory "$2" --limit 0
}

demo_minilm() {
  heading "Real weights: the MiniLM sentence encoder"
  local file
  file=$("$python" tools/fetch_weights.py minilm "$cache/minilm")
  say "$file: $(stat -c %s "$file") bytes, SHA-256 as expected"
  show inspect "$file" --limit 6
  load_and_check "$file" 24MiB --mesh batch=1,model=8 --layout bert
  what_does_not_work "$file" 24MiB --mesh batch=1,model=8 --layout bert
}

demo_gemma() {
  heading "Real weights: Gemma 3 270M"
  local file
  file=$("$python" tools/fetch_weights.py gemma "$cache/gemma")
  say "$file: $(stat -c %s "$file") bytes, SHA-256 as expected"
  if [[ ! -e $cache/gemma/hf/model.safetensors.index.json ]]; then
    say "making bfloat16 safetensors of it (a minute)"
    "$python" tools/gguf_to_safetensors.py "$file" "$cache/gemma/hf"
  fi
  file=$cache/gemma/hf/model.safetensors.index.json
  show inspect "$file" --limit 6
  load_and_check "$file" 96MiB --mesh batch=1,model=8 --layout gemma
  what_does_not_work "$file" 96MiB --mesh batch=1,model=8 --layout gemma
}

demo_keras() {
  heading "The MiniLM sentence encoder in Keras, saved by Keras"
  local file made=$cache/keras
  if [[ ! -e $made/minilm.keras ]]; then
    file=$("$python" tools/fetch_weights.py minilm "$cache/minilm")
    KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$python" tools/make_keras_minilm.py "$file" "$made"
  fi
  local mesh=(--mesh batch=2,model=4 --layout bert)
  load_and_check "$made/minilm.weights.h5" 32MiB "${mesh[@]}"
  heading "The other two formats, loaded the same way"
  for file in "$made/minilm.weights.json" "$made/minilm.keras"; do
    show load "$file" "${mesh[@]}" --device-memory 32MiB --limit 0 --check
  done
  heading "The three hold the same values"
  show verify "$made/minilm.weights.h5" "$made/minilm.weights.json"
  show verify "$made/minilm.weights.h5" "$made/minilm.keras"
  what_does_not_work "$made/minilm.weights.h5" 32MiB "${mesh[@]}"
}

demo=${1:-minilm}
case $demo in
  minilm | gemma | keras) ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac

heading "Getting ready"
ensure_packages run build
case $demo in
  keras) ensure_test_venv && python=.venv/bin/python ;;
  gemma) ensure_venv "$cache/venv-gemma" numpy safetensors ml_dtypes gguf && python=$cache/venv-gemma/bin/python ;;
  *) ensure_venv "$cache/venv" numpy safetensors ml_dtypes && python=$cache/venv/bin/python ;;
esac
build_shardwise
"demo_$demo"
heading "Done: every value checked, every limit held"
