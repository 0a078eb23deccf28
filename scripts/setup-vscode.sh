#!/usr/bin/env bash
# Installs what the tests of the VS Code extension need and that npm's lockfile
# does not bring: a browser (by apt, when there is none) and the real VS Code
# workbench with its extension host (code-server, from npm).
#
# usage: setup-vscode.sh DIR
#
# DIR/node holds the Node that the workbench needs, DIR/code-server the workbench.
# A DIR that already holds the pinned versions is left as it is and needs no
# network. A download is tried three times.
set -euo pipefail

if [ $# -ne 1 ] || [ -z "$1" ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
code_server=4.139.1
node=24.22.3
mark="$dir/installed-$code_server-$node"

again() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    echo "$0: try $try of 3 failed: $*" >&2
    sleep $((try * 5))
  done
  return 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  missing+=(chromium fonts-dejavu-core)
# The workbench builds two small native modules.
command -v g++ >/dev/null || missing+=(g++)
command -v make >/dev/null || missing+=(make)
command -v python3 >/dev/null || missing+=(python3)
command -v npm >/dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
  again apt_install "${missing[@]}"
fi

if [ -f "$mark" ]; then
  exit 0
fi

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64) platform=linux-arm64 ;;
*)
  echo "$0: there is no recipe for $(uname -s) on $(uname -m)" >&2
  exit 1
  ;;
esac

# Node comes as a package that has the headers, too: building the native modules
# then downloads nothing.
quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)
rm -rf "$dir/node" "$dir/code-server" "$dir/package"
mkdir -p "$dir/node"
again npm install --prefix "$dir/node" --no-save "${quiet[@]}" "node-$platform@$node" >/dev/null
home="$dir/node/node_modules/node-$platform"
export PATH="$home/bin:$PATH" npm_config_nodedir="$home"
"$home/bin/node" --version >/dev/null

# Unpacked by hand: its install script would build native modules that no test
# loads, and would need their libraries.
fetch() {
  (cd "$dir" && rm -f code-server-*.tgz && npm pack --silent "code-server@$code_server" >/dev/null &&
    tar xzf "code-server-$code_server.tgz" && rm -rf code-server && mv package code-server && rm "code-server-$code_server.tgz")
}
again fetch

modules() { # modules DIRECTORY
  (cd "$1" && npm install --omit=dev --ignore-scripts "${quiet[@]}" >/dev/null)
}
again modules "$dir/code-server"
again modules "$dir/code-server/lib/vscode"
(cd "$dir/code-server/lib/vscode" && npm rebuild "${quiet[@]}" @vscode/spdlog @vscode/native-watchdog >/dev/null)
again modules "$dir/code-server/lib/vscode/extensions"

"$home/bin/node" "$dir/code-server/out/node/entry.js" --config /dev/null --version
ln -sfn "node/node_modules/node-$platform/bin/node" "$dir/run-node"
touch "$mark"
