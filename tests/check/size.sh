#!/bin/bash
# No source file is longer than a person reads in one go: size.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
limit=600

# check_sizes FOLDERS...
check_sizes() {
  find "$@" -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.awk' -o -name meson.build \) \
    -exec wc -l {} \; | awk -v limit="$limit" '
      $1 > limit { print $2 ": " $1 " lines, at most " limit; wrong = 1 }
      END { exit wrong || !NR }'
}

cd "$1"
check_sizes src tests bench || bad 'files too long'

seq 600 >"$tmp/a.c"
check_sizes "$tmp" || bad 'the check itself: 600 lines fail'
seq 601 >"$tmp/a.c"
must_fail '601 lines pass' check_sizes "$tmp"
finish
