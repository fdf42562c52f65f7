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
