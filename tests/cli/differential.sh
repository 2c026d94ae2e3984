#!/bin/bash
# Random machines, plans and policies: the plain reference, the unfolded run on two threads and the folded run must
# write the same bytes. More than the suite does: COUNT=2000 SEED=7 tests/cli/differential.sh NUNASIM SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

count=${COUNT:-240}
[ -z "$light" ] || count=12
state=${SEED:-20260808}
folded=0
# Every variant of the program, also those that this test has never heard of.
mapfile -t policies < <(words placement.policy)
mapfile -t fabrics < <(words noc.fabric)
mapfile -t replacements < <(words translation.l1_policy)
mapfile -t plans < <(plans)
mapfile -t direct < <(plans | grep '^allpairs ') # what folds most often
check 'policies, fabrics and plans to choose from' \
  [ $((${#policies[@]} > 1 && ${#fabrics[@]} > 1 && ${#plans[@]} > 1 && ${#direct[@]} > 1)) = 1 ]

# draw WORD...: one of them, into $drawn.
draw() {
  state=$(((state * 1103515245 + 12345) & 0x7fffffff))
  local at=$(((state >> 8) % $# + 1))
  drawn=${!at}
}

# one OPTION WORD...: adds OPTION=one of the words, joined by = or given to --set.
option() {
  local name=$1
  shift
  draw "$@"
  args+=("$name" "$drawn")
}

setting() {
  local key=$1
  shift
  draw "$@"
  args+=(--set "$key=$drawn")
}

# Shape of the mesh, and the domains that its stacks and ports allow, into $domains.
draw_mesh() {
  domains=(2 3 4 6 12)
  draw default default default row column wide
  case $drawn in
    row) args+=(--set noc.columns=9 --set noc.rows=1 --set noc.dies=3 --set scaleup.ports=2) ;;
    column)
      args+=(--set noc.columns=1 --set noc.rows=7 --set noc.dies=1 --set hbm.stacks=2)
      setting scaleup.ports 2 12 # two at one router
      ;;
    wide) args+=(--set noc.columns=65 --set noc.rows=6 --set noc.dies=5) ;;
  esac
  case $drawn in row | 2 | 12) domains=(2) ;; esac
  setting noc.injection_latency 33ns 33ns 1ps 4095ps 8191ps 1us
  setting noc.ejection_latency 33ns 33ns 1ps 4097ps 8192ps 1us
  setting noc.hop_latency 10.4ns 10.4ns 1ps 333ns
  setting noc.die_crossing_latency 0ns 1us
  setting noc.link_rate 512GB/s 100GB/s 1000TB/s
  setting noc.injection_rate 512GB/s 512GB/s 3GB/s 1000TB/s
  setting noc.ejection_rate 512GB/s 512GB/s 3GB/s 1000TB/s
  setting noc.flit_size 256B 128B 512B
  setting noc.control_size 16B 1B 128B
}

make_case() {
  local collective algorithm channels gpus domains
  args=()
  draw "${direct[@]}" "${direct[@]}" "${direct[@]}" "${plans[@]}" && read -r algorithm collective <<<"$drawn"
  draw 1 2 3 4 8 && channels=$drawn
  args+=(--plan "builtin:$collective,algorithm=$algorithm,channels=$channels")
  option --gpus 1 2 3 4 5 6 8 9 12 16
  gpus=$drawn
  option --size 0B 1B 777B 4kB 12kB 48kB 99991B 144kB
  draw_mesh
  option --policy "${policies[@]}"
  setting placement.nar_domains "${domains[@]}" # of no account to some
  setting noc.fabric mesh mesh "${fabrics[@]}"
  setting scaleup.port_rate 150GB/s 37GB/s 512GB/s 1000TB/s
  setting scaleup.link_latency 135ns 135ns 10ns 30us
  setting hbm.access_latency 120ns 120ns 1ps 5us
  setting gpu.max_outstanding 700 700 16 1
  setting placement.cu_budget 700 50
  setting hbm.page_size 4KiB 64KiB
  setting hbm.page_order neighbours dies
  setting scaleup.port_grain 1 4
  setting placement.numa_near first all
  setting translation.mode off off full ideal
  setting translation.l1_entries 32 2
  setting translation.l1_policy "${replacements[@]}"
  setting translation.l2_entries 512 4
  setting translation.l2_policy "${replacements[@]}"
  [ $((gpus % 4)) != 0 ] || setting pod.gpus_per_node 4 1
  draw no no no yes
  [ "$drawn" = no ] || args+=(--background gemm:size=60)
}

# result FOLDER ARGS...
result() {
  local folder=$1
  shift
  rm -rf "$folder"
  "$nunasim" --out "$folder" --quiet "$@" || echo "failed: $*"
  simulated=$(csv "$folder/summary.csv" simulated_gpus)
  gpus=$(csv "$folder/summary.csv" gpus)
  csv_without "$folder/summary.csv" "${cost_columns[@]}" >"$folder/summary.txt"
  rm "$folder/summary.csv"
}

cd "$tmp"
for ((i = 0; i < count; i++)); do
  make_case
  result reference --reference "${args[@]}"
  result other --threads 2 --fold off "${args[@]}"
  check "unfolded: ${args[*]}" diff -r reference other
  result other "${args[@]}"
  check "folded: ${args[*]}" diff -r reference other
  [ "$simulated" = "$gpus" ] || folded=$((folded + 1))
done
# Two GPUs with the same threadblocks on the same CUs, whose last one's flag goes through another domain.
args=(--plan "$here/unlike.json" --gpus 2 --size 11520B --policy 'NAP*+NAR' --nar 4 --set scaleup.ports=8)
args+=(--set hbm.stacks=4 --set noc.columns=3 --set noc.rows=5 --set noc.dies=1 --set gpu.cus_per_router=1)
args+=(--set placement.cu_budget=1)
result reference --reference "${args[@]}"
result other "${args[@]}"
check 'flags of other domains are no symmetry' diff -r reference other
echo "$folded of $count cases folded"
# Of a dozen cases few may fold.
[ -n "$light" ] || check 'at least a third of the cases fold' [ $((3 * folded)) -ge "$count" ]
finish
