#!/bin/bash
# Sources are as clang-format would write them (`./dev format` does): format.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$1"

find src tests -name '*.[ch]' | sort | xargs clang-format --dry-run --Werror 2>"$tmp/log" || {
  grep -E 'error|warning' "$tmp/log" | cut -d: -f1 | sort | uniq -c
  head -n 20 "$tmp/log"
  bad 'run ./dev format'
}

cp .clang-format "$tmp/.clang-format"
echo 'int  x ;' >"$tmp/a.c"
must_fail 'a badly formatted file passes' clang-format --dry-run --Werror "$tmp/a.c"
finish
