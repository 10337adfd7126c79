# The tests run against real servers of their own: here their programs are looked for, and installed where that is
# allowed. Sourced after setup.sh.

require_redis() {
  require_server redis-server has_redis "macOS: brew install redis"
}

require_postgres() {
  require_server postgresql has_postgres "macOS: brew install postgresql"
}

# A browser, for the pages that people look at. The one that has no window at all takes half of the processor time.
require_chromium() {
  command -v chromium-headless-shell >/dev/null || ! has_package chromium-headless-shell || install_package chromium-headless-shell
  require_server chromium has_chromium "macOS: brew install chromium"
}

has_chromium() {
  command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null

has_package() { command -v apt-cache && apt-cache show "$1"; } >/dev/null 2>&1

has_redis() { command -v redis-server >/dev/null; }

# Debian keeps the server's programs off the PATH.
has_postgres() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
    { command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ]; }
}

# Debian package, how to see that it is there, how to get it elsewhere.
require_server() {
  local package="$1" is_there="$2" elsewhere="$3"
  "$is_there" && return
  install_package "$package"
  "$is_there" ||
    die "The integration tests need $package and could not install it. Install it (Debian: apt-get install $package; $elsewhere) and run this again."
}

# Only as root, or where sudo asks for no password. A server that the package starts is left alone: the tests start theirs.
install_package() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 0
    as_root=(sudo -n)
  fi
  command -v apt-get >/dev/null || return 0
  say "Installing $1 for the tests …"
  "${as_root[@]}" apt-get update -qq >/dev/null 2>&1
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}
