#!/bin/bash
# No file depends on itself by way of others, nor does a folder, but for the circles listed in circles.txt: circles.sh SOURCE_ROOT
# A listed circle that is gone, or has other members by now, has to leave the list or to change in it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../tools/dependencies.py

# check_tree SRC LIST
check_tree() {
  python3 "$tool" --circles "$1" | sort >"$tmp/found"
  grep -v '^#' "$2" | sort >"$tmp/listed"
  comm -23 "$tmp/found" "$tmp/listed" | sed 's/^/new circle of /'
  comm -13 "$tmp/found" "$tmp/listed" | sed 's/^/gone, take it out of circles.txt: /'
  cmp -s "$tmp/found" "$tmp/listed"
}

check_tree "$1/src" "$here/circles.txt" || bad 'circles'

# fixture FILE TEXT...: a tree of these files, and no exceptions but those in $listed.
listed=
fixture() {
  rm -rf "$tmp/src"
  while [ $# -gt 0 ]; do
    mkdir -p "$(dirname "$tmp/src/$1")"
    printf '%b\n' "$2" >"$tmp/src/$1"
    shift 2
  done
  printf '%s\n' '# nothing' ${listed:+"$listed"} >"$tmp/list"
  check_tree "$tmp/src" "$tmp/list"
}
above='#include "a/low.h"\n#include <stdio.h>'
fixture a/low.h 'void nuna_low(void);' a/low.c '#include "a/low.h"\nvoid nuna_low(void)\n{\n}' \
  b/top.h 'void nuna_top(void);' b/top.c "$above\n/* nuna_top() */ void nuna_top(void)\n{\n    nuna_low();\n}" ||
  bad 'the check itself: a tree without circles fails'
must_fail 'headers that include each other pass' fixture a/x.h '#include "a/y.h"' a/y.h '#include "a/x.h"'
must_fail 'files that include each other pass' fixture a/x.h '' a/y.h '' a/x.c '#include "a/y.h"' a/y.c '#include "a/x.h"'
must_fail 'a long way round passes' fixture a/x.h '' a/y.h '' a/x.c '#include "a/y.h"' a/y.c '#include "b/z.h"' b/z.h \
  '#include "a/x.h"'
shared='a/all.h' declared='void nuna_x(void);\nvoid nuna_y(int a,\n            int b);'
x='#include "a/all.h"\nvoid nuna_x(void)\n{\n    nuna_y(1, 2);\n}'
fixture $shared "$declared" a/x.c "$x" a/y.c '#include "a/all.h"\nvoid nuna_y(int a,\n            int b)\n{\n}' ||
  bad 'the check itself: a header shared by caller and called fails'
must_fail 'calls both ways through a shared header pass' fixture $shared "$declared" a/x.c "$x" \
  a/y.c '#include "a/all.h"\nvoid nuna_y(int a,\n            int b)\n{\n    nuna_x();\n}'
must_fail 'a table used by those that it names passes' fixture $shared "extern const int nuna_t[];\n$declared" \
  a/x.c '#include "a/all.h"\nvoid nuna_x(void)\n{\n    (void)nuna_t[0];\n}' \
  a/t.c '#include "a/all.h"\nconst int nuna_t[] = {\n    nuna_x,\n};'
must_fail 'folders that use each other pass' fixture a/x.h '' a/y.h '#include "b/p.h"' b/p.h '' b/q.h '#include "a/x.h"'
listed='files a/x a/y'
fixture a/x.h '#include "a/y.h"' a/y.h '#include "a/x.h"' || bad 'the check itself: a listed circle fails'
must_fail 'a listed circle that is gone passes' fixture a/x.h '' a/y.h ''
must_fail 'a listed circle that has grown passes' fixture a/x.h '#include "a/y.h"' a/y.h '#include "a/z.h"' a/z.h \
  '#include "a/x.h"'
finish
