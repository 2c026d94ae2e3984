#!/bin/bash
# What the MMA study (arXiv 2512.16056) reports about host transfers: the targets of docs/validation.md as tolerances and
# inequalities; then errors, files and repeatability of `nunasim host`.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"
server=$root/configs/h20-server.yaml

# go FOLDER ARGS...: a run on the H20 server.
go() {
  local folder=$1
  shift
  "$nunasim" host --config "$server" --quiet --out "$folder" "$@"
}

# rate ARGS...: GB/s of the first transfer.
rate() {
  go run "$@"
  csv run/summary.csv bandwidth_GBps | head -n 1
}

holds() {
  awk "BEGIN { exit !($1) }"
}

within() { # VALUE TARGET PER_CENT
  holds "$1 >= $2 * (1 - $3 / 100) && $1 <= $2 * (1 + $3 / 100)"
}

check_within() { # WHAT VALUE TARGET PER_CENT
  check "$1: $2, target $3 +- $4 %" within "$2" "$3" "$4"
}

always=(--set host.fallback_h2d=0B --set host.fallback_d2h=0B)
gb=(--transfer h2d:1GB:gpu0)

# M1: one path, all paths, crossover.
native=$(rate "${gb[@]}" --engine native)
all=$(rate "${gb[@]}")
check_within 'M1 native' "$native" 53 3
check_within 'M1 1 GB' "$all" 245 8
[ -n "$light" ] || check_within 'M1 8 GB' "$(rate --transfer h2d:8GB:gpu0)" 245 8
check 'M1: native is faster at 7 MB' holds \
  "$(rate --transfer h2d:7MB:gpu0 "${always[@]}") < $(rate --transfer h2d:7MB:gpu0 --engine native)"
check 'M1: relays are faster at 16 MB' holds \
  "$(rate --transfer h2d:16MB:gpu0) > $(rate --transfer h2d:16MB:gpu0 --engine native)"
must_fail 'a bandwidth far off passes' within "$all" "$native" 8

# M2: grows up to six relays, which then carry as much as seven.
before=$(rate "${gb[@]}" --relays 0)
for relays in 1 2 3 4 5 6; do
  now=$(rate "${gb[@]}" --relays "$relays")
  check "M2: $relays relays, $now GB/s, against $before" holds "$now > 1.05 * $before"
  before=$now
done
check "M2: seven relays, $all GB/s, against $before" within "$all" "$before" 3
go run "${gb[@]}"
used() { # KIND NAME: utilisation
  awk -F, -v k="$1" -v n="$2" '$1 == k && $2 == n { print $6 }' run/links.csv
}
check 'M2: DMA reads across the sockets bind, not the link between them' holds \
  "$(used far_read 'socket 1') > 0.9 && $(used socket_link 'socket 0->1') < 0.3"
check 'M2: with a copy of the buffer on each socket the relays bind' holds \
  "$(rate "${gb[@]}" --buffer each) > 1.25 * $all"

# M3: the separate experiment, at the size that explains it.
check_within 'M3 seven relays' "$(rate --transfer h2d:256MB:gpu0)" 192.5 12
check_within 'M3 four relays' "$(rate --transfer h2d:256MB:gpu0 --relays 4)" 156.6 12
check_within 'M3 no relay' "$(rate --transfer h2d:256MB:gpu0 --relays 0)" "$(awk "BEGIN { print 0.94 * $native }")" 3
check_within 'M3 same socket' "$(rate "${gb[@]}" --set host.relay_scope=same-socket)" 180 5

# M4
for size in 64MB 1GB ${light:-8GB}; do
  [ "$size" != "$light" ] || continue
  check "M4: D2H below H2D at $size" holds "$(rate --transfer d2h:$size:gpu0) < $(rate --transfer h2d:$size:gpu0)"
done

if [ -z "$light" ]; then

# M5: chunks, both flanks; queue depth.
for d in h2d d2h; do
  middle=$(rate --transfer $d:512MB:gpu0 --chunk 2.81MB)
  for chunk in 0.5MB 1MB 32MB; do
    check "M5: $d, chunks of $chunk against 2.81 MB" holds "$(rate --transfer $d:512MB:gpu0 --chunk $chunk) < 0.95 * $middle"
  done
  for depth in 1 3 4 8; do
    check "M5: $d, depth $depth against 2" holds \
      "$(rate --transfer $d:512MB:gpu0 --chunk 2.81MB --depth $depth) < 1.01 * $middle"
  done
done

fi

# M6: native below 0.7 of the threshold, relays above 1.3 of it.
for edge in h2d:7.91MB:14.69MB d2h:9.1MB:16.9MB; do
  IFS=: read -r d low high <<<"$edge"
  check "M6: $d at $low" holds \
    "$(rate --transfer $d:$low:gpu0 "${always[@]}") < $(rate --transfer $d:$low:gpu0 --engine native)"
  check "M6: $d at $high" holds \
    "$(rate --transfer $d:$high:gpu0 "${always[@]}") > $(rate --transfer $d:$high:gpu0 --engine native)"
done

# M7: two relay paths, without and with traffic on one; two transfers.
two=("${gb[@]}" --relays gpu1,gpu2 --set host.direct=off)
for traffic in '' '--background h2d:gpu1'; do
  # shellcheck disable=SC2086 # words
  {
    even=$(rate "${two[@]}" --engine static --ratios 1:1 $traffic)
    skewed=$(rate "${two[@]}" --engine static --ratios 1:2 $traffic)
    pulled=$(rate "${two[@]}" $traffic)
  }
  better=$(awk "BEGIN { print ($even > $skewed ? $even : $skewed) }")
  check "M7: pulls $pulled, static $even and $skewed $traffic" holds "$pulled > 0.95 * $better"
  if [ -n "$traffic" ]; then
    check 'M7: with traffic 1:2 is the better one' holds "$skewed > 1.2 * $even"
  else
    check 'M7: without traffic 1:1 is the better one' holds "$even > 1.2 * $skewed"
  fi
done
go run "${gb[@]}" --transfer h2d:1GB:gpu1
while read -r one; do
  check "M7: each of two transfers, $one GB/s" holds "$one > 2 * $native"
done < <(csv run/summary.csv bandwidth_GBps)

if [ -z "$light" ]; then

# M8 and eight transfers at once.
eight=()
for g in 0 1 2 3 4 5 6 7; do eight+=(--transfer "h2d:1GB:gpu$g"); done
peer=(--background p2p:gpu0:gpu1)
free=$(rate --transfer p2p:4GB:gpu0:gpu1)
p2p() { # ARGS...: GB/s of the copy between GPUs beside the eight
  go run "${eight[@]}" "${peer[@]}" "$@"
  csv run/summary.csv bandwidth_GBps | sed -n 9p
}
with=$(p2p)
check "M8: direct priority, $with of $free GB/s" holds "$with > 0.98 * $free"
check "eight transfers gain nothing: $(csv run/summary.csv bandwidth_GBps | tr '\n' ' ')" \
  holds "$(csv run/summary.csv bandwidth_GBps | head -n 8 | sort -n | tail -n 1) < 1.01 * $native"
without=$(p2p --set host.direct_priority=off)
check "M8: without it, $without of $free GB/s" holds "$free - $without > 15 && $free - $without < 60"

fi

# M11
for relays in 3 7; do
  go run "${gb[@]}" --relays $relays
  check "M11: $relays relays, $(csv run/summary.csv cpu_cores) cores" within "$(csv run/summary.csv cpu_cores)" \
    "$(awk "BEGIN { print 8.2 * ($relays + 1) / 8 }")" 10
done

# Beside a collective: both are slower than alone.
pod=(--plan builtin:allgather --gpus 8 --size 2MB --set scaleup.port_rate=33GB/s --quiet)
"$nunasim" "${pod[@]}" --out alone
"$nunasim" "${pod[@]}" --out beside --transfer h2d:100MB:gpu0 --set collective.start=330us
check 'a transfer slows a collective down' holds \
  "$(csv beside/summary.csv time_ns) > 1.02 * $(csv alone/summary.csv time_ns)"
check 'the collective moves the same bytes' same "$(csv beside/summary.csv bytes_delivered)" \
  "$(csv alone/summary.csv bytes_delivered)"
check 'the transfer is whole' same "$(csv beside/transfers.csv bytes status)" '100000000 ok'
sum() { # KIND: bytes of all such links
  awk -F, -v k="$1" '$1 == k { sum += $4 } END { print sum }' beside/host_links.csv
}
check 'every byte of it is carried once' same "$(sum dram) $(sum pcie_down)" '100000000 100000000'
check 'what is relayed crosses the ports' holds "$(sum ports_out) > 0 && $(sum ports_out) == $(sum ports_in)"
"$nunasim" "${pod[@]}" --out later --transfer d2h:1MB:gpu0,start=900us --set collective.start=10us
check 'a transfer that comes later does not' same "$(csv later/summary.csv time_ns)" \
  "$(csv alone/summary.csv time_ns)"

# ---- files ----

go out "${gb[@]}" --transfer d2h:100MB:gpu5 --background h2d:gpu7
check 'files' same "$(ls out)" $'config.yaml\nlinks.csv\npaths.csv\nsummary.csv\nutilisation.csv'
for file in out/*.csv beside/transfers.csv beside/host_links.csv; do
  check "rows of $file" csv_regular "$file"
  while IFS= read -r column; do
    check "docs/output.md explains \`$column\`" grep -q "\`$column\`" "$root/docs/output.md"
  done < <(head -n 1 "$file" | tr ',' '\n')
done
check 'utilisations are shares' awk -F, 'NR > 1 && ($5 < 0 || $5 > 1) { bad = 1 } END { exit bad || NR < 100 }' \
  out/utilisation.csv
check 'paths add up' same "$(awk -F, '$1 == 0 { sum += $4 } END { print sum }' out/paths.csv)" 1000000000
"$nunasim" host --config out/config.yaml --quiet --out again "${gb[@]}" --transfer d2h:100MB:gpu5 --background h2d:gpu7
check 'the effective configuration repeats the run' diff out/summary.csv again/summary.csv
go sweep "${gb[@]}" --sweep-size 1KB:100kB
check 'a sweep ends with its last size' same "$(csv sweep/summary.csv bytes | tr '\n' ' ')" \
  '1000 2000 4000 8000 16000 32000 64000 100000 '

"$nunasim" host --config "$server" --quiet --out out "${gb[@]}" --sweep-size 1KB:2KB
check 'a sweep leaves no tables of an earlier run' same "$(ls out | tr '\n' ' ')" 'config.yaml summary.csv '

# A number in the head is followed by the noun that fits it.
check 'one GPU on one socket' grep -q '^server    1 GPU on 1 socket, ' \
  <("$nunasim" host --transfer h2d:1MB:gpu0 --set pod.gpus=1 --set host.sockets=1 --set host.relays=0)

# ---- the same bytes from any number of threads, and from other compilers ----

scene=("${gb[@]}" --transfer d2h:300MB:gpu5 --transfer p2p:50MB:gpu2:gpu6 --background h2d:gpu3 --buffer interleaved)
go first "${scene[@]}"
for threads in 2 4; do
  go other "${scene[@]}" --threads $threads
  check "$threads threads" diff -r first other
done
for other in ${NUNASIM_OTHERS:-}; do
  rm -rf other
  "$other" host --config "$server" --quiet --out other "${scene[@]}"
  check "$other" diff -r first other
done
go other "${scene[@]}" --set host.pcie_latency=500.001ns
must_fail 'a picosecond is not seen' diff -r first other
"$nunasim" "${pod[@]}" --out other --transfer h2d:100MB:gpu0 --set collective.start=330us --threads 3
check 'threads beside a collective' diff other/transfers.csv beside/transfers.csv
check 'threads beside a collective: host links' diff other/host_links.csv beside/host_links.csv
check 'threads beside a collective: links' diff other/links.csv beside/links.csv

# ---- wrong input: code 2, the message, and no files ----

wrong() { # MESSAGE ARGS...
  local message=$1 code=0
  shift
  rm -rf none
  "$nunasim" host --config "$server" --out none "$@" >/dev/null 2>log || code=$?
  check "exit code of $*: $code" same "$code" 2
  check "message of $*: $(cat log)" same "$(cat log)" "nunasim: error: $message"
  check "no files from $*" test ! -e none
}
form='expected h2d:SIZE:GPU, d2h:SIZE:GPU or p2p:SIZE:GPU:GPU, such as h2d:1GB:gpu0'
wrong '--transfer is missing: expected one such as h2d:1GB:gpu0'
wrong '--transfer h2d:1GB:gpu8: "gpu8" is no GPU of this server, expected gpu0 to gpu7' --transfer h2d:1GB:gpu8
wrong '--transfer h2d:0B:gpu0: there is nothing to transfer, expected 1B to 16TiB' --transfer h2d:0B:gpu0
wrong '--transfer h2d:1:gpu0: "1" has no unit; expected a size with a unit, such as 256B or 1MiB' --transfer h2d:1:gpu0
wrong "--transfer h2h:1GB:gpu0: this is no transfer, $form" --transfer h2h:1GB:gpu0
wrong "--transfer h2d:1GB: the GPU is missing, $form" --transfer h2d:1GB
wrong '--transfer p2p:1GB:gpu1:gpu1: both GPUs are the same, expected two GPUs' --transfer p2p:1GB:gpu1:gpu1
wrong '--relays: gpu0 is the target of a transfer, expected other GPUs as relays' "${gb[@]}" --relays gpu0,gpu1
wrong '--relays: gpu2 is the source of a transfer, expected other GPUs as relays' --transfer d2h:1GB:gpu2 --relays gpu2
wrong '--relays 8: expected at most 7, the GPUs without the target' "${gb[@]}" --relays 8
for relays in gpu1 gpu1,gpu2 3; do
  wrong '--relays: the native engine relays nothing, expected --engine static or mma with them' \
    "${gb[@]}" --relays $relays --engine native
done
wrong '--ratios: 3 shares, but the transfer of gpu0 has 2 paths (its own link, then its relays), expected one share for each' \
  "${gb[@]}" --relays 1 --engine static --ratios 1:2:3
wrong '--ratios: only the static engine divides transfers, expected --engine static with them' "${gb[@]}" --ratios 1:2
wrong '--ratios 0:0: all shares are 0, expected one that is not' "${gb[@]}" --relays 1 --engine static --ratios 0:0
wrong '--ratios 1:x: expected whole numbers up to 1000000 between colons, one for each path, such as 1:2' \
  "${gb[@]}" --relays 1 --engine static --ratios 1:x
wrong 'host.direct: off leaves the transfer of gpu0 without a path, expected a relay (--relays)' \
  "${gb[@]}" --relays 0 --set host.direct=off
wrong 'host.sockets: 3 sockets do not divide 8 GPUs (pod.gpus), expected the same number of GPUs on every socket' \
  "${gb[@]}" --set host.sockets=3
wrong '--sweep-size 8GB:1KB: expected FROM:TO, such as 1KB:8GB, from 1B to 16TiB' "${gb[@]}" --sweep-size 8GB:1KB
wrong '--relays: gpu0 is the target of a transfer, expected other GPUs as relays' --transfer h2d:1kB:gpu0 --relays gpu0 \
  --sweep-size 1kB:64MB
wrong 'host.direct: off leaves the transfer of gpu0 without a path, expected a relay (--relays)' \
  --transfer h2d:1kB:gpu0 --relays 0 --set host.direct=off --sweep-size 8MB:64MB
wrong '--relays: gpu4 is on another socket than gpu0, expected relays on its own (host.relay_scope: same-socket)' \
  "${gb[@]}" --relays gpu1,gpu4 --set host.relay_scope=same-socket
wrong '--background h2d:gpu1,stream=1: something follows that background traffic does not know, expected start=TIME' \
  "${gb[@]}" --background h2d:gpu1,stream=1
wrong '--chunk 0B: host.chunk_size: "0B" is out of range; expected 1kB to 1TiB' "${gb[@]}" --chunk 0B

finish
