#!/bin/sh
# Measures the server beside its goals: ./bench/run.sh --only serve, with the same options.
set -eu
exec "$(dirname "$0")/run.sh" --only serve "$@"
