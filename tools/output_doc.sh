#!/bin/bash
# Prints docs/output.md with its tables of columns made anew: output_doc.sh NUNASIM DOCUMENT. A table stands between
# "<!-- columns: FILE -->" and "<!-- end -->".
set -euo pipefail
inside=''
while IFS= read -r line; do
  case $line in
    '<!-- columns: '*' -->')
      name=${line#'<!-- columns: '}
      inside=${name%' -->'}
      printf '%s\n\n' "$line"
      "$1" columns "$inside" --markdown
      ;;
    '<!-- end -->')
      [ -n "$inside" ] || { echo 'an end without a beginning' >&2; exit 1; }
      inside=''
      printf '\n%s\n' "$line"
      ;;
    *) [ -n "$inside" ] || printf '%s\n' "$line" ;;
  esac
done <"$2"
[ -z "$inside" ] || { echo "no end of $inside" >&2; exit 1; }
