#!/bin/bash
# Reports see a finished simulation through pod/result.h alone: reports.sh SOURCE_ROOT
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

# Of src/pod, what reports may include: themselves, the view, and plain data that it shows.
allowed='report/.*|result|translation_counts'

# check_tree POD: prints each include that is not allowed.
check_tree() {
  local wrong=0
  if grep -rnE '^#include "pod/' "$1/report" --include='*.[ch]' | grep -vE "\"pod/($allowed)\.h\""; then
    wrong=1
  fi
  if grep -nE '^#include "pod/report/' "$1"/*.[ch]; then
    wrong=1
  fi
  return "$wrong"
}
check_tree "$1/src/pod" || bad 'reports that look into the machine, or a machine that knows its reports'

# fixture FILE INCLUDE
fixture() {
  rm -rf "$tmp/pod"
  mkdir -p "$tmp/pod/report"
  : >"$tmp/pod/sim.c"
  echo "#include \"$2\"" >"$tmp/pod/$1"
  check_tree "$tmp/pod"
}
fixture report/a.c pod/result.h || bad 'the check itself: the view is refused'
must_fail 'a report may look into a GPU' fixture report/a.c pod/gpu_lp.h
must_fail 'the machine may include a report' fixture sim.c pod/report/a.h
finish
