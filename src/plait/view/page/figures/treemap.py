"""Amounts in groups to areas: a rectangle for each, as large as its share, with its name in it.

It is drawn twice, for a wide page and for a narrow one, so that words keep their size; the table
below it says the same.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plait.view.page.figures.charts import Writer, behind, row, table
from plait.view.page.figures.slices import Slice
from plait.view.page.markup import esc
from plait.view.text import shortened

WIDE, NARROW = (1120.0, 400.0), (358.0, 520.0)
HEAD = 22.0
"""Room for the name of a group."""
LETTER, LINE = 7.2, 18.0
"""What a letter and a line of words take."""
GAP = 1.0


class Area(NamedTuple):
    """Something with an amount, and what it counts."""

    name: str
    value: float
    to: Slice


class Group(NamedTuple):
    """Areas that belong together."""

    area: Area
    parts: Sequence[Area]


class Box(NamedTuple):
    """Where something is drawn."""

    x: float
    y: float
    width: float
    height: float


def squarified(values: Sequence[float], box: Box) -> list[Box]:
    """Returns a box for each value, the largest first, as near to squares as that goes."""
    found: list[Box] = []
    left, rest = box, list(values)
    whole = sum(rest)
    if whole <= 0 or box.width <= 0 or box.height <= 0:
        return [Box(box.x, box.y, 0, 0) for _ in values]
    scale = box.width * box.height / whole
    while rest:
        side = min(left.width, left.height)
        count = _best(rest, side, scale)
        strip, rest = rest[:count], rest[count:]
        drawn, left = _laid(strip, left, scale)
        found += drawn
    return found


def _best(values: Sequence[float], side: float, scale: float) -> int:
    """Returns how many values stand best in one strip along a side."""
    count = 1
    while count < len(values) and _worst(values[: count + 1], side, scale) <= _worst(
        values[:count], side, scale
    ):
        count += 1
    return count


def _worst(values: Sequence[float], side: float, scale: float) -> float:
    area = sum(values) * scale
    least, most = min(values) * scale, max(values) * scale
    if area <= 0 or least <= 0 or side <= 0:
        return float("inf")
    return max(side * side * most / (area * area), area * area / (side * side * least))


def _laid(values: Sequence[float], box: Box, scale: float) -> tuple[list[Box], Box]:
    """Returns the boxes of a strip along the shorter side, and what is left."""
    area = sum(values) * scale
    is_wide = box.width >= box.height
    deep = area / (box.height if is_wide else box.width) if area else 0.0
    found, at = [], box.y if is_wide else box.x
    for value in values:
        long = value * scale / deep if deep else 0.0
        found.append(Box(box.x, at, deep, long) if is_wide else Box(at, box.y, long, deep))
        at += long
    if is_wide:
        return found, Box(box.x + deep, box.y, max(box.width - deep, 0), box.height)
    return found, Box(box.x, box.y + deep, box.width, max(box.height - deep, 0))


def treemap(groups: Sequence[Group], write: Writer, unit: str, title: str) -> str:
    """Returns the drawing, for wide pages and for narrow ones, with its table."""
    drawn = "".join(
        f'<svg class="{kind}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="group" '
        f'aria-label="{esc(title)}; the table below has the figures">'
        f"{''.join(_drawn(groups, Box(0, 0, *size), write))}</svg>"
        for kind, size in (("wide", WIDE), ("narrow", NARROW))
    )
    return f'<figure class="treemap">{drawn}{_table(groups, write, unit, title)}</figure>'


def _drawn(groups: Sequence[Group], box: Box, write: Writer) -> Iterator[str]:
    shown = [one for one in groups if one.area.value > 0]
    places = squarified([one.area.value for one in shown], box)
    for group, place in zip(shown, places, strict=True):
        yield _group(group, place, write)


def _group(group: Group, box: Box, write: Writer) -> str:
    has_head = box.height > 2 * HEAD and box.width > 6 * LETTER
    name = _words(f"{group.area.name} {write(group.area.value)}", group.area.name, box.width)
    head = f'<text x="{box.x + 6:.1f}" y="{box.y + 15:.1f}">{esc(name)}</text>' if has_head else ""
    top = HEAD if has_head else 0.0
    inner = Box(box.x, box.y + top, box.width, box.height - top)
    parts = [one for one in group.parts if one.value > 0]
    places = squarified([one.value for one in parts], inner)
    leaves = "".join(
        _leaf(one, place, f"{group.area.name}, {one.name}", write)
        for one, place in zip(parts, places, strict=True)
    )
    frame = f'<rect class="whole" {_place(box)}/>'
    return f"{_linked(group.area, group.area.name, write, frame + head)}{leaves}"


def _leaf(one: Area, box: Box, words: str, write: Writer) -> str:
    name = _words(f"{one.name} {write(one.value)}", one.name, box.width)
    fits = name and box.height >= LINE
    text = f'<text x="{box.x + 6:.1f}" y="{box.y + 15:.1f}">{esc(name)}</text>' if fits else ""
    return _linked(one, words, write, f'<rect {_place(box)} rx="2"/>{text}')


def _linked(one: Area, words: str, write: Writer, inner: str) -> str:
    told = esc(f"{words}: {write(one.value)}")
    return (
        f'<a href="{esc(one.to.address())}" tabindex="-1" aria-label="{told}">'
        f"<title>{told}</title>{inner}</a>"
    )


def _place(box: Box) -> str:
    wide, tall = max(box.width - GAP, 0.5), max(box.height - GAP, 0.5)
    return f'x="{box.x:.1f}" y="{box.y:.1f}" width="{wide:.1f}" height="{tall:.1f}"'


def _words(long: str, name: str, width: float) -> str:
    """Returns as much of the words as there is room for, nothing where that is hardly any."""
    room = int((width - 10) / LETTER)
    if len(long) <= room:
        return long
    if len(name) <= room:
        return name
    return shortened(name, room) if room >= 5 else ""


def _table(groups: Sequence[Group], write: Writer, unit: str, title: str) -> str:
    rows = [
        row(f"{esc(group.area.name)}<small> {esc(one.name)}</small>", _figure(one, write, unit))
        for group in groups
        for one in group.parts
        if one.value > 0
    ]
    return behind(table(("What", "How much"), rows), title)


def _figure(one: Area, write: Writer, unit: str) -> str:
    value = one.value if unit == "cost" else int(one.value)
    return one.to.link(esc(write(one.value)), **{unit: value})
