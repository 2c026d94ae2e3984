#!/bin/bash
# docs/parameters.md is what the parameter table says: params_doc.sh NUNASIM SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

"$1" params --markdown >"$tmp/parameters.md"
[ -s "$tmp/parameters.md" ] || bad 'nunasim params --markdown prints nothing'
diff "$2/docs/parameters.md" "$tmp/parameters.md" ||
  bad 'write it anew: nunasim params --markdown >docs/parameters.md'
finish
