#!/bin/bash
# Real plan files, where a collection of them lies beside the source tree (NUNA_SHARED): each gets the
# verdict that its manifest records, and what is right runs and delivers every byte. Malformed files
# get what their list expects.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
plans=${NUNA_SHARED:-}/plans
if [ ! -f "$plans/MANIFEST.tsv" ]; then
  echo "SKIPPED: NUNA_SHARED names no collection of plans"
  exit 77
fi
cd "$plans"
sizes=${NUNA_PLAN_SIZES:-64KiB}

# Files whose record and verdict differ, and why:
# - two threadblocks own a connection: the order of messages is undefined, so the file is refused
#   where the record has a wrong result;
# - early files of MSCCL++ 0.5 whose second threadblock stores to the first one's chunk: wrong;
# - a barrier for two threadblocks that four use: who meets whom is a matter of time, and one may stay
#   alone;
# - a misspelt key ("name" is null), a draft's operation with the keys of version 2.
declare -A differs=(
  [mscclpp-json/ship-mscclpp-allreduce-hist-2024-04-02-58db26.json]='wrong allreduce'
  [mscclpp-json/ship-mscclpp-allreduce-hist-2024-04-04-67e393.json]='wrong allreduce'
  [mscclpp-json/ship-mscclpp-test-hist-2025-07-16-6edd93.json]='is for 2 threadblocks, but 4 use it'
)

# wanted SCHEMA RECORD: the exit code, and a pattern of what is said.
wanted() {
  case "$1 $2" in
    *draft* | *UNPARSABLE* | *glre*) echo '2 draft|before MSCCL\+\+ 0.8|neither JSON|glre|is null|src_buff: is missing' ;;
    *wrong*) echo '2 wrong|the order of messages is undefined' ;;
    *slots:deadlock*) echo '0 limit .*completes up to .*deadlocks above' ;;
    *deadlock*) echo '2 deadlock|1 signal, 0 waits' ;;
    *n/a*) echo '0 nothing to prove' ;;
    *) echo '0 proved|nothing to prove' ;;
  esac
}

# A size that the plan is for, near the one asked for.
fitting() {
  local text=$1 size=$2
  if [[ $text =~ messages\ of\ ([0-9]+)\ to\ ([0-9]+)\ bytes ]]; then
    if [ "${BASH_REMATCH[1]}" -gt 65536 ]; then
      echo "${BASH_REMATCH[1]}B"
    else
      echo "${BASH_REMATCH[2]}B"
    fi
  else
    echo "$size"
  fi
}

simulate() {
  local file=$1 gpus=$2 size=$3 out=$tmp/run said
  rm -rf "$out"
  if ! said=$("$nunasim" --quiet --config "$root/configs/pod8.yaml" --gpus "$gpus" --plan "$file" \
    --size "$size" --out "$out" 2>&1); then
    case $said in
      *"is for messages of"*)
        said=$("$nunasim" --quiet --config "$root/configs/pod8.yaml" --gpus "$gpus" --plan "$file" \
          --size "$(fitting "$said" "$size")" --out "$out" 2>&1) || {
          bad "$file: $said"
          return
        }
        ;;
      *"completes up to"*) return ;; # as its verdict says
      *)
        bad "$file at $size: $said"
        return
        ;;
    esac
  fi
  check "$file at $size: bytes delivered" same "$(csv "$out/summary.csv" bytes_requested)" \
    "$(csv "$out/summary.csv" bytes_delivered)"
}

count=0
while IFS=$'\t' read -r file _ _ _ gpus _ _ _ _ schema _ _ record; do
  [ "$file" != file ] || continue
  count=$((count + 1))
  code=0
  said=$("$nunasim" check "$file" 2>&1) || code=$?
  want=$(wanted "$schema" "$record")
  [ -z "${differs[$file]:-}" ] || want="2 ${differs[$file]}"
  check "$file: exit code $code, expected ${want%% *}: $said" same "$code" "${want%% *}"
  check "$file says /${want#* }/: $said" grep -qE "${want#* }" <<<"$said"
  if [ "$code" = 0 ] && { [ -z "$light" ] || [ $((count % 12)) = 0 ]; }; then
    for size in $sizes; do
      simulate "$file" "$gpus" "$size"
    done
  fi
done <MANIFEST.tsv
check "the whole collection" same "$count" 168

# The limit is exact: at it the plan finishes, above it does not.
limited=msccl-xml/recdoubling-allgather-8gpu-1inst.xml
check "$limited at its limit" "$nunasim" check "$limited" --size 8MiB >/dev/null
must_fail "$limited above its limit" "$nunasim" check "$limited" --size 9MiB

# What the list of malformed files expects, as exit code and pattern. Files marked to be accepted
# may still compute something else than their collective: then the check says so, after reading.
expect_bad() {
  cat <<'TEXT'
x04 <algo> lacks nchunksperloop
x06 GPU 0 threadblock 0 step 0 \(receive\) waits for GPU 1
x08 never posted
x10 depends on threadblock 7
x16 connection 0->1 channel 0 has 2 receives but 1 send
x18 gpu 1 has no threadblock with recv="0" chan="0"
x20 gpu0/tb0/s0 reads input chunk 2 of 2
x22 scratch chunk 0 of 0
x24 duplicate threadblock id 0 on gpu 0
x26 gpu 0 threadblock 0 sends to itself
x28 channel 5, but nchannels is 1
x30 two threadblocks of gpu 0 own the same connection
x32 nchunksperloop="3" disagrees
x38 unknown step type at gpu0/tb0/s0
x40 unknown protocol, expected Simple, LL or LL128
x44 UTF-16
x52 is empty
x54 gpu 1 is missing
x56 gpu id 5, but ngpus is 2
x58 srcoff="zero"
x60 DOCTYPE
x64 out-of-place runs only
x68 needs 16 GPUs, but --gpus says 8
x70 not well-formed
j05 the key is given twice
j07 channel 3, but this threadblock has 1
j09 0->1 memory channel 0: 1 signal, 0 waits
j11 GPU 0 threadblock 0 op 3 \(wait\) waits for a signal from GPU 1
j13 now "res"
j17 semaphore 0, which nobody releases
j19 unit_size: 0 is out of range
j21 2 input and 4 output chunks
j23 memory channel 0, but GPU 0 declares 0
j25 rank 7, but the plan has 2 GPUs
j27 chunk 2, but the input of GPU 0 has 2 chunks
j29 is 2, but src_buff\[0\].size is 1
j31 waits for packets in scratch chunk 0, which nobody writes
j33 rank 5, but the plan has 2 GPUs
j35 4096 is above max_message_size, which is 1024
j37 has neither|the input of GPU 0 has 0 chunks
j39 unknown protocol "LL128"
j41 top level is an array
j43 1.5 is not an integer
j45 tb_id: is 4, but tbg_size is 2
k02 chunkGroups: 0 is out of range
k04 gpus\[1\].input_chunks
TEXT
}

while IFS=$'\t' read -r file kind _; do
  [ "$file" != file ] || continue
  options=()
  case $file in
    x64*) options=(--in-place) ;;
    x68*) options=(--gpus 8) ;;
  esac
  code=0
  said=$("$nunasim" check "bad/$file" "${options[@]}" 2>&1) || code=$?
  check "bad/$file: exit code $code" test "$code" -le 2
  pattern=$(expect_bad | sed -n "s/^${file%%-*} //p")
  if [ -n "$pattern" ]; then
    check "bad/$file is refused: $said" same "$code" 2
    check "bad/$file says /$pattern/: $said" grep -qE "$pattern" <<<"$said"
  else
    check "bad/$file is read: $said" \
      test "$code" = 0 -o -n "$(grep -E ': wrong alltoall: ' <<<"$said")"
    case $kind in
      *warn*) check "bad/$file warns: $said" grep -q 'warning: ' <<<"$said" ;;
    esac
  fi
done <bad/EXPECT.tsv

finish
