# The tests run against a real PostgreSQL of their own. Sourced after setup.sh.

# Debian keeps the server's programs off the PATH.
has_postgres() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
    { command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ]; }
}

require_postgres() {
  has_postgres && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    say "Installing postgresql for the tests …"
    "${as_root[@]}" apt-get update -qq >/dev/null 2>&1
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends postgresql >/dev/null 2>&1
    # The package starts a server of its own; the tests start theirs.
  fi
  has_postgres ||
    die "The integration tests need a PostgreSQL server and could not install it. Install it (Debian: apt-get install postgresql; macOS: brew install postgresql) and run this again."
}
