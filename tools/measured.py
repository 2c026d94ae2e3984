#!/usr/bin/env python3
"""Puts what figures/validation.sh measured into docs/validation.csv and into the tables of docs/*.md.

    tools/measured.py ROWS DOCS

ROWS has a line per quantity: id, quantity, claim, tolerance, measured, divided by tabs, in the order of the tables.
A claim is a number, or a bound such as ">1.5"; a quantity without a claim is only reported. The tolerance is a
percentage. A quantity that was not measured now keeps the value that docs/validation.csv has.

A document shows the quantities of an id between two lines, which stay:

    <!-- measured N1 -->      a row each
    <!-- grid R1:pods -->     quantities "ROW | COLUMN", a row for each ROW
    <!-- verdicts -->         a row for each target: each section "### N1: TITLE" with quantities N1 that have claims
    <!-- end -->

The section of a target that is not met in everything has a paragraph that begins with "Cause: "; the table of
verdicts repeats its first sentence.
"""
import csv
import io
import os
import re
import sys
from decimal import Decimal

HEAD = ["id", "quantity", "claim", "tolerance", "measured", "verdict"]
BLOCK = re.compile(r"(?P<open><!-- (?P<kind>measured|grid|verdicts)(?: (?P<id>\S+))? -->\n)(?P<body>.*?)"
                   r"(?P<close><!-- end -->)", re.S)


class Wrong(Exception):
    """What is said to the caller."""


def verdict(claim, tolerance, measured):
    if not claim or not measured:
        return ""
    bound = re.match(r"(<=|>=|<|>)(.*)", claim)
    value = Decimal(measured)
    if bound:
        limit = Decimal(bound[2])
        met = {"<": value < limit, ">": value > limit, "<=": value <= limit, ">=": value >= limit}[bound[1]]
    else:
        met = abs(value - Decimal(claim)) * 100 <= abs(Decimal(claim)) * Decimal(tolerance or 0)
    return "met" if met else "missed"


def merge(defined, old):
    """Rows for the CSV: [id, quantity, claim, tolerance, measured, verdict]."""
    known = {(row[0], row[1]): row[4] for row in old}
    rows = []
    for line in defined:
        if len(line) != 5:
            raise Wrong(f"not five fields: {line}")
        name, quantity, claim, tolerance, measured = line
        measured = measured or known.get((name, quantity), "")
        rows.append([name, quantity, claim, tolerance, measured, verdict(claim, tolerance, measured)])
    keys = [(row[0], row[1]) for row in rows]
    for key in keys:
        if keys.count(key) > 1:
            raise Wrong(f"twice: {key[0]}, {key[1]}")
    return rows


def shown(number):
    """1301.506 as 1,301.506; bounds with a blank."""
    text = re.match(r"([<>=]*)(-?)(\d+)(.*)", number)
    if not text:
        return number
    bound, sign, whole, rest = text.groups()
    whole = f"{int(whole):,}" if whole == "0" or whole[0] != "0" else whole
    return f"{bound}{' ' if bound else ''}{sign}{whole}{rest}"


def difference(claim, measured):
    if not claim or not measured or claim[0] in "<>" or Decimal(claim) == 0:
        return ""
    return f"{(Decimal(measured) / Decimal(claim) - 1) * 100:+.1f} %"


def table(head, lines):
    text = io.StringIO()
    for cells in [head, ["---"] * len(head)] + lines:
        print("| " + " | ".join(cells) + " |" if cells[0] != "---" else "|" + "---|" * len(head), file=text)
    return text.getvalue()


def measured_table(rows):
    if not any(row[2] for row in rows):
        return table(["quantity", "measured"], [[row[1], shown(row[4])] for row in rows])
    return table(["quantity", "claim", "measured", "difference", "verdict"],
                 [[row[1], shown(row[2]), shown(row[4]), difference(row[2], row[4]), row[5]] for row in rows])


def grid_table(name, rows):
    across, down, cells = [], [], {}
    for row in rows:
        place = row[1].split(" | ")
        if len(place) != 2:
            raise Wrong(f"{name}: not \"ROW | COLUMN\": {row[1]}")
        down += [place[0]] if place[0] not in down else []
        across += [place[1]] if place[1] not in across else []
        cells[tuple(place)] = shown(row[4])
    return table([""] + across, [[d] + [cells.get((d, a), "") for a in across] for d in down])


def verdict_table(text, rows):
    lines, count = [], {"met": 0, "missed": 0}
    totals = {"met": 0, "met in part": 0, "missed": 0}
    for name, title in re.findall(r"^### (\w+): (.*)$", text, re.M):
        verdicts = [row[5] for row in rows if row[0].split(":")[0] == name and row[5]]
        if not verdicts:
            continue
        for one in verdicts:
            count[one] += 1
        whole = verdicts[0] if len(set(verdicts)) == 1 else "met in part"
        totals[whole] += 1
        section = re.split(r"^##", text.split(f"### {name}: ", 1)[1], maxsplit=1, flags=re.M)[0]
        cause = re.search(r"^Cause: (.*?\.)(?:\s|$)", section, re.M | re.S)
        if whole != "met" and not cause:
            raise Wrong(f"{name} is {whole}, but its section has no paragraph \"Cause: ...\"")
        if whole == "met" and cause:
            raise Wrong(f"{name} is met: its section needs no \"Cause: ...\"")
        reason = re.sub(r"\s+", " ", cause[1]) if cause else ""
        met = verdicts.count("met")
        lines.append([name, title, f"{whole}, {met} of {len(verdicts)}" if whole == "met in part" else whole, reason])
    summary = ", ".join(f"{totals[word]} {word}" for word in totals)
    return (f"Of {len(lines)} targets {summary}; of their {sum(count.values())} quantities {count['met']} met, "
            f"{count['missed']} missed.\n\n" + table(["id", "target", "verdict", "cause"], lines))


def fill(text, rows, shown_ids):
    def replace(block):
        kind, name = block["kind"], block["id"]
        if kind == "verdicts":
            body = verdict_table(text, rows)
        else:
            mine = [row for row in rows if row[0] == name]
            if not mine:
                raise Wrong(f"a table shows {name}, which nothing measures")
            shown_ids.add(name)
            body = measured_table(mine) if kind == "measured" else grid_table(name, mine)
        return f"{block['open']}\n{body}\n{block['close']}"
    return BLOCK.sub(replace, text)


def main(rows_file, docs):
    table_file = os.path.join(docs, "validation.csv")
    with open(rows_file, encoding="utf-8") as file:
        defined = [line.rstrip("\n").split("\t") for line in file]
    old = []
    if os.path.exists(table_file):
        with open(table_file, encoding="utf-8", newline="") as file:
            old = list(csv.reader(file))[1:]
    rows, shown_ids, changed = merge(defined, old), set(), {}
    for name in sorted(os.listdir(docs)):
        if name.endswith(".md"):
            path = os.path.join(docs, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            filled = fill(text, rows, shown_ids)
            if filled != text:
                changed[path] = filled
    hidden = {row[0] for row in rows} - shown_ids
    if hidden:
        raise Wrong(f"no document shows {', '.join(sorted(hidden))}")
    for path, text in changed.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(table_file, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD] + rows)
    for row in rows:
        if not row[4]:
            print(f"{row[0]}, {row[1]}: not measured yet", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2])
    except Wrong as wrong:
        sys.exit(f"{sys.argv[0]}: {wrong}")
