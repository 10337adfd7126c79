# The tests run against a real Redis of their own. Sourced after setup.sh.

require_redis() {
  command -v redis-server >/dev/null && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    say "Installing redis-server for the tests …"
    "${as_root[@]}" apt-get update -qq >/dev/null 2>&1
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends redis-server >/dev/null 2>&1
    # The package starts a server of its own; the tests start theirs.
  fi
  command -v redis-server >/dev/null ||
    die "The integration tests need redis-server and could not install it. Install it (Debian: apt-get install redis-server; macOS: brew install redis) and run this again."
}
