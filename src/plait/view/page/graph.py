"""Session graphs as SVG: the rail beside a conversation, and thumbnails for lists.

│        the active line, solid
├─╮      a branch, thin and hollow
├─◦      an agent starts and returns
◆        a compaction
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.graph.layout import RowShape
from plait.view.graph_text import get_node_kind
from plait.view.page.markup import esc
from plait.view.summaries import format_row_title, list_row_notes

PITCH, STEP, MARGIN = 18, 11, 10
MOST_MINI = 15


def render_rail(rows: Sequence[RowShape]) -> str:
    """Render the graph of a session; each row links to its record and has a tooltip."""
    width = MARGIN * 2 + STEP * max((row.column for row in rows), default=0)
    height = PITCH * len(rows) + MARGIN
    links: list[str] = []
    strands: list[str] = []
    nodes: list[str] = []
    for number, row in enumerate(rows):
        title = " ".join(format_row_title(row).split())[:160]
        notes = list_row_notes(row)
        tooltip = esc(title + (f" ({', '.join(notes)})" if notes else ""))
        links.append(
            f'<a class="node" href="#{esc(row.head)}" data-line="{esc(row.line)}" '
            f'aria-label="{tooltip}"><title>{tooltip}</title>'
            f'<rect x="0" y="{number * PITCH}" width="100%" height="{PITCH}"/></a>'
        )
        strands += _iter_strands(row, rows[number + 1] if number + 1 < len(rows) else None, number)
        nodes.append(f'<g class="{_get_css_class(row)}">{_render_node(row, number)}</g>')
    return (
        f'<svg class="plait" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="group" aria-label="The session as a graph">'
        f"{''.join((*links, *strands, *nodes))}</svg>"
    )


def _iter_strands(row: RowShape, next_row: RowShape | None, number: int) -> Iterator[str]:
    """Yield the lines through a row, those that start or end at it, and the one to the next."""
    top, middle, bottom = number * PITCH, number * PITCH + PITCH / 2, (number + 1) * PITCH
    x = get_x(row.column)
    for lane in row.lanes:
        yield _render_stroke(f"M{get_x(lane)} {top}V{bottom}", lane)
    for link in row.links:
        start, end = get_x(link.start), get_x(link.end)
        match link.shape:
            case "straight":
                yield _render_stroke(f"M{x} {top}V{middle}", row.column, row)
            case "fork" | "agent-out":
                curve = f"M{start} {top}C{start} {middle} {start} {middle} {end} {middle}"
                yield _render_stroke(curve, 1, row)
            case "agent-in" if link.start == row.column:
                curve = f"M{start} {middle}C{end} {middle} {end} {middle} {end} {bottom}"
                yield _render_stroke(curve, 1, row)
            case _:
                pass
    if next_row and (
        row.column in next_row.lanes or any(link.start == row.column for link in next_row.links)
    ):
        yield _render_stroke(f"M{x} {middle}V{bottom}", row.column, row)


def _render_node(row: RowShape, number: int) -> str:
    x, y = get_x(row.column), number * PITCH + PITCH / 2
    if "compaction" in row.marks:
        return f'<path d="M{x} {y - 5}l5 5-5 5-5-5z"/>'
    if "folded" in row.marks:
        return f'<path d="M{x - 3} {y - 3}l6 6m0-6l-6 6"/>'
    radius = 3 if "agent" in row.marks or "service" in row.marks else 4
    ring = f'<circle cx="{x}" cy="{y}" r="7"/>' if "leaf" in row.marks else ""
    return f'{ring}<circle cx="{x}" cy="{y}" r="{radius}"/>'


def _render_stroke(path: str, column: int, row: RowShape | None = None) -> str:
    is_side = column > 0 or (row is not None and "abandoned" in row.marks)
    css_class = "a" if row is not None and "agent" in row.marks else "s" if is_side else "m"
    return f'<path class="{css_class}" d="{path}"/>'


def _get_css_class(row: RowShape) -> str:
    kind = get_node_kind(row)
    has_error = any(mark in row.marks for mark in ("interrupted", "error"))
    return f"{kind} trouble" if has_error else kind


def render_mini(rows: Sequence[RowShape]) -> str:
    """Render a graph small enough for a list: only its lines, drawn horizontally."""
    if not rows:
        return ""
    step = max(len(rows) / MOST_MINI, 1)
    shown = [rows[int(index * step)] for index in range(min(len(rows), MOST_MINI))]
    pitch = 6
    depth = max(row.column for row in shown)
    width, height = pitch * len(shown) + 4, 8 + 6 * min(depth, 3)
    sides = "".join(
        f'<path class="s" d="M{4 + number * pitch - 4} 4V{4 + 6 * min(row.column, 3)}h4"/>'
        for number, row in enumerate(shown)
        if row.column
    )
    dots = "".join(
        f'<circle class="{_get_css_class(row)}" cx="{4 + number * pitch}" '
        f'cy="{4 + 6 * min(row.column, 3)}" r="2"/>'
        for number, row in enumerate(shown)
    )
    return (
        f'<svg class="mini" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true"><path class="m" d="M4 4H{width - 4}"/>{sides}{dots}</svg>'
    )


def get_x(column: int) -> float:
    """Return the x position of a column."""
    return MARGIN + STEP * column


# Thumbnails:
#
#     ●─●─●───●     the active line
#       ╰○  ╰◦      abandoned branches, and agents, where they started


Side: TypeAlias = Literal["active", "abandoned", "agent"]
COLUMNS: dict[Side, int] = {"active": 0, "abandoned": 1, "agent": 2}
LEAST = 2
"""Turns from which a drawing is useful."""


class SmallTurn(Struct, frozen=True, gc=False):
    """A turn, by the line that it is on."""

    line: int
    side: Side


def get_side(kind: str, *, is_abandoned: bool) -> Side | None:
    """Return where a turn of some kind of line is drawn; None if it is not."""
    if kind == "service":
        return None
    return "agent" if kind == "agent" else "abandoned" if is_abandoned else "active"


def render_small_graph(turns: Iterable[SmallTurn]) -> str:
    """Render turns in order of time; empty if they are too few for a drawing."""
    turn_list = list(turns)
    if len(turn_list) < LEAST:
        return ""
    return render_mini(
        [
            RowShape("", "", (), "", COLUMNS[turn.side], (), (), (turn.side,))
            for turn in thin_turns(turn_list)
        ]
    )


def thin_turns(turns: Sequence[SmallTurn]) -> Sequence[SmallTurn]:
    """Return as many turns as a small drawing has room for, keeping those where branches start."""
    if len(turns) <= MOST_MINI:
        return turns
    first_by_line = {turn.line: index for index, turn in reversed(list(enumerate(turns)))}
    branch_starts = [index for index in first_by_line.values() if turns[index].side != "active"]
    chosen_starts = _spread_evenly(branch_starts, MOST_MINI // 3)
    active = [index for index, turn in enumerate(turns) if turn.side == "active"]
    chosen_active = _spread_evenly(active, MOST_MINI - len(chosen_starts))
    return [turns[index] for index in sorted({*chosen_starts, *chosen_active})]


def _spread_evenly(indexes: Sequence[int], limit: int) -> Sequence[int]:
    if len(indexes) <= limit:
        return indexes
    return [indexes[number * len(indexes) // limit] for number in range(limit)]
