#!/bin/bash
# A header declares only what the .c of its name defines, so that who reads one knows where the other is: declares.sh SOURCE_ROOT
# Headers that several files share stand in declares.txt; one that no longer needs it has to leave the list.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../tools/declarations.py

# check_tree SRC LIST
check_tree() {
  python3 "$tool" "$1" >"$tmp/foreign"
  cut -d ' ' -f 1 "$tmp/foreign" | sort -u >"$tmp/found"
  grep -v '^#' "$2" | sort >"$tmp/listed"
  grep -vFf <(sed 's/$/ /' "$tmp/listed") "$tmp/foreign" | sed 's/ /: not defined in the .c of its name: /' || :
  comm -13 "$tmp/found" "$tmp/listed" | sed 's/$/ is shared no more: take it out of declares.txt/'
  cmp -s "$tmp/found" "$tmp/listed"
}

check_tree "$1/src" "$here/declares.txt" || bad 'headers that declare what is elsewhere'

# fixture HEADER SOURCE [LISTED]
fixture() {
  rm -rf "$tmp/src"
  mkdir -p "$tmp/src/a"
  printf '%b\n' "$1" >"$tmp/src/a/x.h"
  printf '%b\n' "$2" >"$tmp/src/a/x.c"
  printf '%s\n' '# nothing' "${@:3}" >"$tmp/list"
  check_tree "$tmp/src" "$tmp/list"
}
own='#include "a/x.h"\nint nuna_x(int a,\n           int b)\n{\n    return a + b;\n}'
fixture '/* nuna_z(); */ \nint nuna_x(int a, int b);\nstatic inline int nuna_y(void)\n{\n    return nuna_x(1, 2);\n}' "$own" ||
  bad 'the check itself: a header of its own fails'
must_fail 'a function of another file passes' fixture 'int nuna_x(int a, int b);\nint nuna_other(void);' "$own"
must_fail 'a function that is nowhere passes' fixture 'const char *nuna_none(\n    int a);' "$own"
fixture 'int nuna_other(void);' "$own" a/x.h || bad 'the check itself: a listed header fails'
must_fail 'a listed header that is shared no more passes' fixture 'int nuna_x(int a, int b);' "$own" a/x.h
finish
