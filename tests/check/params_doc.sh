#!/bin/bash
# docs/parameters.md is what the parameter table says: params_doc.sh NUNASIM SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

"$1" params --markdown >"$tmp/parameters.md"
[ -s "$tmp/parameters.md" ] || bad 'nunasim params --markdown prints nothing'
diff "$2/docs/parameters.md" "$tmp/parameters.md" ||
  bad 'write it anew: nunasim params --markdown >docs/parameters.md'
# Policies have a table of their own, which says what each is made of.
tr '\n' ' ' <"$tmp/parameters.md" | sed -nE 's/.*`placement\.policy` \([^;]*; ([^)]*)\).*/\1/p' | tr -d '` ' | tr ',' '\n' | awk 1 \
  >"$tmp/policies"
[ "$(wc -l <"$tmp/policies")" -gt 1 ] || bad 'no policies in the table of parameters'
while IFS= read -r policy; do
  grep -qF "| \`$policy\`" "$2/docs/placement.md" || bad "docs/placement.md has no row for policy $policy"
done <"$tmp/policies"
"$1" plan --list >"$tmp/algorithms"
[ "$(wc -l <"$tmp/algorithms")" -gt 1 ] || bad 'nunasim plan --list prints no algorithms'
while read -r algorithm _; do
  grep -qF "**$algorithm.**" "$2/docs/plan-formats.md" || bad "docs/plan-formats.md says nothing of $algorithm"
done <"$tmp/algorithms"
finish
