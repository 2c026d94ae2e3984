#!/bin/bash
# Files of a layer include only headers of the layers that layers.txt allows: layers.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$1

# check_tree SRC: prints each include that is not allowed.
check_tree() {
  local wrong=0 folder layer allowed file line header
  for folder in "$1"/*/; do
    layer=$(basename "$folder")
    if ! allowed=$(grep "^$layer: " "$here/layers.txt"); then
      echo "$layer is not in layers.txt"
      wrong=1
      continue
    fi
    allowed=" ${allowed#*: } "
    while IFS=: read -r file line header; do
      header=${header#*\"}
      header=${header%%\"*}
      if [[ $header != */* || $allowed != *" ${header%%/*} "* ]]; then
        echo "$file:$line: $layer may not include \"$header\""
        wrong=1
      fi
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder" --include='*.[ch]')
  done
  return "$wrong"
}

check_tree "$root/src" || bad 'includes across layers'

# fixture LAYER INCLUDE
fixture() {
  rm -rf "$tmp/src"
  mkdir -p "$tmp/src/$1"
  printf '#include "core/types.h"\n#include %s\n' "$2" >"$tmp/src/$1/a.c"
  check_tree "$tmp/src"
}
fixture pod '"noc/mesh.h"' || bad 'the check itself: an allowed include is refused'
fixture core '<stdio.h>' || bad 'the check itself: a system header is refused'
must_fail 'core may include noc' fixture core '"noc/mesh.h"'
must_fail 'noc may include gpu' fixture noc '"gpu/hbm.h"'
must_fail 'collectives may include scaleup' fixture collectives '"scaleup/clos.h"'
must_fail 'an include without its folder passes' fixture core '"types.h"'
must_fail 'an include that climbs out passes' fixture core '"../noc/mesh.h"'
must_fail 'an unknown layer passes' fixture extra '"core/error.h"'
finish
