"""Row shapes to strands in text, and the tree of sessions to the lines before its parts.

●          * prompt                 a node
├─╮        |-.                      a branch leaves; what it is called stands beside it
│ ○        | o prompt
├─◇        |-> agent                an agent leaves and comes back
◆          # compaction             a knot
├─◌        |-x prompt               folded
◉          @ prompt                 the client would go on from here

● a session
├─ ○ a branch
│  └─ ◇ its agent
└─ ● a session that goes on
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.graph.outline import OutlineItem
from plait.graph.rows import Link, RowShape

LinePart: TypeAlias = Literal["gap", "link", "row", "rejoin"]


class Cell(Enum):
    """What a column, or the gap between two, shows."""

    BLANK = "blank"
    LANE = "lane"
    ACROSS = "across"
    CROSS = "cross"
    FORK = "fork"  # goes on, and something leaves
    LEAVE = "leave"  # something leaves, and it ends
    TURN = "turn"  # from the left, down
    BACK = "back"  # from above, to the left
    ACTIVE = "active"
    ABANDONED = "abandoned"
    LEAF = "leaf"
    COMPACTION = "compaction"
    AGENT = "agent"
    FOLDED = "folded"


NODES = ("compaction", "folded", "agent", "service", "leaf", "abandoned")
"""What a node is drawn as; one that is several things is the first of them."""
BOX = dict(zip(Cell, " │─┼├╰╮╯●○◉◆◇◌", strict=True))
ASCII = dict(zip(Cell, " |-+|`.'*o@#>x", strict=True))


class Prefix(NamedTuple):
    """The cells of one line of text: columns at even places, gaps between them."""

    part: LinePart
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A line of the drawing: the row it belongs to, and the characters before its words."""

    row: RowShape
    part: LinePart
    text: str
    node: int | None
    """Where the node stands in the text."""


def graph_lines(rows: Iterable[RowShape], *, ascii_only: bool = False) -> Iterator[GraphLine]:
    """Yields the lines of the drawing."""
    glyphs = ASCII if ascii_only else BOX
    for number, row in enumerate(rows):
        for part, cells in _prefixes(row, is_first=number == 0):
            text = "".join(glyphs[cell] for cell in cells)
            yield GraphLine(row, part, text, row.column * 2 if part == "row" else None)


def _prefixes(row: RowShape, *, is_first: bool = False) -> Iterator[Prefix]:
    into = next((link for link in row.links if link.shape not in ("agent-in", "end")), None)
    side = into if into and into.start != into.end else None
    is_short = _is_one_row(row)
    if into is None and not is_first and not _is_alone(row):
        yield Prefix("gap", _lanes(row, row.column))
    elif side and not is_short:
        yield Prefix("link", _with_link(row, side, Cell.TURN))
    elif "session" in row.marks and not is_first:
        yield Prefix("link", _with_cell(_lanes(row, row.column), row.column, Cell.LANE))
    node = _node_of(row)
    if side and is_short:
        yield Prefix("row", _with_link(row, side, node))
    else:
        yield Prefix("row", _with_cell(_lanes(row, row.column), row.column, node))
    yield from _ways_back(row, is_short=is_short)


def _ways_back(row: RowShape, *, is_short: bool) -> Iterator[Prefix]:
    for link in row.links:
        is_own = link.start == row.column
        if link.shape == "agent-in" and not (is_own and is_short) and link.end in row.lanes:
            passing = replace(row, lanes=tuple(lane for lane in row.lanes if lane < link.start))
            yield Prefix(
                "rejoin", _with_link(passing, Link(link.end, link.start, "agent-in"), Cell.BACK)
            )


def _is_alone(row: RowShape) -> bool:
    is_agent = "agent" in row.marks or "service" in row.marks
    return is_agent and [link.shape for link in row.links] == ["end"]


def _is_one_row(row: RowShape) -> bool:
    """Tells whether a strand leaves and ends on this row; a branch is never so short."""
    is_side = "agent" in row.marks or "service" in row.marks or "folded" in row.marks
    leaves = any(link.shape in ("agent-out", "fork") for link in row.links)
    ends = any(link.shape in ("agent-in", "end") for link in row.links)
    return is_side and leaves and ends


def node_kind(row: RowShape) -> str:
    """Returns what a row is drawn as."""
    return next((mark for mark in NODES if mark in row.marks), "active")


def _node_of(row: RowShape) -> Cell:
    kind = node_kind(row)
    return Cell.AGENT if kind == "service" else Cell(kind)


def _lanes(row: RowShape, column: int) -> tuple[Cell, ...]:
    width = max((column, *row.lanes)) * 2 + 1
    passing = {lane * 2 for lane in row.lanes}
    return tuple(Cell.LANE if at in passing else Cell.BLANK for at in range(width))


def _with_cell(cells: tuple[Cell, ...], column: int, cell: Cell) -> tuple[Cell, ...]:
    return (*cells[: column * 2], cell, *cells[column * 2 + 1 :])


def _with_link(row: RowShape, link: Link, end: Cell) -> tuple[Cell, ...]:
    cells = list(_lanes(row, link.end))
    first, last = link.start * 2, link.end * 2
    for at in range(first + 1, last):
        cells[at] = Cell.CROSS if cells[at] is Cell.LANE else Cell.ACROSS
    cells[first] = Cell.FORK if link.start in row.lanes else Cell.LEAVE
    cells[last] = end
    return tuple(cells)


GOES_ON, ENDS, PASSES, BLANK = "├─ ", "└─ ", "│  ", "   "
DEEPEST = 12
"""What is nested deeper is drawn at this depth."""


def branching(found: Sequence[OutlineItem]) -> Iterator[tuple[str, OutlineItem]]:
    """Yields each part with the lines before it."""
    lasts = _last_ones(found)
    open_: list[bool] = []
    """For each depth above, whether more of it is still to come."""
    for number, item in enumerate(found):
        del open_[max(item.depth - 1, 0) :]
        above = "".join(PASSES if more else BLANK for more in open_[:DEEPEST])
        own = "" if item.depth == 0 else ENDS if number in lasts else GOES_ON
        yield above + own, item
        if item.depth:
            open_.append(number not in lasts)


def _last_ones(found: Sequence[OutlineItem]) -> set[int]:
    lasts: set[int] = set()
    seen: list[bool] = []
    """For each depth, whether one was met since a shallower one, from the end backwards."""
    for number in range(len(found) - 1, -1, -1):
        depth = found[number].depth
        del seen[depth + 1 :]
        seen.extend([False] * (depth + 1 - len(seen)))
        if not seen[depth]:
            lasts.add(number)
            seen[depth] = True
    return lasts
