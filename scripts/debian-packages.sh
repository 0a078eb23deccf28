# Sourced: unpacks packages of Debian into a directory. Nothing is installed, no root
# is needed, and the machine's own apt stays as it is.
#
#   DEBIAN_MIRROR=…  instead of the mirror in /etc/apt

debian_mirror() {
  if [ -n "${DEBIAN_MIRROR:-}" ]; then
    echo "$DEBIAN_MIRROR"
    return
  fi
  local found
  found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | awk '
    found { next } # reads on to the end: its writer must not see a closed pipe
    $1 == "URIs:" && $2 ~ /\/debian\/?$/ { found = $2 }
    $1 == "deb" { for (i = 2; i <= NF && !found; i++) if ($i ~ /^https?:.*\/debian\/?$/) found = $i }
    END { print found }')
  if [ -z "$found" ]; then
    echo "/etc/apt names no Debian mirror: set DEBIAN_MIRROR" >&2
    return 1
  fi
  echo "$found"
}

# unpack_debian whole|lacking DIRECTORY "SUITE…" PACKAGE…: makes DIRECTORY/root of the
# packages, from the last of the suites where it has them, and an empty DIRECTORY/bin.
# "whole" takes every library along, libc too; "lacking" what this machine lacks.
unpack_debian() {
  local how=$1 dest=$2 suites=$3 mirror work suite deb
  shift 3
  mirror=$(debian_mirror) || return 1
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
  for suite in $suites; do
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg arch=%s] %s %s main\n' \
      "$(dpkg --print-architecture)" "$mirror" "$suite"
  done >"$work/sources.list"
  local apt=(apt-get -qq
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache"
    -o Debug::NoLocking=true -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success= -o DPkg::Post-Invoke=)
  if [ "$how" = whole ]; then
    : >"$work/status"
    apt+=(-o Dir::State="$work" -o Dir::State::status="$work/status")
  fi
  if ! {
    "${apt[@]}" update &&
      "${apt[@]}" -t "$suite" -y --no-install-recommends --download-only install "$@" >/dev/null
  }; then
    rm -rf "$work"
    return 1
  fi
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$work/root" || { rm -rf "$work"; return 1; }
  done
  rm -rf "$dest"
  mkdir -p "$dest/bin"
  mv "$work/root" "$dest/root"
  rm -rf "$work"
}
