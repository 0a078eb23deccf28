#!/bin/sh
# Installs the check tools that are Node packages (typescript, pyright, deno) into
# DIR, for the tests that run them: AGENT_LSP_TEST_TOOLS=DIR go test ./checker
#
# usage: install-check-tools.sh DIR
#
# A DIR that already holds the pinned versions is left as it is and needs no
# network. A failed download is tried three times.
set -eu

if [ $# -ne 1 ] || [ -z "$1" ]; then
	echo "usage: $0 DIR" >&2
	exit 2
fi
dir=$1
packages="typescript@7.0.2 pyright@1.1.414 deno@2.9.6"

installed() {
	for p in $packages; do
		manifest="$dir/node_modules/${p%@*}/package.json"
		grep -q "\"version\": *\"${p#*@}\"" "$manifest" 2>/dev/null || return 1
	done
	for tool in tsc pyright deno; do
		[ -e "$dir/node_modules/.bin/$tool" ] || return 1
	done
	# The package named deno fetches nothing at install time when scripts are off:
	# a tool counts only when it starts.
	"$dir/node_modules/.bin/deno" --version >/dev/null 2>&1
}

if installed; then
	exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
	echo "$0: npm is not on PATH; install Node.js or leave AGENT_LSP_TEST_TOOLS unset" >&2
	exit 1
fi
mkdir -p "$dir"
for try in 1 2 3; do
	# shellcheck disable=SC2086 # the list is split on purpose
	if npm install --prefix "$dir" --no-audit --no-fund --no-save --loglevel=error $packages && installed; then
		exit 0
	fi
	echo "$0: try $try of 3 failed" >&2
	sleep $((try * 3))
done
echo "$0: could not install $packages into $dir" >&2
exit 1
