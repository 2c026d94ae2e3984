#!/bin/bash
# No function is longer than a screen or two, no folder fuller than a person keeps in mind: functions.sh SOURCE_ROOT
# Exceptions stand in functions.txt, with how much they may have; one that is no longer needed has to leave it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
longest=80
fullest=15

# measure SRC: "function FILE:NAME LINES" of every function, from its first line to its closing brace, and "folder NAME SOURCES".
measure() {
  (cd "$1" && find . -name '*.[ch]' -printf '%P\n' | sort | xargs awk '
    FNR == 1 { from = 0; inside = 0; folder = FILENAME; if (!sub("/[^/]*$", "", folder)) folder = "."; sources[folder] += FILENAME ~ /\.c$/ }
    inside && /^}/ { print "function", FILENAME ":" name, FNR - from + 1; inside = 0; from = 0; next }
    inside { next }
    /^{/ { inside = 1; next }
    # Between functions: where the next one begins, and the last word before a bracket in its first line that has one.
    /^$/ || /^#/ || /^[ \t]*(\/?\*|\/\/)/ || /^}/ || /;[ \t]*$/ { from = 0; next }
    {
      if (!from) { from = FNR; name = "" }
      if (name == "" && match($0, /[A-Za-z0-9_]+\(/)) name = substr($0, RSTART, RLENGTH - 1)
    }
    END { for (folder in sources) print "folder", folder, sources[folder] }')
}

# check_tree SRC EXCEPTIONS
check_tree() {
  measure "$1" >"$tmp/measured"
  awk -v longest=$longest -v fullest=$fullest '
    /^#/ { next }
    NR == FNR { may[$1 " " $2] = $3; next }
    {
      limit = $1 == "function" ? longest : fullest
      what = $1 == "function" ? "lines" : "sources"
      key = $1 " " $2
      if (key in may) {
        if ($3 <= limit) { print key ": " $3 " " what ", no longer an exception: take it out of functions.txt"; wrong = 1 }
        else limit = may[key]
        seen[key]
      }
      if ($3 > limit) { print key ": " $3 " " what ", at most " limit; wrong = 1 }
      count[$1]++
    }
    END {
      for (key in may) if (!(key in seen)) { print key " is gone: take it out of functions.txt"; wrong = 1 }
      exit wrong || !count["function"] || !count["folder"]
    }' "$2" "$tmp/measured"
}

check_tree "$1/src" "$here/functions.txt" || bad 'functions or folders too large'

# function_of LINES: a function of so many, between others that must not count.
function_of() {
  printf '%s\n' 'struct nuna_a {' '    int x;' '};' '' 'static const int table[] = {' '    1,' '};' '' '/* A comment' ' * of two lines. */' \
    'int nuna_f(int a,' '           int b)' '{'
  yes '    a++;' | head -n $(($1 - 5))
  printf '%s\n' '    return a;' '}' '' 'int nuna_g(void)' '{' '    return 1;' '}'
}
# fixture LINES SOURCES [EXCEPTION...]: a tree with one function of so many lines, in a folder of so many sources.
fixture() {
  local lines=$1 sources=$2 i
  shift 2
  rm -rf "$tmp/src"
  mkdir -p "$tmp/src/a"
  function_of "$lines" >"$tmp/src/a/a1.c"
  for ((i = 2; i <= sources; i++)); do echo 'int nuna_x;' >"$tmp/src/a/a$i.c"; done
  printf '%s\n' '# list' "$@" >"$tmp/list"
  check_tree "$tmp/src" "$tmp/list"
}
fixture 80 15 || bad 'the check itself: a function of 80 lines in a folder of 15 sources fails'
must_fail 'a function of 81 lines passes' fixture 81 15
must_fail 'a folder of 16 sources passes' fixture 80 16
fixture 90 17 'function a/a1.c:nuna_f 90 a table' 'folder a 17' || bad 'the check itself: exceptions fail'
must_fail 'more than an exception allows passes' fixture 91 17 'function a/a1.c:nuna_f 90' 'folder a 17'
must_fail 'a folder beyond its exception passes' fixture 90 18 'function a/a1.c:nuna_f 90' 'folder a 17'
must_fail 'an exception that is not needed passes' fixture 80 15 'function a/a1.c:nuna_f 90'
must_fail 'an exception for a folder that is not needed passes' fixture 80 15 'folder a 17'
must_fail 'an exception for what is gone passes' fixture 80 15 'function a/b.c:nuna_h 90'
must_fail 'an empty tree passes' check_tree "$tmp/nothing" "$tmp/list"
finish
