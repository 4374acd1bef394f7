#!/usr/bin/env bash
# Runs etcd on a free port, with its data in a folder of its own, for as long as standard input stays open. Prints the port
# when it answers.
#
#   etcd.sh [CERTIFICATES]     with a folder: over TLS, for clients that show a certificate; it is filled with ca.pem and the
#                              .pem and .key of server, client and stranger, whom no CA knows
set -euo pipefail
command -v etcd >/dev/null || { echo "etcd is not installed" >&2; exit 3; }
certificates=${1:-}
folder=$(mktemp -d /tmp/tarn-etcd-XXXXXX)
pid=
finish() {
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# The gateway is a client of its own server, so its certificate is good for both.
certify() { # NAME
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1"
  printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n' >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.pem"
}
scheme=http tls=() probe=()
if [ -n "$certificates" ]; then
  (
    cd "$certificates"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca
    certify server
    certify client
    openssl req -x509 -newkey rsa:2048 -nodes -keyout stranger.key -out stranger.pem -days 2 -subj /CN=stranger
  ) >"$folder/openssl.log" 2>&1 || { tail -5 "$folder/openssl.log" >&2; exit 1; }
  scheme=https
  tls=(--cert-file "$certificates/server.pem" --key-file "$certificates/server.key" --client-cert-auth
    --trusted-ca-file "$certificates/ca.pem")
  probe=(--cacert "$certificates/ca.pem" --cert "$certificates/client.pem" --key "$certificates/client.key")
fi
unset "${!ETCD_@}" 2>/dev/null || true
for _ in 1 2 3 4 5; do
  port=$((20000 + RANDOM % 20000))
  url=$scheme://127.0.0.1:$port peer=http://127.0.0.1:$((port + 1))
  etcd --name default --data-dir "$folder/data" --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
    --unsafe-no-fsync --logger zap --log-outputs stderr "${tls[@]}" >"$folder/etcd.log" 2>&1 </dev/null &
  pid=$!
  until curl -s -o /dev/null -m 2 --noproxy '*' "${probe[@]}" "$url/health"; do
    kill -0 "$pid" 2>/dev/null || { pid=; break; }
    sleep 0.1
  done
  [ -z "$pid" ] || break
done
[ -n "$pid" ] || { tail -5 "$folder/etcd.log" >&2; exit 1; }
echo "$port"
# Whoever started it has ended, or closed the pipe.
cat >/dev/null
