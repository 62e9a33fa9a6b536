"""Sessions to the paths that they touched, from the index where it is, and what came of each."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.archive.index.fresh import key_of
from plait.archive.model import Session
from plait.archive.open_session import opened
from plait.conversation.changes import CHANGING, touches_of
from plait.conversation.model import Conversation
from plait.index.touches import TouchRow, touch_rows

if TYPE_CHECKING:
    from plait.archive.index.fresh import FreshIndex

CHANGES = frozenset(map(str, CHANGING))


class TouchedPath(Struct, frozen=True, kw_only=True):
    """A path, and what sessions did to it."""

    path: str
    sessions: int
    changes: int
    reads: int
    added: int
    removed: int
    last: str | None
    """When it was last touched."""

    @property
    def is_changed(self) -> bool:
        """Tells whether anybody changed it."""
        return self.changes > 0


def indexed_touches(
    warm: "FreshIndex", sessions: Sequence[Session], path: str | None
) -> list[TouchRow]:
    """Returns what some sessions did to files; those that the index has no rows of are read."""
    from plait.archive.index.stats import fill_rows
    from plait.index.rows import detailed_sessions

    def is_known() -> bool:
        known = detailed_sessions(warm.catalogue)
        return all(warm.number(one) in known for one in sessions)

    if not is_known():
        fill_rows(warm, lambda given: given)
        if not is_known():  # somebody else was writing
            return read_touches(sessions, path)
    keys = {key_of(one.path) for one in sessions}
    return distinct(row for row in touch_rows(warm.catalogue, path) if row.session in keys)


def read_touches(sessions: Iterable[Session], path: str | None) -> list[TouchRow]:
    """Returns the same from the logs."""
    found = (row for one in sessions for row in _touches_in(one) if path in (None, row.path))
    return distinct(found)


def _touches_in(session: Session) -> Iterator[TouchRow]:
    read = opened(session)
    for one in read.by_line.values():
        for touch in touches_of(one):
            if touch.action != "backed up":
                patch = touch.patch
                yield TouchRow(
                    key_of(session.path),
                    touch.path,
                    touch.action,
                    touch.outcome,
                    touch.turn,
                    touch.time,
                    touch.uuid,
                    patch.added if patch else None,
                    patch.removed if patch else None,
                    one.kind,
                    _state(one),
                )


def _state(one: Conversation) -> str:
    if one.kind in ("agent", "service"):
        return one.kind
    return "active" if one.is_active else "abandoned"


def distinct(rows: Iterable[TouchRow]) -> list[TouchRow]:
    """Returns rows as time went, once where a session was copied."""
    found: dict[tuple[object, ...], TouchRow] = {}
    for row in sorted(rows, key=lambda one: (one.time or "", one.session)):
        name = (row.uuid, row.path, row.action) if row.uuid else (row.session, row.path, row.time)
        found.setdefault(name, row)
    return list(found.values())


def touched_paths(rows: Iterable[TouchRow]) -> list[TouchedPath]:
    """Returns the paths, the one that was touched last first."""
    by_path: dict[str, list[TouchRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    found = [_touched(path, several) for path, several in by_path.items()]
    return sorted(found, key=lambda one: one.last or "", reverse=True)


def _touched(path: str, rows: Sequence[TouchRow]) -> TouchedPath:
    done = [row for row in rows if row.outcome == "ok"]
    changes = [row for row in done if row.action in CHANGES]
    return TouchedPath(
        path=path,
        sessions=len({row.session for row in rows}),
        changes=len(changes),
        reads=sum(row.action == "read" for row in done),
        added=sum(row.added or 0 for row in changes),
        removed=sum(row.removed or 0 for row in changes),
        last=max((row.time for row in rows if row.time), default=None),
    )
