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
cache=$root/.cache/shardwise-demo
shardwise=$root/build/release/shardwise
bold= plain=
[[ -t 1 ]] && bold=$'\033[1m' plain=$'\033[0m'

heading() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Shows a command of shardwise as a person would type it, and runs it.
show() {
  printf '\n%s$ shardwise %s%s\n' "$bold" "$*" "$plain"
  "$shardwise" "$@"
}

# A command that must be refused because it does not fit: exit status 3.
show_refused() {
  local status=0
  show "$@" || status=$?
  [[ $status == 3 ]] || { echo "expected exit status 3 (does not fit), got $status" >&2; return 1; }
  echo "(exit status 3: refused before a tensor was read)"
}

build_shardwise() {
  heading "Building shardwise"
  use_compiler_cache
  local log=$cache/build.log tests=()
  [[ -e build/release/CMakeCache.txt ]] || tests=(-DSHARDWISE_BUILD_TESTS=OFF)
  if ! { cmake --preset release -Wno-dev "${tests[@]}" && cmake --build --preset release --target shardwise_cli; } \
       >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log"
    echo "the build failed; all of it is in $log" >&2
    return 1
  fi
  "$shardwise" --version
}

# enter FOLDER: what follows happens there, so that commands are as short as a person's.
enter() {
  cd "$1"
  echo "in ${PWD#"$root"/}:"
  stat --format '  %s bytes  %n' -- *.* | sed 's/^/  /'
}

# The steps that all demos share: plan, load, compare, and what does not work.
tell() {  # CHECKPOINT LIMIT OPTIONS...
  local checkpoint=$1 limit=$2 shards
  shards=$(realpath --relative-to=. "$cache/shards")
  shift 2
  heading "The plan: known before a tensor is read"
  show plan "$checkpoint" "$@" --device-memory "$limit" --limit 6
  heading "The load: only the bytes of each shard, straight into that shard"
  rm -rf "$shards"
  show load "$checkpoint" "$@" --device-memory "$limit" --limit 0 --check --dump "$shards"
  heading "Every value, compared with what another library reads"
  "$python" "$root/tools/check_shards.py" "$checkpoint" "$shards"
  rm -rf "$shards"
  heading "What would not have worked"
  "$shardwise" plan "$checkpoint" "$@" --device-memory "$limit" --json |
    "$python" "$root/tools/tell_load_then_shard.py"
  printf '\nNor does all of it fit one such device:\n'
  show_refused plan "$checkpoint" --mesh model=1 --device-memory "$limit" --limit 0
}

demo_minilm() {
  heading "Real weights: the MiniLM sentence encoder"
  "$python" tools/fetch_weights.py minilm "$cache/minilm" >/dev/null
  enter "$cache/minilm"
  show inspect model.safetensors --limit 6
  tell model.safetensors 24MiB --mesh batch=1,model=8 --layout bert
}

demo_gemma() {
  heading "Real weights: Gemma 3 270M"
  local model
  model=$("$python" tools/fetch_weights.py gemma "$cache/gemma")
  if [[ ! -e $cache/gemma/hf/model.safetensors.index.json ]]; then
    echo "making bfloat16 safetensors of $(basename "$model"); this takes a minute"
    "$python" tools/gguf_to_safetensors.py "$model" "$cache/gemma/hf"
  fi
  enter "$cache/gemma/hf"
  show inspect model.safetensors.index.json --limit 6
  tell model.safetensors.index.json 96MiB --mesh batch=1,model=8 --layout gemma
}

demo_keras() {
  heading "The MiniLM sentence encoder in Keras, saved by Keras"
  local source file mesh=(--mesh batch=2,model=4 --layout bert)
  if [[ ! -e $cache/keras/minilm.keras ]]; then
    source=$("$python" tools/fetch_weights.py minilm "$cache/minilm")
    KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$python" tools/make_keras_minilm.py "$source" "$cache/keras"
  fi
  enter "$cache/keras"
  tell minilm.weights.h5 32MiB "${mesh[@]}"
  heading "The other two formats, loaded the same way"
  for file in minilm.weights.json minilm.keras; do
    show load "$file" "${mesh[@]}" --device-memory 32MiB --limit 0 --check
  done
  heading "The three hold the same values"
  show verify minilm.weights.h5 minilm.weights.json
  show verify minilm.weights.h5 minilm.keras
}

# Sets `python` to one that has the given packages: that of the tests when it is there, else a small one of the demo's.
choose_python() {  # NAME PACKAGE...
  python=$root/.venv/bin/python
  [[ $1 == venv ]] && compgen -G "$root/.venv/.ready-*" >/dev/null && return 0
  ensure_venv "$cache/$1" "${@:2}"
  python=$cache/$1/bin/python
}

demo=${1:-minilm}
case $demo in
  minilm | gemma | keras) ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac

heading "Getting ready"
ensure_packages run build
mkdir -p "$cache"
case $demo in
  minilm) choose_python venv numpy safetensors ml_dtypes ;;
  gemma) choose_python venv-gemma numpy safetensors ml_dtypes gguf ;;
  keras) ensure_test_venv && python=$root/.venv/bin/python ;;
esac
build_shardwise
"demo_$demo"
heading "Done: every value checked, every limit held"
