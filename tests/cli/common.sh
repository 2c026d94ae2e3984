# shellcheck shell=bash disable=SC2034
# Sourced by the command-line tests: SCRIPT NUNASIM SOURCE_ROOT. Sets $nunasim, $root, and $tmp,
# which goes away at the end. A test ends with `finish`.
export LC_ALL=C
nunasim=$(realpath "$1")
root=$(realpath "$2")
light=${NUNA_TEST_LIGHT:-} # less work, for slow builds
here=$root/tests/cli
tmp=$(mktemp -d)
trap 'chmod -R u+rwx "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
cost_columns=(wall_s events_per_s peak_rss_bytes simulated_gpus) # of summary.csv: not results
failures=0
checks=0

# What did not come out as expected; the test goes on.
bad() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  checks=$((checks + 1))
  "$@" || bad "$what"
}

# must_fail WHAT COMMAND...: guards against a comparison that cannot fail.
must_fail() {
  local what=$1
  shift
  checks=$((checks + 1))
  if "$@" >/dev/null 2>&1; then
    bad "the test itself: $what"
  fi
}

same() {
  [ "$1" = "$2" ]
}

finish() {
  printf '%d checks, %d failed\n' "$checks" "$failures"
  [ "$failures" = 0 ] && [ "$checks" -gt 0 ]
}

# words KEY: the words that a parameter takes, one a line. Columns of the list are two blanks apart.
words() {
  "$nunasim" params | awk -F '  +' -v key="$1" '
    $2 == key { for (i = split($4, word, ", "); i > 0; i--) line = word[i] "\n" line }
    END { printf "%s", line; exit line == "" }'
}

# plans: every plan that can be generated, a line each: ALGORITHM COLLECTIVE.
plans() {
  "$nunasim" plan --list | awk '{ for (i = 2; i <= NF; i++) print $1, $i } END { exit NR == 0 }'
}

# csv FILE NAME...: those columns of the only row, separated by blanks.
csv() {
  awk -f "$root/tools/csv.awk" -v mode=pick -v names="${*:2}" "$1"
}

# csv_without FILE NAME...: the table without those columns.
csv_without() {
  awk -f "$root/tools/csv.awk" -v mode=drop -v names="${*:2}" "$1"
}

# csv_regular FILE: the table's rows must all have as many fields as its head.
csv_regular() {
  awk -f "$root/tools/csv.awk" -v mode=regular "$1"
}
