# Sourced by .ci/run: installs what the slower tests need and tells them where it
# is. Everything is reused when it is there already.
tools=${AGENT_LSP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-lsp-tools}
mkdir -p "$tools"

apt_install() {
  if [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  else
    sudo apt-get update -qq && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  fi
}

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
  again apt_install postgresql
fi
command -v gcc >/dev/null || again apt_install gcc libc6-dev # the race detector
command -v cargo >/dev/null || again apt_install cargo
command -v npm >/dev/null || again apt_install nodejs npm

scripts/install-check-tools.sh "$tools/check"
export AGENT_LSP_TEST_TOOLS=$tools/check
