"""A catalogue to what sessions did to files: row by row, of all files or of one."""

import os

from msgspec import Struct

from plait.index.catalogue import Catalogue

TOUCHES = """
SELECT sessions.key, touches.path, touches.action, touches.outcome, touches.turn, touches.time,
    touches.uuid, touches.added, touches.removed,
    coalesce(lines.kind, 'trunk'), coalesce(lines.state, 'active')
FROM touches JOIN sessions USING (sid) LEFT JOIN lines USING (sid, dag)
WHERE touches.action != 'backed up'
"""
ORDER = " ORDER BY touches.time, sid, dag, touches.number"


class TouchRow(Struct, frozen=True, gc=False):
    """Something that happened to a file, and in which session."""

    session: str
    """The path of its log."""
    path: str
    action: str
    outcome: str
    turn: int
    """Of the conversation that it stands in, an agent's own too."""
    time: str | None
    uuid: str | None
    added: int | None
    removed: int | None
    kind: str
    """Of the conversation: trunk, branch, agent."""
    state: str


def touch_rows(catalogue: Catalogue, path: str | None = None) -> list[TouchRow]:
    """Returns what happened to files, or to one, as time went."""
    only = "" if path is None else " AND touches.path = ?"
    given = () if path is None else (path,)
    rows = catalogue.connection.execute(f"{TOUCHES}{only}{ORDER}", given)
    return [TouchRow(os.fsdecode(key), *rest) for key, *rest in rows]
