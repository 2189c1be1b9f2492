#!/usr/bin/env bash
# Installs what the tests need beside npm's packages; quick when it is all there. Nothing here goes into the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian packages, by the command that each brings.
missing=()
while read -r command package; do
  command -v "$command" >/dev/null || missing+=("$package")
done <<'LIST'
strace strace
python3 python3
git git
tmux tmux
zsh zsh
busybox busybox-static
fish fish
chromium chromium
LIST
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
if [ "${#missing[@]}" -gt 0 ]; then
  echo "installing ${missing[*]}"
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "These tests need ${missing[*]}. Install them with your package manager, then run npm test again." >&2
    exit 1
  fi
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# The real MassGen, pinned, in a cached virtual environment.
bash test/massgen/install.sh
