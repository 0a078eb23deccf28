#!/usr/bin/env bash
# get-emacs.sh DIRECTORY: unpacks an Emacs with eglot built in from Debian's
# backports and leaves DIRECTORY/bin/emacs, which runs on the machine's own libraries.
# It installs nothing, needs no root, and keeps the machine's apt as it is. A second
# run finds what the first one left. The directory must not be moved afterwards.
#
#   DEBIAN_MIRROR=…   instead of the mirror in /etc/apt
set -euo pipefail
dest=$(realpath -m "${1:?usage: get-emacs.sh DIRECTORY}")

works() {
  [ -x "$dest/bin/emacs" ] && "$dest/bin/emacs" --batch -Q --eval "(require 'eglot)" >/dev/null 2>&1
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
  echo "get-emacs: /etc/apt names no Debian mirror: set DEBIAN_MIRROR" >&2
  exit 1
fi
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

# unpack: downloads what this machine lacks for Emacs, and nothing more.
unpack() {
  local work deb
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
  for suite in "$release" "$release-backports"; do
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$suite"
  done >"$work/sources.list"
  local apt=(apt-get -qq
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache"
    -o Debug::NoLocking=true -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success= -o DPkg::Post-Invoke=)
  "${apt[@]}" update &&
    "${apt[@]}" -t "$release-backports" -y --no-install-recommends --download-only install emacs-nox >/dev/null ||
    { rm -rf "$work"; return 1; }
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$work/root" || { rm -rf "$work"; return 1; }
  done
  rm -rf "$dest"
  mkdir -p "$dest/bin"
  mv "$work/root" "$dest/root"
  rm -rf "$work"
}

# wrap tells Emacs where its files are: they are not where it was built for.
wrap() {
  local root=$dest/root version lisp
  version=$(basename "$(find "$root/usr/share/emacs" -maxdepth 1 -name '[0-9]*' | head -n 1)")
  lisp=$(find "$root/usr/share/emacs/$version/lisp" -type d ! -path '*/term*' ! -path '*/obsolete*' | tr '\n' ':')
  cat >"$dest/bin/emacs" <<WRAPPER
#!/bin/sh
export EMACSDATA="$root/usr/share/emacs/$version/etc" EMACSDOC="$root/usr/share/emacs/$version/etc" EMACSLOADPATH="$lisp"
export EMACSPATH="$(find "$root/usr/libexec/emacs" -mindepth 2 -maxdepth 2 -type d | head -n 1)"
export LD_LIBRARY_PATH="$root/usr/lib/$(uname -m)-linux-gnu"
exec "$root/usr/bin/emacs-nox" --dump-file="$(find "$root/usr/libexec" -name '*.pdmp' | head -n 1)" "\$@"
WRAPPER
  chmod +x "$dest/bin/emacs"
}

for try in 1 2 3; do
  if unpack && wrap && works; then
    exit 0
  fi
  echo "get-emacs: $release-backports did not work (try $try)" >&2
  sleep $((try * 3))
done
exit 1
