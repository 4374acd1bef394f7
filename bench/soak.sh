#!/bin/sh
# Lets processes of dist/tarn work on one home, kills them at random moments, and verifies again and again that nothing is lost
# that was acknowledged. Prints what it counted; with exit code 1 also what is lost, and the seed. When a kill hits is the machine's
# affair, so a seed draws the same operations, and does not replay a run.
#
#   ./bench/soak.sh [--kills 1000] [--processes 4] [--victims N] [--seed N] [--seconds N] [--each 200] [--folder DIR] [--tarn FILE]
#   ./bench/soak.sh --postgres --processes 3 --victims 1     three homes on one PostgreSQL, which it starts; one process is killed
#   ./bench/soak.sh --kv URL                                 on a store that is there (TARN_KV), and is used up by this
#   ./bench/soak.sh --short 100 [--seconds N]                20 short commands at once on each of 100 fresh homes
#   ./bench/soak.sh --staging 10000 [--processes 8]          processes that stage so many objects each while others commit
#   ./bench/soak.sh --serve [--clients 24] [--repositories 3] [--minutes 10] [--durability strict] [--kill [--kill-every 5]]
#                                                            clients of one server, which compare every answer; prints the server's
#                                                            memory; with --kill it is killed every 5 seconds or so
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh
[ -x dist/tarn ] || ./compile.sh
exec "$BUN" bench/soak.ts "$@"
