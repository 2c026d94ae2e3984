#!/bin/bash
# Figures 4 to 11 of the reverse translation study (arXiv 2604.02473), what the two mitigations that it proposes gain
# (figure m), and reverse translation on the multi-die GPU of the NUNA study (figure x): one CSV and one plot (SVG,
# PNG) each.
#   figures/reverse-translation.sh [--full|--quick] [--only 4,6,m] [OUT]     default OUT: out/figures-reverse-translation
# Fast points by default (a quarter of an hour); --full goes up to 4 GB for every pod, --quick takes
# seconds. Stopped runs are resumed.
# NUNASIM: the program; JOBS: runs side by side.
set -euo pipefail
full= quick=
only=4,5,6,7,8,9,10,11,m,x
out=out/figures-reverse-translation
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
configs=$here/../configs
plan=builtin:alltoall,own=apart

pods="8 16 32 64"
sizes4() { # of a pod
  local sizes="1MB 2MB 4MB 8MB 16MB 32MB 64MB"
  [ "$1" -gt 16 ] || sizes+=" 256MB"
  [ -z "$quick" ] || sizes="1MB 4MB"
  [ -z "$full" ] || sizes="1MB 2MB 4MB 8MB 16MB 32MB 64MB 256MB 1GB 4GB"
  echo "$sizes"
}
l2_sizes="16 32 64 512 32768"
sizes11="1MB 4MB 16MB 64MB"
[ -z "$quick" ] || sizes11=1MB
[ -z "$full" ] || sizes11+=" 256MB 1GB 4GB"

# pod ID GPUS SIZE ARGS...: a run of the study's pod.
pod() {
  local id=$1 gpus=$2 size=$3
  shift 3
  add "$id" --config "$configs/ualink-pod$gpus.yaml" --plan "$plan" --size "$size" "$@"
}
# share_of ID CONDITION: share of the requests, over $2 (l1), $3 (l2) and $4 (walk_steps) of translation.csv.
share_of() {
  awk -F, "NR > 1 { all += \$5; if ($2) some += \$5 } END { printf \"%.5f\", all ? some / all : 0 }" \
    "$out/runs/$1/translation.csv"
}
overhead() { # ID IDEAL-ID
  ratio "$(value "$1" time_ns)" "$(value "$2" time_ns)"
}

# ---- runs ----

if wanted 4 5 6 7 8; then
  for g in $pods; do for s in $(sizes4 "$g"); do
    pod "4-$g-$s-ideal" "$g" "$s" --set translation.mode=ideal
    pod "4-$g-$s-full" "$g" "$s"
  done; done
fi
if wanted 9; then
  pod 9 16 1MB --set translation.trace=100000
fi
if wanted 10; then
  pod 10 16 256MB --set translation.trace=20000
fi
if wanted 11; then
  for s in $sizes11; do
    pod "4-32-$s-ideal" 32 "$s" --set translation.mode=ideal
    for n in $l2_sizes; do
      pod "11-$s-$n" 32 "$s" --set "translation.l2_entries=$n"
    done
  done
fi

# Mitigations: name and settings.
ways=(
  "none"
  "pretranslate-L2 translation.pretranslate=L2"
  "pretranslate-L1 translation.pretranslate=L1+L2"
  "prefetch-L2 translation.prefetch=L2"
  "prefetch-L1 translation.prefetch=L1+L2"
  "prefetch-L2-far translation.prefetch=L2 translation.prefetch_distance=1MiB"
  "prefetch-L1-far translation.prefetch=L1+L2 translation.prefetch_distance=1MiB"
  "both-L1 translation.pretranslate=L1+L2 translation.prefetch=L1+L2 translation.prefetch_distance=1MiB"
)
sizes_m() { # of a pod
  local sizes="1MB 4MB 16MB"
  [ "$1" -gt 16 ] && [ -z "$full" ] || sizes+=" 64MB"
  [ -z "$quick" ] || sizes=1MB
  echo "$sizes"
}
leads="0ns 250ns 500ns 1us 1500ns 2us 3us"
parts="0 25 50 75 100"
[ -z "$quick" ] || parts=
settings() { # A=B ...: as --set arguments
  local setting
  for setting; do printf -- ' --set %s' "$setting"; done
}
if wanted m; then
  for g in $pods; do for s in $(sizes_m "$g"); do
    pod "4-$g-$s-ideal" "$g" "$s" --set translation.mode=ideal
    for way in "${ways[@]}"; do
      read -r name set <<<"$way"
      # shellcheck disable=SC2046,SC2086 # words
      pod "m-$g-$s-$name" "$g" "$s" $(settings $set)
    done
  done; done
  for l in $leads; do
    pod "m-lead-$l" 16 1MB --set translation.pretranslate=L1+L2 --set "translation.pretranslate_lead=$l"
  done
  for p in $parts; do
    pod "m-pages-$p" 16 64MB --set translation.pretranslate=L1+L2 --set "translation.pretranslate_pages=$p"
  done
fi

routes="UA UA+NAR:2 UA+NAR:4 UA+NAR:12 NAP+NAR:2 NAP+NAR:4 NAP+NAR:12"
if wanted x; then
  for g in 8 16; do for c in allgather alltoall; do for page in 4KiB 2MiB; do for r in $routes; do
    route=(--policy "${r%:*}")
    [ "$r" = UA ] || route+=(--nar "${r#*:}")
    for mode in ideal full; do
      add "x-$g-$c-$page-$r-$mode" --config "$configs/nuna.yaml" --gpus "$g" --plan "builtin:$c,channels=8" --size 1MB \
        "${route[@]}" --set pod.gpus_per_node=4 --set "hbm.page_size=$page" --set "translation.mode=$mode"
    done
  done; done; done; done
fi
run_all

# ---- figures ----

by_size="set logscale x; set xlabel 'size, bytes'"
four_pods() { # COLUMN of a table gpus,size,bytes,...
  local g list=
  for g in $pods; do
    list+="csv using (\$1==$g ? \$3 : 1/0):$1 skip 1 with linespoints title '$g GPUs', "
  done
  echo "${list%, }"
}
if wanted 4; then
  echo "gpus,size,size_bytes,overhead,time_ideal_ns,time_ns" >"$out/fig4.csv"
  for g in $pods; do for s in $(sizes4 "$g"); do
    id=4-$g-$s
    echo "$g,$s,$(value "$id-full" size_bytes),$(overhead "$id-full" "$id-ideal"),$(value "$id-ideal" time_ns),$(value "$id-full" time_ns)"
  done; done >>"$out/fig4.csv"
  plot fig4 "$by_size; set yrange [0.9:*]; set ylabel 'time over that with ideal translation'; set title 'Figure 4: overhead, all-to-all'; plot $(four_pods 4)"
fi
if wanted 5; then
  echo "gpus,size,size_bytes,translation_mean_ns,translation_max_ns,walks,live_pages" >"$out/fig5.csv"
  for g in $pods; do for s in $(sizes4 "$g"); do
    echo "$g,$s,$(value "4-$g-$s-full" "size_bytes translation_mean_ns translation_max_ns translation_walks translation_live_pages" | tr ' ' ,)"
  done; done >>"$out/fig5.csv"
  plot fig5 "$by_size; set logscale y; set ylabel 'ns'; set title 'Figure 5: mean translation latency of a request'; plot $(four_pods 4)"
fi
if wanted 6; then
  echo "size,NoC_to_port,port_link_switch,switch_output_link,translation,NoC_at_destination,memory_at_destination,acknowledgement" >"$out/fig6.csv"
  for s in $(sizes4 16); do
    echo "$s,$(awk -F, 'NR > 1 { print $4 }' "$out/runs/4-16-$s-full/round_trip.csv" | paste -sd,)"
  done >>"$out/fig6.csv"
  plot fig6 "set style data histogram; set style histogram rowstacked; set style fill solid; set boxwidth 0.7; set ylabel 'share of the round trip'; set title 'Figure 6: a store to another node, 16 GPUs'; plot for [i=2:8] csv using i:xtic(1) title columnheader(i)"
fi
if wanted 7; then
  echo "size,L1_hit,L1_MSHR_hit,L1_miss" >"$out/fig7.csv"
  for s in $(sizes4 16); do
    id=4-16-$s-full
    echo "$s,$(share_of "$id" '$2 == "hit"'),$(share_of "$id" '$2 == "mshr_hit"'),$(share_of "$id" '$2 == "miss"')"
  done >>"$out/fig7.csv"
  plot fig7 "set style data histogram; set style histogram rowstacked; set style fill solid; set boxwidth 0.7; set ylabel 'share of the requests'; set title 'Figure 7: L1 link TLB, 16 GPUs'; plot for [i=2:4] csv using i:xtic(1) title columnheader(i)"
fi
if wanted 8; then
  echo "size,L2_hit,L2_hit_under_miss,walk_of_1,walk_of_2,walk_of_3,walk_of_4,full_walk" >"$out/fig8.csv"
  for s in $(sizes4 16); do
    line=$s
    for answer in '$3 == "hit"' '$3 == "hit_under_miss"' '$4 == 1' '$4 == 2' '$4 == 3' '$4 == 4' '$4 == 5'; do
      line+=,$(share_of "4-16-$s-full" "\$2 != \"hit\" && $answer")
    done
    echo "$line"
  done >>"$out/fig8.csv"
  plot fig8 "set style data histogram; set style histogram rowstacked; set style fill solid; set boxwidth 0.7; set ylabel 'share of the requests'; set title 'Figure 8: what misses and joined misses of the L1 wait for, 16 GPUs'; plot for [i=2:8] csv using i:xtic(1) title columnheader(i)"
fi
trace() { # FIGURE TITLE
  awk -F, -v OFS=, 'NR == 1 { print "request", $0 } NR > 1 { print NR - 2, $0 }' \
    "$out/runs/$1/translation_trace.csv" >"$out/fig$1.csv"
  plot "fig$1" "set xlabel 'time of arrival, us'; set ylabel 'translation, ns'; set yrange [0:*]; set title 'Figure $1: requests of GPU 0, 16 GPUs, $2'; plot csv using (\$3/1000):4 skip 1 with dots notitle"
}
if wanted 9; then trace 9 '1 MB'; fi
if wanted 10; then trace 10 '256 MB'; fi
if wanted 11; then
  echo "size,$(echo "$l2_sizes" | tr ' ' ,)" >"$out/fig11.csv"
  for s in $sizes11; do
    line=$s
    for n in $l2_sizes; do line+=,$(overhead "11-$s-$n" "4-32-$s-ideal"); done
    echo "$line"
  done >>"$out/fig11.csv"
  plot fig11 "set style data histogram; set style fill solid; set yrange [0:*]; set ylabel 'time over that with ideal translation'; set title 'Figure 11: entries of the L2 link TLB, 32 GPUs'; plot for [i=2:6] csv using i:xtic(1) title columnheader(i)"
fi

removed() { # TIME BARE IDEAL: share of the overhead
  awk -v t="$1" -v bare="$2" -v ideal="$3" 'BEGIN { if (bare > ideal) printf "%.4f", (bare - t) / (bare - ideal) }'
}
if wanted m; then
  echo "gpus,size,way,overhead,removed,requests_sent,requests_per_store" >"$out/figm.csv"
  for g in $pods; do for s in $(sizes_m "$g"); do
    ideal=$(value "4-$g-$s-ideal" time_ns)
    bare=$(value "m-$g-$s-none" time_ns)
    for way in "${ways[@]}"; do
      id=m-$g-$s-${way%% *}
      read -r time sent stores <<<"$(value "$id" "time_ns translation_ahead stores")"
      echo "$g,$s,${way%% *},$(ratio "$time" "$ideal"),$(removed "$time" "$bare" "$ideal"),$sent,$(ratio "$sent" "$stores")"
    done
  done; done >>"$out/figm.csv"
  awk -F, 'NR > 1 { key = $1 " GPUs " $2; if (!(key in row)) order[++n] = key; row[key] = row[key] "," $4 }
    END { for (i = 1; i <= n; i++) print order[i] row[order[i]] }' "$out/figm.csv" >"$out/figm-wide.csv"
  titles=$(printf '%s ' "${ways[@]%% *}")
  plot figm "set style data histogram; set style fill solid; set xtics rotate by -60; set yrange [0.95:*]; set ylabel 'time over that with ideal translation'; set title 'Mitigations'; plot for [i=2:9] out.'/figm-wide.csv' using i:xtic(1) title word('$titles', i-1)"
  echo "lead_or_pages,overhead,removed,requests_sent" >"$out/figm-sweeps.csv"
  for l in $leads; do
    read -r time sent <<<"$(value "m-lead-$l" "time_ns translation_ahead")"
    ideal=$(value 4-16-1MB-ideal time_ns)
    echo "$l,$(ratio "$time" "$ideal"),$(removed "$time" "$(value m-16-1MB-none time_ns)" "$ideal"),$sent"
  done >>"$out/figm-sweeps.csv"
  for p in $parts; do
    read -r time sent <<<"$(value "m-pages-$p" "time_ns translation_ahead")"
    ideal=$(value 4-16-64MB-ideal time_ns)
    echo "$p %,$(ratio "$time" "$ideal"),$(removed "$time" "$(value m-16-64MB-none time_ns)" "$ideal"),$sent"
  done >>"$out/figm-sweeps.csv"
fi
if wanted x; then
  echo "gpus,collective,page,policy,domains,overhead,time_ideal_ns,time_ns,translated,l1_misses,walks,translation_mean_ns" >"$out/figx.csv"
  for g in 8 16; do for c in allgather alltoall; do for page in 4KiB 2MiB; do for r in $routes; do
    id=x-$g-$c-$page-$r
    read -r translated hits joined walks mean domains <<<"$(value "$id-full" \
      "translated translation_l1_hits translation_l1_mshr_hits translation_walks translation_mean_ns nar_domains")"
    echo "$g,$c,$page,${r%:*},$domains,$(overhead "$id-full" "$id-ideal"),$(value "$id-ideal" time_ns),$(value "$id-full" time_ns),$translated,$((translated - hits - joined)),$walks,$mean"
  done; done; done; done >>"$out/figx.csv"
  awk -F, 'NR > 1 { key = $1 " " $2 " " $3; if (!(key in row)) order[++n] = key; row[key] = row[key] "," $6 }
    END { for (i = 1; i <= n; i++) print order[i] row[order[i]] }' "$out/figx.csv" >"$out/figx-wide.csv"
  plot figx "set style data histogram; set style fill solid; set xtics rotate by -60; set yrange [0.9:*]; set ylabel 'time over that with ideal translation'; set title 'Reverse translation on a multi-die GPU, 1 MB'; plot for [i=2:8] out.'/figx-wide.csv' using i:xtic(1) title word('$routes', i-1)"
fi
echo "$out: $(ls "$out" | grep -c csv) CSV files and their plots" >&2
