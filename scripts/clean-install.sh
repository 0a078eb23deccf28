#!/usr/bin/env bash
# go install must work for somebody who has nothing: an empty module cache, and no
# files but those that are committed. The modules come from this machine's own
# download cache, so that it also holds without a network.
set -euo pipefail
cd "$(dirname "$0")/.."
proxy=file://$(go env GOMODCACHE)/cache/download
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp" && rm -rf "$tmp"' EXIT
git archive --format=tar HEAD | tar -x -C "$tmp" --one-top-level=src
cd "$tmp/src"
env GOMODCACHE="$tmp/mod" GOBIN="$tmp/bin" GOPROXY="$proxy" GONOSUMDB='*' GOFLAGS=-buildvcs=false go install ./cmd/agent-lsp
"$tmp/bin/agent-lsp" version
