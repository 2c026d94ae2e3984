#!/bin/bash
# Events per second, simulated bytes per second, peak memory and the ratio to a naive kernel, as a table:
# hop_events.sh NUNASIM NAIVE_KERNEL. REPEAT (default 3) runs each, of which the median counts; LONG=1 adds 1 GB.
set -euo pipefail
export LC_ALL=C
nunasim=$1
naive=$2
repeat=${REPEAT:-3}
root=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# column NAME: that field of the last run's summary.
column() {
  awk -f "$root/tools/csv.awk" -v mode=pick -v names="$1" "$tmp/out/summary.csv"
}

median() {
  sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

yardstick=$(for ((i = 0; i < repeat; i++)); do "$naive"; done | median)

# measure TITLE ARGS...
measure() {
  local title=$1 rates rate
  shift
  rates=$(for ((i = 0; i < repeat; i++)); do
    "$nunasim" --out "$tmp/out" --quiet "$@"
    column events_per_s
  done)
  rate=$(median <<<"$rates")
  awk -v title="$title" -v rate="$rate" -v naive="$yardstick" -v bytes="$(column bytes_delivered)" \
    -v wall="$(column wall_s)" -v memory="$(column peak_rss_bytes)" -v gpus="$(column simulated_gpus)" 'BEGIN {
      printf "%-44s %4d %9.3f s %8.1f M/s %7.1fx %9.2f GB/s %9.1f MiB\n", title, gpus, wall, rate / 1e6,
        rate / 1e6 / naive, bytes / wall / 1e9, memory / 1048576 }'
}

echo "naive kernel: $yardstick million events/s"
printf '%-44s %4s %11s %12s %8s %14s %13s\n' workload GPUs wall events naive 'bytes/wall' 'peak memory'
for policy in UA NAP+NAR; do
  nar=()
  [ $policy = UA ] || nar=(--nar 4)
  for collective in allgather allreduce alltoall; do
    for size in 100kB 10MB ${LONG:+1GB}; do
      [ "$collective$size" != allreduce1GB ] || continue
      measure "64 GPUs, $size $collective, $policy, folded" --plan "builtin:$collective,channels=4" --gpus 64 \
        --size "$size" --policy "$policy" "${nar[@]}"
    done
  done
done
for threads in 1 2; do
  measure "64 GPUs, 10 MB allgather, UA, $threads thread(s)" --plan builtin:allgather --gpus 64 --size 10MB \
    --fold off --threads $threads
done
measure '8 GPUs, 10 MB allgather, UA, 1 thread' --plan builtin:allgather --gpus 8 --size 10MB --fold off
measure '8 GPUs, 1 MB allgather, UA, reference mode' --plan builtin:allgather --gpus 8 --size 1MB --reference
