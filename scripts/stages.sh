# Runs named stages one after the other, goes on after a failure, and counts. scripts/test.sh sources it, declares
#
#   check NAME DESCRIPTION    a stage that counts as one test: it passes or fails
#   tests NAME DESCRIPTION    a stage whose function leaves JUnit files in $results; each test counts
#   stage_NAME() { ... }      what it does; runs in a subshell of its own under `set -e`
#
# and then calls `run_stages FOLDER [NAME...]`. FOLDER gets NAME.log and NAME/ ($results) of each stage.

stage_names=()
declare -A stage_kind stage_description

check() { declare_stage check "$@"; }
tests() { declare_stage tests "$@"; }
declare_stage() {
  stage_names+=("$2")
  stage_kind[$2]=$1
  stage_description[$2]=$3
}

list_stages() {
  local name
  for name in "${stage_names[@]}"; do printf '%-9s %s\n' "$name" "${stage_description[$name]}"; done
}

# Sets passed, failed, skipped of a stage that ended with status $2.
count_stage() {
  passed=0 failed=0 skipped=0
  if [[ ${stage_kind[$1]} == tests ]]; then
    read -r passed failed skipped < <(python3 "$root/tools/count_junit.py" "$results" || echo 0 0 0)
    [[ $2 == 0 && $((passed + failed)) == 0 ]] && echo "no test ran" | tee -a "$log" && failed=1
  elif [[ $2 == 0 ]]; then
    passed=1
  fi
  [[ $2 != 0 && $failed == 0 ]] && failed=1
  return 0
}

# The last "N passed, N failed" is the line that machines read. Returns 1 when a test failed or none ran.
run_stages() {
  local folder=$1 name status began total_passed=0 total_failed=0 total_skipped=0 summary=() failures=()
  shift
  [[ $# -gt 0 ]] || set -- "${stage_names[@]}"
  for name; do
    if [[ -z ${stage_kind[$name]:-} ]]; then
      printf 'no stage "%s"; there are:\n%s\n' "$name" "$(list_stages)" >&2
      return 2
    fi
  done
  local passed failed skipped log results
  for name; do
    results="$folder/$name" log="$folder/$name.log"
    rm -rf "$results" && mkdir -p "$results"
    echo "== $name: ${stage_description[$name]}"
    began=$SECONDS
    (set -e; "stage_$name") </dev/null >"$log" 2>&1
    status=$?
    count_stage "$name" "$status"
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
    summary+=("$(printf '%-9s %6d passed %4d failed %4d skipped %5d s' "$name" "$passed" "$failed" "$skipped" \
                        $((SECONDS - began)))")
    echo "${summary[-1]}"
    if [[ $failed != 0 ]]; then
      failures+=("$name")
      echo "-- the end of $log:"
      tail -n 80 "$log" | cut -c1-400
    fi
  done
  printf '\n== summary\n'
  printf '%s\n' "${summary[@]}"
  [[ $total_skipped == 0 ]] || echo "$total_skipped skipped; their reasons are in the logs"
  [[ ${#failures[@]} == 0 ]] || echo "failed: ${failures[*]}; logs in $folder"
  echo "$total_passed passed, $total_failed failed"
  [[ $total_failed == 0 && $total_passed -gt 0 ]]
}
