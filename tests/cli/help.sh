#!/bin/bash
# One table says what a verb takes: its help, the manual page and the completion name the same options, and what completes is accepted.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$tmp"

"$nunasim" --help >overview.txt
check 'help and --help' diff overview.txt <("$nunasim" help)
"$nunasim" help --man >nunasim.1
"$nunasim" completion bash >completion
# shellcheck source=/dev/null
. ./completion

quietly() {
  "$@" >/dev/null
}

# completed WORDS...: what the last word can become.
completed() {
  COMP_WORDS=(nunasim "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  compopt() { :; }
  _nunasim
  printf '%s\n' "${COMPREPLY[@]}"
}
completes() {
  check "completion of ${*:2}" same "$(completed "${@:2}" | tr '\n' ' ')" "$1 "
}

# options_of TEXT: every option at the beginning of a line.
options_in_help() {
  sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort
}
options_in_manual() { # VERB
  awk -v verb="$1" '$1 == ".SS" { gsub(/\\/, "", $2); in_verb = $2 == verb; next } $1 == ".SH" { in_verb = 0 } in_verb' nunasim.1 |
    sed -n 's/^\\fB\([^ ]*\)\\fR.*/\1/p' | tr -d '\\'
  echo --help
}

mapfile -t verbs < <(sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p' overview.txt)
check "verbs: ${verbs[*]}" test "${#verbs[@]}" -ge 8
completes "${verbs[*]}" ''
for verb in "${verbs[@]}"; do
  "$nunasim" "$verb" --help >help.txt
  check "help $verb" diff help.txt <("$nunasim" help "$verb")
  check "$verb -h" diff help.txt <("$nunasim" "$verb" -h)
  check "usage of $verb" grep -q '^usage: nunasim ' help.txt
  options_in_help <help.txt >options.txt
  check "options of $verb" grep -q -e --help options.txt
  check "the manual page on $verb" diff options.txt <(options_in_manual "$verb" | sort)
  check "completion of $verb" diff options.txt <(completed "$verb" -- | sort)
done
check 'a command that begins with an option runs' diff <(completed run --) <(completed --)

# Lines too long for a terminal are nobody's help; those of tables may be.
check 'help fits a terminal' same "$(awk 'length > 110' overview.txt)" ''

completes '--policy' --po
completes 'mesh uniform' --set noc.fabric = ''
completes 'mesh' --set noc.fabric = me
completes 'noc.hop_latency=' --set noc.hop
completes 'noc.hop_latency=' host --set noc.hop
completes 'auto' --fold = au
completes 'check' ch
completes 'json xml' plan allgather --format ''
completes 'bash' completion ''
completes 'translation' params tr
touch some.yaml
mkdir sub
completes 'some.yaml' --config so
completes 'sub' --out su
completes 'some.yaml' check so

# accepted OPTION ARGS...: every word that completes can be given.
accepted() {
  local words word
  mapfile -t words < <(completed "${@:2}" "$1" '')
  check "${*:2} $1 has words" test "${#words[@]}" -gt 1
  for word in "${words[@]}"; do
    check "${*:2} $1 $word" quietly "$nunasim" "${@:2}" "$1" "$word" "${quick[@]}"
  done
}
quick=(--plan builtin:alltoall --gpus 4 --size 1kB --quiet --out out)
accepted --policy run
accepted --fold run
quick=(--gpus 4)
accepted --algorithm plan allgather
accepted --format plan allgather
check 'collectives' test "$(completed plan '' | wc -l)" -gt 3
for collective in $(completed plan ''); do
  check "plan $collective" quietly "$nunasim" plan "$collective" --gpus 2
done
quick=(--transfer h2d:1kB:gpu0)
accepted --buffer host
# All sections, one by one, are the whole table but for the width of its columns.
for section in $(completed params ''); do
  "$nunasim" params "$section"
done | tr -s ' ' | grep . >sections.txt
check 'params SECTION' diff sections.txt <("$nunasim" params | tr -s ' ' | grep .)
check 'params SECTION is short' same "$("$nunasim" params noc | grep -c '^[^ ]')" 1

# Where man's formatter is there, it has nothing to say against the page.
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww nunasim.1 >page.txt 2>warnings.txt
  check "the manual page: $(cat warnings.txt)" test ! -s warnings.txt
  check 'the manual page is not empty' test "$(wc -l <page.txt)" -gt 100
fi
check 'no request of the text gets into the page' same "$(grep -c '^\.[^A-Za-z\\]' nunasim.1)" 0

code=0
"$nunasim" completion tcsh >/dev/null 2>err || code=$?
check 'another shell' same "$code $(cat err)" '2 nunasim: error: completion: "tcsh" is not known, expected bash'
must_fail 'a missing option is not seen' diff options.txt /dev/null
finish
