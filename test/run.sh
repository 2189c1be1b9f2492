#!/usr/bin/env bash
# npm test: lint and types, then every test, quick ones first. `npm test -- PATTERN…` runs only the test files that match.
# The last line is "N passed, N failed"; the exit status is 0 only when nothing failed.
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
export HOME="$home" XDG_CACHE_HOME="$home/.cache" XDG_STATE_HOME="$home/.local/state" XDG_CONFIG_HOME="$home/.config"
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

# suite NAME FILE…: test files, counted one test at a time from bun's own report.
suite() {
  local name=$1 report="$home/report.xml" log="$home/suite.log"
  shift
  [ $# -gt 0 ] || return 0
  printf '\n== %s (%d files)\n' "$name" "$#"
  rm -f "$report"
  bun test --timeout 120000 --reporter=junit --reporter-outfile="$report" "$@" >"$log" 2>&1
  local status=$?
  grep -vE '^(bun test v|\(pass\)|$)' "$log" | tail -n 300
  local tests failures
  read -r tests failures < <(sed -nE 's/.*<testsuites [^>]*tests="([0-9]+)"[^>]*failures="([0-9]+)".*/\1 \2/p' "$report" 2>/dev/null | head -n 1)
  tests=${tests:-0} failures=${failures:-0}
  # A file that does not load, a crash, or a test that ends the process fails no single test: it counts as one.
  if [ "$failures" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$tests" -eq 0 ]; }; then failures=1 tests=$((tests + 1)); fi
  passed=$((passed + tests - failures)) failed=$((failed + failures))
}

mapfile -t all < <(find test -name '*.test.ts' | sort)
if [ $# -gt 0 ]; then
  pattern=$(IFS='|'; echo "$*")
  mapfile -t all < <(printf '%s\n' "${all[@]}" | grep -E "$pattern")
else
  step "lint" biome check .
  step "types" tsc
  step "build" bun run build.ts
fi
quick=() slow=()
for file in "${all[@]}"; do
  case $file in *.slow.test.ts | test/faults/* | test/e2e/*) slow+=("$file") ;; *) quick+=("$file") ;; esac
done
suite "quick tests" "${quick[@]}"
for file in "${slow[@]}"; do suite "$file" "$file"; done

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
