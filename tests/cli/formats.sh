#!/bin/bash
# Plans in every format, with every kind of operation, at odd sizes: they finish, deliver every byte,
# and do not depend on the number of threads. The same collective in two formats moves the same data.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
config=$root/configs/pod8.yaml

# run NAME PLAN GPUS SIZE OPTIONS...
run() {
  rm -rf "$tmp/$1"
  "$nunasim" --quiet --config "$config" --plan "$2" --gpus "$3" --size "$4" --out "$tmp/$1" "${@:5}"
}

for plan in "$root"/tests/fuzz/corpus/*/*; do
  gpus=$("$nunasim" check "$plan" 2>/dev/null | sed -n 's/^GPUs *//p')
  for size in 0B 1B 4000B 300kB; do
    check "$plan at $size runs" run one "$plan" "$gpus" "$size"
    check "$plan at $size delivers" same "$(csv "$tmp/one/summary.csv" bytes_requested)" \
      "$(csv "$tmp/one/summary.csv" bytes_delivered)"
  done
  for policy in UA NAP+NAR; do
    run one "$plan" "$gpus" 300kB --policy "$policy" --threads 1
    run two "$plan" "$gpus" 300kB --policy "$policy" --threads 2
    check "$plan with 2 threads" cmp "$tmp/one/links.csv" "$tmp/two/links.csv"
  done
done

# Direct all-gather: one-sided, and two-sided with each protocol. 61440 bytes: whole lines in all.
size=61440B
"$nunasim" plan allgather --gpus 4 --channels 1 --format xml --out "$tmp/simple.xml"
run json builtin:allgather,channels=1 4 "$size"
data=$(csv "$tmp/json/summary.csv" bytes_delivered)
for proto in Simple LL LL128; do
  sed "s/proto=\"Simple\"/proto=\"$proto\"/" "$tmp/simple.xml" >"$tmp/$proto.xml"
  run "$proto" "$tmp/$proto.xml" 4 "$size"
done
check 'Simple moves the data' same "$(csv "$tmp/Simple/summary.csv" bytes_delivered)" "$data"
check 'LL moves twice the data' same "$(csv "$tmp/LL/summary.csv" bytes_delivered)" $((2 * data))
check 'LL128 moves 128 bytes for 120' same "$(csv "$tmp/LL128/summary.csv" bytes_delivered)" \
  $((data / 120 * 128))

# What talks to several GPUs is written with threadblocks for each, and moves the same.
while read -r algorithm collective; do
  "$nunasim" plan "$collective" --gpus 4 --channels 2 --algorithm "$algorithm" --format xml --out "$tmp/split.xml"
  run json "builtin:$collective,channels=2,algorithm=$algorithm" 4 "$size"
  run split "$tmp/split.xml" 4 "$size"
  check "$collective, $algorithm: the same data" same \
    "$(csv "$tmp/split/summary.csv" bytes_delivered)" "$(csv "$tmp/json/summary.csv" bytes_delivered)"
done < <(plans)

# What a plan's file complains about is said before its time is.
sed '$a Rank 0 chunk 1 is incorrect' "$tmp/simple.xml" >"$tmp/text.xml"
said=$("$nunasim" --config "$config" --gpus 4 --size 4KiB --plan "$tmp/text.xml" --out "$tmp/text" 2>&1)
check "a run warns: $said" grep -q 'warning: .*Rank 0 chunk 1 is incorrect' <<<"$said"
said=$(run text "$tmp/text.xml" 4 4KiB 2>&1)
check "a quiet run does not: $said" same "$said" ''

# Accesses that nothing orders: GPU 0 stores what it receives into the chunk that it sends.
sed '/<gpu id="0"/,/<\/gpu>/ { /type="r"/ s/dstoff="[0-9]*"/dstoff="0"/ }' "$tmp/simple.xml" |
  sed 's/coll="allgather"/coll="custom"/' >"$tmp/race.xml"
said=$("$nunasim" --config "$config" --gpus 4 --size 4KiB --plan "$tmp/race.xml" --out "$tmp/race" 2>&1)
check "a run warns of races: $said" grep -q 'warning: .*race.xml: gpu0/.*no dependency' <<<"$said"

finish
