#!/bin/sh
# What `npm test` runs. It must work on a fresh clone with an old Node, so it is a shell script
# that installs first and then hands over to scripts/test.ts.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root"
. "$root/scripts/setup.sh"
install_packages "$root"
case " $* " in
  *" --checks-only "*) ;;
  *) install_browser ;;
esac
case " $* " in
  *" --checks-only "*) ;;
  *) fetch_nats_server "$root" ;;
esac
exec "$root/node_modules/.bin/node" "$root/scripts/test.ts" "$@"
