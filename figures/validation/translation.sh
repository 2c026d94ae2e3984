# Targets R1 to R8 and X1: reverse address translation. Sourced by validation.sh.
# shellcheck shell=bash

if wanted R1 R2 R3 R4 R6 R8; then figure reverse-translation 4,5,6,7,8; fi
if wanted R5; then figure reverse-translation 9,10; fi
if wanted R6; then figure reverse-translation 11; fi
if wanted R7; then figure reverse-translation m; fi
if wanted X1; then figure reverse-translation x; fi
keep_rt() { # FIGURE KEYS
  keep "$out/reverse-translation/fig$1.csv" "rt-fig$1.csv" "$2"
}
keep_rt 4 2
keep_rt 5 2
for f in 6 7 8 11 m-sweeps; do keep_rt $f 1; done
keep_rt m 3
keep_rt x 5

pods="8 16 32 64"
sizes="1MB 4MB 16MB 64MB 256MB 1GB 4GB"
overhead() { # GPUS SIZE
  cell rt-fig4.csv overhead "$1" "$2"
}
# over_pods SIZE: the largest.
over_pods() {
  table rt-fig4.csv "&& \$2 == \"$1\" { most = max(most, \$4); n++ } END { if (n == 4) printf \"%.4f\", most }"
}
row R1 '1 MB, most of the four pods' 1.4 10 "$(over_pods 1MB)"
row R1 '16 MB, most' 1.1 10 "$(over_pods 16MB)"
row R1 '4 GB, most' 1 5 "$(over_pods 4GB)"
for s in $sizes; do for g in $pods; do
  row R1:pods "${s/?B/ &} | $g GPUs" '' '' "$(overhead "$g" "$s")"
done; done

mean() { # SIZE: of translation, 16 GPUs
  cell rt-fig5.csv translation_mean_ns 16 "$1"
}
before=
for s in 1MB 4MB 16MB 64MB 256MB; do
  [ -z "$before" ] || row R2 "16 GPUs, mean at ${s/?B/ &} over that at ${before/?B/ &}" '<1' '' \
    "$(calc %.3f '$1 / $2' "$(mean $s)" "$(mean $before)")"
  before=$s
done
for s in 1MB 4MB 16MB 64MB 256MB; do for g in $pods; do
  row R2:pods "${s/?B/ &} | $g GPUs" '' '' "$(cell rt-fig5.csv translation_mean_ns "$g" $s)"
done; done

share() { # SIZE: of translation in the round trip, per cent
  calc %.1f '$1 * 100' "$(cell rt-fig6.csv translation "$1")"
}
row R3 'share at 1 MB, %' 30 10 "$(share 1MB)"
before=1MB
for s in 2MB 4MB 8MB 16MB 32MB 64MB 256MB; do
  row R3 "share at ${s/?B/ &} over that at ${before/?B/ &}" '<1' '' "$(calc %.3f '$1 / $2' "$(share $s)" "$(share $before)")"
  before=$s
done
for s in 1MB 2MB 4MB 8MB 16MB 32MB 64MB 256MB; do
  row R3:sizes "${s/?B/ &} | share, %" '' '' "$(share $s)"
done

answered() { # FILE COLUMN SIZE, per cent
  calc %.1f '$1 * 100' "$(cell "$1" "$2" "$3")"
}
joined() { # SIZE: that hit the L1 or join a miss of it
  calc %.1f '($1 + $2) * 100' "$(cell rt-fig7.csv L1_hit "$1")" "$(cell rt-fig7.csv L1_MSHR_hit "$1")"
}
row R4 'hit or joined at 1 MB, %' '>90' '' "$(joined 1MB)"
row R4 'hit or joined at 64 MB, %' '>90' '' "$(joined 64MB)"
row R4 'of the rest at 1 MB: L2 misses and hits under a miss, %' '>50' '' "$(calc %.1f '100 - $1 * 100' "$(cell rt-fig8.csv L2_hit 1MB)")"
row R4 'L1 hits at 64 MB, %' '>50' '' "$(answered rt-fig7.csv L1_hit 64MB)"
row R4 'L2 hits at 64 MB, %' '>0' '' "$(answered rt-fig8.csv L2_hit 64MB)"
for s in 1MB 2MB 4MB 8MB 16MB 32MB 64MB 256MB; do
  row R4:answers "${s/?B/ &} | L1 hit, %" '' '' "$(answered rt-fig7.csv L1_hit $s)"
  row R4:answers "${s/?B/ &} | joined, %" '' '' "$(answered rt-fig7.csv L1_MSHR_hit $s)"
  row R4:answers "${s/?B/ &} | L2 hit under miss, %" '' '' "$(answered rt-fig8.csv L2_hit_under_miss $s)"
  row R4:answers "${s/?B/ &} | full walk, %" '' '' "$(answered rt-fig8.csv full_walk $s)"
done

# Many live pages: more than an L1 has entries.
rt() { # ID GPUS SIZE ARGS...
  local id=$1 gpus=$2 size=$3
  shift 3
  add "$id" --config "$here/../configs/ualink-pod$gpus.yaml" --plan builtin:alltoall,own=apart --size "$size" "$@"
}
if [ -n "$full" ] && wanted R4; then
  rt r4-ideal 64 128MB --set translation.mode=ideal
  rt r4 64 128MB
fi
if [ -n "$full" ] && wanted R6; then
  rt r6-ideal 64 16MB --set translation.mode=ideal --set hbm.page_size=256KiB
  for n in 16 32 64 512; do
    rt "r6-$n" 64 16MB --set hbm.page_size=256KiB --set "translation.l2_entries=$n"
  done
fi
if wanted R1; then
  rt r1-page 16 16MB --set translation.l1_mshr_holds=page
fi
run_all
row R1 '16 GPUs, 16 MB, registers that hold any number of requests' '' '' \
  "$(calc %.4f '$1 / $2' "$(value r1-page time_ns)" "$(cell rt-fig4.csv time_ideal_ns 16 16MB)")"
answers() { # ID LEVEL: per cent of the requests that reach an L1, or an L2, which it answers
  [ ! -f "$out/runs/$1/tlb.csv" ] || awk -F, -v kind="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["kind"] == kind { lookups += $at["lookups"]; hits += $at["hits"] }
    END { printf "%.1f", 100 * hits / lookups }' "$out/runs/$1/tlb.csv"
}
row R4 '64 GPUs, 128 MB: live pages' '' '' "$(value r4 translation_live_pages)"
row R4 '64 GPUs, 128 MB: hits of the L1s, %' '' '' "$(answers r4 l1)"
row R4 '64 GPUs, 128 MB: hits of the L2, %' '' '' "$(answers r4 l2)"
row R4 '64 GPUs, 128 MB: overhead' '' '' "$(calc %.4f '$1 / $2' "$(value r4 time_ns)" "$(value r4-ideal time_ns)")"

traced() { # FIGURE PROGRAM: over its requests; $4 is the latency
  [ ! -f "$out/reverse-translation/fig$1.csv" ] || awk -F, "NR > 1 $2" "$out/reverse-translation/fig$1.csv"
}
row R5 '1 MB: shortest translation, ns' '>400' '' \
  "$(traced 9 '{ if (!n++ || $4 < least) least = $4 } END { printf "%.3f", least }')"
row R5 '1 MB: longest, ns' '' '' "$(traced 9 '&& $4 > most { most = $4 } END { printf "%.3f", most }')"
# Spikes: what takes longer than 400 ns; the first 10 us are the first page's.
row R5 '256 MB: longest, ns' '' '' "$(traced 10 '&& $4 > most { most = $4 } END { printf "%.3f", most }')"
row R5 '256 MB: longest after the first 10 us over that' '<0.5' '' \
  "$(traced 10 '{ if ($4 > most) most = $4; if ($3 > 10000 && $4 > later) later = $4 } END { printf "%.3f", later / most }')"

for s in 1MB 4MB 16MB 64MB; do
  row R6 "${s/?B/ &}: overhead with 32 entries over that with 32,768" 1 0.01 \
    "$(calc %.4f '$1 / $2' "$(cell rt-fig11.csv 32 $s)" "$(cell rt-fig11.csv 32768 $s)")"
  row R6:sizes "${s/?B/ &} | 16 entries" '' '' "$(cell rt-fig11.csv 16 $s)"
  for n in 32 512 32768; do
    row R6:sizes "${s/?B/ &} | $n" '' '' "$(cell rt-fig11.csv $n $s)"
  done
done
for n in 16 32 64 512; do
  row R6:live "$n | overhead" '' '' "$(calc %.4f '$1 / $2' "$(value "r6-$n" time_ns)" "$(value r6-ideal time_ns)")"
  row R6:live "$n | walks" '' '' "$(value "r6-$n" translation_walks)"
done

for way in pretranslate-L2 pretranslate-L1 prefetch-L2 prefetch-L1; do
  for s in 1MB 4MB 16MB 64MB; do
    row R7:gains "$way | ${s/?B/ &}, %" '' '' "$(calc %.1f '$1 * 100' "$(cell rt-figm.csv removed 16 $s $way)")"
  done
  row R7:gains "$way | requests, 1 MB" '' '' "$(cell rt-figm.csv requests_sent 16 1MB $way)"
  row R7:gains "$way | per data store, %" '' '' "$(calc %.1f '$1 * 100' "$(cell rt-figm.csv requests_per_store 16 1MB $way)")"
done
for lead in 0ns 250ns 500ns 1us 2us; do
  row R7:leads "$lead | removed, %" '' '' "$(calc %.1f '$1 * 100' "$(cell rt-figm-sweeps.csv removed $lead)")"
done
for part in 0 25 50 75 100; do
  row R7:parts "$part % | removed, %" '' '' "$(calc %.1f '$1 * 100' "$(cell rt-figm-sweeps.csv removed "$part %")")"
done
for way in pretranslate-L2 pretranslate-L1; do
  row R7:large "$way | requests" '' '' "$(cell rt-figm.csv requests_sent 64 1MB $way)"
  row R7:large "$way | removed, %" '' '' "$(calc %.1f '$1 * 100' "$(cell rt-figm.csv removed 64 1MB $way)")"
done

for g in $pods; do
  row R8 "$g GPUs: most live pages" "<=$g" '' "$(table rt-fig5.csv "&& \$1 == $g { most = max(most, \$7) } END { if (most) print most }")"
done

for page in 4KiB 2MiB; do for r in UA:1 UA+NAR:2 UA+NAR:4 UA+NAR:12 NAP+NAR:2 NAP+NAR:4 NAP+NAR:12; do
  place=("16" allgather "$page" "${r%:*}" "${r#*:}")
  name="${page/[KM]iB/ &}, ${r%:*}"
  [ "$r" = UA:1 ] || name+=", ${r#*:} domains"
  row X1:domains "$name | ideal, us" '' '' "$(calc %.3f '$1 / 1000' "$(cell rt-figx.csv time_ideal_ns "${place[@]}")")"
  row X1:domains "$name | full, us" '' '' "$(calc %.3f '$1 / 1000' "$(cell rt-figx.csv time_ns "${place[@]}")")"
  row X1:domains "$name | overhead" '' '' "$(cell rt-figx.csv overhead "${place[@]}")"
  row X1:domains "$name | cold" '' '' "$(cell rt-figx.csv l1_misses "${place[@]}")"
  row X1:domains "$name | walks" '' '' "$(cell rt-figx.csv walks "${place[@]}")"
done; done
