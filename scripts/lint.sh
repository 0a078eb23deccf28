#!/usr/bin/env bash
# Formatting, vet on the systems that must compile, and the linter.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
  printf 'gofmt would change:\n%s\n' "$unformatted" >&2
  exit 1
fi
for os in linux darwin windows; do
  echo "go vet for $os"
  GOOS=$os go vet ./...
done
echo "go vet for the wasm guest"
GOOS=wasip1 GOARCH=wasm go vet ./core/guest ./core/loop ./core/abi
echo "golangci-lint"
scripts/golangci-lint.sh run ./...
