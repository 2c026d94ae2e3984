#!/bin/bash
# docs/architecture.svg is what the sources say: architecture.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
tool=$1/tools/architecture.py

python3 "$tool" "$1/src" >"$tmp/architecture.svg"
cmp "$1/docs/architecture.svg" "$tmp/architecture.svg" || bad 'draw it anew: ./dev format'

# drawn FILE TEXT...: the picture of a tree of these files.
drawn() {
  rm -rf "$tmp/src"
  while [ $# -gt 0 ]; do
    mkdir -p "$(dirname "$tmp/src/$1")"
    printf '%b\n' "$2" >"$tmp/src/$1"
    shift 2
  done
  python3 "$tool" "$tmp/src" >"$tmp/picture.svg"
  python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$tmp/picture.svg"
}
# holds PATTERN COUNT: so often.
holds() {
  [ "$(grep -oE "$1" "$tmp/picture.svg" | wc -l)" = "$2" ]
}
drawn a/a.h '' b/b.c '#include "a/a.h"' c/c.c '#include "a/a.h"\n#include "b/b.h"' b/b.h '' c/in/d.c '#include "a/a.h"' ||
  bad 'no picture of a small tree'
holds '>(a|b|c|in|\*)</text>' 5 || bad 'rooms are missing'
holds 'marker-end' 2 || bad 'arrows: c to b and b to a are all that does not follow'
holds 'dasharray' 0 || bad 'a circle where none is'
drawn a/a.h '#include "b/b.h"' b/b.h '' b/c.h '#include "a/a.h"' || bad 'no picture of a circle'
holds 'dasharray' 1 || bad 'a circle is not drawn'
finish
