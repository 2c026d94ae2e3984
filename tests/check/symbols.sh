#!/bin/bash
# Libraries have no mutable globals, export only nuna_ names, and neither print nor end the process:
# symbols.sh LIBRARIES...
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

forbidden='printf|vprintf|puts|putchar|perror|__printf_chk|__vprintf_chk|stdout|stderr'
forbidden+='|exit|_exit|_Exit|quick_exit|abort|raise|getenv|secure_getenv|setenv|rand|srand|system'

# check_objects FILE: archive or object.
check_objects() {
  # Symbol lines: address, a tab-ended section, size, name. The flags fill columns 18 to 24.
  objdump -t "$1" | awk -v forbidden="^($forbidden)\$" '
    /file format/ { object = $1; next }
    !/^[0-9a-f]+ / { next }
    {
      flags = substr($0, 18, 7)
      rest = substr($0, 26)
      split(rest, halves, "\t")
      section = halves[1]
      count = split(halves[2], words, " ")
      size = words[1]
      name = words[count]
    }
    flags ~ /d/ { next } # section and debugging symbols
    section == "*UND*" {
      if (name ~ forbidden) { print object " refers to " name; wrong = 1 }
      next
    }
    section == "*COM*" || section ~ /^\.t?(data|bss)/ && section !~ /^\.data\.rel\.ro/ {
      print object " holds mutable " name " in " section
      wrong = 1
    }
    substr(flags, 1, 1) ~ /[gu!]/ || substr(flags, 2, 1) == "w" {
      if (name !~ /^nuna_/) { print object " exports " name; wrong = 1 }
      exports++
    }
    END {
      if (!exports) { print "nothing exported: is this a library?"; wrong = 1 }
      exit wrong
    }'
}

[ $# -gt 0 ] || bad 'no library given'
for library; do
  check_objects "$library" || bad "$(basename "$library")"
done

# fixture CODE: what objects may not do must be seen.
fixture() {
  printf '%s\n' "#include <stdio.h>" "#include <stdlib.h>" "int nuna_f(void);" "$1" >"$tmp/a.c"
  gcc -std=c11 -O1 -fPIE -c "$tmp/a.c" -o "$tmp/a.o" && check_objects "$tmp/a.o"
}
fixture 'extern const char *const nuna_t[]; const char *const nuna_t[] = {"a", "b"};
int nuna_f(void) { return fputs(nuna_t[0], (FILE *)nuna_t[1]); }' || bad 'the check itself: good code fails'
must_fail 'a static counter passes' fixture 'int nuna_f(void) { static int n; return ++n; }'
must_fail 'an initialised global passes' fixture 'int nuna_x = 3; int nuna_f(void) { return 1; }'
must_fail 'a tentative global passes' fixture 'int nuna_x; int nuna_f(void) { return nuna_x; }'
must_fail 'a thread-local passes' fixture 'int nuna_f(void) { static _Thread_local int n; return ++n; }'
must_fail 'another prefix passes' fixture 'int f(void); int f(void) { return 1; }'
must_fail 'printf passes' fixture 'int nuna_f(void) { return printf("%d", 1); }'
must_fail 'puts passes' fixture 'int nuna_f(void) { return puts("a"); }'
must_fail 'stderr passes' fixture 'int nuna_f(void) { return fputs("a", stderr); }'
must_fail 'exit passes' fixture 'int nuna_f(void) { exit(1); }'
must_fail 'abort passes' fixture 'int nuna_f(void) { abort(); }'
must_fail 'rand passes' fixture 'int nuna_f(void) { return rand(); }'
must_fail 'getenv passes' fixture 'int nuna_f(void) { return getenv("A") != 0; }'
finish
