#!/bin/sh
# Measures tarn beside its peers and prints a table; docs/performance.md says what. Builds dist/tarn if it is missing.
#
#   ./bench/run.sh [--files 100000] [--entries 1000000] [--records 1000000] [--rounds 3] [--only NAME]… [--folder DIR]
#
# NAME is tables, commands, folders, engine, serve, or scale (ten times the entries; takes minutes and 4 GB, only on demand).
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh
[ -x dist/tarn ] || ./compile.sh
exec "$BUN" bench/run.ts "$@"
