# The Python client as it is installed: its types, and its tests against a real server. Sourced, not run. Reads: root.

# Whether there is a Python that can do that. Where not, nothing is tested, and the reason is said.
has_python() {
  local problem=""
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    problem="needs python3, 3.11 or newer"
  elif ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    problem="needs the modules venv and ensurepip of Python (Debian: python3-venv)"
  elif ! provide_python >/dev/null 2>&1; then
    problem="could not install its tools from PyPI"
  fi
  [ -z "$problem" ] && return
  say "── python: SKIPPED, $problem"
  return 1
}

# An environment with what the tests need, kept as long as that stays the same.
provide_python() {
  local of="$root/clients/python" key
  key="$(cat "$of/tests/requirements.txt" "$of/pyproject.toml" | cksum | cut -d ' ' -f 1)"
  python_env="$root/.cache/python/$key"
  [ -e "$python_env/ready" ] && return
  rm -rf "$root/.cache/python"
  python3 -m venv "$python_env" && quiet_pip install --no-compile -r "$of/tests/requirements.txt" && touch "$python_env/ready"
}

quiet_pip() {
  local command="$1"
  shift
  "$python_env/bin/python" -m pip --disable-pip-version-check "$command" --quiet "$@"
}

# From the wheel, as users get it; the sources are not on the path.
python_client() {
  local of="$root/clients/python"
  PYTHON="$python_env/bin/python" "$root/scripts/python-wheel" &&
    quiet_pip install --no-compile --force-reinstall --no-deps "$of"/dist/*.whl &&
    quiet_pip check &&
    (cd "$of/tests" && "$python_env/bin/mypy" --strict --cache-dir "$root/.cache/mypy" ../src/slowwave . ../example &&
      "$python_env/bin/python" -B -m pytest --rootdir "$of")
}
