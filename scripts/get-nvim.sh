#!/usr/bin/env bash
# get-nvim.sh DIRECTORY: unpacks a modern Neovim from a newer Debian suite, with the
# libraries that it needs, its own libc among them, and leaves DIRECTORY/bin/nvim. A
# second run finds what the first one left. The directory must not be moved
# afterwards. See debian-packages.sh for how it is got.
#
#   NVIM_SUITES="forky sid trixie"  the suites to try, in this order
#   NVIM_MIN=0.11                   the oldest version that will do
set -euo pipefail
source "$(dirname "$0")/debian-packages.sh"
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
    if unpack_debian whole "$dest" "$suite" neovim patchelf && relink && works; then
      exit 0
    fi
    echo "get-nvim: $suite did not work (try $try)" >&2
    sleep $((try * 3))
  done
done
echo "get-nvim: no suite of \"$suites\" gave a Neovim $least or later" >&2
exit 1
