#!/bin/bash
# What the reverse translation study (arXiv 2604.02473) reports, at sizes that take seconds: the targets of
# docs/validation.md as tolerances and inequalities; the files of such a run; and the mitigations.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"

# run NAME GPUS SIZE ARGS...: the all-to-all on the study's pod.
run() {
  local name=$1 gpus=$2 size=$3
  shift 3
  "$nunasim" --config "$root/configs/ualink-pod$gpus.yaml" --plan builtin:alltoall,own=apart --size "$size" --quiet \
    --out "$name" "$@"
}

# of NAME COLUMN...
of() {
  csv "$1/summary.csv" "${@:2}"
}

# holds EXPRESSION: over numbers.
holds() {
  awk "BEGIN { exit !($1) }"
}

# overhead GPUS SIZE ARGS...: sets $overhead; leaves the runs `ideal` and `full`.
overhead() {
  local gpus=$1 size=$2
  run ideal "$gpus" "$size" --set translation.mode=ideal "${@:3}"
  run full "$gpus" "$size" "${@:3}"
  overhead=$(awk "BEGIN { print $(of full time_ns) / $(of ideal time_ns) }")
}

# share NAME CONDITION: of the requests; the condition is over $2 (l1), $3 (l2) and $4 (walk_steps).
share() {
  awk -F, "NR > 1 { all += \$5; if ($2) some += \$5 } END { print all ? some / all : 0 }" "$1/translation.csv"
}

# The files: present only when asked for; their sums are those of the summary.
run off 8 64kB --set translation.mode=off
check "files without translation: $(ls off)" same "$(ls off)" \
  $'config.yaml\nlinks.csv\nplacement.csv\nstore_latency.csv\nsummary.csv'
run traced 8 256kB --set translation.trace=100 --set translation.l1_mshrs=20
for file in translation.csv tlb.csv round_trip.csv translation_trace.csv; do
  check "$file" csv_regular "traced/$file"
  while IFS= read -r column; do
    check "docs/output.md does not explain \`$column\` of $file" grep -qF "\`$column\`" "$root/docs/output.md"
  done < <(head -n 1 "traced/$file" | tr ',' '\n')
done
check 'requests in translation.csv' same "$(of traced translated)" \
  "$(awk -F, 'NR > 1 { sum += $5 } END { print sum }' traced/translation.csv)"
check 'walks in tlb.csv' same "$(of traced translation_walks)" \
  "$(awk -F, '{ sum += $10 } END { print sum }' traced/tlb.csv)"
check 'shares of the round trip' holds "$(awk -F, 'NR > 1 { sum += $4 } END { print sum }' traced/round_trip.csv) > 0.9999"
check 'blocked ports' holds "$(awk -F, '$2 == "l1" { sum += $9 } END { print sum }' traced/tlb.csv) > 0"
check "rows of the trace: $(wc -l <traced/translation_trace.csv)" \
  holds "$(wc -l <traced/translation_trace.csv) > 30 && $(wc -l <traced/translation_trace.csv) <= 101"
check 'the trace is in order' sort -c -t, -k2,2n <(tail -n +2 traced/translation_trace.csv)
# Lines and flags from every GPU to the four of the other node: 32,000 bytes are 125 lines.
check 'translated requests' same "$(of traced translated)" $((8 * 4 * (125 + 1)))

# Two-sided plans go through slots; the mitigations know them, and the flags of their connections.
for protocol in Simple LL; do
  "$nunasim" plan allgather --gpus 8 --algorithm ring --format xml --out ring.xml
  sed -i "s/proto=\"[A-Za-z0-9]*\"/proto=\"$protocol\"/" ring.xml
  ring() { # NAME ARGS...
    "$nunasim" --config "$root/configs/ualink-pod8.yaml" --plan ring.xml --size 256kB --quiet --out "$@"
  }
  ring none
  ring pretranslate --set translation.pretranslate=L2
  ring prefetch --set translation.prefetch=L2
  for way in pretranslate prefetch; do
    check "$way sends requests for $protocol connections" holds "$(of $way translation_ahead) > 0"
    check "$way: $(of $way time_ns) against $(of none time_ns) ns, $protocol" \
      holds "$(of $way time_ns) < $(of none time_ns)"
  done
done

# With pre-translation collective.start counts for nothing, without a lead, too.
for start in 0us 1us; do
  run "start-$start" 8 64kB --transfer h2d:1MB:gpu0 --set "collective.start=$start" \
    --set translation.pretranslate=L2 --set translation.pretranslate_lead=0ns
done
check "collective.start" same "$(of start-0us time_ns)" "$(of start-1us time_ns)"

# R1: at 1 MB and 16 MB; R2: falls with size.
pods='8 16 32 64'
[ -z "$light" ] || pods=8
for gpus in $pods; do
  overhead "$gpus" 1MB
  check "R1: 1 MB, $gpus GPUs: $overhead" holds "$overhead >= 1.25 && $overhead <= 1.5"
  small=$(of full translation_mean_ns)
  if [ "$gpus" -le 16 ] && [ -z "$light" ]; then
    overhead "$gpus" 16MB
    check "R1: 16 MB, $gpus GPUs: $overhead" holds "$overhead >= 1.03 && $overhead <= 1.2"
    check "R2: $gpus GPUs, 1 MB $small ns, 16 MB $(of full translation_mean_ns) ns" \
      holds "$(of full translation_mean_ns) < 0.5 * $small"
  fi
done

# R3, R4, R8 at 16 GPUs.
run one 16 1MB
part=$(awk -F, '$1 == "translation" { print $4 }' one/round_trip.csv)
check "R3: translation is $part of the round trip at 1 MB" holds "$part >= 0.2 && $part <= 0.35"
hits=$(share one '$2 == "hit" || $2 == "mshr_hit"')
check "R4: $hits hit the L1 or join a miss" holds "$hits > 0.9"
walks=$(share one '$2 != "hit" && $3 != "hit"')
check "R4: $walks wait for walks at 1 MB" holds "$walks > 0.9"
if [ -z "$light" ]; then
  run sixteen 16 16MB
  hits=$(share sixteen '$2 == "hit"')
  check "R4: $hits are L1 hits at 16 MB" holds "$hits > 0.5 && $hits > $(share one '$2 == "hit"')"
  check "R8: $(of sixteen translation_live_pages) pages live" holds "$(of sixteen translation_live_pages) <= 16"
fi

# R5 at 16 GPUs: cold at 1 MB; at 64 MB one large spike, then shorter ones where pages begin.
if [ -z "$light" ]; then
  run cold 16 1MB --set translation.trace=100000
  least=$(awk -F, 'NR > 1 && (!n++ || $3 < least) { least = $3 } END { print least }' cold/translation_trace.csv)
  check "R5: at 1 MB the fastest request takes $least ns" holds "$least > 400"
  run spikes 16 64MB --set translation.trace=50000
  spike() { # FROM TO: longest latency of requests that arrive then, in us
    awk -F, -v from="$1" -v to="$2" 'NR > 1 && $2 >= from * 1000 && $2 < to * 1000 && $3 > most { most = $3 }
      END { print most + 0 }' spikes/translation_trace.csv
  }
  check "R5: first spike $(spike 0 5) ns" holds "$(spike 0 5) > 1500"
  check "R5: then $(spike 15 20) ns" holds "$(spike 15 20) == 50"
  check "R5: next pages $(spike 20 30) ns" holds "$(spike 20 30) >= 470 && $(spike 20 30) < 480"
fi

# R7: each mitigation gains; into the L1, with lead, pre-translation leaves the two L1 lookups.
bare=$(of one time_ns)
overhead 16 1MB
for way in pretranslate=L2 pretranslate=L1+L2 prefetch=L2 prefetch=L1+L2; do
  run way 16 1MB --set "translation.$way"
  check "R7: $way: $(of way time_ns) against $bare ns" holds "$(of way time_ns) < $bare && $(of way time_ns) > $(of ideal time_ns)"
  check "R7: $way sends requests" holds "$(of way translation_ahead) > 0"
done
run way 16 1MB --set translation.pretranslate=L1+L2
check "R7: $(of way time_ns) ns, ideal $(of ideal time_ns) ns" same "$(of way translation_max_ns)" 50.000
run late 16 1MB --set translation.pretranslate=L1+L2 --set translation.pretranslate_lead=0ns
check 'R7: without a lead less is gained' holds "$(of late time_ns) > $(of way time_ns) && $(of late time_ns) < $bare"

# X1: on the mesh, with routing, every policy is translated, and no policy is faster for it.
for policy in UA UA+NAR NAP+NAR; do
  nar=(--nar 4)
  [ "$policy" != UA ] || nar=()
  for mode in ideal full; do
    "$nunasim" --gpus 8 --plan builtin:allgather --size 100kB --policy "$policy" "${nar[@]}" --quiet --out "$mode" \
      --set pod.gpus_per_node=4 --set "translation.mode=$mode"
  done
  check "X1: $policy, $(of full time_ns) against $(of ideal time_ns) ns" \
    holds "$(of full time_ns) > 1.1 * $(of ideal time_ns)"
  check "X1: $policy: as many requests" same "$(of full translated)" "$(of ideal translated)"
done

finish
