#!/usr/bin/env bash
# Packages for this machine's platform, twice: both times the same bytes, and what is
# inside runs. The last line says how long it took.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The system's Node may be too old; test-vscode.sh installs one that is not.
node=${AGENT_LSP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-lsp-tools}/vscode/run-node
if [ -x "$node" ]; then
  PATH=$(dirname "$(readlink -f "$node")"):$PATH
fi
os=$(go env GOOS) arch=$(go env GOARCH)

scripts/package.sh -o "$work/a" "$os/$arch" >/dev/null
scripts/package.sh -o "$work/b" "$os/$arch" >/dev/null
diff -r "$work/a" "$work/b"

cd "$work/a"
sha256sum --check --quiet SHA256SUMS
archive=$(echo agent-lsp-*-"$os-$arch".tar.gz)
name=${archive%.tar.gz}
want=$(printf '%s\n' "$name/" "$name/CHANGELOG.md" "$name/LICENSE" "$name/README.md" "$name/agent-lsp")
got=$(tar -tzf "$archive")
if [ "$got" != "$want" ]; then
  printf '%s holds\n%s\ninstead of\n%s\n' "$archive" "$got" "$want" >&2
  exit 1
fi
tar -xzf "$archive"
version=${name#agent-lsp-}
[ "$("$name/agent-lsp" version)" = "agent-lsp v${version%-"$os-$arch"}" ]
# The vsix for the platform brings the same program, the other one none.
mapfile -t vsix < <(ls -- *.vsix)
[ "${#vsix[@]}" = 2 ]
for file in "${vsix[@]}"; do
  mkdir "$file.d"
  python3 -m zipfile -e "$file" "$file.d"
  if [[ $file =~ -(x64|arm64)\.vsix$ ]]; then
    cmp "$file.d/extension/bin/agent-lsp" "$name/agent-lsp"
  elif [ -e "$file.d/extension/bin" ]; then
    echo "$file holds a program, and is not for one platform" >&2
    exit 1
  fi
  [ -f "$file.d/extension/dist/extension.js" ]
done
echo "packages are repeatable and whole ($(($(date +%s) - started))s)"
