# Numbers of other pages: P1, one collective in both formats of plans; P2, folding where GPUs are not alike. Sourced by
# validation.sh.
# shellcheck shell=bash

cases=("64KiB 1" "1MiB 8" "16MiB 8") # size and channels
if wanted P1; then
  for c in 1 8; do
    "$nunasim" plan allgather --gpus 8 --channels $c >"$out/p1-$c.json"
    for p in Simple LL LL128; do
      "$nunasim" plan allgather --gpus 8 --channels $c --format xml | sed "s/proto=\"[^\"]*\"/proto=\"$p\"/" >"$out/p1-$c-$p.xml"
    done
  done
  for case in "${cases[@]}"; do
    read -r s c <<<"$case"
    add "p1-$s-JSON" --config "$here/../configs/pod8.yaml" --plan "$out/p1-$c.json" --size "$s"
    for p in Simple LL LL128; do
      add "p1-$s-$p" --config "$here/../configs/pod8.yaml" --plan "$out/p1-$c-$p.xml" --size "$s"
    done
  done
fi

# unlike GPUS SIZE COLLECTIVE CHANNELS POLICY DOMAINS
unlike=("64 100kB allgather 2 UA" "64 100kB allreduce 2 UA" "8 1MB allgather 8 NAP+NAR 12"
  "32 10MB allgather 2 NAP+NAR 6" "64 10MB allgather 2 NAP+NAR 6")
if wanted P2; then
  for case in "${unlike[@]}"; do
    read -r g s c n p d <<<"$case"
    for fold in auto approx; do
      # shellcheck disable=SC2086 # words
      add "p2-${case// /-}-$fold" --gpus "$g" --size "$s" --plan "builtin:$c,channels=$n" --policy "$p" ${d:+--nar $d} --fold $fold
    done
  done
fi
run_all

for case in "${cases[@]}"; do
  read -r s c <<<"$case"
  for p in JSON Simple LL LL128; do
    form="XML, $p"
    [ $p != JSON ] || form=JSON
    row P1 "${s/[KM]iB/ &}, $c | $form" '' '' "$(calc %.2f '$1 / 1000' "$(value "p1-$s-$p" time_ns)")"
  done
done
for case in "${unlike[@]}"; do
  read -r g s c n p d <<<"$case"
  name="$g GPUs, ${s/[kM]B/ &} $c, $n, $p${d:+ $d}"
  id=p2-${case// /-}
  row P2 "$name | GPUs simulated" '' '' "$(value "$id-auto" simulated_gpus)"
  row P2 "$name | time, ns" '' '' "$(value "$id-auto" time_ns)"
  row P2 "$name | approx" '' '' "$(value "$id-approx" time_ns)"
  row P2 "$name | mean latency, ns" '' '' "$(value "$id-auto" store_mean_ns)"
  row P2 "$name | mean, approx" '' '' "$(value "$id-approx" store_mean_ns)"
done
