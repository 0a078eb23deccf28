#!/usr/bin/env bash
# get-emacs.sh DIRECTORY: unpacks an Emacs with eglot built in from Debian's
# backports and leaves DIRECTORY/bin/emacs, which runs on the machine's own libraries.
# A second run finds what the first one left. The directory must not be moved
# afterwards. See debian-packages.sh for how it is got.
set -euo pipefail
source "$(dirname "$0")/debian-packages.sh"
dest=$(realpath -m "${1:?usage: get-emacs.sh DIRECTORY}")

works() {
  [ -x "$dest/bin/emacs" ] && "$dest/bin/emacs" --batch -Q --eval "(require 'eglot)" >/dev/null 2>&1
}

if works; then
  exit 0
fi

release=$(. /etc/os-release && echo "$VERSION_CODENAME")

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
  if unpack_debian lacking "$dest" "$release $release-backports" emacs-nox && wrap && works; then
    exit 0
  fi
  echo "get-emacs: $release-backports did not work (try $try)" >&2
  sleep $((try * 3))
done
exit 1
