#!/bin/bash
# The tables of columns in docs/output.md are what the program writes: output_doc.sh NUNASIM SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
tool=$2/tools/output_doc.sh

bash "$tool" "$1" "$2/docs/output.md" >"$tmp/output.md" || bad 'a file of docs/output.md is unknown'
diff "$2/docs/output.md" "$tmp/output.md" ||
  bad 'make them anew: tools/output_doc.sh NUNASIM docs/output.md, into another file, then move it there'

# Every file of the program has its table there.
"$1" columns | sed -n 's/^\([a-z_/]*\.csv\) (.*/\1/p' >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -ge 13 ] || bad 'the check itself: too few files'
while IFS= read -r file; do
  grep -qF "<!-- columns: $file -->" "$2/docs/output.md" || bad "docs/output.md has no columns of $file"
done <"$tmp/files"
"$1" completion bash >"$tmp/completion"
while IFS= read -r file; do
  grep -qwF -- "$file" "$tmp/completion" || bad "nunasim columns does not complete $file"
done <"$tmp/files"

printf '%s\n' 'a' '<!-- columns: links.csv -->' 'old' '<!-- end -->' 'b' >"$tmp/a.md"
bash "$tool" "$1" "$tmp/a.md" >"$tmp/b.md"
grep -q '^| `max_queue_ns` | ns | ' "$tmp/b.md" || bad 'the check itself: no columns come'
must_fail 'an old table stays' grep -q old "$tmp/b.md"
printf '%s\n' '<!-- columns: none.csv -->' '<!-- end -->' >"$tmp/a.md"
must_fail 'a file that is none passes' bash "$tool" "$1" "$tmp/a.md"
printf '%s\n' '<!-- columns: links.csv -->' >"$tmp/a.md"
must_fail 'a table without end passes' bash "$tool" "$1" "$tmp/a.md"
finish
