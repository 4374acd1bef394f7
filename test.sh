#!/bin/sh
# Runs everything that is tested: format, lint, types, the build, and all tests. Needs node and npm; what else is missing
# is listed with the tests that were skipped for it. With CI=true nothing that is required may be skipped.
# The last line is "N passed, N failed".
#
#   ./test.sh                 everything
#   ./test.sh kv/ merge       only the test files whose path contains one of these, and no gate
set -eu
cd "$(dirname "$0")"
. scripts/install.sh
exec "$BUN" tests/run.ts "$@"
