"""The turns of a session, as time went, to a drawing small enough for a list.

●─●─●───●     the line that goes on
  ╰○  ╰◦      branches that were left, and agents, where they began
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.graph.rows import Mark, RowShape
from plait.view.page.graph_svg import MOST_MINI, mini

Side: TypeAlias = Literal["active", "abandoned", "agent"]
COLUMNS: dict[Side, int] = {"active": 0, "abandoned": 1, "agent": 2}
LEAST = 2
"""Turns from which on a drawing says something."""


class SmallTurn(Struct, frozen=True, gc=False):
    """A turn, by the line that it stands on."""

    line: int
    side: Side


def side_of(kind: str, *, is_abandoned: bool) -> Side | None:
    """Returns where a turn of some kind of line is drawn; None where it is not."""
    if kind == "service":
        return None
    return "agent" if kind == "agent" else "abandoned" if is_abandoned else "active"


def small_graph(turns: Iterable[SmallTurn]) -> str:
    """Returns the drawing of turns in the order of time, "" where they are too few for one."""
    shown = list(turns)
    return mini([_shape_of(one) for one in fewer_turns(shown)]) if len(shown) >= LEAST else ""


def fewer_turns(turns: Sequence[SmallTurn]) -> Sequence[SmallTurn]:
    """Returns as many turns as a small drawing has room for, with where others leave the line."""
    if len(turns) <= MOST_MINI:
        return turns
    begun = {one.line: place for place, one in reversed(list(enumerate(turns)))}
    leaving = [place for place in begun.values() if turns[place].side != "active"]
    aside = _spread(leaving, MOST_MINI // 3)
    main = [place for place, one in enumerate(turns) if one.side == "active"]
    kept = _spread(main, MOST_MINI - len(aside))
    return [turns[place] for place in sorted({*aside, *kept})]


def _spread(places: Sequence[int], most: int) -> Sequence[int]:
    if len(places) <= most:
        return places
    return [places[number * len(places) // most] for number in range(most)]


def _shape_of(one: SmallTurn) -> RowShape:
    marks: tuple[Mark, ...] = (one.side,)
    return RowShape("", "", (), "", COLUMNS[one.side], (), (), marks)
