#!/bin/bash
# The files of a run: which, with which columns, and that docs/output.md explains each column.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"

"$nunasim" --plan builtin:allreduce --gpus 4 --size 4096B --out out >stdout
"$nunasim" latency-map --out out >>stdout
check "files: $(ls out)" same "$(ls out)" \
  $'config.yaml\nlatency_map.csv\nlinks.csv\nplacement.csv\nstore_latency.csv\nsummary.csv'

# Others may follow; these come first.
first=config,plan,collective,gpus,size_bytes,policy,nar_domains,seed,status,time_ns,algbw_GBps
first+=,busbw_GBps,stores,store_mean_ns,store_p50_ns,store_p99_ns,store_max_ns,bytes_requested
first+=,bytes_delivered,events,wall_s,events_per_s,peak_rss_bytes
starts_with() {
  [[ $1 == "$2" || $1 == "$2",* ]]
}
check 'first columns of summary.csv' starts_with "$(head -n 1 out/summary.csv)" "$first"
must_fail 'a swapped column is not seen' starts_with "plan,config" "$first"
check 'summary.csv has one row' same "$(wc -l <out/summary.csv)" 2

# explained FILE NAME: the name occurs as `name`, or a pattern for it as `path_*_ns`.
explained() {
  local word
  while IFS= read -r word; do
    # shellcheck disable=SC2053 # a pattern
    [[ $2 == $word ]] && return
  done < <(grep -o '`[A-Za-z0-9_]\+\*\?[A-Za-z0-9_]*`' "$1" | tr -d '`')
  return 1
}
for file in out/*.csv; do
  check "rows of $file" csv_regular "$file"
  while IFS= read -r column; do
    check "docs/output.md does not explain \`$column\` of ${file#out/}" \
      explained "$root/docs/output.md" "$column"
  done < <(head -n 1 "$file" | tr ',' '\n')
  check "docs/output.md does not name ${file#out/}" grep -qF "${file#out/}" "$root/docs/output.md"
done
must_fail 'a column without explanation is not seen' explained "$root/docs/output.md" no_such_column
printf 'a,b\n1,2,3\n' >irregular.csv
must_fail 'a row with another number of fields is not seen' csv_regular irregular.csv

# The effective configuration reads back to the same run.
"$nunasim" --config out/config.yaml --plan builtin:allreduce --gpus 4 --out again --quiet
check 'config.yaml gives the same links.csv' cmp out/links.csv again/links.csv
check 'config.yaml gives the same latencies' cmp out/store_latency.csv again/store_latency.csv
# Stores in the histogram are the stores of the summary.
check 'stores in store_latency.csv' same \
  "$(awk -F, 'NR > 1 { sum += $3 } END { print sum + 0 }' out/store_latency.csv)" \
  "$(csv out/summary.csv stores)"
# The parts of the critical path add up to the time, to the picosecond.
path_adds_up() {
  local names
  names=$(head -n 1 "$1" | tr ',' '\n' | grep '^path_' | tr '\n' ' ')
  # shellcheck disable=SC2086 # one word per column
  csv "$1" time_ns $names | awk '{
    for (i = 2; i <= NF; i++)
      sum += $i * 1000
    exit !(NF > 2 && sprintf("%.0f", sum) == sprintf("%.0f", $1 * 1000))
  }'
}
check 'the critical path adds up' path_adds_up out/summary.csv

# A put that nobody waits for lasts until its bytes are there, however it is simulated.
sed 's/"allgather"/"custom"/; s/{"name":"\(signal\|wait\)"[^}]*}/{"name":"nop"}/g
  s/{"name":"copy","src_buff":\[{[^}]*}\],"dst_buff":\[{[^}]*}\]}/{"name":"nop"}/g' "$here/plan.json" >memory.json
sed 's/"memory"/"port"/g; s/"name":"put",/&"channel_ids":[0],/' memory.json >port.json
outlasts() {
  csv "$1" time_ns store_max_ns | awk '{ exit !($1 > $2 && $2 > 0) }'
}
for kind in memory port; do
  late=(--plan "$kind.json" --gpus 2 --size 64KiB --quiet)
  "$nunasim" "${late[@]}" --out late
  check "$kind: as long as its slowest store" outlasts late/summary.csv
  check "$kind: the critical path adds up" path_adds_up late/summary.csv
  for mode in '--fold off' '--threads 2 --fold off' --reference; do
    # shellcheck disable=SC2086 # words
    "$nunasim" "${late[@]}" $mode --out other
    for columns in late other; do
      csv_without $columns/summary.csv "${cost_columns[@]}" >$columns.txt
    done
    check "$kind, $mode: the same" cmp late.txt other.txt
  done
  "$nunasim" "${late[@]}" --background gemm:size=256 --out beside
  check "$kind: a background kernel does not cut it short" same \
    "$(csv beside/summary.csv bytes_delivered)" 65536
done
check 'the default folder' "$nunasim" --plan builtin:allgather --gpus 2 --size 256B --quiet
check 'the default folder: out/' test -n "$(ls out/*/summary.csv)"

# The flags of each domain have pages of their own, behind the buffers.
"$nunasim" --plan builtin:allgather --gpus 4 --size 64KiB --policy NAP+NAR --nar 4 \
  --set hbm.page_size=16KiB --show-placement --out flags >flags.txt
check 'the last four pages hold the flags of four domains' same \
  "$(grep '^3,pages' flags/placement.csv | tail -n 4 | cut -d, -f 3,4,9,10 | tr '\n' ' ')" \
  '4,1,4,0 5,1,4,1 6,1,4,2 7,1,4,3 '
check 'and are drawn' same \
  "$(grep '^pages' flags.txt | grep -o '\[[0-9]*\]' | tr -d '[]' | awk '{ sum += $1 } END { print sum }')" 8

# What keeps GPUs apart is said, unless nobody asked to fold.
while IFS='|' read -r reason args; do
  # shellcheck disable=SC2086 # words
  "$nunasim" --plan builtin:allgather --gpus 4 --size 4000B --out apart $args >apart.txt
  check "unfolded because $reason" grep -q "^folded    none of 4 GPUs stands for others: $reason" apart.txt
  # shellcheck disable=SC2086 # words
  "$nunasim" --plan builtin:allgather --gpus 4 --size 4000B --out apart --fold off $args >apart.txt
  check "--fold off, and $reason" same "$(grep -c '^folded' apart.txt)" 0
done <<'END'
a trace|--set translation.mode=full --set translation.trace=10
host transfers|--transfer h2d:1kB:gpu0
END

# A run in the folder of another leaves only its own tables there.
"$nunasim" --plan builtin:allgather --gpus 4 --size 4000B --out again --quiet --transfer h2d:1kB:gpu0 \
  --set translation.mode=full --set translation.trace=10
check 'all tables of a run' same "$(ls again | wc -l)" 11
"$nunasim" --plan builtin:allgather --gpus 4 --size 4000B --out again --quiet --set translation.mode=full
check 'no trace and no transfers' same "$(ls again | wc -l)" 8
"$nunasim" --plan builtin:allgather --gpus 4 --size 4000B --out again --quiet
check 'no translation' same "$(ls again | tr '\n' ' ')" \
  'config.yaml links.csv placement.csv store_latency.csv summary.csv '

# One GPU for all: exactly where all are alike, flagged in every table where they are not.
"$nunasim" --plan builtin:allgather --gpus 6 --size 6000B --out alike >/dev/null
check 'a folded run says exact' same "$(csv alike/summary.csv exactness simulated_gpus)" 'exact 1'
"$nunasim" --plan builtin:allgather --gpus 6 --size 6001B --out unlike >/dev/null
check 'GPUs with other bytes are not alike' same "$(csv unlike/summary.csv exactness simulated_gpus)" 'exact 6'
"$nunasim" --plan builtin:allgather --gpus 6 --size 6001B --fold approx --out approx >approx.txt
check 'an approximate run says so' same "$(csv approx/summary.csv exactness simulated_gpus)" 'approx 1'
check 'and to the reader' grep -q 'APPROXIMATELY' approx.txt
for file in approx/links.csv approx/store_latency.csv; do
  check "$file is flagged" same "$(tail -n 1 "$file" | awk -F, '{ print $NF }')" approx
  check "rows of $file" csv_regular "$file"
done
check 'exact tables are not' same "$(head -n 1 alike/links.csv)" 'gpu,kind,name,bytes,busy_ns,utilisation,max_queue_ns'
"$nunasim" --plan builtin:allgather --gpus 6 --size 6000B --fold approx --out again >/dev/null
check 'approx is exact where it can be' same "$(csv again/summary.csv exactness)" exact

finish
