# Targets M1 to M11 and X2: host transfers. Sourced by validation.sh.
# shellcheck shell=bash

if wanted M1 M4; then figure host 7; fi
if wanted M2 M11; then figure host 8,11; fi
if wanted M3; then figure host 14; fi
if [ -n "$full" ] && wanted M5; then figure host 15; fi
if wanted M6; then figure host 16; fi
if wanted M7; then figure host 9,10; fi
if wanted M8; then figure host table2; fi
if wanted M10; then figure host 13; fi
if [ -n "$full" ] && wanted M2; then figure host buffer; fi
if [ -n "$full" ] && wanted X2; then figure host beside; fi
for f in fig7 fig8 fig9 fig10 fig11 fig13 fig14 fig15 fig15-depth fig16 fig16-thresholds table2 beside; do
  keep "$out/host/$f.csv" "host-$f.csv" 1
done
keep "$out/host/buffer.csv" host-buffer.csv 2

# Runs at sizes that no figure has, or whose paths and links count.
verb=host
h20=(--config "$here/../configs/h20-server.yaml")
always=(--set host.fallback_h2d=0B --set host.fallback_d2h=0B)
crossings="8 9 10 10.5 11 11.5 12 13 14"
if wanted M1 M4; then
  add m1-native "${h20[@]}" --transfer h2d:1GB:gpu0 --engine native
  for s in 1GB 2GB 8GB; do
    add "m1-h2d-$s" "${h20[@]}" --transfer "h2d:$s:gpu0"
    add "m1-d2h-$s" "${h20[@]}" --transfer "d2h:$s:gpu0"
  done
  for s in $crossings; do
    add "m1-at-$s" "${h20[@]}" --transfer "h2d:${s}MB:gpu0" "${always[@]}"
    add "m1-native-at-$s" "${h20[@]}" --transfer "h2d:${s}MB:gpu0" --engine native
  done
fi
if wanted M3; then
  for s in 512MB 1GB; do for r in 7 4 0; do
    add "m3-$s-$r" "${h20[@]}" --transfer "h2d:$s:gpu0" --relays "$r" --set host.pipelines=1
  done; done
fi
if wanted M7; then
  add m7-alone "${h20[@]}" --transfer h2d:1GB:gpu0
  add m7-contended "${h20[@]}" --transfer h2d:1GB:gpu0 --background h2d:gpu3
fi
if wanted TP8; then
  eight=()
  for g in 0 1 2 3 4 5 6 7; do eight+=(--transfer "h2d:1GB:gpu$g"); done
  add tp8 "${h20[@]}" "${eight[@]}"
fi
run_all
verb=

row M1 'one path, GB/s' 53 5 "$(value m1-native bandwidth_GBps)"
row M1 'all paths, 1 GB, GB/s' 245 10 "$(value m1-h2d-1GB bandwidth_GBps)"
row M1 'all paths, 8 GB, GB/s' 245 5 "$(value m1-h2d-8GB bandwidth_GBps)"
row M1 'all paths, 2 GB, GB/s' '' '' "$(value m1-h2d-2GB bandwidth_GBps)"
# From where on all paths stay ahead of one; between the points, on a straight line.
row M1 'crossover, MB' 10 10 "$(for s in $crossings; do
    echo "$s $(value "m1-at-$s" bandwidth_GBps) $(value "m1-native-at-$s" bandwidth_GBps)"
  done | awk 'NF == 3 { gain = $2 - $3; if (gain < 0) at = ""; else if (at == "") at = NR > 1 && last < 0 ? before + last / (last - gain) * ($1 - before) : $1
      last = gain; before = $1 } END { if (at != "") printf "%.2f", at }')"

relays() { # COUNT
  cell host-fig8.csv h2d "$1"
}
row M2 'relays up to which each one adds bandwidth' 6 0 "$(table host-fig8.csv '{ if (!stop && $2 > last) n = $1; else stop = 1; last = $2 } END { if (NR > 1) print n }')"
row M2 'seven relays over six' 1 5 "$(calc %.3f '$1 / $2' "$(relays 7)" "$(relays 6)")"
for r in 0 1 2 3 4 5 6 7; do
  row M2:relays "GB/s | $r" '' '' "$(relays $r)"
done
busiest() { # KIND: per cent of it in the transfer of 8 GB
  [ ! -f "$out/runs/m1-h2d-8GB/links.csv" ] || awk -F, -v kind="$1" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["kind"] == kind && $at["utilisation"] > most { most = $at["utilisation"] }
    END { printf "%.1f", most * 100 }' "$out/runs/m1-h2d-8GB/links.csv"
}
row M2 '8 GB: DMA across the sockets busy, %' '' '' "$(busiest far_read)"
row M2 '8 GB: socket link busy, %' '' '' "$(busiest socket_link)"
row M2 "8 GB: the target's ports busy, %" '' '' "$(busiest ports_in)"
for b in target other interleaved each; do
  row M2:buffer "GB/s, 7 relays, 8 GB | $b" '' '' "$(cell host-buffer.csv $b 7 h2d)"
done

row M3 '256 MB, 7 relays, GB/s' 192.5 5 "$(cell host-fig14.csv 256MB 7)"
row M3 '256 MB, 4 relays, GB/s' 156.6 5 "$(cell host-fig14.csv 256MB 4)"
row M3 '256 MB, no relay, over native' 0.94 5 "$(cell host-fig14.csv relative_256MB 0)"
row M3 '1 GB, relays of the same socket, GB/s' 180 10 "$(cell host-fig14.csv 1GB same)"
for s in 128MB 256MB 512MB 1GB; do for r in 7 4 0; do
  row M3:sizes "${s/?B/ &} | $r" '' '' "$(cell host-fig14.csv $s $r)"
done; done
for s in 512MB 1GB; do for r in 7 4 0; do
  row M3:pipelines "${s/?B/ &} | $r" '' '' "$(value m3-$s-$r bandwidth_GBps)"
done; done

for s in 1GB 8GB; do
  row M4 "${s/?B/ &}: D2H over H2D" '<1' '' "$(calc %.3f '$1 / $2' "$(value m1-d2h-$s bandwidth_GBps)" "$(value m1-h2d-$s bandwidth_GBps)")"
  row M4 "${s/?B/ &}: D2H, GB/s" '' '' "$(value m1-d2h-$s bandwidth_GBps)"
done

best() { # FILE COLUMN: first field of the row where the column is largest
  table "$1" "&& \$$2 > most { most = \$$2; best = \$1 } END { print best }"
}
row M5 'best chunk, H2D, MB' 2.81 5 "$(best host-fig15.csv 2)"
row M5 'best chunk, D2H, MB' 5.37 5 "$(best host-fig15.csv 3)"
row M5 'best depth, H2D' 2 0 "$(best host-fig15-depth.csv 2)"
row M5 'best depth, D2H' 2 0 "$(best host-fig15-depth.csv 3)"
row M5 'best chunk in the mean over 16 sizes, H2D, MB' '' '' "$(best host-fig15.csv 4)"
for c in 0.5 1 1.4 2 2.81 4 5.37 8 11 16 32; do
  row M5:chunks "$c | H2D" '' '' "$(cell host-fig15.csv h2d_512MB $c)"
  row M5:chunks "$c | D2H" '' '' "$(cell host-fig15.csv d2h_512MB $c)"
  row M5:chunks "$c | H2D, mean of sizes" '' '' "$(cell host-fig15.csv h2d_mean $c)"
done
for q in 1 2 3 4 8; do
  row M5:depths "$q | H2D" '' '' "$(cell host-fig15-depth.csv h2d_512MB $q)"
  row M5:depths "$q | D2H" '' '' "$(cell host-fig15-depth.csv d2h_512MB $q)"
done

row M6 'break-even, H2D, MB' 11.3 5 "$(cell host-fig16-thresholds.csv threshold_MB h2d)"
row M6 'break-even, D2H, MB' 13 5 "$(cell host-fig16-thresholds.csv threshold_MB d2h)"

split() { # COLUMN: the better of the two static splits
  table host-fig10.csv "&& \$1 ~ /:/ { most = max(most, \$$1) } END { if (most) print most }"
}
row M7 'without traffic, pulling over the better static split' 1 5 "$(calc %.3f '$1 / $2' "$(cell host-fig10.csv quiet mma)" "$(split 2)")"
row M7 'with traffic' 1 5 "$(calc %.3f '$1 / $2' "$(cell host-fig10.csv with_background mma)" "$(split 3)")"
relayed() { # ID: per cent that GPU 3 carries
  [ ! -f "$out/runs/$1/paths.csv" ] || awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["gpu"] == "gpu3" && $at["transfer"] == 0 { printf "%.1f", $at["share"] * 100; exit }' "$out/runs/$1/paths.csv"
}
row M7 "a contended relay's share over its share alone" '<1' '' "$(calc %.3f '$1 / $2' "$(relayed m7-contended)" "$(relayed m7-alone)")"
row M7 'two flows in one process, GB/s each; native has 53.6' '>53.6' '' "$(cell host-fig9.csv first 'gpu0 and gpu1 shared')"
row M7 'two flows of two processes on two sockets' '>53.6' '' "$(cell host-fig9.csv first 'gpu0 and gpu4 per-transfer')"
for e in native 1:1 1:2 mma; do
  row M7:splits "$e | without" '' '' "$(cell host-fig10.csv quiet $e)"
  row M7:splits "$e | with traffic" '' '' "$(cell host-fig10.csv with_background $e)"
done

row M8 'peer copy with direct priority over alone' 1 5 "$(calc %.3f '$1 / $2' "$(cell host-table2.csv p2p_GBps priority)" "$(cell host-table2.csv p2p_GBps alone)")"
row M8 'lost without it, GB/s' 30 10 "$(calc %.1f '$1 - $2' "$(cell host-table2.csv p2p_GBps alone)" "$(cell host-table2.csv p2p_GBps none)")"

row TP8 'slowest of eight over one native' 0.94 5 "$(value tp8 bandwidth_GBps | sort -g | head -n 1 | while read -r slowest; do
  calc %.3f '$1 / $2' "$slowest" "$(value m1-native bandwidth_GBps)"; done)"
row TP8 'fastest of eight over one native' '<=1.05' '' "$(value tp8 bandwidth_GBps | sort -g | tail -n 1 | while read -r fastest; do
  calc %.3f '$1 / $2' "$fastest" "$(value m1-native bandwidth_GBps)"; done)"

change() { # MODEL COLUMN: per cent
  calc %.1f '$1 * 100' "$(cell host-fig13.csv "$2" "$1")"
}
row M10 'Qwen3-32B, sleep, %' -56.8 5 "$(change Qwen3-32B sleep_change)"
row M10 'Qwen3-32B, wake-up, %' -59.7 5 "$(change Qwen3-32B wake_change)"
row M10 'Qwen3-0.6B, sleep, over that of 32B' '<1' '' "$(calc %.3f '$1 / $2' "$(change Qwen3-0.6B sleep_change)" "$(change Qwen3-32B sleep_change)")"
for m in Qwen3-0.6B Qwen3-4B Qwen-7B-Chat Qwen3-32B; do
  row M10:models "$m | sleep, %" '' '' "$(change $m sleep_change)"
  row M10:models "$m | wake-up, %" '' '' "$(change $m wake_change)"
  for e in native mma; do
    row M10:models "$m | wake-up, $e, ms" '' '' "$(cell host-fig13.csv wake_${e}_ms $m)"
  done
done

row M11 'cores at eight GPUs' 8.2 5 "$(cell host-fig11.csv cores_h2d 8)"
for g in 1 2 3 4 5 6 7 8; do
  row M11:cores "busy cores | $g" '' '' "$(cell host-fig11.csv cores_h2d $g)"
done

for p in UA UA+NAR NAP+NAR; do
  for c in alone_ns beside_mean_ns beside_max_ns; do
    name=${c%_ns}
    row X2:policies "$p | ${name//_/ }, us" '' '' "$(calc %.2f '$1 / 1000' "$(cell host-beside.csv $c $p)")"
  done
  row X2:policies "$p | mean over alone" '' '' "$(cell host-beside.csv slowdown_mean $p)"
  row X2:policies "$p | transfer beside 64 MB, ms" '' '' "$(calc %.3f '$1 / 1e6' "$(cell host-beside.csv transfer_beside_64MB_ns $p)")"
done
