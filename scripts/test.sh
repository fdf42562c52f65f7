#!/bin/sh
# Runs the checks and the tests. It must work on a fresh clone with an old Node, so it is a shell
# script that installs first and then hands over to scripts/test.ts.
#
#   test.sh                 all checks and all tests; installs what the tests use
#   test.sh PART…           only test files whose path contains a PART; installs npm packages only
#   test.sh --checks-only   only the checks
#   test.sh --setup-only    only the installation
#   test.sh --watch PART…   the test files again after each change
#   test.sh --coverage      the tests, then covered lines per folder
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root"
. "$root/scripts/setup.sh"
install_packages "$root"
case " $* " in
  "  " | " --setup-only ")
    install_browser
    fetch_nats_server "$root"
    report_setup "$root"
    ;;
esac
if [ "${1:-}" = --setup-only ]; then exit 0; fi
exec "$root/node_modules/.bin/node" "$root/scripts/test.ts" "$@"
