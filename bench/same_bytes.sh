#!/bin/bash
# Whether two executables do the same: same_bytes.sh OLD NEW [LIST]. Runs each line of the list (bench/same_bytes.txt) with both and
# compares what they print, their exit codes and every table; of summary.csv, all but what a clock or the machine says.
# TABLES=1 compares the tables and exit codes only, and of tables that gained columns those that both have.
set -euo pipefail
export LC_ALL=C
old=$(realpath "$1")
new=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
list=$(realpath "${3:-$root/bench/same_bytes.txt}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$root"

# What a run prints that no two runs share: wall-clock times, and the folder it wrote to.
steady() {
  sed -E -e '/^(simulated|output) /d' -e 's/peak memory.*//'
}

# result FOLDER EXECUTABLE ARGS...
result() {
  local folder=$1 executable=$2 code=0 file name names
  shift 2
  mkdir -p "$folder"
  case $1 in
    --plan | --config) set -- --out "$folder/out" "$@" ;;
    host) set -- "$@" --out "$folder/out" ;;
  esac
  "$executable" "$@" >"$folder/printed" 2>"$folder/errors" || code=$?
  echo "$code" >"$folder/code"
  steady <"$folder/printed" >"$folder/screen"
  rm "$folder/printed"
  sed -i "s|$folder|OUT|g" "$folder/screen" "$folder/errors"
  [ -d "$folder/out" ] || return 0
  for file in "$folder"/out/*.csv; do
    names=''
    for name in wall_s events_per_s peak_rss_bytes; do
      ! head -n 1 "$file" | grep -qw "$name" || names+=" $name"
    done
    if [ -n "$names" ]; then
      awk -f "$root/tools/csv.awk" -v mode=drop -v names="$names" "$file" | tr '|' ',' >"$file.all"
      rm "$file"
    else
      mv "$file" "$file.all"
    fi
  done
}

# Only the columns of the old table, in its order.
common_columns() {
  awk -F, 'NR == FNR { if (FNR == 1) for (i = 1; i <= NF; i++) want[i] = $i; n = NF; nextfile }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    { line = ""; for (i = 1; i <= n; i++) line = line "," ((want[i] in at) ? $at[want[i]] : "(gone)"); print line }' "$1" "$2"
}

same() {
  if [ -z "${TABLES:-}" ]; then
    diff -r "$1" "$2"
    return
  fi
  local wrong=0 file
  diff "$1/code" "$2/code" || wrong=1
  [ -d "$1/out" ] || return "$wrong"
  for file in "$1"/out/*.all; do
    [ -f "$2/out/${file##*/}" ] || { echo "no ${file##*/}"; wrong=1; continue; }
    diff <(common_columns "$file" "$file") <(common_columns "$file" "$2/out/${file##*/}") || wrong=1
  done
  return "$wrong"
}

runs=0 apart=0
while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  set -f
  # shellcheck disable=SC2086 # words of the list
  set -- $line
  set +f
  runs=$((runs + 1))
  rm -rf "$tmp/old" "$tmp/new"
  result "$tmp/old" "$old" "$@"
  result "$tmp/new" "$new" "$@"
  if ! same "$tmp/old" "$tmp/new" >"$tmp/diff"; then
    apart=$((apart + 1))
    echo "apart: $line"
    head -n "${LINES_OF_DIFF:-8}" "$tmp/diff"
  fi
done <"$list"
echo "$runs runs, $apart apart"
[ "$apart" = 0 ] && [ "$runs" -gt 0 ]
