#!/bin/bash
# Figures 9 to 14 of the NUNA study (arXiv 2608.00867): one CSV and one plot (SVG, PNG) each.
#   figures/nuna.sh [--full|--quick] [--only 9,11] [OUT]     default OUT: out/figures-nuna
# Fast points by default (minutes); --full is the whole matrix of figure 9: 7 configurations, 3 collectives, 6 pods,
# 100 kB to 1 GB (under an hour on two cores); --quick leaves of it what takes seconds. Stopped runs are resumed.
# NUNASIM: the program; JOBS: runs side by side.
set -euo pipefail
full= quick=
only=9,10,11,12,13,14
out=out/figures-nuna
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

collectives="allgather allreduce alltoall"
pods="2 4 8 16 32 64"
[ -z "$quick" ] || { collectives=allgather pods=8; }
routed="UA UA+NAR NUMA+NAR NAP+NAR"
[ -z "$full" ] || routed="UA UA+NAR NUMA NUMA+NAR NAP* NAP NAP+NAR"
all="UA UA+NAR NUMA NUMA+NAR NAP* NAP*+NAR NAP NAP+NAR"
sizes9() { # of a pod
  local sizes="100kB 1MB"
  [ -n "$quick" ] || [ -z "$full$([ "$1" -gt 4 ] || echo small)" ] || sizes+=" 10MB"
  echo "$sizes"
}
large9=
[ -z "$full" ] || large9="100MB 1GB"
sizes12="100kB 300kB 1MB 3MB 10MB 30MB 100MB"
[ -z "$quick" ] || sizes12="100kB 1MB"
[ -z "$full" ] || sizes12+=" 300MB 1GB"
gemm_sizes="0 100 150 200 250 300 350 400 500 600 700 800 1000"
[ -z "$full" ] || gemm_sizes+=" 1500 2000 3000"

set -f # NAP* is a name
if wanted 9; then
  for c in $collectives; do for g in $pods; do for s in $(sizes9 "$g"); do for p in $routed; do
    add_best "9-$c-$g-$s-$p" "$g" "$c" --size "$s" --policy "$p"
  done; done; done; done
  # From 100 MB on: the threadblocks and domains that were best at 10 MB among those that fold.
  [ -z "$large9" ] || run_all
  for s in $large9; do for c in $collectives; do for g in $pods; do for p in $routed; do
    read -r _ channels domains <<<"$(best "9-$c-$g-10MB-$p" "$g" 4)"
    nar=() fold=auto
    [ -n "$channels" ] || { read -r _ channels domains <<<"$(best "9-$c-$g-10MB-$p" "$g")"; fold=approx; }
    [[ $p != *NA[RP]* ]] || nar=(--nar "$domains")
    add "9-$c-$g-$s-$p-c$channels" --plan "builtin:$c,channels=$channels" --gpus "$g" --size "$s" --policy "$p" \
      --fold "$fold" "${nar[@]}"
  done; done; done; done
fi
if wanted 10; then
  add 10-UA --plan builtin:allgather,channels=8 --gpus 8 --size 1MB --policy UA
  add 10-NAP+NAR --plan builtin:allgather,channels=8 --gpus 8 --size 1MB --policy NAP+NAR --nar 12
fi
if wanted 11; then
  for s in 100kB 10MB; do for p in $all; do
    add_best "11-$s-$p" 8 allgather --size "$s" --policy "$p"
  done; done
fi
if wanted 12; then
  for s in $sizes12; do for p in UA NAP+NAR; do
    add_best "12-$s-$p" 2 allgather --size "$s" --policy "$p"
  done; done
fi
if wanted 13; then
  for c in 144 1; do
    add "13-$c-1" --plan "builtin:allgather,channels=$c" --gpus 8 --size 1MB --policy UA
    for d in 2 3 4 6 12; do
      add "13-$c-$d" --plan "builtin:allgather,channels=$c" --gpus 8 --size 1MB --policy UA+NAR --nar "$d"
    done
  done
fi
if wanted 14; then
  for n in $gemm_sizes; do
    add "14-UA-$n" --plan builtin:allgather,channels=8 --gpus 8 --size 1MB --policy UA --background "gemm:size=$n"
    add "14-NAP+NAR-$n" --plan builtin:allgather,channels=8 --gpus 8 --size 1MB --policy NAP+NAR --nar 4 \
      --background "gemm:size=$n"
  done
fi
run_all

if wanted 9; then
  echo "collective,gpus,size,policy,time_ns,channels,nar_domains,speedup,simulated_gpus,exactness" >"$out/fig9.csv"
  for c in $collectives; do for g in $pods; do for s in $(sizes9 "$g") $large9; do
    read -r base _ _ <<<"$(best "9-$c-$g-$s-UA" "$g")"
    for p in $routed; do
      read -r time channels domains <<<"$(best "9-$c-$g-$s-$p" "$g")"
      id=9-$c-$g-$s-$p-c$channels
      echo "$c,$g,$s,$p,$time,$channels,$domains,$(ratio "$base" "$time"),$(value "$id" simulated_gpus),$(
        value "$id" exactness)" >>"$out/fig9.csv"
    done
  done; done; done
  # One row per point, one column per policy but UA.
  awk -F, -v policies="${routed#UA }" 'NR > 1 { key = $1 " " $2 " " $3; if (!(key in seen)) order[++n] = key; seen[key]; s[key, $4] = $8 }
    END { m = split(policies, p, " "); for (i = 1; i <= n; i++) { row = order[i]; for (k = 1; k <= m; k++) row = row "," s[order[i], p[k]]; print row } }' \
    "$out/fig9.csv" >"$out/fig9-wide.csv"
  bars='' column=2
  for p in ${routed#UA }; do
    bars+="${bars:+, }out.'/fig9-wide.csv' using $column:xtic(1) title '$p'"
    column=$((column + 1))
  done
  plot fig9 "set style data histogram; set style fill solid; set xtics rotate by -70 font ',6'; set yrange [0:2.2]; set ylabel 'speedup over UA'; set title 'Figure 9: collectives, pods, sizes'; plot $bars"
fi
if wanted 10; then
  echo "policy,latency_ns,stores" >"$out/fig10.csv"
  for p in UA NAP+NAR; do
    awk -F, -v p="$p" 'NR > 1 { bin = int($1 / 20) * 20; n[bin] += $3; if (bin > last) last = bin }
      END { for (b = 0; b <= last; b += 20) if (n[b]) print p "," b "," n[b] }' \
      "$out/runs/10-$p/store_latency.csv" >>"$out/fig10.csv"
  done
  plot fig10 "set style data boxes; set style fill transparent solid 0.5; set boxwidth 20; set xlabel 'one-way latency of a remote store, ns'; set ylabel 'stores'; set title 'Figure 10: 8 GPUs, 1 MB all-gather'; plot csv using (strcol(1) eq 'UA' ? \$2 : 1/0):3 title 'UA', csv using (strcol(1) eq 'NAP+NAR' ? \$2 : 1/0):3 title 'NAP+NAR'"
fi
if wanted 11; then
  echo "policy,speedup_100kB,speedup_10MB,time_100kB_ns,time_10MB_ns" >"$out/fig11.csv"
  read -r base1 _ _ <<<"$(best 11-100kB-UA 8)"
  read -r base2 _ _ <<<"$(best 11-10MB-UA 8)"
  for p in $all; do
    read -r one _ _ <<<"$(best "11-100kB-$p" 8)"
    read -r two _ _ <<<"$(best "11-10MB-$p" 8)"
    echo "$p,$(ratio "$base1" "$one"),$(ratio "$base2" "$two"),$one,$two" >>"$out/fig11.csv"
  done
  plot fig11 "set style data histogram; set style fill solid; set yrange [0:*]; set ylabel 'speedup over UA'; set title 'Figure 11: techniques alone, 8-GPU all-gather'; plot csv using 2:xtic(1) skip 1 title '100 kB', '' using 3 skip 1 title '10 MB'"
fi
if wanted 12; then
  echo "size,size_bytes,speedup,utilisation_NAP+NAR,time_UA_ns,time_NAP+NAR_ns" >"$out/fig12.csv"
  for s in $sizes12; do
    read -r base _ _ <<<"$(best "12-$s-UA" 2)"
    read -r time channels _ <<<"$(best "12-$s-NAP+NAR" 2)"
    id=12-$s-NAP+NAR-c$channels
    used=$(awk -F, '$2 == "port" { u += $6; n++ } END { printf "%.4f", u / n }' "$out/runs/$id/links.csv")
    echo "$s,$(value "$id" size_bytes),$(ratio "$base" "$time"),$used,$base,$time" >>"$out/fig12.csv"
  done
  plot fig12 "set logscale x; set y2tics; set ytics nomirror; set xlabel 'size, bytes'; set ylabel 'speedup of NAP+NAR over UA'; set y2label 'utilisation of the ports'; set y2range [0:1]; set title 'Figure 12: 2-GPU all-gather'; plot csv using 2:3 skip 1 with linespoints title 'speedup', csv using 2:4 skip 1 axes x1y2 with linespoints title 'utilisation'"
fi
if wanted 13; then
  echo "domains,speedup_1008_threadblocks,speedup_7_threadblocks" >"$out/fig13.csv"
  for d in 2 3 4 6 12; do
    echo "$d,$(ratio "$(value 13-144-1 time_ns)" "$(value "13-144-$d" time_ns)"),$(ratio "$(value 13-1-1 time_ns)" "$(value "13-1-$d" time_ns)")" >>"$out/fig13.csv"
  done
  plot fig13 "set style data histogram; set style fill solid; set yrange [0:*]; set xlabel 'NAR domains'; set ylabel 'speedup of UA+NAR over UA'; set title 'Figure 13: NAR granularity, 8-GPU 1 MB all-gather'; plot csv using 2:xtic(1) skip 1 title '1,008 threadblocks', '' using 3 skip 1 title '7 threadblocks'"
fi
if wanted 14; then
  echo "gemm_size,relative_UA,relative_NAP+NAR,time_UA_ns,time_NAP+NAR_ns" >"$out/fig14.csv"
  base=$(value 14-UA-0 time_ns)
  for n in $gemm_sizes; do
    one=$(value "14-UA-$n" time_ns)
    two=$(value "14-NAP+NAR-$n" time_ns)
    echo "$n,$(ratio "$one" "$base"),$(ratio "$two" "$base"),$one,$two" >>"$out/fig14.csv"
  done
  plot fig14 "set xlabel 'rows and columns of the matrices'; set ylabel 'time relative to UA alone'; set title 'Figure 14: 8-GPU 1 MB all-gather beside a 100-tile GEMM'; plot csv using 1:2 skip 1 with linespoints title 'UA', csv using 1:3 skip 1 with linespoints title 'NAP+NAR'"
fi
echo "$out: $(ls "$out" | grep -c csv) CSV files and their plots" >&2
