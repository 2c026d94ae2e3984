#!/bin/bash
# No notes of unfinished work, no paths of a developer's machine: words.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$1"

# Spelt so that this file does not contain them.
unfinished='TO''DO|FIX''ME|X''XX'
# A path of somebody's machine: at a word's beginning, so that a relative path is none.
machine='(^|[^[:alnum:]_./-])/(work|tmp|home|root|Users)(/|[^[:alnum:]]|$)'

# clean PATTERN PATHS...
clean() {
  local pattern=$1
  shift
  ! grep -rnIwE "$pattern" "$@"
}
no_machine() {
  ! grep -rnIE "$machine" "$@"
}

clean "$unfinished" src tests bench docs configs README.md dev .ci meson.build meson_options.txt ||
  bad 'notes of unfinished work'
mapfile -t top < <(find . -maxdepth 1 -type f ! -name .git) # also what got there by mistake
no_machine docs configs figures traces "${top[@]}" || bad "paths of a developer's machine"

# fixture CHECK TEXT
fixture() {
  echo "$2" >"$tmp/text"
  case $1 in
    clean) clean "$unfinished" "$tmp" ;;
    *) no_machine "$tmp" ;;
  esac
}
must_fail 'a note passes' fixture clean "/* TO""DO: later */"
must_fail 'a path passes' fixture machine 'see /tm''p/x'
must_fail 'a path in quotes passes' fixture machine 'see `/wor''k/x`'
fixture clean 'mkstemp("a.XXXXXX")' || bad 'the check itself: a template for mkstemp fails'
fixture machine 'docs/wor''k/x and out/tm''p/y' || bad 'the check itself: a relative path fails'
finish
