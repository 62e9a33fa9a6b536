"""The catalogue to what lists draw of sessions: their turns, branches and agents."""

import os
from collections.abc import Iterable, Iterator

from msgspec import Struct

from plait.index.catalogue import Catalogue
from plait.index.model import LineRow

SHAPES = """
SELECT key,
    sum(CASE WHEN lines.kind IN ('trunk', 'branch', 'foreign') THEN turns ELSE 0 END),
    sum(lines.kind = 'branch'), sum(lines.kind = 'agent')
FROM lines JOIN sessions USING (sid) GROUP BY sid
"""
BEGINNINGS = """
SELECT max(turns.time) FROM turns JOIN lines USING (sid, dag)
WHERE turns.kind = 'prompt' AND lines.kind IN ('trunk', 'branch', 'foreign')
    AND uuid IS NOT NULL AND turns.time IS NOT NULL GROUP BY uuid
"""
PLACED = """
SELECT turns.dag, lines.kind, lines.state, turns.time FROM sessions JOIN turns USING (sid)
JOIN lines USING (sid, dag) WHERE key = ? ORDER BY turns.time, turns.dag, number
"""


class SessionShape(Struct, frozen=True, gc=False):
    """How large a session is, in the words of a list."""

    turns: int
    branches: int
    agents: int


class ListedTurn(Struct, frozen=True, gc=False):
    """A turn, by the line that it stands on."""

    dag: int
    kind: str
    state: str
    time: str | None


def session_shapes(catalogue: Catalogue) -> dict[str, SessionShape]:
    """Returns the shape of every session, by key."""
    rows = catalogue.connection.execute(SHAPES)
    return {os.fsdecode(key): SessionShape(*counts) for key, *counts in rows}


def prompt_times(catalogue: Catalogue) -> Iterator[str]:
    """Yields when each turn that a person began was begun; copies of one count once."""
    for (time,) in catalogue.connection.execute(BEGINNINGS):
        yield time


def turns_in_order(catalogue: Catalogue, keys: Iterable[str]) -> dict[str, list[ListedTurn]]:
    """Returns the turns of some sessions as time went, by key."""
    return {
        key: [ListedTurn(*row) for row in catalogue.connection.execute(PLACED, (os.fsencode(key),))]
        for key in keys
    }


def lines_of_session(catalogue: Catalogue, key: str) -> list[tuple[LineRow, str | None]]:
    """Returns the lines of one session, each with the record that it begins with."""
    sid = catalogue.keys().get(key)
    if sid is None:
        return []
    first = {turn.dag: turn.uuid for turn in reversed(catalogue.turns(sid))}
    return [(line, first.get(dag)) for dag, line in enumerate(catalogue.lines(sid))]
