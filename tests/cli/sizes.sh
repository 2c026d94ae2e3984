#!/bin/bash
# Odd sizes and GPU counts: every run finishes, delivers what its collective must move, by a closed
# form worked out here, and what left the ports is that data with its acknowledgements and signals.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

flit=256    # default of noc.flit_size
control=16  # default of noc.control_size

# expected COLLECTIVE GPUS CHANNELS SIZE FLIT: "bytes stores port_bytes" of a builtin plan, for
# either algorithm. A message is cut into one block per rank and a block into its channels'
# chunks, in grains of 16 bytes: the first parts one grain longer, the last with the odd bytes. Blocks
# are equal where the message divides by the ranks.
expected() {
  awk -v collective="$1" -v n="$2" -v channels="$3" -v size="$4" -v flit="$5" \
    -v control="$control" '
    function part(total, parts, i,    grains, bytes) {
      grains = int(total / 16)
      bytes = 16 * (int(grains / parts) + (i < grains % parts))
      return i + 1 == parts ? bytes + total % 16 : bytes
    }
    function block(b) {
      return size % n == 0 ? size / n : part(size, n, b)
    }
    function lines_of(bytes,    c, lines) {
      for (c = 0; c < channels; c++)
        lines += int((part(bytes, channels, c) + flit - 1) / flit)
      return lines
    }
    BEGIN {
      for (b = 0; b < n; b++)
        lines += lines_of(block(b))
      rounds = collective == "allreduce" ? 2 : 1
      if (collective == "alltoall") { # each GPU keeps its block 0
        bytes = n * (size - block(0))
        lines = n * (lines - lines_of(block(0)))
      } else {
        bytes = rounds * (n - 1) * size
        lines = rounds * (n - 1) * lines
      }
      signals = rounds * n * (n - 1) * channels
      printf "%.0f %.0f %.0f\n", bytes, lines, bytes + control * (lines + signals)
    }'
}

# conserved LINKS_CSV PORT_BYTES: ports sent just that, switches passed it on, nothing is busier
# than all the time.
conserved() {
  awk -F, -v expected="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["utilisation"] > 1 { print "utilisation: " $0; wrong = 1 }
    { bytes[$at["kind"]] += $at["bytes"] }
    END {
      for (i = split("port switch_output", kind, " "); i > 0; i--)
        if (bytes[kind[i]] + 0 != expected + 0) {
          printf "%s: %.0f bytes, expected %.0f\n", kind[i], bytes[kind[i]], expected
          wrong = 1
        }
      exit wrong
    }' "$1"
}

# run COLLECTIVE ALGORITHM GPUS CHANNELS SIZE FLIT OPTIONS...
run() {
  local collective=$1 algorithm=$2 gpus=$3 channels=$4 size=$5 line=$6
  local what="$*" bytes stores port_bytes result
  shift 6
  read -r bytes stores port_bytes < <(expected "$collective" "$gpus" "$channels" "$size" "$line")
  if ! "$nunasim" --plan "builtin:$collective,algorithm=$algorithm,channels=$channels" \
    --gpus "$gpus" --size "${size}B" --out "$tmp/out" --quiet "$@"; then
    bad "$what: does not run"
    return
  fi
  result=$(csv "$tmp/out/summary.csv" status bytes_requested bytes_delivered stores size_bytes)
  check "$what: $result, expected ok $bytes $bytes $stores $size" \
    same "$result" "ok $bytes $bytes $stores $size"
  check "$what: links.csv" conserved "$tmp/out/links.csv" "$port_bytes"
}

gpu_counts=(1 2 3 5 7 8 12 33 64)
[ -z "$light" ] || gpu_counts=(1 2 3 5 8)
for gpus in "${gpu_counts[@]}"; do
  # Channel counts vary with the GPUs; the largest pods get few to stay quick.
  channels=$((gpus > 12 ? 1 : 1 + gpus % 8))
  for size in 0 1 127 256 257 1000003; do
    [ -z "$light" ] || [ "$size" != 1000003 ] || size=100003
    for collective in allgather allreduce reducescatter alltoall; do
      run "$collective" allpairs "$gpus" "$channels" "$size" "$flit"
      if [ "$collective" != alltoall ] && [ "$gpus" -le 12 ]; then
        run "$collective" ring "$gpus" "$channels" "$size" "$flit"
      fi
    done
  done
done

# Every policy moves the same bytes.
mapfile -t policies < <(words placement.policy)
check 'policies to choose from' [ "${#policies[@]}" -gt 1 ]
for policy in "${policies[@]}" NAP-star; do
  for collective in allgather allreduce reducescatter alltoall; do
    for size in 0 1 257 30011; do
      run "$collective" allpairs 3 5 "$size" "$flit" --policy "$policy" --set placement.nar_domains=4
    done
    run "$collective" allpairs 1 2 4096 "$flit" --policy "$policy" --set placement.nar_domains=12
    run "$collective" allpairs 2 1 300000 "$flit" --policy "$policy" --set placement.nar_domains=2 \
      --background gemm:size=64
  done
done

# Beyond 2^31 bytes, in seconds: the largest flits and a fabric without hops.
if [ -z "$light" ]; then
  for gpus in 1 2 3; do
    for collective in allgather alltoall; do
      run "$collective" allpairs "$gpus" 8 2147483649 4096 --set noc.flit_size=4096B \
        --set noc.fabric=uniform
    done
  done
fi

# The comparisons themselves.
run allgather allpairs 3 1 1000 "$flit"
must_fail 'a missing byte is not seen' conserved "$tmp/out/links.csv" \
  $(($(expected allgather 3 1 1000 "$flit" | cut -d' ' -f3) - 1))
sed 's/,0\.[0-9]*,/,1.000001,/' "$tmp/out/links.csv" >"$tmp/busy.csv"
must_fail 'a link busier than time is not seen' conserved "$tmp/busy.csv" \
  "$(expected allgather 3 1 1000 "$flit" | cut -d' ' -f3)"
# By hand: 1000 bytes over 3 GPUs are blocks of 336, 336 and 328 bytes, two lines each.
check 'the closed form' same "$(expected allgather 3 1 1000 256)" "2000 12 $((2000 + 16 * (12 + 6)))"
check 'the closed form of alltoall' same "$(expected alltoall 3 1 1000 256)" \
  "1992 12 $((1992 + 16 * (12 + 6)))"

finish
