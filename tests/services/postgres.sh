#!/usr/bin/env bash
# Runs PostgreSQL on a free port, with its data in a folder of its own, for as long as standard input stays open. Prints the
# port when it answers. The superuser is "postgres", the password "testing". Started by root it runs as the user "postgres".
#
#   postgres.sh [DATA_FOLDER PORT]     with a folder that it has run in before: the same data again
set -euo pipefail
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres)") || { echo "PostgreSQL is not installed" >&2; exit 3; }
folder=${1:-} port=${2:-}
mine=
if [ -z "$folder" ]; then
  folder=$(mktemp -d /tmp/tarn-postgres-XXXXXX)
  mine=$folder
fi
as=()
if [ "$(id -u)" = 0 ]; then
  as=(setpriv --reuid postgres --regid postgres --init-groups --)
  chown postgres "$folder"
fi
pid=
finish() {
  if [ -n "$pid" ]; then
    kill -INT "$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
  fi
  [ -z "$mine" ] || rm -rf "$mine"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
cd "$folder"
if [ ! -s "$folder/cluster/PG_VERSION" ]; then
  (umask 077; echo testing >"$folder/password")
  [ ${#as[@]} = 0 ] || chown postgres "$folder/password"
  "${as[@]}" "$bin/initdb" -D "$folder/cluster" -U postgres -A scram-sha-256 --pwfile "$folder/password" -E UTF8 --locale=C \
    --no-sync >"$folder/initdb.log" 2>&1 || { tail -5 "$folder/initdb.log" >&2; exit 1; }
fi
for _ in 1 2 3 4 5; do
  try=${port:-$((20000 + RANDOM % 20000))}
  "${as[@]}" "$bin/postgres" -D "$folder/cluster" -p "$try" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c max_connections=60 -c shared_buffers=32MB >"$folder/postgres.log" 2>&1 </dev/null &
  pid=$!
  until "$bin/pg_isready" -q -h 127.0.0.1 -p "$try"; do
    kill -0 "$pid" 2>/dev/null || { pid=; break; }
    sleep 0.1
  done
  [ -z "$pid" ] || break
done
[ -n "$pid" ] || { tail -5 "$folder/postgres.log" >&2; exit 1; }
echo "$try"
# Whoever started it has ended, or closed the pipe.
cat >/dev/null
