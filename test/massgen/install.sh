#!/usr/bin/env bash
# Installs the MassGen that the slow tests run against, and prints the path of its `massgen` on stdout.
#
# Pinned by requirements.txt beside this script (massgen 0.1.97 with mcp 1.27.2; the reason is in massgen.md, "Installing it"),
# into ~/.cache/mg-team/massgen-0.1.97 or MG_TEAM_TEST_MASSGEN. About 1.8 GB and 2-3 minutes the first time, then under a second.
# PYTHON names the interpreter to use, 3.11 or newer.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requirements=$here/requirements.txt
directory=${MG_TEAM_TEST_MASSGEN:-${XDG_CACHE_HOME:-$HOME/.cache}/mg-team/massgen-0.1.97}
stamp=$directory/.mg-team-stamp

say() { printf 'install.sh: %s\n' "$*" >&2; }
die() { say "$1"; [ $# -lt 2 ] || say "$2"; exit 1; }

main() {
  mkdir -p "$(dirname "$directory")"
  lock
  if ! is_current; then
    if matches_lock_file; then
      say "found an installation that matches requirements.txt"
    else
      install
    fi
    fingerprint >"$stamp"
  fi
  printf '%s\n' "$directory/bin/massgen"
}

# One installer at a time; the lock is gone with its process.
lock() {
  if command -v flock >/dev/null; then
    exec 9>"$directory.lock"
    flock -n 9 || { say "waiting for another install.sh"; flock 9; }
  fi
}

# Stamp of these very requirements, and the two packages that matter are really there.
is_current() {
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ] && [ -x "$directory/bin/massgen" ] || return 1
  "$directory/bin/python" -c 'from importlib.metadata import version as v; assert (v("massgen"), v("mcp")) == ("0.1.97", "1.27.2")' 2>/dev/null
}

matches_lock_file() {
  [ -x "$directory/bin/pip" ] || return 1
  local frozen
  frozen=$("$directory/bin/pip" freeze --disable-pip-version-check 2>/dev/null | LC_ALL=C sort) || return 1
  [ "$frozen" = "$(LC_ALL=C sort "$requirements")" ]
}

fingerprint() { cksum <"$requirements"; }

install() {
  local python
  python=$(find_python)
  if [ -e "$directory" ]; then
    [ -f "$directory/pyvenv.cfg" ] || [ -z "$(ls -A "$directory")" ] ||
      die "$directory exists and is not a virtual environment" "Remove it, or name another place: MG_TEAM_TEST_MASSGEN=DIR $0"
    rm -rf "$directory"
  fi
  say "installing $(wc -l <"$requirements") packages into $directory with $("$python" --version); this takes minutes and 1.8 GB"
  "$python" -m venv "$directory" >&2 ||
    die "$python -m venv failed" "On Debian and Ubuntu: apt-get install python3-venv (or python3.11-venv, for that version)"
  "$directory/bin/pip" install --no-deps --no-input --disable-pip-version-check --quiet -r "$requirements" >&2 ||
    die "pip could not install $requirements" "Check the network and the free space in $directory, then run it again"
  "$directory/bin/massgen" --help 2>/dev/null | grep -q -- '--step' ||
    die "the installed massgen does not start, or has no step mode" "See why: $directory/bin/massgen --help"
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  die "no Python 3.11 or newer found" "On Debian and Ubuntu: apt-get install python3 python3-venv; or name one: PYTHON=/path/to/python3 $0"
}

main
