"""Places of the index to hits: one a turn, with its session, its words and what is around."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.index.catalogue import Catalogue
from plait.index.model import Hit, LineRow, Place, SessionKnown
from plait.index.snippet import Lying, lying_at, shown_of
from plait.index.texts import SCALE, recency

if TYPE_CHECKING:
    from plait.index.expression import Mark

ENOUGH = 6
"""Passages that are looked at for each hit: several may stand in one turn."""
MOST_LOOKED = 4000


@dataclass
class Hits:
    """Makes hits of places; reads what lies there."""

    catalogue: Catalogue
    marks: "Sequence[Mark]"
    context: int = 0
    sessions: dict[int, SessionKnown] = field(default_factory=dict)
    lines: dict[int, list[LineRow]] = field(default_factory=dict)

    def of(
        self,
        first: Callable[[int], list[Place]],
        limit: int,
        best: list[Place] | None = None,
    ) -> list[Hit]:
        """Returns the first hits, one a turn; looks further where turns are few."""
        count = limit * ENOUGH
        best = first(count) if best is None else best
        while True:
            hits = list(self.made(best, limit))
            if len(hits) >= limit or len(best) < count or count >= MOST_LOOKED:
                return hits
            count *= ENOUGH
            best = first(count)

    def made(self, found: Iterable[Place], limit: int) -> Iterator[Hit]:
        """Yields a hit for each turn, up to a limit; what stands in a copy of it too is one."""
        turns = by_turn(found)
        self.sessions |= self.catalogue.sessions({group[0].sid for group in turns})
        paths = self.catalogue.paths({group[0].file for group in turns})
        now = SCALE * recency(int(datetime.now(UTC).timestamp()))
        seen: set[tuple[str, str]] = set()
        for group in turns:
            session = self.sessions.get(group[0].sid)
            if session is None:  # of a batch that is being written
                continue
            hit = self.hit(group[0], session, paths.get(group[0].file), len(group) - 1, now)
            if hit.uuid:
                if (hit.uuid, hit.kind) in seen:
                    continue
                seen.add((hit.uuid, hit.kind))
            yield hit
            limit -= 1
            if limit <= 0:
                return

    def hit(
        self, place: Place, session: SessionKnown, path: str | None, more: int, now: float
    ) -> Hit:
        """Returns the hit at a place."""
        lying = self.lying(place, session, path)
        text = lying.text if lying else session.title or "" if not place.line else ""
        shown = shown_of(text, self.marks, self.context)
        line = self.line_of(place)
        return Hit(
            session=session.id,
            uuid=lying.uuid if lying else None,
            turn=place.turn if place.line else None,
            kind=place.kind,
            time=lying.time if lying and lying.time else stamp_of(place.time) or session.ended,
            snippet=shown.snippet.text,
            marks=shown.snippet.marks,
            score=round(place.score / now, 4),
            project=session.project,
            title=session.title,
            branch=line.id if line and place.line else None,
            state=place.state,
            tool=lying.tool if lying and place.kind == "input" else None,
            path=path or session.key,
            line=place.line,
            more=more,
            before=shown.before,
            after=shown.after,
        )

    def lying(self, place: Place, session: SessionKnown, path: str | None) -> Lying | None:
        """Returns what lies at a place."""
        if not place.line or path is None:
            return None
        folder = Path(session.key).with_suffix("")
        return lying_at(path, place.line, place.offset, place.length, place.part, folder)

    def line_of(self, place: Place) -> LineRow | None:
        """Returns the DAG-line of a place."""
        if place.sid not in self.lines:
            self.lines[place.sid] = self.catalogue.lines(place.sid)
        rows = self.lines[place.sid]
        return rows[place.dag] if place.dag < len(rows) else None


def by_turn(found: Iterable[Place]) -> list[list[Place]]:
    """Returns places by turn, in their order.

    A title is shown above the turns of its session: where one of them answers too, it stands
    in the place of the title.
    """
    turns: dict[tuple[int, ...], list[Place]] = {}
    for place in found:
        turns.setdefault((place.sid, place.line > 0, place.dag, place.turn), []).append(place)
    first = dict[int, tuple[int, ...]]()
    for key in turns:
        if key[1]:
            first.setdefault(key[0], key)
    scores = dict[tuple[int, ...], float]()
    for key, group in turns.items():
        scores.setdefault(key if key[1] else first.get(key[0], key), group[0].score)
    return [[replace(turns[key][0], score=score), *turns[key][1:]] for key, score in scores.items()]


def stamp_of(seconds: int | None) -> str | None:
    """Returns a moment as the log writes it."""
    if seconds is None:
        return None
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    except (ValueError, OverflowError, OSError):
        return None
