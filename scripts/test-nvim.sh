#!/usr/bin/env bash
# test-nvim.sh [FILE…]: tests the Neovim plugin in the real Neovim against the real
# server, and, when no file is named, the configuration for Emacs from the
# documentation in the real Emacs. It gets both if need be and keeps them; NVIM=… names
# another Neovim. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
tools=${AGENT_LSP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-lsp-tools}
nvim=${NVIM:-$tools/nvim/bin/nvim}
[ -n "${NVIM:-}" ] || scripts/get-nvim.sh "$tools/nvim"

# Settings of whoever runs this are none of the server's under test.
for name in "${!AGENT_LSP_@}"; do
  unset "$name"
done

work=$(mktemp -d)
# A server that is about to end may still write there.
trap 'rm -rf "$work" 2>/dev/null || { sleep 2 && rm -rf "$work"; } || true' EXIT
if [ -z "${AGENT_TEST_BINARY:-}" ]; then
  AGENT_TEST_BINARY=$work/agent-lsp
  CGO_ENABLED=0 go build -o "$AGENT_TEST_BINARY" ./cmd/agent-lsp
fi
export AGENT_TEST_BINARY
AGENT_NVIM_PLUGIN=$PWD/editors/nvim
export AGENT_NVIM_PLUGIN

# The tests' own home, with Go's caches from outside of it.
GOCACHE=$(go env GOCACHE) GOPATH=$(go env GOPATH) GOFLAGS=-mod=mod GOTOOLCHAIN=local
export GOCACHE GOPATH GOFLAGS GOTOOLCHAIN

passed=0 failed=0 emacs=
if [ $# = 0 ]; then
  set -- "$AGENT_NVIM_PLUGIN"/test/*_test.lua
  emacs=$tools/emacs/bin/emacs
  scripts/get-emacs.sh "$tools/emacs"
fi
for file in "$@"; do
  name=$(basename "$file" .lua)
  home=$work/$name
  mkdir -p "$home/project" "$home/run" "$work/cache"
  out=$home/out
  code=0
  HOME=$home XDG_CONFIG_HOME=$home/config XDG_DATA_HOME=$home/data XDG_STATE_HOME=$home/state XDG_CACHE_HOME=$work/cache \
    XDG_RUNTIME_DIR=$home/run NVIM_LOG_FILE=/dev/null AGENT_TEST_DIR=$home/project \
    LUA_PATH="$AGENT_NVIM_PLUGIN/test/?.lua;;" LC_ALL=C.UTF-8 \
    timeout 300 "$nvim" --headless --clean -n -l "$file" </dev/null >"$out" 2>"$home/err" || code=$?
  printf '== %s\n' "$name"
  grep -v '^finished: ' "$out" || true
  # A question that nobody answers ends Neovim with 0: only the last line counts.
  read -r cases failures < <(sed -n 's/^finished: //p' "$out") || cases=0 failures=1
  if [ "$failures" = 0 ] && { [ "$code" != 0 ] || [ "$cases" = 0 ]; }; then
    echo "no case ran to its end, or Neovim failed behind the last one"
    failures=1
  fi
  if [ "$failures" != 0 ]; then
    printf 'exit code %s; standard error:\n' "$code"
    tail -n 40 "$home/err"
  fi
  passed=$((passed + (cases > failures ? cases - failures : 0)))
  failed=$((failed + failures))
done
if [ -n "$emacs" ]; then
  echo '== eglot'
  code=0
  home=$work/eglot
  mkdir -p "$home/p"
  git init -q "$home/p" # what makes it a project
  printf 'one\ntwo\n' >"$home/p/a.txt"
  if HOME=$home AGENT_TEST_DIR=$home AGENT_TEST_DOCS=$PWD/docs/other-editors.md AGENT_LSP_STORE=memory: XDG_CACHE_HOME=$work/cache LC_ALL=C.UTF-8 \
    timeout 300 "$emacs" --batch -Q -l scripts/test-eglot.el </dev/null >"$home/out" 2>&1; then
    grep '^ok ' "$home/out" || code=none
  else
    code=$?
  fi
  if [ "$code" = 0 ]; then
    passed=$((passed + 1))
  else
    echo "exit code $code"
    tail -n 20 "$home/out"
    failed=$((failed + 1))
  fi
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
