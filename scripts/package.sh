#!/usr/bin/env bash
# Makes what is released: an archive of the binary for each platform, a vsix without
# a binary that installs everywhere, one with the binary for each platform, and the
# checksums of all. The same source gives the same archives.
#
# usage: package.sh [-o DIR] [PLATFORM…]
#
# PLATFORM is e.g. linux/amd64; all six without one. DIR is dist by default.
# VERSION names the archives; without it the extension's version does.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=dist
if [ "${1:-}" = -o ]; then
  out=$2
  shift 2
fi
if [ $# -eq 0 ]; then
  set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
fi
for tool in go node npm tar python3; do
  command -v "$tool" >/dev/null || {
    echo "$0: $tool is not on PATH" >&2
    exit 1
  }
done
version=${VERSION:-$(node -p 'require("./editors/vscode/package.json").version')}
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd editors/vscode
[ -d node_modules/esbuild ] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
npm run -s package -- --out "$out"
cd "$root"

for platform in "$@"; do
  os=${platform%/*} arch=${platform#*/}
  exe=agent-lsp
  [ "$os" != windows ] || exe=agent-lsp.exe
  name=agent-lsp-$version-$os-$arch
  dir=$work/$name
  mkdir "$dir"
  echo "$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags="-s -w -X main.release=v${version#v}" -o "$dir/$exe" ./cmd/agent-lsp
  cp LICENSE README.md CHANGELOG.md "$dir/"
  chmod 755 "$dir" "$dir/$exe"
  chmod 644 "$dir"/*.md "$dir/LICENSE"
  # Neither the time nor the user of the build gets into an archive.
  TZ=UTC find "$dir" -exec touch -t 200001010000 {} +
  if [ "$os" = windows ]; then
    (cd "$work" && TZ=UTC python3 -m zipfile -c "$out/$name.zip" "$name")
  else
    (cd "$work" && tar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"$out/$name.tar.gz")
  fi
  case $os in windows) os=win32 ;; esac
  case $arch in amd64) arch=x64 ;; esac
  (cd editors/vscode && npm run -s package -- --out "$out" --target "$os-$arch" --binary "$dir/$exe")
done

cd "$out"
shopt -s nullglob
files=(*.tar.gz *.zip *.vsix)
if command -v sha256sum >/dev/null; then
  sha256sum -- "${files[@]}" >SHA256SUMS
else
  shasum -a 256 -- "${files[@]}" >SHA256SUMS
fi
cat SHA256SUMS
