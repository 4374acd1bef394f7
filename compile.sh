#!/bin/sh
# Builds the executable dist/tarn for this platform. Needs node and npm; all else comes from package-lock.json.
#
#   ./compile.sh                          dist/tarn
#   ./compile.sh --target linux-arm64     dist/tarn-linux-arm64; may be given several times. Names: linux-x64,
#                                         linux-arm64, linux-x64-musl, linux-arm64-musl, darwin-x64, darwin-arm64,
#                                         windows-x64, windows-arm64
set -eu
cd "$(dirname "$0")"
. scripts/install.sh
exec "$BUN" scripts/build.ts "$@"
