#!/bin/bash
# Wrong input, wrong command lines, full and closed outputs: exit code and exact message of each.
set -euo pipefail
# shellcheck disable=SC2016 # messages quote commands in backticks
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"

# expect CODE MESSAGE ARGS...: nunasim ARGS ends with CODE and prints just that error.
expect() {
  local code=$1 message=$2 got=0 what
  shift 2
  what="nunasim $*"
  what=${what:0:200}
  "${prefix[@]}" "$nunasim" "$@" >stdout 2>stderr </dev/null || got=$?
  check "exit code $got, expected $code: $what" same "$got" "$code"
  check "$(printf '%s\n  printed  %s\n  expected nunasim: error: %s' \
    "$what" "$(cat stderr)" "$message")" same "$(cat stderr)" "nunasim: error: $message"
  check "standard output of $what: $(head -n 3 stdout)" same "$(cat stdout)" ''
}
prefix=(env)

# ---- configuration files ----

# config NAME MESSAGE: a run with the file NAME.
config() {
  expect 2 "$2" --config "$1" --plan builtin:allgather --out out
}

printf 'noc:\n  hop_latancy: 9ns\n' >unknown.yaml
config unknown.yaml 'unknown.yaml:2:3: noc.hop_latancy: unknown key, did you mean noc.hop_latency?'
printf 'nok:\n  rows: 6\n' >section.yaml
config section.yaml 'section.yaml:1:1: nok: unknown section, did you mean noc?'
printf 'noc:\n  hop_latency: 64\n' >bare.yaml
config bare.yaml \
  'bare.yaml:2:16: noc.hop_latency: "64" has no unit; expected a time with a unit, such as 12.8ns'
printf 'noc:\n  hop_latency: 64GB\n' >unit.yaml
config unit.yaml \
  'unit.yaml:2:16: noc.hop_latency: "64GB" is a size; expected a time with a unit, such as 12.8ns'
printf 'noc:\n  rows: 6\n  rows: 6\n' >twice.yaml
config twice.yaml 'twice.yaml:3:3: noc.rows: given twice, first in line 2; expected once'
printf 'noc:\n\trows: 6\n' >tab.yaml
config tab.yaml 'tab.yaml:2:1: a tab in the indentation, expected spaces'
: >empty.yaml
config empty.yaml 'empty.yaml:1:1: an empty file, expected sections with keys, such as noc: and below it columns: 24'
head -c 300 "$nunasim" >binary.yaml
config binary.yaml 'binary.yaml:1:1: a control character, expected a text file'
mkdir folder.yaml
config folder.yaml 'folder.yaml: is a directory, expected a configuration file'
config missing.yaml 'missing.yaml: cannot open: No such file or directory'
printf 'pod:\n  gpus: 0\n' >none.yaml
config none.yaml 'none.yaml:2:9: pod.gpus: "0" is out of range; expected 1 to 4096'
printf 'pod:\n  gpus: 1000000000\n' >many.yaml
config many.yaml 'many.yaml:2:9: pod.gpus: "1000000000" is out of range; expected 1 to 4096'
printf 'collective:\n  size: 18446744073709551616B\n' >large.yaml
config large.yaml 'large.yaml:2:9: collective.size: "18446744073709551616B" is too large; expected a size with a unit, such as 256B or 1MiB'

# ---- options ----

# option MESSAGE ARGS...
option() {
  expect 2 "$1" --plan builtin:allgather --out out "${@:2}"
}

count_due='expected a whole number, such as 64'
size_due='expected a size with a unit, such as 256B or 1MiB'
option '--gpus 0: pod.gpus: "0" is out of range; expected 1 to 4096' --gpus 0
option '--gpus 1000000000: pod.gpus: "1000000000" is out of range; expected 1 to 4096' \
  --gpus 1000000000
option "--gpus -8: pod.gpus: \"-8\" has a sign; $count_due" --gpus -8
option "--gpus 8.5: pod.gpus: \"8.5\" has a decimal point; $count_due" --gpus 8.5
option "--gpus 18446744073709551616: pod.gpus: \"18446744073709551616\" is too large; $count_due" \
  --gpus 18446744073709551616
option "--size 18446744073709551616B: collective.size: \"18446744073709551616B\" is too large; $size_due" \
  --size 18446744073709551616B
option '--size 17TiB: collective.size: "17TiB" is out of range; expected 0B to 16TiB' --size 17TiB
option "--size 1: collective.size: \"1\" has no unit; $size_due" --size 1
option "--size -1B: collective.size: \"-1B\" has a sign; $size_due" --size=-1B
option "--size 1MBs: collective.size: \"1MBs\" has an unknown unit \"MBs\"; $size_due" --size 1MBs
option '--policy nowhere: placement.policy: "nowhere" is not known; expected one of UA, UA+NAR, NUMA, NUMA+NAR, NAP, NAP+NAR, NAP*, NAP*+NAR' --policy nowhere
option '--nar 5: placement.nar_domains: 5 domains do not divide the 12 ports (scaleup.ports), expected a divisor, or 0 to try all' \
  --nar 5 --policy UA+NAR
option '--nar 4: policy UA knows no routing domains, expected one that does: UA+NAR, NUMA+NAR, NAP, NAP+NAR, NAP*, NAP*+NAR' --nar 4
option 'collective.size: at this size the page tables of 8 GPUs with pages of 4KiB would take more than 4 GiB; expected a smaller size, larger pages (hbm.page_size), or a policy without page tables (UA, NUMA, NAP*)' \
  --size 1TB --policy NAP --gpus 8 --set hbm.stack_capacity=1TB
option 'collective.size: GPU 0 would need 976562702KiB of memory, but its 16 stacks hold 288GB; expected a smaller size, or larger stacks (hbm.stack_capacity)' \
  --size 1TB --gpus 8
option '--nar 12: placement.nar_domains: 12 domains leave some without a stack of their own: there are 2 (hbm.stacks), expected at most as many domains as stacks' \
  --nar 12 --policy NAP+NAR --set hbm.stacks=2
option "--nar all: placement.nar_domains: \"all\" is not a number; $count_due" --nar all
option '--background fft: expected gemm:size=N, N rows and columns' --background fft
option "--background gemm:size x: background.gemm_size: \"x\" is not a number; $count_due" --background gemm:size=x
option '--set scaleup.port_grain=3: scaleup.port_grain: 3 lines are no power of two, expected 1, 2, 4, ...' \
  --set scaleup.port_grain=3
option '--set background.gemm_tiles=99: background.gemm_tiles: 99 tiles do not make a square, expected a square number such as 100' \
  --set background.gemm_tiles=99
option '--set pod.gpus_per_node=5: pod.gpus_per_node: 5 GPUs per node do not divide 64 GPUs (pod.gpus), expected a divisor' \
  --set pod.gpus_per_node=5
option '--set translation.l2_entries=33: translation.l2_entries: 33 entries are no multiple of 2 ways (translation.l2_ways), expected one, or 0 ways for full associativity' \
  --set translation.l2_entries=33
option '--set translation.walk_cache_ways=3: translation.walk_cache_ways: 128 entries are no multiple of 3 ways (translation.walk_cache_ways), expected one, or 0 ways for full associativity' \
  --set translation.walk_cache_ways=3
option '--set translation.trace_gpu=64: translation.trace_gpu: GPU 64 of 64 (pod.gpus), expected a number below that' \
  --set translation.trace=1 --set translation.trace_gpu=64
option '--set translation.mode=on: translation.mode: "on" is not known; expected one of off, ideal, full' \
  --set translation.mode=on
option 'collective.size: too many pages of 256B (hbm.page_size) to translate; expected a smaller size, larger pages, or translation.mode off' \
  --size 1TB --set hbm.page_size=256B --set translation.mode=full --set hbm.stack_capacity=1TB
for threads in 0 257 x -1; do
  option "--threads $threads: expected a whole number from 1 to 256" --threads "$threads"
done
option '--fold half: expected auto, off or approx' --fold half
for also in '--fold off' '--threads 2'; do
  # shellcheck disable=SC2086 # two words
  option '--reference: runs on one thread and folds nothing; expected neither --threads nor --fold beside it' \
    --reference $also
done
option '--set noc.rows: expected KEY=VALUE, such as noc.hop_latency=12.8ns' --set noc.rows
option '--set =4: expected KEY=VALUE, such as noc.hop_latency=12.8ns' --set =4
option "--set noc.rows=: noc.rows: no value; $count_due" --set noc.rows=
option '--set noc.rwos=4: noc.rwos: unknown key, did you mean noc.rows?' --set noc.rwos=4
option '--set noc.dies=5: noc.dies: 5 dies (noc.dies) do not divide 24 columns (noc.columns), expected the same number of columns on every die' \
  --set noc.dies=5
option '--set: value missing, expected KEY=VALUE' --set
option '--set: value missing, expected KEY=VALUE' --set --quiet
option '--config: value missing, expected FILE' --config
option '--config: empty, expected FILE' --config ''
option '--size: given twice, expected once' --size 1MB --size 2MB
option '--quiet: takes no value' --quiet=yes
option 'unknown option --gpu, did you mean --gpus?' --gpu 8
option 'unknown option --frobnicate, --help lists the options' --frobnicate
option 'unexpected argument "extra"' extra
expect 2 '--plan is missing: expected a plan file, or builtin:allgather (allreduce, reducescatter, alltoall)' \
  --quiet
expect 2 '--plan: value missing, expected PLAN' --plan
expect 2 'unknown command "chek", did you mean check?' chek plan.json
expect 2 'unknown command "frobnicate", expected --config FILE --plan PLAN or a command that `nunasim --help` lists' \
  frobnicate
expect 2 'unknown command "frobnicate", expected --config FILE --plan PLAN or a command that `nunasim --help` lists' \
  help frobnicate
expect 2 'check: the plan is missing, expected e.g. nunasim check plan.json' check
expect 2 'plan: the collective is missing, expected e.g. nunasim plan allgather --gpus 8' plan
expect 2 'plan: --gpus is missing, expected e.g. nunasim plan allgather --gpus 8' plan allgather
expect 2 'unknown option --mark, --help lists the options' params --mark
expect 2 'params: unknown section "nok", did you mean noc?' params nok
expect 2 'params: unknown section "frobnicate"; nunasim params lists them' params frobnicate
expect 2 'columns: no file "link.csv" is written, did you mean links.csv?' columns link.csv
expect 2 'columns: no file "x" is written; nunasim columns lists them' columns x
expect 2 '--markdown: prints every section, expected none' params --markdown noc
expect 2 'missing.yaml: cannot open: No such file or directory' latency-map --config missing.yaml
code=0
"$nunasim" >stdout 2>stderr || code=$?
check "no arguments: exit code $code" same "$code" 2
check 'no arguments: help' grep -q '^usage: nunasim --config FILE --plan PLAN' stderr

# ---- builtin plans ----

# builtin_plan TEXT MESSAGE OPTIONS...
builtin_plan() {
  expect 2 "$2" --plan "builtin:$1" --out out "${@:3}"
}

# choice: the words on standard input, in order of appearance, as a message offers them.
choice() {
  awk '!seen[$0]++ { word[++n] = $0 }
    END { for (i = 1; i <= n; i++) printf "%s%s", i == 1 ? "expected " : i == n ? " or " : ", ", word[i] }'
}
four=$(plans | cut -d' ' -f2 | choice)
check "collectives to choose from: $four" grep -q 'allgather, .* or ' <<<"$four"
builtin_plan allgahter \
  "builtin:allgahter: unknown collective \"allgahter\", did you mean \"allgather\", $four"
builtin_plan '' "builtin:: unknown collective \"\", $four"
builtin_plan allgather,chanels=3 'builtin:allgather,chanels=3: unknown option "chanels", did you mean "channels", expected algorithm, channels, gpus, gpus_per_node, instances or own'
builtin_plan allgather,channels=0 \
  'builtin:allgather,channels=0: channels: "0" is not a number from 1 to 1024'
builtin_plan allgather,channels 'builtin:allgather,channels: channels has no value, write channels=8'
builtin_plan allgather,gpus=8,gpus=8 'builtin:allgather,gpus=8,gpus=8: gpus is given twice'
builtin_plan allgather,own=apart 'only an all-pairs alltoall has an own block to copy apart (own=apart)'
builtin_plan alltoall,own=aprt \
  'builtin:alltoall,own=aprt: unknown place of the own block "aprt", did you mean "apart", expected first or apart'
builtin_plan alltoall,own 'builtin:alltoall,own: own has no value, write own=apart'
builtin_plan alltoall,gpus_per_node=7 'cannot generate a plan for 64 GPUs in nodes of 7, expected a divisor'
builtin_plan allgather,algorithm=bush \
  "builtin:allgather,algorithm=bush: unknown algorithm \"bush\", $(plans | cut -d' ' -f1 | choice)"
builtin_plan allgather,gpus=8 \
  'builtin:allgather,gpus=8: the plan is for 8 GPUs, but pod.gpus is 64 (the default)'
builtin_plan allgather,channels=1024 'a plan for 4096 GPUs with 1024 channels would take at least 3800160 MiB of memory, the limit is 6144 MiB; use fewer channels or GPUs' \
  --gpus 4096

# ---- plan files ----

# Not a generated plan: what is generated may change.
cp "$here/plan.json" good.json
"$nunasim" plan allgather --gpus 32 --out 32.json

# plan FILE MESSAGE: both the checker and a run must say so.
plan() {
  cmp -s good.json "$1" 2>/dev/null && bad "the test itself: $1 is still the good plan"
  expect 2 "$2" check "$1"
  expect 2 "$2" --plan "$1" --gpus 2 --out out
}

head -c 700 good.json >cut.json
plan cut.json 'cut.json:10:463: the file ends inside this string, is it truncated?'
sed 's/^"name":.*/&\n"name":"again",/' good.json >twice.json
plan twice.json 'twice.json: name: the key is given twice'
: >empty.json
plan empty.json 'empty.json: is empty, expected a plan'
cp binary.yaml binary.json
plan binary.json 'binary.json: is a binary file, expected a plan as text'
mkdir folder.json
plan folder.json 'folder.json: is a directory, expected a plan file'
plan missing.json 'missing.json: cannot be opened: No such file or directory'
echo '[]' >list.json
plan list.json 'list.json: the top level is an array, expected an object'
echo '{} x' >more.json
plan more.json 'more.json:1:4: text after the end of the plan'
sed 's/18446744073709551615/18446744073709551616/' good.json >huge.json
plan huge.json 'huge.json: max_message_size: is out of range, expected 0 to 18446744073709551615'
sed 's/"input_chunks":1/"input_chunks":-1/' good.json >negative.json
plan negative.json 'negative.json: gpus[0].input_chunks: -1 is out of range, expected 0 to 16777216'
sed 's/"index":0,"size":1/"index":7,"size":1/' good.json >range.json
plan range.json 'range.json: gpus[0].threadblocks[0].ops[0].src_buff[0].index: chunk 7, but the input of GPU 0 has 1 chunk'
sed 's/"name":"copy"/"name":"kopy"/' good.json >operation.json
plan operation.json 'operation.json: gpus[0].threadblocks[0].ops[3].name: unknown operation "kopy", did you mean "copy"; docs/plan-formats.md lists them'
sed 's/{"name":"copy".*},{"name":"wait"/{"name":"wait"/' good.json >wrong.json
plan wrong.json "wrong.json: wrong allgather: GPU 0 output chunk 0 lacks GPU 0's input chunk 0 and holds the initial content of GPU 0's output chunk 0"
# Each GPU waits for the other's signal before it sends its own.
sed 's/{"name":"signal"[^}]*},\(.*\),\({"name":"wait"[^}]*}\)/\2,\1,{"name":"signal","channel_ids":[0],"channel_type":"memory"}/' \
  good.json >deadlock.json
plan deadlock.json 'deadlock.json: deadlock, 2 threadblocks wait for ever:
  GPU 0 threadblock 0 op 2 (wait) waits for a signal from GPU 1 on channel 0
  GPU 1 threadblock 0 op 2 (wait) waits for a signal from GPU 0 on channel 0'

# version1 FROM TO MESSAGE: what nobody needs must still be what it should.
version1() {
  sed "s/$1/$2/" "$root/tests/fuzz/corpus/json1/every.json" >old.json
  cmp -s "$root/tests/fuzz/corpus/json1/every.json" old.json && bad "the test itself: no $1"
  plan old.json "old.json: $3"
}
tb0='gpus[1].threadblocks[0]'
version1 '"tpkt","ctype":"none"' '"tpkt","ctype":"mystery"' \
  "$tb0.ops[0].ctype: tpkt has no channel of type \"mystery\", expected \"none\" or \"sm\" (\"memory\")"
version1 '"tpkt","ctype":"none"' '"tpkt","ctype":"proxy"' \
  "$tb0.ops[0].ctype: tpkt has no channel of type \"proxy\", expected \"none\" or \"sm\" (\"memory\")"
version1 '"nop",' '"flush","ctype":"sm",' \
  "$tb0.ops[1].ctype: flush has no channel of type \"sm\", expected \"none\" or \"proxy\" (\"port\")"
version1 '"step":0' '"step":"x"' "$tb0.ops[1].deps[0].step: is a string, expected an integer"
version1 '"tb":0,' '' "$tb0.ops[1].deps[0].tb: is missing, expected an integer"
version1 '"deps":.*.},$' '"deps":7},' "$tb0.ops[1].deps: is a number, expected an array"
version1 '"id":0,"ops":.{"name":"tpkt"' '"id":"x","ops":[{"name":"tpkt"' "$tb0.id: is a string, expected an integer"
version1 '"i_cids":.{"id":0,"off":0}' '"i_cids":[{"id":0,"off":"x"}' \
  'gpus[0].threadblocks[0].ops[0].i_cids[0].off: is a string, expected an integer'

expect 2 '32.json: the plan is for 32 GPUs, but pod.gpus is 64 (the default)' --plan 32.json
expect 2 '32.json: the plan is for 32 GPUs, but pod.gpus is 64 (--gpus)' --plan 32.json --gpus 64
expect 2 '32.json: the plan is for 32 GPUs, but pod.gpus is 64 (from the configuration)' \
  --plan 32.json --config "$root/configs/pod64.yaml"
expect 2 '32.json: the plan needs 32 GPUs, but --gpus says 64' check 32.json --gpus 64
sed 's/18446744073709551615/1000/' good.json >window.json
expect 2 'window.json: the plan is for messages of 0 to 1000 bytes, but collective.size is 1000001 bytes' \
  --plan window.json --gpus 2 --size 1000001B

# Two-sided plans: at their limit they are right, above it nothing is written.
"$nunasim" plan allgather --gpus 2 --channels 1 --format xml --out good.xml
sed 's/<algo /<algo colour="red" /; s/type="r"/type="rr"/' good.xml >type.xml
plan type.xml 'type.xml:5:7: type="rr": unknown step type at gpu0/tb0/s1, expected s, r, rcs, rrc, rrs, rrcs, cpy, re or nop' --gpus 2
sed 's/ngpus="2"/ngpus="3"/' good.xml >three.xml
plan three.xml 'three.xml:1:1: ngpus is 3, but gpu 2 is missing' --gpus 3
sed 's/maxBytes="0"/maxBytes="4096"/' good.xml >short.xml
expect 2 'short.xml: the plan is for messages of 0B to 4KiB, but the size is 8KiB' check short.xml --size 8KiB
sed 's/inplace="1" outofplace="0"/inplace="0" outofplace="1"/' good.xml >outside.xml
expect 2 'outside.xml: the plan is for out-of-place runs only; in place it would overwrite what it has yet to read' check outside.xml --in-place
expect 2 '--format yaml: expected json or xml' plan allgather --gpus 2 --format yaml

check 'wrong input makes no output folder' test ! -e out

# ---- output ----

run=(--plan good.json --gpus 2 --quiet)
touch file
expect 2 'file/out: cannot make the output folder: something else is in the way' "${run[@]}" --out file/out
expect 2 'file: cannot make the output folder: something else is in the way' "${run[@]}" --out file
expect 2 '--out: the path is empty or too long' "${run[@]}" --out "$(printf '%05000d' 0)"
expect 2 'file/x: cannot be written: Not a directory' plan allgather --gpus 2 --out file/x
expect 2 'missing/x: cannot be written: No such file or directory' \
  plan allgather --gpus 2 --out missing/x
expect 2 'folder.json: cannot be written: Is a directory' plan allgather --gpus 2 --out folder.json
if [ -c /dev/full ]; then
  expect 1 '/dev/full: cannot be written: No space left on device' \
    plan allgather --gpus 2 --out /dev/full
  for args in params --help --version latency-map 'check good.json' 'plan allgather --gpus 2' \
    '--plan good.json --gpus 2 --out out'; do
    read -ra words <<<"$args"
    code=0
    "$nunasim" "${words[@]}" >/dev/full 2>stderr || code=$?
    check "nunasim $args >/dev/full: exit code $code" same "$code" 1
    check "nunasim $args >/dev/full: $(cat stderr)" \
      grep -Eq '^nunasim: error: (cannot write to standard output|standard output: cannot be written)' stderr
  done
else
  echo 'no /dev/full: a full standard output is not tested'
fi

# A disk that fills up: no file may grow. The messages leave through a pipe.
full() {
  (
    trap '' XFSZ
    ulimit -f 0
    "$nunasim" "$@" 2>&1
    echo "code $?"
  ) | cat
}
check 'a run on a full disk' same "$(full "${run[@]}" --out full)" \
  $'nunasim: error: full/config.yaml: cannot write: File too large\ncode 1'
check "a run on a full disk leaves $(ls full)" same "$(ls full)" ''
check 'a plan on a full disk' same "$(full plan allgather --gpus 2 --out full.json)" \
  $'nunasim: error: full.json: cannot be written: File too large\ncode 1'
check 'a plan on a full disk leaves a file' same "$(ls full.json* 2>/dev/null)" ''

# Memory that runs out, early or late: said, and no crash. Not where the program does not start in it: with a
# sanitizer, whose complaint is nobody's finding.
lean() {
  (
    ulimit -c 0 -v "$1"
    ASAN_OPTIONS='' "$nunasim" "${@:2}" 2>&1
    echo "code $?"
  )
}
for kib in 20000 25000 30000 35000 40000 50000 60000; do
  [ "$(lean "$kib" --version | tail -n 1)" = 'code 0' ] || continue
  said=$(lean "$kib" --plan builtin:allgather --gpus 8 --size 8MB --threads 1 --fold off --quiet --out lean)
  check "a run in $kib KiB: $said" \
    grep -Eq '^nunasim: error: out of memory for |^code 0' <<<"$said"
  check "a run in $kib KiB ends by itself: $said" grep -Eq '^code [01]$' <<<"$said"
done

# Files without permission; root has to give up its privilege to see any.
if [ "$(id -u)" = 0 ]; then
  privileges=-dac_override,-dac_read_search
  prefix=(setpriv "--bounding-set=$privileges" "--inh-caps=$privileges")
fi
touch secret
chmod 000 secret
if "${prefix[@]}" true 2>/dev/null && ! "${prefix[@]}" cat secret >/dev/null 2>&1; then
  cp good.json secret.json
  cp unknown.yaml secret.yaml
  mkdir locked
  chmod 000 secret.json secret.yaml
  chmod 555 locked
  expect 2 'secret.json: cannot be opened: Permission denied' check secret.json
  expect 2 'secret.yaml: cannot open: Permission denied' "${run[@]}" --config secret.yaml
  expect 2 'locked: cannot write in the output folder: Permission denied' "${run[@]}" --out locked
  expect 2 'locked/out: cannot make the output folder: Permission denied' \
    "${run[@]}" --out locked/out
else
  echo 'privileges cannot be given up: unreadable files are not tested'
fi
prefix=(env)

# The comparison can fail.
silent() {
  local before=$failures
  expect "$@" >/dev/null
  local after=$failures
  failures=$before
  [ "$after" = "$before" ]
}
must_fail 'a wrong exit code is not seen' silent 1 'unknown option --mark, --help lists the options' \
  params --mark
must_fail 'a wrong message is not seen' silent 2 'unknown option --mark' params --mark

finish
