#!/bin/bash
# Every header compiles alone, and twice: headers.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
cd "$1"

# compiles INCLUDE_FOLDER HEADER
compiles() {
  printf '#include "%s"\n#include "%s"\ntypedef int nothing_else;\n' "$2" "$2" |
    gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror -I"$1" \
      -fsyntax-only -x c -
}

count=0
while IFS= read -r header; do
  compiles src "${header#src/}" || bad "$header does not compile alone"
  count=$((count + 1))
done < <(find src -name '*.h' | sort)
[ "$count" -gt 0 ] || bad 'no headers found'

echo 'uint32_t nuna_x(void);' >"$tmp/needs.h"
echo 'struct nuna_x { int y; };' >"$tmp/twice.h"
must_fail 'a header that needs another passes' compiles "$tmp" needs.h
must_fail 'a header without a guard passes' compiles "$tmp" twice.h
finish
