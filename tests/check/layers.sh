#!/bin/bash
# Files of a folder include only what layers.txt allows: layers.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$1

# check_tree SRC ROWS: prints each include that is not allowed, each folder without a row, each row without a folder.
check_tree() (
  cd "$1"
  {
    find . -name '*.[ch]' -printf '%P\n' | sort
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' . --include='*.[ch]' | sed 's|^\./||'
  } | awk -v rows="$2" '
    # The row of the folder itself, or of the nearest one above that has any.
    function row_of(folder) {
      while (!(folder in allowed) && folder ~ "/")
        sub("/[^/]*$", "", folder)
      return folder in allowed ? folder : ""
    }
    function may(row, header,   words, count, i) {
      count = split(allowed[row], words, " ")
      for (i = 1; i <= count; i++)
        if (header == words[i] || index(header, words[i] "/") == 1)
          return 1
      return 0
    }
    BEGIN {
      while ((getline line <rows) > 0)
        if (line !~ /^#/ && split(line, halves, ": ") == 2)
          allowed[halves[1]] = halves[2]
    }
    {
      split($0, parts, ":")
      folder = parts[1]
      if (!sub("/[^/]*$", "", folder))
        next
      row = row_of(folder)
      used[row] = 1
      if (row == "" && !(folder in told)) {
        print folder " is not in layers.txt"
        told[folder] = wrong = 1
      }
      if (row == "" || parts[2] == "")
        next
      split($0, quoted, "\"")
      if (quoted[2] !~ "/" || !may(row, quoted[2])) {
        print parts[1] ":" parts[2] ": " row " may not include \"" quoted[2] "\""
        wrong = 1
      }
    }
    END {
      for (row in allowed)
        if (!(row in used)) {
          print row " is in layers.txt, but has no files"
          wrong = 1
        }
      exit wrong
    }'
)

check_tree "$root/src" "$here/layers.txt" || bad 'includes across layers'

# fixture FOLDER INCLUDE: one file in that folder, with the rows that it may go by.
fixture() {
  rm -rf "$tmp/src"
  mkdir -p "$tmp/src/$1"
  printf '#include "core/types.h"\n#include %s\n' "$2" >"$tmp/src/$1/a.c"
  grep "^${1%%/*}[/:]" "$here/layers.txt" | awk -v folder="$1" '
    { row = $1; sub(":$", "", row) }
    index(folder "/", row "/") == 1' >"$tmp/rows" || true
  check_tree "$tmp/src" "$tmp/rows"
}
fixture pod '"noc/mesh.h"' || bad 'the check itself: an allowed include is refused'
fixture core '<stdio.h>' || bad 'the check itself: a system header is refused'
fixture collectives/check '"collectives/plan/shape.h"' || bad 'the check itself: a job may not use the representation'
fixture cli '"collectives/read/read.h"' || bad 'the check itself: a single header is refused'
fixture pod/deeper/still '"noc/mesh.h"' || bad 'the check itself: a subfolder does not go by the folder above'
must_fail 'core may include noc' fixture core '"noc/mesh.h"'
must_fail 'noc may include gpu' fixture noc '"gpu/hbm.h"'
must_fail 'a subfolder may more than the folder above' fixture noc/deeper '"gpu/hbm.h"'
must_fail 'collectives may include scaleup' fixture collectives/plan '"scaleup/clos.h"'
must_fail 'the representation may include a job' fixture collectives/plan '"collectives/check/check.h"'
must_fail 'a job may include another' fixture collectives/generate '"collectives/read/read.h"'
must_fail 'a reader may include another' fixture collectives/read/mscclpp1 '"collectives/read/mscclpp2/ops.h"'
must_fail 'a name with the same beginning passes' fixture collectives/read/mscclpp '"collectives/read/mscclpp2/ops.h"'
must_fail 'a private header of a job passes' fixture cli '"collectives/read/text/json_doc.h"'
must_fail 'an include without its folder passes' fixture core '"types.h"'
must_fail 'an include that climbs out passes' fixture core '"../noc/mesh.h"'
must_fail 'an unknown layer passes' fixture extra '"core/error.h"'
must_fail 'a new job without a row passes' fixture collectives/extra '"core/error.h"'
fixture core '<stdio.h>'
echo 'gone: core' >>"$tmp/rows"
must_fail 'a row without files passes' check_tree "$tmp/src" "$tmp/rows"
finish
