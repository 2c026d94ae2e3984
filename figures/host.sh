#!/bin/bash
# Figures 7 to 11, 13 (transfers alone) and 14 to 16, and table 2, of the MMA study (arXiv 2512.16056), and
# what the place of the host buffer does, and what a transfer and a collective cost each other: one CSV and one plot (SVG,
# PNG) each. Takes about four minutes on two cores.
#   figures/host.sh [--only 7,8] [OUT]     default OUT: out/figures-host
# Stopped runs are resumed. NUNASIM: the program; JOBS: runs side by side.
set -euo pipefail
only=7,8,9,10,11,13,14,15,16,table2,buffer,beside
out=out/figures-host
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
verb=host

server="--config $here/../configs/h20-server.yaml"
always="--set host.fallback_h2d=0B --set host.fallback_d2h=0B" # mma at every size

# go ID ARGS...: a run on the server.
go() {
  local id=$1 config=
  shift
  [ -z "$verb" ] || config=$server
  # shellcheck disable=SC2086
  add "$id" $config "$@"
}

# nth ID ROW COLUMN: of the run's summary.csv.
nth() {
  value "$1" "$3" | sed -n "$2p"
}

# mean NUMBERS on standard input
mean() {
  awk '{ sum += $1; n++ } END { if (n) printf "%.3f", sum / n }'
}

directions="h2d d2h"
chunks="0.5MB 1MB 1.4MB 2MB 2.81MB 4MB 5.37MB 8MB 11MB 16MB 32MB"
depths="1 2 3 4 8"
# The end of a transfer depends on how its size divides into chunks; the mean over sizes around 512 MB
# does not.
around="448 459 464 471 480 487 496 503 512 523 528 537 544 551 560 571"
thresholds="7 7.5 8 8.5 9 9.5 10 10.5 11 11.5 12 12.5 13 13.5 14 14.5 15 16 17"
eight=
for g in 0 1 2 3 4 5 6 7; do eight+=" --transfer h2d:1GB:gpu$g"; done

# Matrices of the models' weights, "COUNT BYTES" each: embedding, fused projections, output, gate and up, down.
tensors() {
  case $1 in
    Qwen3-0.6B) echo "1 311164928 28 8388608 28 4194304 28 12582912 28 6291456" ;;
    Qwen3-4B) echo "1 777912320 36 31457280 36 20971520 36 99614720 36 49807360" ;;
    Qwen-7B-Chat) echo "2 1244659712 32 100663296 32 33554432 32 180355072 32 90177536" ;;
    Qwen3-32B) echo "2 1555824640 64 104857600 64 83886080 64 524288000 64 262144000" ;;
  esac
}
models="Qwen3-0.6B Qwen3-4B Qwen-7B-Chat Qwen3-32B"

if wanted 7; then
  for d in $directions; do for e in native mma; do
    go "7-$d-$e" --transfer "$d:1GB:gpu0" --engine $e --sweep-size 1KB:8GB $always
  done; done
fi
if wanted 8 || wanted 11; then
  for d in $directions; do for r in 0 1 2 3 4 5 6 7; do
    go "8-$d-$r" --transfer "$d:1GB:gpu0" --relays $r
  done; done
fi
if wanted 9; then
  go 9-alone --transfer h2d:1GB:gpu0
  go 9-background --transfer h2d:1GB:gpu0 --background h2d:gpu3
  for q in shared per-transfer; do for g in 1 4; do
    go "9-two-$q-$g" --transfer h2d:1GB:gpu0 --transfer h2d:1GB:gpu$g --set host.task_queue=$q
  done; done
fi
if wanted 10; then
  for b in no yes; do
    traffic=
    [ $b = no ] || traffic="--background h2d:gpu1"
    go "10-$b-native" --transfer h2d:1GB:gpu0 --engine native ${traffic/gpu1/gpu0}
    for s in 1:1 1:2; do
      go "10-$b-$s" --transfer h2d:1GB:gpu0 --relays gpu1,gpu2 --set host.direct=off --engine static --ratios $s $traffic
    done
    go "10-$b-mma" --transfer h2d:1GB:gpu0 --relays gpu1,gpu2 --set host.direct=off $traffic
  done
fi
if wanted 13; then
  for m in $models; do
    read -ra matrices <<<"$(tensors "$m")"
    for ((i = 1; i < ${#matrices[@]}; i += 2)); do for d in $directions; do for e in native mma; do
      go "13-$d-$e-${matrices[i]}" --transfer "$d:${matrices[i]}B:gpu0" --engine $e --set host.copies=sync
    done; done; done
  done
fi
if wanted 14; then
  for s in 128MB 256MB 512MB 1GB; do
    go "14-$s-native" --transfer h2d:$s:gpu0 --engine native
    for r in 0 1 2 3 4 5 6 7; do go "14-$s-$r" --transfer h2d:$s:gpu0 --relays $r; done
    go "14-$s-same" --transfer h2d:$s:gpu0 --set host.relay_scope=same-socket
  done
fi
if wanted 15; then
  for d in $directions; do for s in $around; do
    for c in $chunks; do go "15-$d-$c-2-$s" --transfer "$d:${s}MB:gpu0" --chunk $c; done
    for q in $depths; do go "15-$d-2.81MB-$q-$s" --transfer "$d:${s}MB:gpu0" --chunk 2.81MB --depth $q; done
  done; done
fi
if wanted 16; then
  for d in $directions; do for s in $thresholds; do for e in native mma; do
    go "16-$d-$e-$s" --transfer "$d:${s}MB:gpu0" --engine $e --chunk 5MB $always
  done; done; done
fi
if wanted table2; then
  go table2-alone --transfer p2p:4GB:gpu0:gpu1
  go table2-native $eight --background p2p:gpu0:gpu1 --engine native
  go table2-priority $eight --background p2p:gpu0:gpu1
  go table2-none $eight --background p2p:gpu0:gpu1 --set host.direct_priority=off
fi
if wanted buffer; then
  for d in $directions; do for b in target other interleaved each; do for r in 3 4 5 6 7; do
    go "buffer-$d-$b-$r" --transfer "$d:8GB:gpu0" --buffer $b --relays $r
  done; done; done
fi
# A collective of 8 MB at many moments of a transfer, and a long one beside it, on ports with an H20's 396 GB/s.
pod="--config $here/../configs/pod8.yaml --set scaleup.port_rate=33GB/s --plan builtin:allgather"
starts="200 275 350 425 500 575 650 725 800"
policies="UA UA+NAR NAP+NAR"
nar() {
  [ "$1" = UA ] || echo "--nar 12"
}
if wanted beside; then
  # shellcheck disable=SC2034 # of lib.sh
  sort -u -o "$list" "$list"
  run_all
  verb=
  for p in $policies; do
    # shellcheck disable=SC2046
    {
      go "beside-$p-alone" $pod --size 8MB --policy $p $(nar $p)
      for s in $starts; do
        go "beside-$p-$s" $pod --size 8MB --policy $p $(nar $p) --transfer h2d:200MB:gpu0 --set collective.start=${s}us
      done
      go "beside-$p-long" $pod --size 64MB --policy $p $(nar $p) --transfer h2d:200MB:gpu0 --set collective.start=200us
    }
  done
  go beside-transfer $pod --size 0B --transfer h2d:200MB:gpu0
  run_all
  verb=host
fi
# Two points of a figure may be one run.
sort -u -o "$list" "$list"
run_all

if wanted 7; then
  echo "bytes,native_h2d,mma_h2d,native_d2h,mma_d2h" >"$out/fig7.csv"
  paste -d, <(value 7-h2d-native bytes) <(value 7-h2d-native bandwidth_GBps) <(value 7-h2d-mma bandwidth_GBps) \
    <(value 7-d2h-native bandwidth_GBps) <(value 7-d2h-mma bandwidth_GBps) >>"$out/fig7.csv"
  plot fig7 "set logscale x; set key left; set xlabel 'bytes'; set ylabel 'GB/s'; set title 'Figure 7: bandwidth over size, no fallback'; plot for [i=2:5] csv using 1:i with linespoints title columnheader(i)"
fi
if wanted 8; then
  echo "relays,h2d,d2h" >"$out/fig8.csv"
  for r in 0 1 2 3 4 5 6 7; do
    echo "$r,$(value 8-h2d-$r bandwidth_GBps),$(value 8-d2h-$r bandwidth_GBps)" >>"$out/fig8.csv"
  done
  plot fig8 "set yrange [0:*]; set key left; set xlabel 'relays'; set ylabel 'GB/s'; set title 'Figure 8: relays, 1 GB'; plot for [i=2:3] csv using 1:i with linespoints title columnheader(i)"
fi
if wanted 9; then
  echo "scene,first,second" >"$out/fig9.csv"
  {
    echo "alone,$(value 9-alone bandwidth_GBps),"
    echo "native beside on gpu3,$(nth 9-background 1 bandwidth_GBps),$(nth 9-background 2 bandwidth_GBps)"
    for q in shared per-transfer; do for g in 1 4; do
      echo "gpu0 and gpu$g $q,$(nth 9-two-$q-$g 1 bandwidth_GBps),$(nth 9-two-$q-$g 2 bandwidth_GBps)"
    done; done
  } >>"$out/fig9.csv"
  cp "$out/runs/9-background/paths.csv" "$out/fig9-paths.csv"
  plot fig9 "set style data histogram; set style fill solid; set yrange [0:*]; set xtics rotate by -20; set ylabel 'GB/s'; set title 'Figure 9: coexistence, 1 GB each'; plot for [i=2:3] csv using i:xtic(1) title columnheader(i)"
fi
if wanted 10; then
  echo "engine,quiet,with_background" >"$out/fig10.csv"
  for e in native 1:1 1:2 mma; do
    echo "$e,$(nth "10-no-$e" 1 bandwidth_GBps),$(nth "10-yes-$e" 1 bandwidth_GBps)" >>"$out/fig10.csv"
  done
  plot fig10 "set style data histogram; set style fill solid; set yrange [0:*]; set ylabel 'GB/s'; set title 'Figure 10: two relay paths'; plot for [i=2:3] csv using i:xtic(1) title columnheader(i)"
fi
if wanted 11; then
  echo "gpus,cores_h2d,cores_d2h" >"$out/fig11.csv"
  for r in 0 1 2 3 4 5 6 7; do
    echo "$((r + 1)),$(value 8-h2d-$r cpu_cores),$(value 8-d2h-$r cpu_cores)" >>"$out/fig11.csv"
  done
  plot fig11 "set yrange [0:*]; set key left; set xlabel 'GPUs whose links are in use'; set ylabel 'busy cores'; set title 'Figure 11: CPU time'; plot for [i=2:3] csv using 1:i with linespoints title columnheader(i)"
fi
if wanted 13; then
  echo "model,GB,sleep_native_ms,sleep_mma_ms,wake_native_ms,wake_mma_ms,sleep_change,wake_change" >"$out/fig13.csv"
  for m in $models; do
    read -ra matrices <<<"$(tensors "$m")"
    bytes=0
    declare -A ns=()
    for ((i = 0; i < ${#matrices[@]}; i += 2)); do
      bytes=$((bytes + matrices[i] * matrices[i + 1]))
      for d in $directions; do for e in native mma; do
        one=$(value "13-$d-$e-${matrices[i + 1]}" time_ns)
        ns[$d-$e]=$(awk -v s="${ns[$d-$e]:-0}" -v n="${matrices[i]}" -v t="$one" 'BEGIN { printf "%.3f", s + n * t }')
      done; done
    done
    awk -v m="$m" -v b="$bytes" -v a="${ns[d2h-native]}" -v c="${ns[d2h-mma]}" -v d="${ns[h2d-native]}" -v e="${ns[h2d-mma]}" 'BEGIN {
      printf "%s,%.2f,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f\n", m, b / 1e9, a / 1e6, c / 1e6, d / 1e6, e / 1e6, c / a - 1, e / d - 1 }' >>"$out/fig13.csv"
  done
  plot fig13 "set style data histogram; set style fill solid; set yrange [0:*]; set key left; set ylabel 'ms'; set title 'Figure 13: transfers of sleep and wake-up'; plot for [i=3:6] csv using i:xtic(1) title columnheader(i)"
fi
if wanted 14; then
  echo "relays,128MB,256MB,512MB,1GB,relative_256MB" >"$out/fig14.csv"
  for r in 0 1 2 3 4 5 6 7 same; do
    line=$r
    for s in 128MB 256MB 512MB 1GB; do line+=,$(value "14-$s-$r" bandwidth_GBps); done
    echo "$line,$(ratio "$(value "14-256MB-$r" bandwidth_GBps)" "$(value 14-256MB-native bandwidth_GBps)")" >>"$out/fig14.csv"
  done
  plot fig14 "set style data linespoints; set yrange [0:*]; set key left; set xlabel 'relays'; set ylabel 'GB/s'; set title 'Figure 14: peer paths, by size'; plot for [i=2:5] csv using 0:i:xtic(1) title columnheader(i)"
fi
if wanted 15; then
  echo "chunk_MB,h2d_512MB,d2h_512MB,h2d_mean,d2h_mean" >"$out/fig15.csv"
  echo "depth,h2d_512MB,d2h_512MB,h2d_mean,d2h_mean" >"$out/fig15-depth.csv"
  line15() { # CHUNK DEPTH
    local d s
    for d in $directions; do printf ',%s' "$(value "15-$d-$1-$2-512" bandwidth_GBps)"; done
    for d in $directions; do
      printf ',%s' "$(for s in $around; do value "15-$d-$1-$2-$s" bandwidth_GBps; done | mean)"
    done
    echo
  }
  for c in $chunks; do echo "${c%MB}$(line15 "$c" 2)" >>"$out/fig15.csv"; done
  for q in $depths; do echo "$q$(line15 2.81MB "$q")" >>"$out/fig15-depth.csv"; done
  plot fig15 "set logscale x 2; set yrange [0:*]; set key bottom; set xlabel 'chunk, MB'; set ylabel 'GB/s'; set title 'Figure 15: chunk size, 512 MB, and the mean around it'; plot for [i=2:5] csv using 1:i with linespoints title columnheader(i)"
fi
if wanted 16; then
  echo "size_MB,native_h2d,mma_h2d,native_d2h,mma_d2h" >"$out/fig16.csv"
  for s in $thresholds; do
    line=$s
    for d in $directions; do for e in native mma; do line+=,$(value "16-$d-$e-$s" bandwidth_GBps); done; done
    echo "$line" >>"$out/fig16.csv"
  done
  # Break-even: from there on mma stays ahead; between the points, on a straight line.
  awk -F, 'BEGIN { print "direction,threshold_MB" } NR > 1 { for (k = 0; k < 2; k++) {
      gain = $(3 + 2 * k) - $(2 + 2 * k)
      if (gain < 0) at[k] = ""
      else if (at[k] == "") at[k] = last[k] < 0 ? before + (last[k] / (last[k] - gain)) * ($1 - before) : $1
      last[k] = gain } before = $1 }
    END { printf "h2d,%.2f\nd2h,%.2f\n", at[0], at[1] }' "$out/fig16.csv" >"$out/fig16-thresholds.csv"
  plot fig16 "set yrange [0:*]; set key left; set xlabel 'MB'; set ylabel 'GB/s'; set title 'Figure 16: break-even, chunks of 5 MB'; plot for [i=2:5] csv using 1:i with linespoints title columnheader(i)"
fi
if wanted table2; then
  {
    echo "scene,p2p_GBps,h2d_GBps"
    echo "alone,$(nth table2-alone 1 bandwidth_GBps),"
    for s in native priority none; do
      echo "$s,$(nth table2-$s 9 bandwidth_GBps),$(value table2-$s bandwidth_GBps | head -n 8 | mean)"
    done
  } >"$out/table2.csv"
fi
if wanted buffer; then
  echo "relays,direction,target,other,interleaved,each" >"$out/buffer.csv"
  for d in $directions; do for r in 3 4 5 6 7; do
    line=$r,$d
    for b in target other interleaved each; do line+=,$(value "buffer-$d-$b-$r" bandwidth_GBps); done
    echo "$line" >>"$out/buffer.csv"
  done; done
  plot buffer "set yrange [0:*]; set key left; set xlabel 'relays'; set ylabel 'GB/s'; set title 'The place of the host buffer, H2D, 8 GB'; plot for [i=3:6] csv using 1:(strcol(2) eq 'h2d' ? column(i) : 1/0) with linespoints title columnheader(i)"
fi
if wanted beside; then
  moved() { # RUN: time of its transfer
    awk -f "$here/../tools/csv.awk" -v mode=pick -v names=time_ns "$out/runs/$1/transfers.csv"
  }
  {
    echo "policy,alone_ns,beside_mean_ns,beside_max_ns,slowdown_mean,slowdown_max,transfer_alone_ns,transfer_beside_64MB_ns"
    for p in $policies; do
      alone=$(value "beside-$p-alone" time_ns)
      all=$(for s in $starts; do value "beside-$p-$s" time_ns; done)
      most=$(sort -g <<<"$all" | tail -n 1)
      half=$(mean <<<"$all")
      echo "$p,$alone,$half,$most,$(ratio "$half" "$alone"),$(ratio "$most" "$alone"),$(moved beside-transfer),$(moved "beside-$p-long")"
    done
  } >"$out/beside.csv"
  plot beside "set style data histogram; set style fill solid; set yrange [0:*]; set ylabel 'ns'; set title 'All-gather of 8 MB, alone and beside a transfer of 200 MB through seven relays'; plot for [i=2:4] csv using i:xtic(1) title columnheader(i)"
fi
echo "$out: $(ls "$out" | grep -c csv) CSV files and their plots" >&2
