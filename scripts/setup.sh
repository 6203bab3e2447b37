#!/usr/bin/env bash
# Makes a Debian 12 machine ready: system packages, Python environments. Costs under a second when there is nothing to
# do. scripts/test.sh and scripts/demo.sh source it; by hand it is only worth running to see what is missing:
#
#   scripts/setup.sh [run|build|test]...     default: all three

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

packages_run=(python3 python3-venv)
packages_build=(g++ cmake ninja-build pkg-config libfmt-dev liburing-dev libpcre2-dev libhwy-dev nlohmann-json3-dev
                libcli11-dev zlib1g-dev liblapack-dev)
packages_test=(ccache libgtest-dev libgmock-dev libbenchmark-dev clang clang-tidy clang-format llvm libclang-rt-14-dev
               python3-dev)

# Names of those of the given packages that are not installed.
missing_packages() {
  local installed
  installed=" $(dpkg-query --show --showformat '${db:Status-Status}:${Package}\n' "$@" 2>/dev/null |
                sed -n 's/^installed://p' | tr '\n' ' ')"
  local name
  for name; do
    [[ "$installed" == *" $name "* ]] || echo "$name"
  done
}

# A prefix that gives a command root's rights, or failure.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif [[ -t 0 ]] && command -v sudo >/dev/null; then
    sudo "$@"
  elif sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# ensure_packages SET...: installs what is missing of packages_SET.
ensure_packages() {
  local wanted=() set missing
  for set; do
    local -n of_set="packages_$set"
    wanted+=("${of_set[@]}")
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; these packages, or their like, must be there: ${wanted[*]}" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [[ ${#missing[@]} == 0 ]] && return 0
  echo "setup: installing ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update &&
    as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null && return 0
  echo "setup: could not install them. As root: apt-get update && apt-get install ${missing[*]}" >&2
  return 1
}

# ensure_venv FOLDER ARGUMENT...: a virtual environment in which `pip install ARGUMENT...` was run, with the versions of
# the two requirements files. Made anew when any of these change.
ensure_venv() {
  local folder=$1 python=/usr/bin/python3 stamp
  shift
  [[ -x $python ]] || python=python3
  local pins=("$root/scripts/requirements.txt" "$root/scripts/requirements-extra.txt")
  stamp=$({ echo "$*"; "$python" --version; cat "${pins[@]}"; } | sha256sum | cut -c1-16)
  [[ -e $folder/.ready-$stamp && -x $folder/bin/python ]] && return 0
  echo "setup: making $folder"
  rm -rf "$folder"
  "$python" -m venv "$folder" &&
    "$folder/bin/python" -m pip install -q --disable-pip-version-check -c "${pins[0]}" -c "${pins[1]}" "$@" &&
    touch "$folder/.ready-$stamp" && return 0
  echo "setup: could not make the Python environment $folder" >&2
  return 1
}

# The environment of the tests: every other implementation that they compare with.
ensure_test_venv() { ensure_venv "$root/.venv" -r "$root/scripts/requirements.txt"; }

# Objects are found again in another checkout: ccache hashes paths relative to the checkout.
use_compiler_cache() {
  command -v ccache >/dev/null || return 0
  export SHARDWISE_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  [[ $# -gt 0 ]] || set -- run build test
  ensure_packages "$@" || exit 1
  [[ " $* " != *" test "* ]] || ensure_test_venv || exit 1
fi
