# shellcheck shell=bash
# Sourced by the checks. $failures counts; a check ends with `finish`.
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

bad() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# must_fail WHAT COMMAND...: guards against a check that cannot fail.
must_fail() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    bad "the check itself: $what"
  fi
}

finish() {
  [ "$failures" = 0 ]
}
