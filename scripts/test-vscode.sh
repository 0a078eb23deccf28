#!/usr/bin/env bash
# Tests the VS Code extension: its parts, then the packed extension in the real
# workbench in a real browser, against the real server with a scripted model. It
# installs what is missing, keeps it for the next run, and ends with the line
# "N passed, N failed"; what failed makes it end non-zero.
#
# usage: test-vscode.sh [PART…]    parts: main folders untrusted path page; all without one
#
# The workbench is kept in $AGENT_LSP_TOOLS, by default in the user's cache.
set -euo pipefail
export NO_COLOR=1
cd "$(dirname "$0")/.."
root=$PWD
tools=${AGENT_LSP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-lsp-tools}/vscode
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
started=$(date +%s)
say() { printf -- '-- vscode: %s (%ss)\n' "$*" "$(($(date +%s) - started))"; }

again() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    echo "try $try of 3 failed: $*" >&2
    sleep $((try * 5))
  done
  return 1
}

say "the workbench"
scripts/setup-vscode.sh "$tools"
# The system's Node may be too old for what follows.
node=$(dirname "$(readlink -f "$tools/run-node")")
export PATH="$node:$PATH"

say "the extension's packages"
cd editors/vscode
lock=$(sha256sum package-lock.json | cut -c1-16)
if [ ! -f "node_modules/.installed-$lock" ]; then
  again npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  touch "node_modules/.installed-$lock"
fi
# No registry's name may get into the lockfile: it would bind all others to it.
if grep -n '"resolved"' package-lock.json; then
  echo "package-lock.json names a registry: npm install with omit-lockfile-registry-resolved" >&2
  exit 1
fi

failed=0
passed=0
count() { # count FILE: adds the closing line of a part's output
  local line
  line=$(tail -1 "$1")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
  else
    echo "a part did not come to its end: $line" >&2
    failed=$((failed + 1))
  fi
}

say "types, settings and the tests of the parts"
node scripts/settings.mjs --check
npx --no-install tsc -p .
npx --no-install vitest run --reporter=dot --reporter=json --outputFile.json="$work/unit.json" || true
node -e 'const r = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(`${r.numPassedTests} passed, ${r.numFailedTests + (r.success || r.numFailedTests ? 0 : 1)} failed`)' \
  "$work/unit.json" | tee "$work/unit.txt"
count "$work/unit.txt"

say "the vsix and the server"
npm run -s package -- --out "$work"
(cd "$root" && go build -o "$work/agent-lsp" ./cmd/agent-lsp)
case $(uname -m) in aarch64) target=linux-arm64 ;; *) target=linux-x64 ;; esac
npm run -s package -- --out "$work" --target "$target" --binary "$work/agent-lsp"

say "in the workbench"
AGENT_VSCODE_TOOLS=$tools AGENT_E2E_BINARY=$work/agent-lsp AGENT_VSIX=$(echo "$work"/*-"$target".vsix) \
  "$tools/run-node" test/e2e/run.mjs "$@" 2>&1 | tee "$work/e2e.txt" || true
count "$work/e2e.txt"

say "done"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
