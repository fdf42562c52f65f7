# Brings a checkout to where its programs can run; sourced by `weir` and by `scripts/test.sh`.
# Costs nothing when it is there already: two file tests and one comparison.

# install_packages ROOT: installs when there is nothing yet, or when the lock file has changed since.
install_packages() {
  stamp=$1/node_modules/.installed-lock
  if [ -x "$1/node_modules/.bin/node" ]; then
    # Without a stamp somebody installed by hand, and knows what is there.
    if [ ! -f "$stamp" ] || cmp -s "$1/package-lock.json" "$stamp"; then return 0; fi
    echo "weir: the packages have changed; installing them again (about 15 s)" >&2
  else
    echo "weir: first use: installing packages into node_modules (about 15 s)" >&2
  fi
  if ! command -v npm >/dev/null 2>&1; then
    echo "weir: npm is missing. Install Node 20 or later with npm, then try again." >&2
    return 1
  fi
  (cd "$1" && npm ci --loglevel=error >&2) || {
    echo "weir: npm ci failed; the reason is above. Check the network, then try again." >&2
    return 1
  }
  cp "$1/package-lock.json" "$stamp"
}

# fetch_nats_server ROOT: brings Debian's nats-server beside the packages, for the tests that need one.
# It is unpacked and not installed, so no service starts and no root is needed. Where it cannot be had
# those tests are skipped, each by its name.
fetch_nats_server() {
  folder=$1/node_modules/.cache/nats-server
  if command -v nats-server >/dev/null 2>&1 || [ -x /usr/sbin/nats-server ]; then return 0; fi
  if [ -x "$folder/usr/sbin/nats-server" ]; then return 0; fi
  if command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1; then
    echo "weir: fetching nats-server for the tests (about 5 s)" >&2
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ] && ! apt-cache show nats-server >/dev/null 2>&1; then
      timeout 120 apt-get update >/dev/null 2>&1 || true
    fi
    (cd "$folder" && timeout 60 apt-get download nats-server && dpkg -x nats-server_*.deb .) \
      >/dev/null 2>&1 || true
    rm -f "$folder"/nats-server_*.deb
    if [ -x "$folder/usr/sbin/nats-server" ]; then return 0; fi
  fi
  echo "weir: no nats-server here, so the tests over NATS are skipped; install it to run them." >&2
}

# install_browser: Debian's chromium, for the tests of the dashboard, where it can be had: as root and with
# apt. Where it cannot, these tests are left out by name.
install_browser() {
  if [ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 0; fi
  echo "weir: installing chromium for the tests of the dashboard (about a minute)" >&2
  if ! { timeout 60 apt-get update -q && timeout 300 apt-get install -qy --no-install-recommends chromium; } >/dev/null 2>&1; then
    echo "weir: chromium cannot be had here; the tests of the page are left out" >&2
  fi
}
