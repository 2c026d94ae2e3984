#!/bin/bash
# A part of a GPU looks into no other part's state, only its functions are called: parts.sh SOURCE_ROOT
# parts.txt says which files may look into which part. Every pointer or struct of struct nuna_gpu that is a part stands there.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
# What all parts share.
shared=' spec index seen lp flights exec '

# check_tree GPU_FOLDER LIST: prints each look into a foreign part, and each part that nobody owns.
check_tree() {
  local wrong=0 part files file line rest
  sed -n '/^struct nuna_gpu {/,/^}/s/^    \(const \|struct \|uint\)[^;/]*\<\([a-z_]*\);.*/\2/p' "$1/gpu.h" >"$tmp/fields"
  while read -r part; do
    [[ $shared != *" $part "* ]] && ! grep -qE "^$part( |\$)" "$2" || continue
    echo "$part has no owner in parts.txt"
    wrong=1
  done <"$tmp/fields"
  while read -r part files; do
    case $part in '' | '#'*) continue ;; esac
    if ! grep -qx "$part" "$tmp/fields"; then
      echo "struct nuna_gpu has no $part: take it out of parts.txt"
      wrong=1
    fi
    # Into it, or an alias that leads into it.
    while IFS=: read -r file line rest; do
      [[ " $files " == *" ${file#"$1"/} "* ]] && continue
      echo "$file:$line: looks into $part: ${rest#"${rest%%[![:space:]]*}"}"
      wrong=1
    done < <(grep -rnE "(gpu->$part(->|\.|\[|;)|&gpu->$part\b)" "$1" --include='*.[ch]')
  done <"$2"
  return "$wrong"
}

check_tree "$1/src/gpu" "$here/parts.txt" || bad 'parts that look into each other'

# fixture LINE [LIST]: b.c has the line, a.c owns `a`, b.c owns `b`.
fixture() {
  rm -rf "$tmp/gpu"
  mkdir -p "$tmp/gpu"
  printf '%s\n' 'struct nuna_gpu {' '    struct nuna_lp *lp;' '    struct nuna_a *a;' '    struct nuna_b b;' '};' >"$tmp/gpu/gpu.h"
  printf '%s\n' 'gpu->a->x = &gpu->lp->now;' >"$tmp/gpu/a.c"
  printf '%s\n' "$1" >"$tmp/gpu/b.c"
  printf '%b\n' "${2:-# whose\na a.c\nb b.c}" >"$tmp/list"
  check_tree "$tmp/gpu" "$tmp/list"
}
fixture 'if (gpu->a && gpu->b.x) nuna_a_do(gpu);' || bad 'the check itself: calls fail'
must_fail 'a look into another part passes' fixture 'gpu->b.x = gpu->a->x;'
must_fail 'an alias of another part passes' fixture 'struct nuna_a *a = gpu->a;'
must_fail 'the address of another part passes' fixture 'use(&gpu->a);'
must_fail 'a part without an owner passes' fixture '' 'a a.c'
must_fail 'an owner of nothing passes' fixture '' 'a a.c\nb b.c\nc c.c'
finish
