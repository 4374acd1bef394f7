# Sourced by compile.sh and test.sh, from the project's folder: installs what package-lock.json names, unless that is
# already done, and sets BUN to a Bun that runs here. Needs node and npm. No install script of any package is run.

fail() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}

install_packages() {
  # What was installed is told by the lock file's checksum, and by the platform: folders are shared between machines.
  wanted="$(cksum <package-lock.json) $(uname -sm)"
  stamp=node_modules/.tarn-installed
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
  command -v node >/dev/null 2>&1 || fail "node is not installed; it is needed, with npm, to fetch what tarn is built from"
  command -v npm >/dev/null 2>&1 || fail "npm is not installed; it is needed to fetch what tarn is built from"
  echo "installing packages" >&2
  npm ci --ignore-scripts --include=optional --include=dev --no-audit --no-fund --no-update-notifier --loglevel=error >&2 ||
    fail "npm ci failed"
  echo "$wanted" >"$stamp"
}

# Packages for several C libraries may be installed side by side; the one that runs is the right one.
find_bun() {
  for BUN in node_modules/@oven/bun-*/bin/bun node_modules/@oven/bun-*/bin/bun.exe; do
    if [ -f "$BUN" ] && "$BUN" --version >/dev/null 2>&1; then return; fi
  done
  fail "no Bun that was installed runs on this platform ($(uname -sm))"
}

install_packages
find_bun
