#!/bin/bash
# A signal in the middle of a long run: exit code 3, a message, a whole partial result, nothing
# left over.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

# catches PID SIGNAL_NUMBER: has the process installed its handler?
catches() {
  local mask
  mask=$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$1/status" 2>/dev/null) || return 1
  [ -n "$mask" ] && [ $((16#${mask: -8} >> ($2 - 1) & 1)) = 1 ]
}

# A table with its head and one whole row; the run did part of its work.
partial() {
  local status requested delivered
  [ "$(wc -l <"$1/summary.csv")" = 2 ] && csv_regular "$1/summary.csv" || return 1
  read -r status requested delivered < <(csv "$1/summary.csv" status bytes_requested bytes_delivered)
  [ "$status" = incomplete ] && [ "$delivered" -gt 0 ] && [ "$delivered" -lt "$requested" ]
}

# stopped NAME NUMBER SECONDS ARGS...: one run, stopped that long after its handler is there.
stopped() {
  local pid name=$1 number=$2 seconds=$3
  shift 3
  rm -rf "$out"
  code=0
  "$nunasim" "$@" --out "$out" >"$tmp/stdout" 2>"$tmp/stderr" &
  pid=$!
  until catches "$pid" "$number" || ! kill -0 "$pid" 2>/dev/null; do
    sleep 0.05
  done
  sleep "$seconds"
  kill "-$name" "$pid"
  wait "$pid" || code=$?
}

# stop NAME NUMBER THREADS SECONDS: a collective.
stop() {
  stopped "$1" "$2" "$4" --plan builtin:allgather --gpus 8 --size 1TB --threads "$3" --set hbm.stack_capacity=1TB
}

# interrupt NAME NUMBER THREADS
interrupt() {
  local out=$tmp/out-$1-$3 code seconds
  for seconds in 0.3 3 30; do # longer on a machine that is too busy to begin or to deliver anything
    stop "$1" "$2" "$3" "$seconds"
    if [ -f "$out/summary.csv" ] && [ "$(csv "$out/summary.csv" bytes_delivered)" != 0 ]; then
      break
    fi
  done
  check "$1, $3 threads: exit code $code, expected 3" same "$code" 3
  check "$1, $3 threads: message: $(cat "$tmp/stderr")" same "$(cat "$tmp/stderr")" \
    "nunasim: error: interrupted; $out/summary.csv holds what ran, with status=incomplete"
  check "$1, $3 threads: partial result" partial "$out"
  check "$1, $3 threads: files left: $(ls "$out")" same "$(ls "$out")" \
    $'config.yaml\nlinks.csv\nplacement.csv\nstore_latency.csv\nsummary.csv'
  check "$1, $3 threads: report" grep -q '^incomplete after' "$tmp/stdout"
}

interrupt INT 2 1
interrupt TERM 15 1
interrupt INT 2 2

# Host transfers: what has moved; of a sweep, the sizes that are done and the one that is not.
out=$tmp/host
for args in '' '--sweep-size 1kB:16TiB'; do
  for seconds in 0.5 5 30; do
    # shellcheck disable=SC2086 # words
    stopped INT 2 "$seconds" host --config "$root/configs/h20-server.yaml" --transfer h2d:16TiB:gpu0 $args
    if [ "$(csv "$out/summary.csv" status bytes 2>/dev/null | head -n 1)" != 'incomplete 0' ]; then
      break
    fi
  done
  check "host $args: exit code $code, expected 3" same "$code" 3
  check "host $args: message: $(cat "$tmp/stderr")" same "$(cat "$tmp/stderr")" \
    'nunasim: error: interrupted; summary.csv holds what ran, with status=incomplete'
  check "host $args: rows" csv_regular "$out/summary.csv"
  check "host $args: last row" same "$(csv "$out/summary.csv" status | tail -n 1)" incomplete
  check "host $args: no half-written files" test -z "$(find "$out" -name '*.tmp')"
  check "host $args: configuration" test -s "$out/config.yaml"
done
check 'host: finished sizes are kept' same "$(csv "$out/summary.csv" status bytes | head -n 1)" 'ok 1000'

sed -i 's/,incomplete,/,ok,/' "$tmp/out-INT-1/summary.csv"
must_fail 'a complete result passes as partial' partial "$tmp/out-INT-1"

finish
