#!/bin/bash
# What published studies claim beside what nunasim measures: docs/validation.csv, the tables of docs/*.md that show it, and
# the CSV files of the figures in docs/figures, all written anew from runs.
#   figures/validation.sh [--full] [--only N1,R4] [OUT]     default OUT: out/validation-HASH, of the program
# Some minutes on one core by default: points that take long keep the values they have. --full makes every run (hours).
# Runs that are there are not made again, so what stopped goes on; another program has another folder.
# NUNASIM: the program; JOBS: runs side by side; DOCS: the folder to write, docs by default.
set -euo pipefail
full=
only=N1,N2,N3,N4,N6,N7,N8,N9,N13,R1,R5,R6,R7,X1,M1,M2,M3,M5,M6,M7,M8,TP8,M10,X2,P1,P2
program=${NUNASIM:-$(dirname "$0")/../build/release/src/cli/nunasim}
out=out/validation-$(sha256sum "$program" | cut -c1-8)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
docs=${DOCS:-$here/../docs}
rows=$out/rows.tsv
: >"$rows"
export NUNASIM=$nunasim JOBS=$jobs

# figure SCRIPT FIGURES: some figures of a script; what it says goes to a log.
figure() {
  local extent=--full
  [ -n "$full" ] || extent=--quick
  [ "$1" != host ] || extent= # it knows one
  "$here/$1.sh" $extent --only "$2" "$out/$1" >>"$out/log" 2>&1 || {
    tail -n 5 "$out/log" >&2
    echo "$0: $1, figures $2" >&2
    exit 1
  }
}

# keep FRESH COMMITTED KEYS: takes the rows of a figure's new CSV into that of docs/figures; others stay, told apart by
# the first KEYS columns.
keep() {
  local fresh=$1 kept=$docs/figures/$2
  if [ -f "$fresh" ]; then
    if [ ! -f "$kept" ] || [ "$(head -n 1 "$kept")" != "$(head -n 1 "$fresh")" ]; then
      cp "$fresh" "$kept"
    else
      awk -F, -v keys="$3" '
        { key = $1; for (i = 2; i <= keys; i++) key = key "," $i }
        NR == FNR { row[key] = $0; order[++n] = key; next }
        { print key in row ? row[key] : $0; printed[key] }
        END { for (i = 1; i <= n; i++) if (!(order[i] in printed)) print row[order[i]] }' "$fresh" "$kept" >"$kept.new"
      mv "$kept.new" "$kept"
    fi
  fi
  [ ! -f "$kept" ] || load "$2"
}

# What `cell` looks up: the number of a column, and the first row that begins with some fields.
declare -A column_of row_of
load() { # FILE
  local line fields key i first=yes
  while IFS= read -r line; do
    IFS=, read -ra fields <<<"$line"
    if [ -n "$first" ]; then
      for i in "${!fields[@]}"; do column_of[$1 ${fields[i]}]=$i; done
      first=
      continue
    fi
    key="$1 "
    for i in 0 1 2 3 4; do
      [ "$i" -lt "${#fields[@]}" ] || break
      key+="${fields[i]},"
      [ -n "${row_of[$key]:-}" ] || row_of[$key]=$line
    done
  done <"$docs/figures/$1"
}

# cell FILE COLUMN KEY...: of docs/figures/FILE, in the row whose first fields are the keys.
cell() {
  local file=$1 column=${column_of[$1 $2]:-} key row
  shift 2
  printf -v key '%s,' "$@"
  key="$file $key"
  IFS=, read -ra row <<<"${row_of[$key]:-}"
  [ -z "$column" ] || [ -z "${row_of[$key]:-}" ] || echo "${row[column]}"
}

# table FILE PROGRAM: awk over a CSV of docs/figures; $1 and so on are its columns, without the head.
table() {
  [ ! -f "$docs/figures/$1" ] || awk -F, "function max(a, b) { return a > b ? a : b } NR > 1 $2" "$docs/figures/$1"
}

# calc FORMAT EXPRESSION VALUES...: over $1 and so on; nothing where a value is missing.
calc() {
  local format=$1 expression=$2 one
  shift 2
  for one; do [ -n "$one" ] || return 0; done
  awk -v format="$format" "{ printf format, $expression }" <<<"$*"
}

# row ID QUANTITY CLAIM TOLERANCE VALUE
row() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$rows"
}

for part in nuna translation host plans; do
  # shellcheck source=/dev/null
  . "$here/validation/$part.sh"
done
python3 "$here/../tools/measured.py" "$rows" "$docs"
