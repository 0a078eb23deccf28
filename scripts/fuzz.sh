#!/usr/bin/env bash
# Runs every fuzz target for a while each: fuzz.sh 10s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# fuzz PACKAGE TARGET: the end of the time can come as an error although no input failed
# (go.dev/issue/75804, fixed in Go 1.27); then it is tried again.
fuzz() {
  local try
  for try in 1 2 3; do
    go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" >"$log" && return
    grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || break
  done
  cat "$log"
  return 1
}

# A package that does not build, or whose tests cannot be listed, fails here.
packages=$(go list ./...)
for pkg in $packages; do
  list=$(go test -list '^Fuzz' "$pkg")
  for target in $(grep '^Fuzz' <<<"$list" || true); do
    echo "$pkg $target"
    fuzz "$pkg" "$target"
  done
done
