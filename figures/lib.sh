# Shared by the figure scripts: a list of runs, carried out side by side and resumed where they stopped, and access to
# their results; the options of all these scripts. Source it after setting the defaults of `out`, the output folder, and
# `only`, the figures.
# shellcheck shell=bash

# What the caller takes: --only, and --full and --quick if it has set `full` and `quick`; then the output folder. Its
# leading comment is the help.
while [ $# -gt 0 ]; do
  case $1 in
    --full)
      [ -n "${full+known}" ] || { echo "$0: unknown option $1" >&2; exit 2; }
      # shellcheck disable=SC2034 # the caller's
      full=1 ;;
    --quick)
      [ -n "${quick+known}" ] || { echo "$0: unknown option $1" >&2; exit 2; }
      # shellcheck disable=SC2034 # the caller's
      quick=1 ;;
    --only) only=${2:?--only needs figures, such as 9,11}; shift ;;
    -h | --help) awk 'NR > 1 && !/^#/ { exit } NR > 1' "$0"; exit 0 ;;
    -*) echo "$0: unknown option $1" >&2; exit 2 ;;
    *) out=$1 ;;
  esac
  shift
done

# wanted FIGURE...: any of them is to be drawn.
wanted() {
  local figure
  for figure; do
    [[ ,$only, != *,$figure,* ]] || return 0
  done
  return 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nunasim=${NUNASIM:-$here/../build/release/src/cli/nunasim}
jobs=${JOBS:-$(nproc)}
[ -x "$nunasim" ] || {
  echo "$0: $nunasim is missing: ./dev build, or set NUNASIM" >&2
  exit 2
}
mkdir -p "$out/runs"
list=$out/runs.list
: >"$list"

# Command of nunasim that the runs use; empty: a collective.
export verb=

# finished ID: the run is there, and went to its end.
finished() {
  [ -f "$out/runs/$1/summary.csv" ] &&
    ! awk -f "$here/../tools/csv.awk" -v mode=pick -v names=status "$out/runs/$1/summary.csv" | grep -qvx ok
}

# add ID ARGS...: one run; its results go to $out/runs/ID.
add() {
  local id=$1
  shift
  finished "$id" || echo "$id $*" >>"$list"
}

# Carries out what `add` collected.
run_all() {
  local total
  total=$(wc -l <"$list")
  [ "$total" -gt 0 ] || return 0
  echo "$total runs on $jobs cores" >&2
  export nunasim out
  # shellcheck disable=SC2016 # the inner shell expands
  xargs -a "$list" -d '\n' -P "$jobs" -I{} bash -c '
    set -f; set -- {}; id=$1; shift
    "$nunasim" $verb --quiet --out "$out/runs/$id" "$@" || { echo "failed: $*" >&2; rm -f "$out/runs/$id/summary.csv"; }'
  : >"$list"
}

# value ID COLUMN: from the run's summary.csv.
value() {
  local file=$out/runs/$1/summary.csv
  [ -f "$file" ] || return 0
  awk -f "$here/../tools/csv.awk" -v mode=pick -v names="$2" "$file"
}

# Threadblocks per peer to try for a pod, the same for every policy: the study takes the best number.
channels_for() {
  case $1 in
    2) echo "2 8 12 24 48 122" ;;
    4) echo "2 4 8 16 32" ;;
    8) echo "1 2 4 8 12 24" ;;
    16) echo "1 2 4 8 12" ;;
    32) echo "1 2 4 8" ;;
    *) echo "1 2 4" ;;
  esac
}

# add_best PREFIX GPUS ARGS...: one run per number of channels.
add_best() {
  local prefix=$1 gpus=$2 collective=$3 c
  shift 3
  for c in $(channels_for "$gpus"); do
    add "$prefix-c$c" --plan "builtin:$collective,channels=$c" --gpus "$gpus" "$@"
  done
}

# best PREFIX GPUS [MOST]: "time_ns channels nar_domains" of the fastest of them, or of those that simulated at most
# MOST GPUs.
best() {
  local prefix=$1 most=${3:-9999} c
  for c in $(channels_for "$2"); do
    finished "$prefix-c$c" || continue
    [ "$(value "$prefix-c$c" simulated_gpus)" -le "$most" ] || continue
    echo "$(value "$prefix-c$c" time_ns) $c $(value "$prefix-c$c" nar_domains)"
  done | sort -n | head -n 1
}

ratio() {
  awk -v a="$1" -v b="$2" 'BEGIN { if (a > 0 && b > 0) printf "%.4f", a / b }'
}

# plot NAME SCRIPT: NAME.svg and NAME.png from NAME.csv.
plot() {
  local name=$1 script=$2 terminal
  for terminal in svg png; do
    local setting="svg size 900,540 dynamic background rgb 'white'"
    [ "$terminal" = svg ] || setting="pngcairo size 900,540"
    gnuplot -e "set terminal $setting; set output '$out/$name.$terminal'; set datafile separator ','; set key outside; set grid; csv='$out/$name.csv'; out='$out'" \
      -e "$script" || echo "$name: gnuplot failed" >&2
  done
}
