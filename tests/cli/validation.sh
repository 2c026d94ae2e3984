#!/bin/bash
# docs/validation.csv, the figures' numbers and the tables of docs say what runs of this program give, in those targets that
# take seconds; and the writer of the tables refuses what does not fit.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

cp -r "$root/docs" "$tmp/docs"
targets=N1,N2,N3,N13,M1,M7,M8,TP8
[ -n "$light" ] || targets+=,N8,N9,R1,R2,R3,R4,M2,M4,M6,M11,P1
export NUNASIM=$nunasim DOCS=$tmp/docs
check 'figures/validation.sh ends well' "$root/figures/validation.sh" --only $targets "$tmp/out"
again() {
  diff -r "$root/docs" "$tmp/docs" || {
    echo 'write them anew: figures/validation.sh'
    return 1
  }
}
check 'the tables of docs are those of the runs' again

# Of a small folder of documents: what the writer makes of rows.
mkdir "$tmp/small"
cat >"$tmp/text.md" <<'TEXT'
<!-- verdicts -->
<!-- end -->

### A1: first

<!-- measured A1 -->
<!-- end -->

Cause: one thing. And more.

### A2: second

<!-- measured A2 -->
old
<!-- end -->

<!-- grid A2:all -->
<!-- end -->
TEXT
rows=('A1\tmean, ns\t1000\t5\t1049.9' 'A1\tmost\t<2\t\t2' 'A2\tmean\t-50\t5\t-49' 'A2:all\tx | a\t\t\t1' 'A2:all\ty | b\t\t\t12345')
# written SED ROWS...: over text.md, changed by sed.
written() {
  rm -rf "$tmp/small"
  mkdir "$tmp/small"
  sed "$1" "$tmp/text.md" >"$tmp/small/text.md"
  shift
  printf '%b\n' "$@" >"$tmp/rows"
  python3 "$root/tools/measured.py" "$tmp/rows" "$tmp/small"
}
has() {
  grep -qxF -- "$1" "$tmp/small/text.md"
}
check 'tables are written' written '' "${rows[@]}"
for line in '| A1 | first | met in part, 1 of 2 | one thing. |' '| A2 | second | met |  |' \
  '| mean, ns | 1,000 | 1,049.9 | +5.0 % | met |' '| most | < 2 | 2 |  | missed |' '| x | 1 |  |' '| y |  | 12,345 |' \
  'Of 2 targets 1 met, 1 met in part, 0 missed; of their 3 quantities 2 met, 1 missed.'; do
  check "$line" has "$line"
done
check 'what was there is gone' same "$(grep -cx old "$tmp/small/text.md")" 0
cp "$tmp/small/text.md" "$tmp/once.md"
check 'a second time' python3 "$root/tools/measured.py" "$tmp/rows" "$tmp/small"
check 'changes nothing' cmp "$tmp/once.md" "$tmp/small/text.md"
printf '%b\n' "${rows[@]/1049.9/}" >"$tmp/rows"
check 'a quantity that is not measured' python3 "$root/tools/measured.py" "$tmp/rows" "$tmp/small"
check 'keeps its value' cmp "$tmp/once.md" "$tmp/small/text.md"
must_fail 'a table that nothing measures passes' written '' "${rows[@]:0:3}"
must_fail 'a quantity that no table shows passes' written '' "${rows[@]}" 'A3\tmean\t1\t5\t1'
must_fail 'a missed target without its cause passes' written '/^Cause/d' "${rows[@]}"
must_fail 'a cause of a target that is met passes' written 's/^### A2.*/&\n\nCause: none./' "${rows[@]}"
must_fail 'a quantity that stands twice passes' written '' "${rows[@]}" 'A1\tmost\t\t\t2'
finish
