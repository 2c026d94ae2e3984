#!/usr/bin/env python3
"""Which file of a source tree depends on which: one line "USER USED" each, sorted.

    tools/dependencies.py SRC            every dependency between files
    tools/dependencies.py --circles SRC  the circles among them, and among folders

A file is X.c with X.h. It depends on the headers that it includes, and on the files that define what it uses: so a header
that declares functions of several files hides nothing. A circle is a largest set of files (or folders) of which each
leads to each other one; it is printed as one sorted line.
"""
import os
import re
import sys

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
# Of the whole program: a function or table whose definition begins at the left margin of a .c.
FUNCTION = re.compile(r"^(?!static\b)(?:\w[\w \t\n*]*[ \t\n*])?(nuna_\w+)\([^;{}]*\)\s*\{", re.M)
TABLE = re.compile(r"^(?!static\b|extern\b)\w[\w \t\n*]*[ \t\n*](nuna_\w+)(?:\[[^\]]*\])*\s*=", re.M)
# What a header only announces is no use of it.
ANNOUNCED = re.compile(r"^\w[^;{}]*\bnuna_\w+(?:\([^;{}]*\))?(?:\[[^\]]*\])*;", re.M)
USE = re.compile(r"(?<!struct )(?<!union )(?<!enum )\b(nuna_\w+)")


class Tree:
    """texts: file without its extension -> code of its .c and .h; uses: file -> files."""

    def __init__(self, src):
        self.lines, self.uses = {}, {}
        code, includes, owner = {}, {}, {}
        for folder, _, names in sorted(os.walk(src)):
            for name in sorted(names):
                stem, extension = os.path.splitext(name)
                if extension not in (".c", ".h"):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                unit = os.path.relpath(os.path.join(folder, stem), src)
                bare = COMMENT_OR_STRING.sub(" ", text)
                code[unit] = code.get(unit, "") + ANNOUNCED.sub(" ", bare)
                includes.setdefault(unit, []).extend(INCLUDE.findall(text))
                self.lines[os.path.relpath(path, src)] = text.count("\n")
                if extension == ".c":
                    for pattern in (FUNCTION, TABLE):
                        owner.update((found, unit) for found in pattern.findall(bare))
        for unit, text in code.items():
            used = {os.path.splitext(header)[0] for header in includes[unit]} & code.keys()
            used |= {owner[name] for name in set(USE.findall(text)) if name in owner}
            self.uses[unit] = sorted(used - {unit})

    def folders(self):
        """folder -> folders that its files use."""
        uses = {}
        for unit, used in self.uses.items():
            folder = os.path.dirname(unit)
            uses.setdefault(folder, set()).update({os.path.dirname(u) for u in used} - {folder})
        return {folder: sorted(used) for folder, used in uses.items()}


def circles(uses):
    """The strongly connected components of more than one member."""

    def reach(start, ways):
        seen, todo = {start}, [start]
        while todo:
            for one in ways.get(todo.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    todo.append(one)
        return seen

    back = {}
    for one, used in uses.items():
        for other in used:
            back.setdefault(other, []).append(one)
    found, done = [], set()
    for one in sorted(uses):
        if one not in done:
            members = reach(one, uses) & reach(one, back)
            done |= members
            if len(members) > 1:
                found.append(sorted(members))
    return found


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--circles":
        tree = Tree(arguments[1])
        for circle in circles(tree.uses):
            print("files", *circle)
        for circle in circles(tree.folders()):
            print("folders", *circle)
    elif len(arguments) == 1:
        for unit, used in sorted(Tree(arguments[0]).uses.items()):
            for other in used:
                print(unit, other)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
