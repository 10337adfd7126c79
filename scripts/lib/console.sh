# The console in the browser, built from apps/web. Sourced after setup.sh. Reads: root, node.

# Builds it if its sources are newer than what was built, which takes a few seconds. Without it everything else works.
build_console() {
  local web="$root/apps/web" log
  if [ -f "$web/dist/index.html" ] &&
    [ -z "$(find "$web/src" "$web/index.html" "$web/vite.config.ts" "$web/package.json" "$root/packages/sdk/src" \
      "$root/pnpm-lock.yaml" -newer "$web/dist/index.html" -print -quit)" ]; then
    return
  fi
  say "Building the console …"
  log="$(mktemp)"
  if ! (cd "$web" && "$node" node_modules/vite/bin/vite.js build) >"$log" 2>&1; then
    cat "$log" >&2
    say "Building the console failed (see above). Everything but its pages works."
  fi
  rm -f "$log"
}
