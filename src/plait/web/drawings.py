"""Sessions to their small plaits, drawn from the turns that the index knows."""

from collections.abc import Iterable, Sequence

from plait.graph.shapes import Mark, Row
from plait.index.shapes import Begun, turns_in_order
from plait.view.page.listing import Listed
from plait.view.page.rail import MOST_MINI, mini
from plait.web.catalogued import catalogue_of
from plait.web.library import State

LEAST = 2
"""Turns from which on a drawing says something."""


def drawings(state: State, rows: Iterable[Listed]) -> dict[str, str]:
    """Returns the drawings of some sessions by name; there is none of what is not indexed."""
    found = [one.name for one in rows if one.name in state.names]
    chosen = {str(state.names[name].path.absolute()): name for name in found}
    with catalogue_of(state) as catalogue:
        turns = turns_in_order(catalogue, chosen) if catalogue else {}
    return {chosen[key]: drawn(begun) for key, begun in turns.items()}


def drawn(turns: Sequence[Begun]) -> str:
    """Returns the drawing of one session, nothing where a line is all there is."""
    shown = [one for one in turns if one.kind != "service"]
    return mini([shape_of(one) for one in few(shown)]) if len(shown) >= LEAST else ""


def few(turns: Sequence[Begun]) -> Sequence[Begun]:
    """Returns as many turns as a small drawing has room for, with where others leave the line."""
    if len(turns) <= MOST_MINI:
        return turns
    begun = {one.dag: place for place, one in reversed(list(enumerate(turns)))}
    leaving = [place for place in begun.values() if is_aside(turns[place])]
    aside = spread(leaving, MOST_MINI // 3)
    main = [place for place, one in enumerate(turns) if not is_aside(one)]
    kept = spread(main, MOST_MINI - len(aside))
    return [turns[place] for place in sorted({*aside, *kept})]


def spread(places: Sequence[int], most: int) -> Sequence[int]:
    """Returns some of many places, evenly."""
    if len(places) <= most:
        return places
    return [places[number * len(places) // most] for number in range(most)]


def is_aside(one: Begun) -> bool:
    """Tells whether a turn stands beside the line that goes on."""
    return one.kind == "agent" or one.state == "abandoned"


def shape_of(one: Begun) -> Row:
    """Returns a turn as a row of a drawing: branches beside the line, agents beside these."""
    marks: tuple[Mark, ...] = ("active",)
    column = 0
    if one.kind == "agent":
        marks, column = ("agent",), 2
    elif one.state == "abandoned":
        marks, column = ("abandoned",), 1
    return Row("", "", (), "", column, (), (), marks)
