# Installs what a checkout needs to run and to be tested; sourced by `weir` and by `scripts/test.sh`.
# When all is installed, it costs two file tests and one comparison.

# install_packages ROOT: runs `npm ci` if node_modules is missing or older than the lock file.
install_packages() {
  stamp=$1/node_modules/.installed-lock
  if [ -x "$1/node_modules/.bin/node" ]; then
    # Without a stamp the packages were installed by hand; they are left as they are.
    if [ ! -f "$stamp" ] || cmp -s "$1/package-lock.json" "$stamp"; then return 0; fi
    echo "weir: package-lock.json has changed; installing packages again (about 15 s)" >&2
  else
    echo "weir: first use: installing packages into node_modules (about 15 s)" >&2
  fi
  if ! command -v npm >/dev/null 2>&1; then
    echo "weir: npm is missing. Install Node 20 or later with npm, then try again." >&2
    return 1
  fi
  (cd "$1" && npm ci --loglevel=error --no-update-notifier >&2) || {
    echo "weir: npm ci failed; the reason is above. Check the network, then try again." >&2
    return 1
  }
  cp "$1/package-lock.json" "$stamp"
}

# find_nats_server ROOT and find_browser: print the program's path, or nothing.
find_nats_server() {
  for place in "$(command -v nats-server || true)" /usr/sbin/nats-server \
    "$1/node_modules/.cache/nats-server/usr/sbin/nats-server"; do
    if [ -x "$place" ]; then echo "$place"; return 0; fi
  done
}

find_browser() {
  for place in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    if [ -x "$place" ]; then echo "$place"; return 0; fi
  done
}

# fetch_nats_server ROOT: unpacks Debian's nats-server into node_modules/.cache. No root is needed and
# no service starts.
fetch_nats_server() {
  if [ -n "$(find_nats_server "$1")" ]; then return 0; fi
  if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg >/dev/null 2>&1; then return 0; fi
  folder=$1/node_modules/.cache/nats-server
  mkdir -p "$folder"
  if [ "$(id -u)" = 0 ] && ! apt-cache show nats-server >/dev/null 2>&1; then
    timeout 120 apt-get update >/dev/null 2>&1 || true
  fi
  (cd "$folder" && timeout 60 apt-get download nats-server && dpkg -x nats-server_*.deb .) \
    >/dev/null 2>&1 || true
  rm -f "$folder"/nats-server_*.deb
}

# install_browser: installs Debian's chromium; needs root and apt-get.
install_browser() {
  if [ -n "$(find_browser)" ]; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 0; fi
  echo "weir: installing chromium for the dashboard tests (about 60 s)" >&2
  { timeout 60 apt-get update -q && timeout 300 apt-get install -qy --no-install-recommends chromium; } \
    >/dev/null 2>&1 || true
}

# report_setup ROOT: one line on which optional programs the tests will use.
report_setup() {
  browser=$(find_browser)
  nats=$(find_nats_server "$1")
  missing="missing, its tests are skipped"
  echo "weir: packages installed; chromium: ${browser:-$missing}; nats-server: ${nats:-$missing}" >&2
}
