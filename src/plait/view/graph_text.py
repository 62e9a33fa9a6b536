"""Session graphs and session trees as lines of text.

●          * prompt                 a node
├─╮        |-.                      a branch starts; its title is beside it
│ ○        | o prompt
├─◇        |-> agent                an agent starts and returns
◆          # compaction             a compaction
├─◌        |-x prompt               folded
◉          @ prompt                 the client would resume here

● a session
├─ ○ a branch
│  └─ ◇ its agent
└─ ● a session that continues it
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.graph.layout import Link, OutlineItem, RowShape

LinePart: TypeAlias = Literal["gap", "link", "row", "rejoin"]


class Cell(Enum):
    """What a column, or the gap between two, shows."""

    BLANK = "blank"
    LANE = "lane"
    ACROSS = "across"
    CROSS = "cross"
    FORK = "fork"  # continues, and something branches off
    LEAVE = "leave"  # something branches off, and it ends
    TURN = "turn"  # from the left, down
    BACK = "back"  # from above, to the left
    ACTIVE = "active"
    ABANDONED = "abandoned"
    LEAF = "leaf"
    COMPACTION = "compaction"
    AGENT = "agent"
    FOLDED = "folded"


NODES = ("compaction", "folded", "agent", "service", "leaf", "abandoned")
"""The symbol of a node; the first that applies."""
BOX = dict(zip(Cell, " │─┼├╰╮╯●○◉◆◇◌", strict=True))
ASCII = dict(zip(Cell, " |-+|`.'*o@#>x", strict=True))


class Prefix(NamedTuple):
    """The cells of one line of text: columns at even positions, gaps between them."""

    part: LinePart
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A line of the drawing: the row it belongs to, and the characters before its text."""

    row: RowShape
    part: LinePart
    text: str
    node: int | None
    """The position of the node in the text."""


def draw_graph(rows: Iterable[RowShape], *, ascii_only: bool = False) -> Iterator[GraphLine]:
    """Yield the lines of the drawing."""
    glyphs = ASCII if ascii_only else BOX
    for number, row in enumerate(rows):
        for part, cells in _iter_prefixes(row, is_first=number == 0):
            text = "".join(glyphs[cell] for cell in cells)
            yield GraphLine(row, part, text, row.column * 2 if part == "row" else None)


def _iter_prefixes(row: RowShape, *, is_first: bool = False) -> Iterator[Prefix]:
    incoming = next((link for link in row.links if link.shape not in ("agent-in", "end")), None)
    side = incoming if incoming and incoming.start != incoming.end else None
    is_agent = "agent" in row.marks or "service" in row.marks
    is_isolated = is_agent and [link.shape for link in row.links] == ["end"]
    is_side = is_agent or "folded" in row.marks
    leaves = any(link.shape in ("agent-out", "fork") for link in row.links)
    ends = any(link.shape in ("agent-in", "end") for link in row.links)
    is_short = is_side and leaves and ends
    if incoming is None and not is_first and not is_isolated:
        yield Prefix("gap", _draw_lanes(row, row.column))
    elif side and not is_short:
        yield Prefix("link", _draw_link(row, side, Cell.TURN))
    elif "session" in row.marks and not is_first:
        yield Prefix("link", _replace_cell(_draw_lanes(row, row.column), row.column, Cell.LANE))
    kind = get_node_kind(row)
    node = Cell.AGENT if kind == "service" else Cell(kind)
    if side and is_short:
        yield Prefix("row", _draw_link(row, side, node))
    else:
        yield Prefix("row", _replace_cell(_draw_lanes(row, row.column), row.column, node))
    for link in row.links:
        is_own = link.start == row.column
        if link.shape == "agent-in" and not (is_own and is_short) and link.end in row.lanes:
            earlier_lanes = replace(
                row, lanes=tuple(lane for lane in row.lanes if lane < link.start)
            )
            yield Prefix(
                "rejoin",
                _draw_link(earlier_lanes, Link(link.end, link.start, "agent-in"), Cell.BACK),
            )


def get_node_kind(row: RowShape) -> str:
    """Return the kind of node a row is drawn as."""
    return next((mark for mark in NODES if mark in row.marks), "active")


def _draw_lanes(row: RowShape, column: int) -> tuple[Cell, ...]:
    width = max((column, *row.lanes)) * 2 + 1
    occupied = {lane * 2 for lane in row.lanes}
    return tuple(Cell.LANE if index in occupied else Cell.BLANK for index in range(width))


def _replace_cell(cells: tuple[Cell, ...], column: int, cell: Cell) -> tuple[Cell, ...]:
    return (*cells[: column * 2], cell, *cells[column * 2 + 1 :])


def _draw_link(row: RowShape, link: Link, end: Cell) -> tuple[Cell, ...]:
    cells = list(_draw_lanes(row, link.end))
    first, last = link.start * 2, link.end * 2
    for index in range(first + 1, last):
        cells[index] = Cell.CROSS if cells[index] is Cell.LANE else Cell.ACROSS
    cells[first] = Cell.FORK if link.start in row.lanes else Cell.LEAVE
    cells[last] = end
    return tuple(cells)


GOES_ON, ENDS, PASSES, BLANK = "├─ ", "└─ ", "│  ", "   "
DEEPEST = 12
"""What is nested deeper is drawn at this depth."""


def draw_tree(items: Sequence[OutlineItem]) -> Iterator[tuple[str, OutlineItem]]:
    """Yield each item with the lines drawn before it."""
    last_siblings: set[int] = set()
    seen: list[bool] = []
    """For each depth, whether one occurred since a shallower one, from the end backwards."""
    for number in range(len(items) - 1, -1, -1):
        depth = items[number].depth
        del seen[depth + 1 :]
        seen.extend([False] * (depth + 1 - len(seen)))
        if not seen[depth]:
            last_siblings.add(number)
            seen[depth] = True
    open_: list[bool] = []
    """For each depth above, whether more of it follows."""
    for number, item in enumerate(items):
        del open_[max(item.depth - 1, 0) :]
        prefix = "".join(PASSES if more else BLANK for more in open_[:DEEPEST])
        branch = "" if item.depth == 0 else ENDS if number in last_siblings else GOES_ON
        yield prefix + branch, item
        if item.depth:
            open_.append(number not in last_siblings)
