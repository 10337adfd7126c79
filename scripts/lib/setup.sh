# What every script needs first: a Node.js of the right age, the workspace's dependencies, and where things are.
# Sourced, not run. Reads: needs. Sets: root, node.

root="$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export TURBO_TELEMETRY_DISABLED=1
# Compiled modules are kept between starts: a start takes a third of the time.
export NODE_COMPILE_CACHE="$root/.cache/node"

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

pnpm() {
  local version
  version="$(sed -n 's/.*"packageManager": "\(pnpm@[^"]*\)".*/\1/p' "$root/package.json")"
  (cd "$root" && npx -y "$version" "$@")
}

# Installs once per lock file: the stamp says for which one. A script that only runs the product sets needs=running: then what
# tests and developers need is left out, half of all, unless it is there already. What runs a local embedding model is as large
# as the rest, and is installed only where one is set; where that fails the product runs without.
install_dependencies() {
  command -v node >/dev/null && command -v npm >/dev/null ||
    die "Slowwave needs Node.js 20 or newer with npm to set itself up, and found none. Install it from https://nodejs.org and run this again."
  [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] ||
    die "Slowwave needs Node.js 20 or newer to set itself up, and found $(node --version). Update it and run this again."
  local stamp="$root/node_modules/.installed-for" all wanted installed only=""
  all="$(cksum <"$root/pnpm-lock.yaml")"
  installed="$(cat "$stamp" 2>/dev/null)" || true
  [ "$installed" = "$all" ] && return
  wanted="$all"
  case "${needs:-all} $installed" in "running " | "running "*" running" | "running "*" running local")
    wanted="$all running"
    only="--prod --filter-prod slowwave --filter-prod @slowwave/standalone... --filter-prod @slowwave/cli... --filter-prod @slowwave/router... --filter-prod @slowwave/web..."
    case "$installed" in *" local") wanted="$wanted local" ;; *) runs_local_embedder "$@" && wanted="$wanted local" ;; esac
    [ "$installed" = "$wanted" ] && return
    ;;
  esac
  case "$wanted" in *" local")
    say "Setting up (once): installing dependencies, with those that run a local embedding model …"
    pnpm_install $only --filter-prod @slowwave/local-embedder... && printf '%s' "$wanted" >"$stamp" && return
    say "Installing what runs a local embedding model failed (see above). Slowwave starts without it; run this again to retry."
    wanted="$all running"
    ;;
  esac
  say "Setting up (once): installing dependencies …"
  pnpm_install $only ||
    die "Installing the dependencies failed (see above). A network that reaches the npm registry is needed the first time."
  printf '%s' "$wanted" >"$stamp"
}

# Says what went wrong, and only then.
pnpm_install() {
  local log status=0
  log="$(mktemp)"
  pnpm install --frozen-lockfile --config.confirmModulesPurge=false "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# Whether a local embedding model is set: by an option of the script, in the environment, or in .env.
runs_local_embedder() {
  case " $* " in *" --embedding-model local"* | *" --embedding-model=local"*) return 0 ;; esac
  case "${SLOWWAVE_EMBEDDING_MODEL:-}" in local*) return 0 ;; esac
  grep -qsE "^(export )?SLOWWAVE_EMBEDDING_MODEL=[\"']?local" "$root/.env"
}

# The workspace brings its own Node.js on Linux; elsewhere the installed one has to be new enough.
find_node() {
  node="$root/node_modules/.bin/node"
  if [ ! -x "$node" ]; then
    node="$(command -v node)"
    [ "$("$node" -p 'process.versions.node.split(".")[0]')" -ge 24 ] ||
      die "Slowwave runs on Node.js 24 or newer, and found $("$node" --version). Update it and run this again."
  fi
}

install_dependencies "$@"
find_node
