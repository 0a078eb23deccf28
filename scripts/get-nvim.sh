#!/usr/bin/env bash
# get-nvim.sh DIRECTORY: unpacks a modern Neovim from a newer Debian suite, with the
# libraries that it needs, its own libc among them, and leaves DIRECTORY/bin/nvim. It
# installs nothing, needs no root, and keeps the machine's apt as it is. A second run
# finds what the first one left. The directory must not be moved afterwards.
#
#   NVIM_SUITES="forky sid trixie"  the suites to try, in this order
#   NVIM_MIN=0.11                   the oldest version that will do
#   DEBIAN_MIRROR=…                 instead of the mirror in /etc/apt
set -euo pipefail
dest=$(realpath -m "${1:?usage: get-nvim.sh DIRECTORY}")
suites=${NVIM_SUITES:-forky sid trixie}
least=${NVIM_MIN:-0.11}

works() {
  [ -x "$dest/bin/nvim" ] || return 1
  local probe=$dest/probe.lua said
  printf 'io.stdout:write(vim.fn.has("nvim-%s") == 1 and vim.lsp.start and "good" or "bad")\n' "$least" >"$probe"
  said=$(NVIM_LOG_FILE=/dev/null timeout 60 "$dest/bin/nvim" --headless --clean -n -l "$probe" </dev/null 2>/dev/null) && [ "$said" = good ]
}

if works; then
  exit 0
fi

mirror=${DEBIAN_MIRROR:-}
if [ -z "$mirror" ]; then
  sources=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true)
  mirror=$(awk '
    $1 == "URIs:" && $2 ~ /\/debian\/?$/ { print $2; exit }
    $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' <<<"$sources")
fi
if [ -z "$mirror" ]; then
  echo "get-nvim: /etc/apt names no Debian mirror: set DEBIAN_MIRROR" >&2
  exit 1
fi

# unpack SUITE: downloads by an apt that knows nothing but this suite and believes
# that nothing is installed, so that it takes every library along.
unpack() {
  local suite=$1 work deb
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg arch=%s] %s %s main\n' \
    "$(dpkg --print-architecture)" "$mirror" "$suite" >"$work/sources.list"
  : >"$work/status"
  local apt=(apt-get -qq
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status"
    -o Dir::Cache="$work/cache" -o Debug::NoLocking=true -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success= -o DPkg::Post-Invoke=)
  "${apt[@]}" update &&
    "${apt[@]}" -y --no-install-recommends --download-only install neovim patchelf >/dev/null ||
    { rm -rf "$work"; return 1; }
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$work/root" || { rm -rf "$work"; return 1; }
  done
  rm -rf "$dest"
  mkdir -p "$dest/bin"
  mv "$work/root" "$dest/root"
  rm -rf "$work"
}

# relink makes the program use the tree's own libc. RPATH, not RUNPATH: it holds for
# the libraries of libraries and for what is loaded later, too.
relink() {
  local root=$dest/root loader libraries triplet
  loader=$(find "$root" -name 'ld-linux*.so.*' | sort | head -n 1)
  triplet=$(basename "$(dirname "$(find "$root" -name 'libc.so.6' | sort | head -n 1)")")
  libraries=$root/usr/lib/$triplet:$root/lib/$triplet
  "$loader" --library-path "$libraries" "$root/usr/bin/patchelf" \
    --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$root/usr/bin/nvim" || return 1
  printf '#!/bin/sh\nexec "%s/usr/bin/nvim" "$@"\n' "$root" >"$dest/bin/nvim"
  chmod +x "$dest/bin/nvim"
}

for suite in $suites; do
  for try in 1 2 3; do
    if unpack "$suite" && relink && works; then
      exit 0
    fi
    echo "get-nvim: $suite did not work (try $try)" >&2
    sleep $((try * 3))
  done
done
echo "get-nvim: no suite of \"$suites\" gave a Neovim $least or later" >&2
exit 1
