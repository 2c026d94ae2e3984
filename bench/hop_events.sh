#!/bin/bash
# Events per second and peak memory, as a table: hop_events.sh NUNASIM
set -euo pipefail
export LC_ALL=C
nunasim=$1
root=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# column FILE NAME: that field of a table of one row.
column() {
  awk -f "$root/tools/csv.awk" -v mode=pick -v names="$2" "$1"
}

# measure TITLE GPUS SIZE THREADS
measure() {
  local out=$tmp/out file=$tmp/out/summary.csv
  "$nunasim" --plan builtin:allgather --gpus "$2" --size "$3" --policy UA --threads "$4" \
    --out "$out" --quiet
  printf '%-44s %14s %10s %15s %10s\n' "$1" "$(column "$file" events)" \
    "$(column "$file" wall_s | awk '{printf "%.2f", $1}')" \
    "$(column "$file" events_per_s | awk '{printf "%.1f M", $1 / 1e6}')" \
    "$(column "$file" peak_rss_bytes | awk '{printf "%.1f MiB", $1 / 1048576}')"
}

printf '%-44s %14s %10s %15s %10s\n' workload events seconds events/s 'peak memory'
measure '64 GPUs, 10 MB all-gather, UA, 1 thread' 64 10MB 1
measure '64 GPUs, 10 MB all-gather, UA, 2 threads' 64 10MB 2
measure '8 GPUs, 10 MB all-gather, UA, 1 thread' 8 10MB 1
measure '8 GPUs, 1 GB all-gather, UA, 1 thread' 8 1GB 1
