#!/bin/bash
# The same bytes come out of any number of threads, of every repetition, and of executables that
# other compilers made ($NUNASIM_OTHERS, a list), folded or not. Only what a clock or the machine says may differ.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"


# run EXECUTABLE FOLDER THREADS ARGS...
run() {
  local executable=$1 folder=$2 threads=$3
  shift 3
  rm -rf "$folder"
  "$executable" --out "$folder" --quiet --threads "$threads" "$@"
  csv_without "$folder/summary.csv" "${cost_columns[@]}" >"$folder/summary.txt"
  rm "$folder/summary.csv"
}

same_results() {
  diff -r "$1" "$2"
}

configurations=(
  '--plan builtin:allgather --gpus 8 --size 100kB'
  '--plan builtin:allreduce --gpus 8 --size 100kB'
  '--plan builtin:reducescatter --gpus 8 --size 100003B'
  '--plan builtin:alltoall --gpus 8 --size 100003B'
  '--plan builtin:allgather,channels=3 --gpus 5 --size 65537B'
  '--plan builtin:allreduce,channels=1 --gpus 5 --size 257B'
  '--plan builtin:reducescatter --gpus 5 --size 1B'
  '--plan builtin:alltoall --gpus 5 --size 0B'
  '--plan builtin:allgather,algorithm=ring --gpus 8 --size 100kB'
  '--plan builtin:allreduce,algorithm=ring,channels=2 --gpus 5 --size 99991B'
  '--plan builtin:reducescatter,algorithm=ring --gpus 8 --size 40kB'
  '--plan builtin:alltoall,algorithm=tree,channels=2 --gpus 7 --size 65537B'
  '--plan builtin:alltoall --gpus 8 --size 64kB --set noc.fabric=uniform'
  '--plan builtin:allreduce --gpus 3 --size 64kB --set scaleup.ports=1 --set noc.dies=1'
  '--plan builtin:allgather --gpus 8 --size 100kB --policy UA+NAR'
  '--plan builtin:allreduce --gpus 5 --size 64kB --policy NUMA+NAR --nar 4'
  '--plan builtin:alltoall --gpus 4 --size 64kB --policy NAP-star'
  '--plan builtin:allgather,channels=3 --gpus 7 --size 99991B --policy NAP+NAR'
  '--plan builtin:allgather --gpus 3 --size 64kB --policy NAP --background gemm:size=100'
  '--plan builtin:alltoall,own=apart --gpus 8 --size 300kB --policy UA+NAR --nar 4 --set pod.gpus_per_node=4 --set translation.mode=full --set translation.trace=200 --set translation.l1_mshrs=4 --set translation.l2_policy=random --set translation.l2_entries=8'
  '--plan builtin:allreduce --gpus 6 --size 100kB --set pod.gpus_per_node=2 --set translation.mode=full --set translation.pretranslate=L1+L2 --set translation.prefetch=L2'
)
repetitions=10
if [ -n "$light" ]; then
  configurations=("${configurations[@]:4:3}" "${configurations[9]}")
  repetitions=1
fi

cd "$tmp"
for configuration in "${configurations[@]}"; do
  read -ra args <<<"$configuration"
  run "$nunasim" first 1 --fold off "${args[@]}"
  for threads in 2 4; do
    run "$nunasim" other "$threads" --fold off "${args[@]}"
    check "$threads threads: $configuration" same_results first other
  done
  for executable in ${NUNASIM_OTHERS:-}; do
    run "$executable" other 1 "${args[@]}"
    check "$executable: $configuration" same_results first other
  done
  for ((i = 0; i < repetitions; i++)); do
    run "$nunasim" other $((i % 3 + 1)) "${args[@]}"
    check "repetition $i: $configuration" same_results first other
  done
done
[ -n "${NUNASIM_OTHERS:-}" ] || echo 'NUNASIM_OTHERS is not set: no executable to compare with'

# Differences that must be seen: one digit, one missing file, one picosecond.
cp -r first copy
sed -i '$s/[0-9]$/x/' copy/links.csv
must_fail 'a changed digit is not seen' same_results first copy
rm copy/links.csv
must_fail 'a missing file is not seen' same_results first copy
run "$nunasim" other 1 "${args[@]}" --set scaleup.link_latency=150.001ns
rm other/config.yaml first/config.yaml
must_fail 'a picosecond is not seen' same_results first other

finish
