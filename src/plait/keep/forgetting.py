"""Sessions that are not to be kept any more to room on the disk.

    the journal says so ── packs that hold dead blocks are written anew without them ── old packs go

Each step leaves a store that is whole: a new pack is on the disk before an old one goes.
"""

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from plait.keep.journal import Forgotten, States
from plait.keep.keeping import now
from plait.keep.model import Freed, KeptSession, Limits
from plait.keep.tidying import rewrite, with_dead

if TYPE_CHECKING:
    from plait.keep.store import Store

DAY = 86_400 * 10**9


def forget(store: "Store", sessions: tuple[KeptSession, ...], wait: float) -> Freed:
    """Deletes sessions, with all states of their files."""
    if not sessions:
        return Freed((), 0, 0, 0)
    with store.writing(wait) as states:
        before = store.stored_bytes()
        lines = [*_lines(states, sessions)]
        if lines:
            store.journal.add(lines, states)
        rewrite(store.packs, states, with_dead(store.packs, states))
        store.journal.rewrite(states)
        after = store.stored_bytes()
    names = tuple(dict.fromkeys(one.session for one in sessions))
    size = sum(one.size for one in sessions)
    return Freed(names, len(lines), size, before - after)


def _lines(states: States, sessions: Iterable[KeptSession]) -> Iterator[Forgotten]:
    for session in sessions:
        for file in session.files:
            if file.key in states.files:
                yield Forgotten(
                    root=file.root,
                    path=file.path,
                    size=file.size,
                    modified=file.modified,
                    kept=now(),
                )


def beyond(store: "Store", limits: Limits, now: float | None = None) -> tuple[KeptSession, ...]:
    """Returns the sessions that are older than a limit, then the oldest until the rest fits."""
    sessions = sorted(store.sessions(), key=lambda one: one.modified)
    gone: list[KeptSession] = []
    if limits.max_age is not None:
        oldest = (time.time() if now is None else now) * 10**9 - limits.max_age * DAY
        gone = [one for one in sessions if one.modified < oldest]
    if limits.max_bytes is not None:
        left = sessions[len(gone) :]
        shares = _shares(store, left)
        total = sum(shares)
        for one, share in zip(left, shares, strict=True):
            if total <= limits.max_bytes:
                break
            gone.append(one)
            total -= share
    return tuple(gone)


def _shares(store: "Store", sessions: list[KeptSession]) -> list[int]:
    """Returns how much room each session takes that no newer one needs too, the oldest first."""
    taken: set[str] = set()
    found: list[int] = []
    for session in reversed(sessions):
        blocks = {name for file in (*session.files, *session.earlier) for name in file.blocks}
        places = [store.packs.places[name] for name in blocks - taken if name in store.packs.places]
        found.append(round(sum(place.packed * place.size / place.plain for place in places)))
        taken |= blocks
    return found[::-1]
