"""Row shapes to strands in a page: the same shapes that the terminal draws, as SVG.

│        the active line, solid
├─╮      a branch turns away, thin and hollow
├─◦      an agent leaves and comes back
◆        a compaction is a knot
"""

from collections.abc import Iterator, Sequence

from plait.graph.rows import Link, RowShape
from plait.view.graph_text import node_kind
from plait.view.page.markup import esc
from plait.view.words import notes_of, words_of

PITCH, STEP, MARGIN = 18, 11, 10
MOST_MINI = 15


def rail(rows: Sequence[RowShape]) -> str:
    """Returns the drawing of a session; each row leads to its place and says what it is."""
    width = MARGIN * 2 + STEP * max((row.column for row in rows), default=0)
    height = PITCH * len(rows) + MARGIN
    places = "".join(_place(row, number) for number, row in enumerate(rows))
    lines = "".join(path for number in range(len(rows)) for path in _strands(rows, number))
    nodes = "".join(_node(row, number) for number, row in enumerate(rows))
    return (
        f'<svg class="plait" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="group" aria-label="The session as a graph">{places}{lines}{nodes}</svg>'
    )


def _strands(rows: Sequence[RowShape], number: int) -> Iterator[str]:
    row = rows[number]
    top, middle, bottom = number * PITCH, _middle_of(number), (number + 1) * PITCH
    for lane in row.lanes:
        yield _stroke(f"M{x(lane)} {top}V{bottom}", lane)
    for link in row.links:
        yield from _leading(link, row, top, middle, bottom)
    if _goes_on(rows, number):
        yield _stroke(f"M{x(row.column)} {middle}V{bottom}", row.column, row)


def _leading(link: Link, row: RowShape, top: float, middle: float, bottom: float) -> Iterator[str]:
    match link.shape:
        case "straight":
            yield _stroke(f"M{x(row.column)} {top}V{middle}", row.column, row)
        case "fork" | "agent-out":
            start, end = x(link.start), x(link.end)
            yield _stroke(
                f"M{start} {top}C{start} {middle} {start} {middle} {end} {middle}", 1, row
            )
        case "agent-in" if link.start == row.column:
            start, end = x(link.start), x(link.end)
            yield _stroke(f"M{start} {middle}C{end} {middle} {end} {middle} {end} {bottom}", 1, row)
        case _:
            return


def _goes_on(rows: Sequence[RowShape], number: int) -> bool:
    column = rows[number].column
    if number + 1 >= len(rows):
        return False
    below = rows[number + 1]
    return column in below.lanes or any(link.start == column for link in below.links)


def _stroke(path: str, column: int, row: RowShape | None = None) -> str:
    is_side = column > 0 or (row is not None and "abandoned" in row.marks)
    kind = "a" if row is not None and "agent" in row.marks else "s" if is_side else "m"
    return f'<path class="{kind}" d="{path}"/>'


def _place(row: RowShape, number: int) -> str:
    words = " ".join(words_of(row).split())[:160]
    notes = notes_of(row)
    title = words + (f" ({', '.join(notes)})" if notes else "")
    return (
        f'<a class="node" href="#{esc(row.head)}" data-line="{esc(row.line)}" '
        f'aria-label="{esc(title)}"><title>{esc(title)}</title>'
        f'<rect x="0" y="{number * PITCH}" width="100%" height="{PITCH}"/></a>'
    )


def _node(row: RowShape, number: int) -> str:
    return f'<g class="{_kind_of(row)}">{_shape(row, x(row.column), _middle_of(number))}</g>'


def _shape(row: RowShape, across: float, down: float) -> str:
    if "compaction" in row.marks:
        return f'<path d="M{across} {down - 5}l5 5-5 5-5-5z"/>'
    if "folded" in row.marks:
        return f'<path d="M{across - 3} {down - 3}l6 6m0-6l-6 6"/>'
    radius = 3 if "agent" in row.marks or "service" in row.marks else 4
    ring = f'<circle cx="{across}" cy="{down}" r="7"/>' if "leaf" in row.marks else ""
    return f'{ring}<circle cx="{across}" cy="{down}" r="{radius}"/>'


def _kind_of(row: RowShape) -> str:
    kind = node_kind(row)
    troubled = any(mark in row.marks for mark in ("interrupted", "error"))
    return f"{kind} trouble" if troubled else kind


def mini(rows: Sequence[RowShape]) -> str:
    """Returns a session small enough for a list: its strands alone, lying on their side."""
    chosen = _thinned(rows)
    if not chosen:
        return ""
    pitch = 6
    depth = max(row.column for row in chosen)
    width, height = pitch * len(chosen) + 4, 8 + 6 * min(depth, 3)
    sides = "".join(
        f'<path class="s" d="M{4 + number * pitch - 4} 4V{4 + 6 * min(row.column, 3)}h4"/>'
        for number, row in enumerate(chosen)
        if row.column
    )
    dots = "".join(
        f'<circle class="{_kind_of(row)}" cx="{4 + number * pitch}" '
        f'cy="{4 + 6 * min(row.column, 3)}" r="2"/>'
        for number, row in enumerate(chosen)
    )
    return (
        f'<svg class="mini" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true"><path class="m" d="M4 4H{width - 4}"/>{sides}{dots}</svg>'
    )


def _thinned(rows: Sequence[RowShape]) -> list[RowShape]:
    if len(rows) <= MOST_MINI:
        return list(rows)
    step = len(rows) / MOST_MINI
    return [rows[int(place * step)] for place in range(MOST_MINI)]


def x(column: int) -> float:
    """Returns how far to the right a column stands."""
    return MARGIN + STEP * column


def _middle_of(number: int) -> float:
    return number * PITCH + PITCH / 2
