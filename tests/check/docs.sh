#!/bin/bash
# Documentation reads as text: no long lines, no essays in the cells of a table; links lead somewhere: docs.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
longest=160 # characters of a line
widest=140  # of a cell

# check_text FILES...
check_text() {
  awk -v longest=$longest -v widest=$widest '
    length($0) > longest { print FILENAME ":" FNR ": " length($0) " characters, at most " longest; wrong = 1 }
    /^\|/ {
      n = split($0, cells, "|")
      for (i = 2; i < n; i++)
        if (length(cells[i]) > widest) { print FILENAME ":" FNR ": a cell of " length(cells[i]) " characters, at most " widest; wrong = 1 }
    }
    END { exit wrong || !NR }' "$@"
}

# check_links FILES...: relative links name files that are there.
check_links() {
  local file target wrong=0
  while IFS=: read -r file target; do
    target=${target#](}
    target=${target%)}
    case $target in
      *://* | '#'*) continue ;;
    esac
    if [ ! -e "$(dirname "$file")/${target%%#*}" ]; then
      echo "$file: no $target"
      wrong=1
    fi
  done < <(grep -oHE '\]\([^) ]+\)' "$@")
  return "$wrong"
}

cd "$1"
mapfile -t pages < <(find docs README.md -name '*.md' | sort)
for page in "${pages[@]}"; do
  if grep -qx "$page" tests/check/docs.txt; then
    ! check_text "$page" >/dev/null || bad "$page is narrow by now: take it out of tests/check/docs.txt"
  else
    check_text "$page" || bad "$page is too wide"
  fi
done
check_links "${pages[@]}" || bad 'dead links'

# fixture CHECK TEXT
fixture() {
  printf '%b\n' "$2" >"$tmp/a.md"
  "check_$1" "$tmp/a.md"
}
line=$(printf '%160s' '' | tr ' ' x)
fixture text "$line\n| ${line:0:138} | b |" || bad 'the check itself: a line of 160 characters fails'
must_fail 'a line of 161 characters passes' fixture text "x$line"
must_fail 'a cell of 141 characters passes' fixture text "| ${line:0:139} |"
must_fail 'no text passes' check_text /dev/null
fixture links 'see [a](a.md), [b](a.md#here), [c](#there), [d](https://example.org/x)' || bad 'the check itself: good links fail'
must_fail 'a dead link passes' fixture links 'see [a](b.md)'
finish
