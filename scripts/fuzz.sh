#!/usr/bin/env bash
# Runs every fuzz target for a while each: fuzz.sh 10s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for pkg in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
    echo "$pkg $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg" >"$log" || {
      cat "$log"
      exit 1
    }
  done
done
