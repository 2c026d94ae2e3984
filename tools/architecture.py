#!/usr/bin/env python3
"""Draws the folders of a source tree as rooms, on floors, with an arrow to each room that is used.

    tools/architecture.py SRC >docs/architecture.svg

A folder stands above all that it uses; folders in it are drawn inside, in the same manner. Arrows that follow from
others (a to c, where a uses b and b uses c) are left out. Folders that use each other, which the checks refuse, are
joined in red. Only what the sources say decides the picture, so that a test can compare it.
"""
import os
import sys
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True
from dependencies import Tree, circles  # beside this file

GAP_X, GAP_Y, PAD, TITLE, LETTER = 26, 50, 14, 40, 7.4
FILLS = ["#ffffff", "#eef3f8", "#ffffff"]


class Room:
    """A folder: its own sources, the rooms inside it, and which of those uses which."""

    def __init__(self, name):
        self.name, self.files, self.lines, self.rooms, self.uses = name, 0, 0, {}, {}

    def path(self, steps):
        return self if not steps else self.rooms.setdefault(steps[0], Room(steps[0])).path(steps[1:])

    def totals(self):
        inside = [room.totals() for room in self.rooms.values()]
        return (self.files + sum(f for f, _ in inside), self.lines + sum(n for _, n in inside))


def build(tree):
    """The root room of a source tree."""
    root = Room("")
    for path, lines in tree.lines.items():
        room = root.path(os.path.dirname(path).split("/"))
        room.files += path.endswith(".c")
        room.lines += lines

    def settle(room):
        # The sources of a folder that has rooms, too, are a room among them.
        if room.rooms and room.files:
            own = Room("*")
            own.files, own.lines, room.files, room.lines = room.files, room.lines, 0, 0
            room.rooms["*"] = own
        room.uses = {name: set() for name in room.rooms}
        for inside in room.rooms.values():
            settle(inside)

    settle(root)
    for user, used in tree.folders().items():
        for other in used:
            room, a, b = root, user.split("/"), other.split("/")
            while a and b and a[0] == b[0]:
                room, a, b = room.rooms[a[0]], a[1:], b[1:]
            room.uses[(a or ["*"])[0]].add((b or ["*"])[0])
    return root


def floors(uses):
    """name -> floor, 0 at the bottom; and the arrows that are drawn; and pairs that use each other."""
    knot = {name: tuple(circle) for circle in circles(uses) for name in circle}
    down = {a: {b for b in used if knot.get(a, a) != knot.get(b, b)} for a, used in uses.items()}
    floor = {}

    def height(name):
        if name not in floor:
            floor[name] = 0
            floor[name] = max((height(b) + 1 for b in down[name]), default=0)
        return floor[name]

    reach = {}

    def below(name):
        if name not in reach:
            reach[name] = set(down[name]).union(*(below(b) for b in sorted(down[name])))
        return reach[name]

    for name in sorted(uses):
        height(name)
    arrows = [(a, b) for a in sorted(down) for b in sorted(down[a])
              if not any(b in below(c) for c in down[a] if c != b)]
    red = sorted({tuple(sorted((a, b))) for a in uses for b in uses[a] if knot.get(a, a) == knot.get(b, b)})
    return floor, arrows, red


def lines_of(count):
    """Rounded, so that the picture does not change with every line."""
    return f"{round(count / 500) / 2:g} k lines" if count >= 250 else "under 0.5 k lines"


def words(room):
    files, lines = room.totals()
    return f"{files} .c, {lines_of(lines)}" if files else f"headers, {lines_of(lines)}"


class Drawing:
    """One room laid out: width, height, and the SVG of what is inside at (0, 0)."""

    def __init__(self, room, depth):
        self.room, self.depth = room, depth
        self.text_width = 2 * PAD + LETTER * max(len(room.name) * 1.15, len(words(room)) if room.name else 0)
        self.inside = {name: Drawing(child, depth + 1) for name, child in sorted(room.rooms.items())}
        self.places, self.rows, self.paths = {}, {}, []
        title = TITLE if room.name else 0
        if not self.inside:
            self.width, self.height = self.text_width, title + PAD
            return
        floor, arrows, red = floors(room.uses)
        rows = self.order(floor, arrows)
        heights = [max([self.inside[n].height for n in row if n in self.inside] or [0]) for row in rows]
        widths = [sum(self.wide(n) for n in row) + GAP_X * (len(row) - 1) for row in rows]
        self.width = max([self.text_width] + [w + 2 * PAD for w in widths])
        y = title + PAD + sum(heights) + GAP_Y * (len(rows) - 1)
        self.height = y + PAD
        for row, height, width in zip(rows, heights, widths):
            y -= height
            spare = (self.width - 2 * PAD - width) / (len(row) + 1)
            x = PAD + spare
            for name in row:
                own = self.inside[name].height if name in self.inside else height
                self.places[name] = (x, y + (height - own) / 2, self.wide(name), own)
                self.rows[name] = (y, y + height)
                x += self.wide(name) + GAP_X + spare
            y -= GAP_Y
        for a, b in arrows:
            self.paths.append((self.chain(a, b, floor), False))
        for a, b in red:
            self.paths.append(([a, b], True))

    def wide(self, name):
        return self.inside[name].width if name in self.inside else 4

    @staticmethod
    def chain(a, b, floor):
        """The rooms of an arrow, with the gaps through which it passes the floors between."""
        return [a] + [(a, b, f) for f in range(floor[a] - 1, floor[b], -1)] + [b]

    def order(self, floor, arrows):
        """Rows from the bottom, each ordered so that arrows are short: the mean place of what is above and below."""
        rows = [[] for _ in range(max(floor.values()) + 1)]
        for name in sorted(floor):
            rows[floor[name]].append(name)
        near = {name: [] for row in rows for name in row}
        for a, b in arrows:
            chain = self.chain(a, b, floor)
            for f, gap in zip(range(floor[a] - 1, floor[b], -1), chain[1:-1]):
                rows[f].append(gap)
                near[gap] = []
            for one, next_one in zip(chain, chain[1:]):
                near[one].append(next_one)
                near[next_one].append(one)
        for _ in range(24):
            place = {name: (i + 1) / (len(row) + 1) for row in rows for i, name in enumerate(row)}
            for row in rows:
                row.sort(key=lambda n: (round(sum(place[m] for m in near[n]) / len(near[n]), 9) if near[n] else
                                        place[n], str(n)))
                place.update({name: (i + 1) / (len(row) + 1) for i, name in enumerate(row)})
        return rows

    def curve(self, chain, red):
        top, bottom = self.places[chain[0]], self.places[chain[-1]]
        if red:
            return (f'<line x1="{top[0] + top[2] / 2:.1f}" y1="{top[1] + top[3] / 2:.1f}" x2="{bottom[0] + bottom[2] / 2:.1f}" '
                    f'y2="{bottom[1] + bottom[3] / 2:.1f}" stroke="#c0392b" stroke-dasharray="4 3"/>')
        # Straight within a floor, curved between floors: so that no room is crossed.
        d = f"M{top[0] + top[2] / 2:.1f} {top[1] + top[3]:.1f}"
        for one, two in zip(chain, chain[1:]):
            (x0, _, wide0, _), (x1, _, wide1, _) = self.places[one], self.places[two]
            x0, x1, y0, y1 = x0 + wide0 / 2, x1 + wide1 / 2, self.rows[one][1], self.rows[two][0]
            y1 -= 7 if two == chain[-1] and self.rows[two][0] == bottom[1] else 0
            half = (y1 - y0) / 2
            d += f" V{y0:.1f} C{x0:.1f} {y0 + half:.1f} {x1:.1f} {y1 - half:.1f} {x1:.1f} {y1:.1f}"
        if self.rows[chain[-1]][0] < bottom[1]:
            d += f" V{bottom[1] - 7:.1f}"
        return f'<path d="{d}" fill="none" stroke="#234" stroke-width="1.3" marker-end="url(#tip)"/>'

    def svg(self, x, y):
        out = [f'<g transform="translate({x:.1f} {y:.1f})">']
        if self.room.name:
            out.append(f'<rect width="{self.width:.1f}" height="{self.height:.1f}" rx="6" fill="{FILLS[self.depth % 3]}" '
                       'stroke="#456"/>')
            out.append(f'<text x="{PAD}" y="19" font-weight="bold" fill="#123">{escape(self.room.name)}</text>')
            out.append(f'<text x="{PAD}" y="36" font-size="12" fill="#456">{words(self.room)}</text>')
        out += [self.curve(chain, red) for chain, red in self.paths]
        for name, drawing in self.inside.items():
            out += drawing.svg(*self.places[name][:2])
        return out + ["</g>"]


def main(src):
    drawing = Drawing(build(Tree(src)), 0)
    width, height = drawing.width, drawing.height + 26
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
          f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="14">')
    print('<defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
          '<path d="M0 0 L8 4 L0 8 z" fill="#234" stroke="none"/></marker></defs>')
    print(f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>')
    print("\n".join(drawing.svg(0, 0)))
    print(f'<text x="{PAD}" y="{height - 9:.0f}" font-size="12" fill="#456">An arrow leads to what is used; those that '
          "follow from others are left out. *: the folder's own files.</text>")
    print("</svg>")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
