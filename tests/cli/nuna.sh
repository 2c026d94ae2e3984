#!/bin/bash
# What the NUNA study (arXiv 2608.00867) reports, at sizes that take seconds: the targets of docs/validation.md as tolerances
# and inequalities. No parameter differs between two runs but what the study varies.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"

# run NAME ARGS...: an all-gather on eight GPUs.
run() {
  local name=$1
  shift
  "$nunasim" --plan "builtin:allgather,channels=${channels:-8}" --gpus 8 --quiet --out "$name" "$@"
}

# of NAME COLUMN...
of() {
  csv "$1/summary.csv" "${@:2}"
}

# holds EXPRESSION: over numbers.
holds() {
  awk "BEGIN { exit !($1) }"
}

within() { # VALUE TARGET PER_CENT
  holds "$1 >= $2 * (1 - $3 / 100) && $1 <= $2 * (1 + $3 / 100)"
}

check_within() { # WHAT VALUE TARGET PER_CENT
  check "$1: $2, target $3 +- $4 %" within "$2" "$3" "$4"
}

# N1, N2: one-way latency of a store, 8 GPUs, 1 MB.
run ua --size 1MB --policy UA
run nap --size 1MB --policy NAP+NAR --nar 12
check_within 'N1 mean' "$(of ua store_mean_ns)" 920 3
check_within 'N1 max' "$(of ua store_max_ns)" 1320 5
check_within 'N2 mean' "$(of nap store_mean_ns)" 780 8
check_within 'N2 max' "$(of nap store_max_ns)" 1180 8
check "N2: symmetric under UA, skew $(of ua store_skew)" holds "$(of ua store_skew) < 0.3 && $(of ua store_skew) > -0.3"
check "N2: a tail under NAP+NAR, skew $(of nap store_skew)" holds "$(of nap store_skew) > 1"
must_fail 'a mean far off passes' within "$(of ua store_mean_ns)" 780 8

# N4, N7: speedups at 100 kB with the same number of threadblocks.
declare -A time
for policy in UA UA+NAR NUMA NUMA+NAR 'NAP*' 'NAP*+NAR' NAP NAP+NAR; do
  channels=4 run small --size 100kB --policy "$policy"
  time[$policy]=$(of small time_ns)
done
faster() { # A B: A takes less time than B
  holds "${time[$1]} < ${time[$2]}"
}
for policy in UA NUMA 'NAP*' NAP; do
  check "N7: NAR helps $policy: ${time[$policy+NAR]} against ${time[$policy]} ns" faster "$policy+NAR" "$policy"
done
gain() { # how much NAR gives a policy
  echo "(${time[$1]} / ${time[$1+NAR]})"
}
for policy in UA NUMA 'NAP*'; do
  check "N7: NAR helps NAP more than $policy" holds "$(gain NAP) > $(gain "$policy")"
done
check "N4: UA+NAR ${time[UA+NAR]} ns against UA ${time[UA]} ns" holds "${time[UA]} / ${time[UA+NAR]} > 1.1 && ${time[UA]} / ${time[UA+NAR]} < 1.45"
check "N4: NAP+NAR ${time[NAP+NAR]} ns against UA ${time[UA]} ns" holds "${time[UA]} / ${time[NAP+NAR]} > 1.6 && ${time[UA]} / ${time[NAP+NAR]} < 2.1"

# N8: many threadblocks gain from every granularity, a few lose with the finest.
channels=1 run base --size 1MB --policy UA
channels=1 run fine --size 1MB --policy UA+NAR --nar 12
check "N8: 7 threadblocks, 12 domains: $(of fine time_ns) against $(of base time_ns) ns" \
  holds "$(of fine time_ns) > $(of base time_ns)"
if [ -z "$light" ]; then
  channels=144 run base --size 1MB --policy UA
  for domains in 2 4 6 12; do
    channels=144 run fine --size 1MB --policy UA+NAR --nar "$domains"
    check "N8: 1,008 threadblocks, $domains domains: $(of fine time_ns) against $(of base time_ns) ns" \
      holds "$(of fine time_ns) < $(of base time_ns)"
  done
fi

# N9: a GEMM that slows UA down leaves NAP+NAR alone.
run loaded --size 1MB --policy UA --background gemm:size=400
check "N9: UA beside a GEMM: $(of loaded time_ns) against $(of ua time_ns) ns" \
  holds "$(of loaded time_ns) > 1.2 * $(of ua time_ns)"
run nap4 --size 1MB --policy NAP+NAR --nar 4
run loaded --size 1MB --policy NAP+NAR --nar 4 --background gemm:size=400
check "N9: NAP+NAR beside a GEMM: $(of loaded time_ns) against $(of nap4 time_ns) ns" \
  holds "$(of loaded time_ns) < 1.1 * $(of nap4 time_ns)"

# N13: latency profiles of sockets with one, two and four dies, without a pod.
spread() { # CONFIG WHICH
  "$nunasim" latency-map --config "$root/configs/$1.yaml" | tr '\n' ' ' |
    sed 's/.*fastest: \([0-9.]*\) ns over a CU.s addresses, \([0-9.]*\) ns.*/\1 \2/' | cut -d' ' -f"$2"
}
check_within 'N13 over addresses, four dies to one' \
  "$(awk "BEGIN { print $(spread nuna 1) / $(spread one-die 1) }")" 3 10
check "N13 over CUs: grows with every die" holds \
  "$(spread nuna 2) > $(spread two-die 2) && $(spread two-die 2) > $(spread one-die 2)"

finish
