#!/usr/bin/env bash
# The linter at one version, built once into the tool cache by the module proxy.
# It is kept out of go.mod: its own dependencies are many times ours.
set -euo pipefail
version=v2.15.0
tools=${AGENT_LSP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-lsp-tools}
bin=$tools/golangci-lint-$version
if [ ! -x "$bin" ]; then
  mkdir -p "$tools"
  for try in 1 2 3; do
    if GOBIN=$tools/bin.$$ go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"; then
      break
    fi
    [ "$try" = 3 ] && exit 1
    sleep $((try * 5))
  done
  mv "$tools/bin.$$/golangci-lint" "$bin"
  rmdir "$tools/bin.$$"
fi
exec "$bin" "$@"
