#!/usr/bin/env bash
# Builds an older revision beside the tree as it is and prints what they cost, side by
# side: size, packages, memory at rest, README's first command on empty caches, and a
# whole scripted task. It is for people; nothing depends on its figures, which hold for
# one machine and one moment. Compare the ratios.
#
# usage: compare.sh [-q] [REVISION]    default 0990ad1; it must be in the history
#
# -q leaves README's first command out: it downloads all modules again and compiles the
# standard library, once for each of the two.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
quick=
if [ "${1:-}" = -q ]; then quick=1 && shift; fi
revision=${1:-0990ad1}
runs=7
git cat-file -e "$revision^{commit}" 2>/dev/null ||
  { echo "$revision is not in the history here; after a shallow clone: git fetch --unshallow" >&2; exit 1; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/base"
git archive "$revision" | tar -x -C "$work/base"

export GOFLAGS="${GOFLAGS:-} -buildvcs=false" TIMEFORMAT='%R %U %S'
tree() { if [ "$1" = base ]; then echo "$work/base"; else echo "$here"; fi; }
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
# row NAME UNIT BASE NOW: a line of the table
row() { awk -v n="$1" -v u="$2" -v b="$3" -v c="$4" 'BEGIN {printf "%-44s %10.4g %10.4g %-5s %6.2f\n", n, b, c, u, (b > 0 ? c / b : 0)}'; }

# session COMMAND…: an editor that initializes a server and then rests, without a
# document, for three seconds; prints the server's resident memory in KiB.
session() {
  local in out length line
  coproc SERVER { exec "$@" 2>/dev/null; }
  local server=$SERVER_PID
  exec {in}<&"${SERVER[0]}" {out}>&"${SERVER[1]}"
  send() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1" >&"$out"; }
  send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{},"rootUri":"file://'"$work/empty"'"}}'
  while read -r -u "$in" line && [ "$line" != $'\r' ]; do
    case $line in Content-Length:*) length=${line//[^0-9]/} ;; esac
  done
  head -c "$length" <&"$in" >/dev/null
  send '{"jsonrpc":"2.0","method":"initialized","params":{}}'
  sleep 3
  ps -o rss= -p "$server"
  send '{"jsonrpc":"2.0","id":2,"method":"shutdown"}'
  send '{"jsonrpc":"2.0","method":"exit"}'
  exec {out}>&-
  cat <&"$in" >/dev/null
  exec {in}<&-
  wait "$server" || true
}

# task: README's first command with the binary that was built, in seconds from the
# start of the process to its end.
task() {
  local t
  { time "$work/$1.bin" run --copy -C "$here/testdata/demo/project" --script "$here/testdata/demo/fix.yaml" --yes "fix the build" >/dev/null 2>&1; } 2>"$work/time"
  read -r t _ <"$work/time"
  echo "$t"
}

# first: the same from source, on empty caches; wall and processor seconds.
first() {
  local wall user system cold=$work/cold-$1
  mkdir "$cold"
  (
    cd "$(tree "$1")"
    export GOMODCACHE=$cold/mod GOCACHE=$cold/build XDG_CACHE_HOME=$cold/cache
    time go run ./cmd/agent-lsp run --copy -C testdata/demo/project --script testdata/demo/fix.yaml --yes "fix the build" >/dev/null 2>"$work/first.err"
  ) 2>"$work/time" || { cat "$work/first.err" >&2; exit 1; }
  chmod -R u+w "$cold" && rm -rf "$cold"
  read -r wall user system <"$work/time"
  echo "$wall $(awk "BEGIN {print $user + $system}")"
}

mkdir "$work/empty" "$work/home"
declare -A size packages rss took wall cpu
for which in base now; do
  cd "$(tree $which)"
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/$which.bin" ./cmd/agent-lsp
  size[$which]=$(wc -c <"$work/$which.bin")
  packages[$which]=$(go list -deps ./cmd/agent-lsp | wc -l)
done
cd "$here"
if [ -z "$quick" ]; then
  for which in base now; do
    read -r wall[$which] cpu[$which] <<<"$(first $which)"
  done
fi
# The first run of each fills the caches; the others alternate.
export XDG_STATE_HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_CACHE_HOME=$work/home
for ((i = 0; i <= runs; i++)); do
  for which in base now; do
    session "$work/$which.bin" serve >"$work/rss"
    if [ "$i" -gt 0 ]; then cat "$work/rss" >>"$work/$which.rss"; fi
    task $which >"$work/took"
    if [ "$i" -gt 0 ]; then cat "$work/took" >>"$work/$which.took"; fi
  done
done
for which in base now; do
  rss[$which]=$(median <"$work/$which.rss")
  took[$which]=$(median <"$work/$which.took")
done

printf '%-44s %10s %10s %-5s %6s\n' "" "$revision" now "" ratio
row "binary, stripped" MB "$(awk "BEGIN {print ${size[base]} / 1e6}")" "$(awk "BEGIN {print ${size[now]} / 1e6}")"
row "packages compiled into it" "" "${packages[base]}" "${packages[now]}"
row "resident memory at rest, median of $runs" MiB "$(awk "BEGIN {print ${rss[base]} / 1024}")" "$(awk "BEGIN {print ${rss[now]} / 1024}")"
if [ -z "$quick" ]; then
  row "README's first command, empty caches" s "${wall[base]}" "${wall[now]}"
  row "  of it processor time" s "${cpu[base]}" "${cpu[now]}"
fi
row "a scripted task, median of $runs" s "${took[base]}" "${took[now]}"
