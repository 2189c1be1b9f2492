#!/usr/bin/env bash
# npm test: lint, types, build, then every test file in a process of its own: the quick ones two at a time, then the slow ones alone.
# `npm test -- PATTERN…` runs only the test files that match. A file that fails is run once more, alone, when nothing else runs; what it
# failed the first time is printed all the same. The last line is "N passed, N failed"; the exit status is 0 only when nothing failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
# What tests need is kept in the real home, for the next time.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/mg-team"
bash test/setup.sh || { printf '0 passed, 1 failed\n'; exit 1; }
export MG_TEST_MASSGEN="${MG_TEST_MASSGEN:-${MG_TEAM_TEST_MASSGEN:-$cache/massgen-0.1.97}/bin/massgen}"

# Tests must not see, or leave anything in, the home of whoever runs them.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export MG_TEST_REAL_HOME="$HOME"
export HOME="$home" XDG_CACHE_HOME="$home/.cache" XDG_STATE_HOME="$home/.local/state" XDG_CONFIG_HOME="$home/.config"
results="$home/results"
mkdir "$results"
passed=0 failed=0

# step NAME COMMAND…: one check that passes or fails as a whole.
step() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf '== %s FAILED\n' "$name"
  fi
}

# run_file FILE: its tests, counted from bun's own report into RESULTS/FILE as "TESTS FAILURES"; prints a line, and all of it where it fails.
run_file() {
  local file=$1 name=${1//\//_} started=$SECONDS tests failures status
  bun test --timeout 120000 --reporter=junit --reporter-outfile="$results/$name.xml" "./$file" >"$results/$name.log" 2>&1 </dev/null
  status=$?
  read -r tests failures < <(sed -nE 's/.*<testsuites [^>]*tests="([0-9]+)"[^>]*failures="([0-9]+)".*/\1 \2/p' "$results/$name.xml" 2>/dev/null | head -n 1)
  tests=${tests:-0} failures=${failures:-0}
  # A file that does not load, a crash, or a test that ends the process fails no single test: it counts as one.
  if [ "$failures" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$tests" -eq 0 ]; }; then failures=1 tests=$((tests + 1)); fi
  echo "$tests $failures" >"$results/$name.count"
  if [ "$failures" -eq 0 ]; then printf 'ok   %4d tests %4d s  %s\n' "$tests" $((SECONDS - started)) "$file"; else
    printf 'FAIL %4d of %d, %d s  %s\n%s\n' "$failures" "$tests" $((SECONDS - started)) "$file" "$(grep -vE '^(bun test v|\(pass\)|$)' "$results/$name.log" | tail -n 150)"
  fi
  rm -f "$results/$name.xml" "$results/$name.log"
}
export -f run_file
export results

mapfile -t all < <(find test -name '*.test.ts' | sort)
if [ $# -gt 0 ]; then
  pattern=$(IFS='|'; echo "$*")
  mapfile -t all < <(printf '%s\n' "${all[@]}" | grep -E "$pattern")
  [ -e dist/mg-team ] || bun run build.ts
else
  step "lint" biome check .
  step "types" tsc
  step "build" bun run build.ts
fi
quick=() slow=()
for file in "${all[@]}"; do
  case $file in *.slow.test.ts | test/faults/* | test/e2e/*) slow+=("$file") ;; *) quick+=("$file") ;; esac
done

printf '\n== quick tests (%d files)\n' "${#quick[@]}"
[ "${#quick[@]}" -eq 0 ] || printf '%s\0' "${quick[@]}" | xargs -0 -n 1 -P 2 bash -c 'run_file "$1"' run_file
printf '\n== slow tests (%d files)\n' "${#slow[@]}"
for file in "${slow[@]}"; do run_file "$file"; done

again=()
for file in "${all[@]}"; do
  read -r _ failures <"$results/${file//\//_}.count" && [ "$failures" -gt 0 ] && again+=("$file")
done
if [ "${#again[@]}" -gt 0 ]; then
  printf '\n== once more, alone: what failed above (%d files)\n' "${#again[@]}"
  for file in "${again[@]}"; do run_file "$file"; done
fi
for file in "${all[@]}"; do
  read -r tests failures <"$results/${file//\//_}.count"
  passed=$((passed + tests - failures)) failed=$((failed + failures))
done

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
