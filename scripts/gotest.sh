#!/usr/bin/env bash
# gotest.sh ARGUMENT…: go test, which under CI=true also fails when a test skips itself
# that scripts/skips.txt does not allow to. What failed is shown whole.
set -euo pipefail
cd "$(dirname "$0")/.."
go test -json "$@" | CGO_ENABLED=0 go run ./scripts/skips scripts/skips.txt
