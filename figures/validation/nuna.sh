# Targets N1 to N13: non-uniform network access. Sourced by validation.sh.
# shellcheck shell=bash

gather=(--plan builtin:allgather --gpus 8 --size 1MB)
if wanted N1 N2; then
  add n1 "${gather[@]}" --policy UA
  add n2-12 "${gather[@]}" --policy NAP+NAR --nar 12
  add n2-4 "${gather[@]}" --policy NAP+NAR --nar 4
fi
if [ -n "$full" ] && wanted N6; then # some granularities do not fold
  for c in 1 2 4; do for p in UA UA+NAR NAP+NAR; do
    add "n6-$p-$c" --gpus 64 --size 10MB --plan "builtin:allgather,channels=$c" --policy "$p"
  done; done
fi
run_all
if wanted N3 N13; then
  for c in one-die two-die nuna; do
    "$nunasim" latency-map --config "$here/../configs/$c.yaml" >"$out/latency-map-$c"
  done
fi
if wanted N4; then figure nuna 9; fi
if wanted N1 N2; then figure nuna 10; fi
if wanted N7; then figure nuna 11,12; fi
if wanted N8; then figure nuna 13; fi
if wanted N9; then figure nuna 14; fi
keep "$out/nuna/fig9.csv" fig9.csv 4
keep "$out/nuna/fig10.csv" fig10.csv 2
for f in 11 12 13 14; do keep "$out/nuna/fig$f.csv" "fig$f.csv" 1; done

row N1 'mean one-way latency of a store, ns' 920 5 "$(value n1 store_mean_ns)"
row N1 'longest, ns' 1320 5 "$(value n1 store_max_ns)"
row N1 'skewness; a bell has 0' '<0.5' '' "$(value n1 store_skew)"

row N2 'mean, ns, 12 domains' 780 5 "$(value n2-12 store_mean_ns)"
row N2 'longest, ns' 1180 5 "$(value n2-12 store_max_ns)"
row N2 'longest, over that of UA' 0.9 10 "$(calc %.3f '$1 / $2' "$(value n2-12 store_max_ns)" "$(value n1 store_max_ns)")"
row N2 'skewness' '>0' '' "$(value n2-12 store_skew)"
row N2 'mean, ns, with 4 domains, the fastest' '' '' "$(value n2-4 store_mean_ns)"
row N2 'longest, ns, with 4 domains' '' '' "$(value n2-4 store_max_ns)"

# map CONFIG LINE FIELDS EXPRESSION: over the fields from the given ones on of a line of latency-map.
map() {
  [ ! -f "$out/latency-map-$1" ] || awk "/^ *$2/ { sub(/^ *$2 */, \"\"); printf \"%.3f\", $3; exit }" "$out/latency-map-$1"
}
row N3 'NoC part, mean over best' 2 5 "$(map nuna 'NoC part' '$2 / $1')"
row N3 'NoC part, worst over best' 3 5 "$(map nuna 'NoC part' '$3 / $1')"
row N3 'transfer, mean over best' 1.45 5 "$(map nuna transfer '$2 / $1')"
row N3 'transfer, worst over best' 1.8 5 "$(map nuna transfer '$3 / $1')"

# Of figure 9: collective, gpus, size, policy, time_ns, channels, nar_domains, speedup.
small='($3 == "100kB" || $3 == "1MB")'
# most CONDITION: largest speedup.
most() {
  table fig9.csv "&& $1 { most = max(most, \$8) } END { if (most) printf \"%.3f\", most }"
}
# least CONDITION: smallest.
least() {
  table fig9.csv "&& $1 { if (!n++ || \$8 < least) least = \$8 } END { if (n) printf \"%.3f\", least }"
}
# wins POLICY OTHERS CONDITION: points in which the policy is above each of the others.
wins() {
  table fig9.csv "&& $3 { s[\$1, \$2, \$3, \$4] = \$8; point[\$1 SUBSEP \$2 SUBSEP \$3] }
    END { m = split(\"$2\", other, \" \"); for (p in point) { won = 1
      for (i = 1; i <= m; i++) if (!(s[p, \"$1\"] > s[p, other[i]])) won = 0
      n += won } print n + 0 }"
}
others="UA UA+NAR NUMA NUMA+NAR NAP* NAP"
row N4 'UA+NAR over UA, most, 100 kB and 1 MB' 1.35 10 "$(most "$small && \$4 == \"UA+NAR\"")"
row N4 'NAP+NAR over UA, most' 1.8 10 "$(most "$small && \$4 == \"NAP+NAR\"")"
row N4 'of 36 points of 100 kB and 1 MB, those where UA+NAR is above UA' 36 0 "$(wins UA+NAR UA "$small")"
row N4 'those where NUMA+NAR is above UA+NAR' 36 0 "$(wins NUMA+NAR UA+NAR "$small")"
row N4 'those where NAP+NAR is above all others' 36 0 "$(wins NAP+NAR "$others" "$small")"
row N4 'of 18 points of 10 MB, those where NAP+NAR is above all others' 18 0 "$(wins NAP+NAR "$others" '$3 == "10MB"')"
for s in 100kB 1MB 10MB; do
  row N4:sizes "${s/?B/ &} | UA+NAR, most" '' '' "$(most "\$3 == \"$s\" && \$4 == \"UA+NAR\"")"
  row N4:sizes "${s/?B/ &} | NAP+NAR, least" '' '' "$(least "\$3 == \"$s\" && \$4 == \"NAP+NAR\"")"
  row N4:sizes "${s/?B/ &} | NAP+NAR, most" '' '' "$(most "\$3 == \"$s\" && \$4 == \"NAP+NAR\"")"
done
row N4 'least NUMA+NAR over UA+NAR' '' '' "$(table fig9.csv "&& $small { s[\$1, \$2, \$3, \$4] = \$8; p[\$1 SUBSEP \$2 SUBSEP \$3] }
  END { for (q in p) { r = s[q, \"NUMA+NAR\"] / s[q, \"UA+NAR\"]; if (!n++ || r < least) least = r } if (n) printf \"%.3f\", least }")"

# gain COLLECTIVE GPUS SIZE: of NAP+NAR.
gain() {
  cell fig9.csv speedup "$1" "$2" "$3" NAP+NAR
}
row N5 'NAP+NAR over UA at 100 kB, all collectives and pods, most over least' '' '' \
  "$(calc %.3f '$1 / $2' "$(most '$3 == "100kB" && $4 == "NAP+NAR"')" "$(least '$3 == "100kB" && $4 == "NAP+NAR"')")"
row N5 '2 GPUs, all-gather, 1 GB' 1 5 "$(gain allgather 2 1GB)"
row N5 '64 GPUs, all-gather, 1 GB' 1 5 "$(gain allgather 64 1GB)"
row N5 '64 GPUs, all-reduce, 1 GB' 1 5 "$(gain allreduce 64 1GB)"
row N5 '64 GPUs, all-to-all, 1 GB' 1 5 "$(gain alltoall 64 1GB)"
row N5 'up to 8 GPUs, all-reduce and all-to-all, 1 GB, least' 1 5 \
  "$(least '$3 == "1GB" && $4 == "NAP+NAR" && $1 != "allgather" && $2 <= 8')"
for s in 100kB 1MB 10MB 100MB 1GB; do for c in allgather allreduce alltoall; do for g in 2 8 64; do
  row N5:sizes "${s/?B/ &} | $c, $g" '' '' "$(gain $c $g $s)"
done; done; done

for c in 1 2 4; do
  row N6 "threadblocks per peer: $c; NAP+NAR's time over UA+NAR's" '>1' '' \
    "$(calc %.3f '$1 / $2' "$(value "n6-NAP+NAR-$c" time_ns)" "$(value "n6-UA+NAR-$c" time_ns)")"
  for p in UA UA+NAR NAP+NAR; do
    row N6:times "$p | $c" '' '' "$(calc %.3f '$1 / 1000' "$(value "n6-$p-$c" time_ns)")"
  done
done

# faster SIZE POLICY [OVER]: speedup of figure 11, over another policy than UA.
faster() {
  calc %.3f '$1 / $2' "$(cell fig11.csv "speedup_$1" "$2")" "$(cell fig11.csv "speedup_$1" "${3:-UA}")"
}
set -f # NAP* is a name
for s in 100kB 10MB; do
  for p in UA NUMA 'NAP*' NAP; do
    [ $s = 10MB ] || row N7 "${s/?B/ &}: $p+NAR over $p" '>1' '' "$(faster $s "$p+NAR" "$p")"
    row N7:gains "${s/?B/ &} | $p" '' '' "$(faster $s "$p+NAR" "$p")"
  done
done
row N7 "100 kB: NAP's gain by NAR over NUMA's, the next" '>1' '' \
  "$(calc %.3f '$1 / $2' "$(faster 100kB NAP+NAR NAP)" "$(faster 100kB NUMA+NAR NUMA)")"
for p in NUMA 'NAP*' NAP; do
  row N7 "10 MB: $p over UA" '<1' '' "$(faster 10MB "$p")"
done
row N7 '100 kB: NAP over UA' '' '' "$(faster 100kB NAP)"
set +f

for d in 2 3 4 6 12; do
  row N8:domains "$d | 1,008 threadblocks" '' '' "$(cell fig13.csv speedup_1008_threadblocks $d)"
  row N8:domains "$d | 7 threadblocks" '' '' "$(cell fig13.csv speedup_7_threadblocks $d)"
done
row N8 '1,008 threadblocks: 12 domains over the best' 1 0 \
  "$(table fig13.csv '{ most = max(most, $2); at[$1] = $2 } END { if (most) printf "%.3f", at[12] / most }')"
row N8 '7 threadblocks: 12 domains over UA' '<1' '' "$(cell fig13.csv speedup_7_threadblocks 12)"

# knee COLUMN: first size in figure 14 that is more than a quarter slower.
knee() {
  table fig14.csv "&& \$$1 > 1.25 && !found { found = \$1 } END { print found }"
}
row N9 'UA, size of the GEMM from which on it is a quarter slower' '' '' "$(knee 2)"
alone() { # POLICY SIZE: time over that of the same policy alone
  calc %.3f '$1 / $2' "$(cell fig14.csv "relative_$1" "$2")" "$(cell fig14.csv "relative_$1" 0)"
}
row N9 'UA at 1,000 over UA alone' '>1.25' '' "$(alone UA 1000)"
row N9 'NAP+NAR at 1,000, beyond twice that size, over NAP+NAR alone' '>1.25' '' "$(alone NAP+NAR 1000)"
for n in 100 200 250 300 400 500 700 1000; do
  row N9:sizes "$n | UA" '' '' "$(alone UA "$n")"
  row N9:sizes "$n | NAP+NAR" '' '' "$(alone NAP+NAR "$n")"
done

# spread CONFIG WHICH: ns, over a CU's addresses (1) or an address's CUs (2).
spread() {
  [ ! -f "$out/latency-map-$1" ] || tr '\n' ' ' <"$out/latency-map-$1" |
    sed -nE 's/.*fastest: ([0-9.]+) ns over a CU.s addresses, ([0-9.]+) ns.*/\'"$2"'/p'
}
row N13 'spread over addresses, four dies over one' 3 5 "$(calc %.3f '$1 / $2' "$(spread nuna 1)" "$(spread one-die 1)")"
row N13 'spread over CUs, four dies over one' 5 5 "$(calc %.3f '$1 / $2' "$(spread nuna 2)" "$(spread one-die 2)")"
for c in one-die two-die nuna; do
  row N13:spread "$c | over addresses, ns" '' '' "$(spread $c 1)"
  row N13:spread "$c | over CUs, ns" '' '' "$(spread $c 2)"
done
