#!/usr/bin/env bash
# Makes a store of sessions with the server of an older revision, and the project that
# they are about as they left it: what cmd/agent-lsp/testdata/old tests the current
# program with. Ids and times differ each time; nothing else does.
#
# usage: make-old-store.sh [REVISION]    default 0990ad1
#
# It needs sqlite3, the command, and writes cmd/agent-lsp/testdata/old/store-REVISION,
# whose make.txtar says what the sessions do.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
revision=${1:-0990ad1}
out=$root/cmd/agent-lsp/testdata/old/store-$revision
work=$(mktemp -d)
# The sessions record where their project is: a place that no machine gives away.
export PLACE=/tmp/agent-lsp-fixture
export SERVER=$work/agent-lsp
[ -f "$out/make.txtar" ] || { echo "$out/make.txtar is missing: it says what to make" >&2; exit 1; }
mkdir "$PLACE" # fails where another run uses it
trap 'rm -rf "$work" "$PLACE"' EXIT

mkdir "$work/source"
git archive "$revision" | tar -x -C "$work/source"
cd "$work/source"
CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$SERVER" ./cmd/agent-lsp
sed -e "s#\$PLACE#$PLACE#g" -e "s#\$SERVER#$SERVER#g" "$out/make.txtar" >cmd/agent-lsp/testdata/script/make_old_store.txtar
go test ./cmd/agent-lsp -count=1 -run 'TestScripts/make_old_store'

# The lease of the killed server names the machine. The rest is as it was left.
sqlite3 "$PLACE/sessions.db" "UPDATE leases SET owner = 'process 1 on fixture'; PRAGMA journal_mode = DELETE; VACUUM;"
if sqlite3 "$PLACE/sessions.db" .dump | grep -iE "$(hostname)|$root|$HOME/"; then
  echo "the store names this machine, as above" >&2
  exit 1
fi
rm -rf "$out/sessions.db" "$out/project"
cp "$PLACE/sessions.db" "$out/sessions.db"
cp -r "$PLACE/project" "$out/project"
