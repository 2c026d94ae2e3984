#!/usr/bin/env python3
"""Functions that a header declares but the .c of its name does not define: one line "HEADER FUNCTION" each.

    tools/declarations.py SRC
"""
import os
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# From the left margin to a semicolon, without a body.
DECLARED = re.compile(r"^(?!static\b|typedef\b|#)\w[\w \t\n*]*[ \t\n*](nuna_\w+)\([^;{}]*\)[^;{}]*;", re.M)
DEFINED = re.compile(r"^(?!static\b)(?:\w[\w \t\n*]*[ \t\n*])?(nuna_\w+)\([^;{}]*\)\s*\{", re.M)


def text_of(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return COMMENT.sub(" ", file.read())


def main(src):
    for folder, _, names in sorted(os.walk(src)):
        for name in sorted(names):
            if not name.endswith(".h"):
                continue
            path = os.path.join(folder, name)
            defined = set(DEFINED.findall(text_of(path[:-1] + "c")))
            for function in DECLARED.findall(text_of(path)):
                if function not in defined:
                    print(os.path.relpath(path, src), function)


main(sys.argv[1])
