"""Places of the index to hits: one a turn, with its session, its words and what is around."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.documents import WEIGHTS
from plait.index.model import Hit, LineRow, PassageKind, PassagePlace, SessionKnown, Snippet
from plait.index.texts import SCALE, recency
from plait.index.usual_lines import block_at, kind_of, usual_texts
from plait.line import lines, read_slice
from plait.record.read import worded
from plait.record.record import timestamp_of

if TYPE_CHECKING:
    from plait.conversation.model import Item
    from plait.index.expression import Mark
    from plait.record import Record


BEFORE = 50
WIDE = 220
MOST_CHARACTERS = 4_000_000
MOST_BYTES = 64 << 20
MOST_TRIED = 40


class PassageText(NamedTuple):
    """What lies at a place."""

    uuid: str | None
    time: str | None
    kind: PassageKind
    text: str
    tool: str | None = None


def passage_text_at(
    path: str, line: int, offset: int, length: int, part: int, folder: Path
) -> PassageText | None:
    """Returns what lies at a place, None where the file has changed since."""
    try:
        if 0 < length <= MOST_BYTES:
            data = read_slice(Path(path), offset, length)
            return _usual_passage(data, part) or _any_passage(
                _items_on(data, line, offset), part, folder
            )
        return _any_passage(_saved_on(Path(path), line), part, folder)
    except SourceError:
        return None


def _usual_passage(data: bytes, part: int) -> PassageText | None:
    line = worded(data)
    texts = usual_texts(line) if line else None
    if line is None or texts is None or part >= len(texts):
        return None
    block = block_at(line, part)
    tool = block.name if block else None
    return PassageText(line.uuid, timestamp_of(line), kind_of(line, part), texts[part], tool)


def _any_passage(
    items: "Iterator[tuple[Record, Item]]", part: int, folder: Path
) -> PassageText | None:
    from plait.index.passages import with_output, words_in

    for number, (record, item) in enumerate(items):
        if number == part:
            words = words_in(item)
            if words is None:
                return None
            text = with_output(item, words, folder).text
            tool = getattr(item, "name", None) if words.kind == "input" else None
            return PassageText(record.uuid, record.timestamp, words.kind, text, tool)
    return None


def _items_on(data: bytes, line: int, offset: int) -> "Iterator[tuple[Record, Item]]":
    from plait.index.passages import items_in
    from plait.record.codec import NotAnObject
    from plait.record.read import record_of

    try:
        record = record_of(data, line, offset)
    except NotAnObject:
        return
    yield from ((record, item) for item in items_in(record))


def _saved_on(path: Path, number: int) -> "Iterator[tuple[Record, Item]]":
    from plait.index.passages import items_in, records_in
    from plait.record.read import entry_of

    for line in lines(path):
        if line.number == number:
            records = records_in(entry_of(line))
            yield from ((record, item) for record in records for item in items_in(record))
            return


def _snippet_of(text: str, marks: "Sequence[Mark]") -> tuple[Snippet, int]:
    looked = text[:MOST_CHARACTERS]
    start = _best_place(looked, marks)
    first = max(0, start - BEFORE)
    if first:
        space = looked.find(" ", first, start)
        first = space + 1 if space >= 0 else first
    cut = looked[first : first + WIDE]
    shown = " ".join(cut.split())
    shown = ("…" if first else "") + shown + ("…" if first + WIDE < len(text) else "")
    return Snippet(shown, _marks_in(shown, marks)), start


def _best_place(text: str, marks: "Sequence[Mark]") -> int:
    places: list[tuple[int, int]] = []
    for number, mark in enumerate(marks):
        for tried, match in enumerate(mark.finditer(text)):
            if tried == MOST_TRIED:
                break
            places.append((match.start(), number))
    places.sort()
    best, most = 0, 0
    for place, (start, _) in enumerate(places):
        within = {number for at, number in places[place : place + 60] if at < start + WIDE - 60}
        if len(within) > most:
            best, most = start, len(within)
    return best


def _marks_in(text: str, marks: "Sequence[Mark]") -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    spans = (match.span() for mark in marks for match in mark.finditer(text))
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


class ShownPart(NamedTuple):
    """A snippet with lines of the text around it."""

    snippet: Snippet
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def shown_part(text: str, marks: "Sequence[Mark]", context: int) -> ShownPart:
    """Returns the part of a text worth showing; with context its line, and some around it."""
    snippet, start = _snippet_of(text, marks)
    if context <= 0:
        return ShownPart(snippet)
    first = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = text[first:] if end < 0 else text[first:end]
    return ShownPart(_snippet_of(line, marks)[0], *_lines_around(text, start, context))


def _lines_around(text: str, place: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    before = text[max(0, start - 2000 * count) : max(0, start - 1)].split("\n") if start else []
    after = text[end + 1 : end + 2000 * count].split("\n") if end >= 0 else []
    return tuple(before[-count:]), tuple(after[:count])


ENOUGH = 6
"""Passages that are looked at for each hit: several may stand in one turn."""
MOST_LOOKED = 4000


@dataclass
class Hits:
    """Makes hits of places; reads what lies there."""

    catalogue: Catalogue
    marks: "Sequence[Mark]"
    context: int = 0
    is_each: bool = False
    """True where every passage is a hit of its own."""
    is_weighed: bool = False
    """True where a turn shows what people wrote rather than what came first."""
    has_rest: bool = False
    """True where there are more hits than were made."""
    sessions: dict[int, SessionKnown] = field(default_factory=dict)
    lines: dict[int, list[LineRow]] = field(default_factory=dict)

    def of(
        self,
        first: Callable[[int], list[PassagePlace]],
        limit: int,
        best: list[PassagePlace] | None = None,
    ) -> tuple[list[Hit], bool]:
        """Returns the first hits, one a turn, and whether these are all; looks far enough."""
        count = limit * ENOUGH
        best = first(count) if best is None else best
        while True:
            hits = list(self.made(best, limit))
            is_whole = not self.has_rest and len(best) < count
            if len(hits) >= limit or len(best) < count or count >= MOST_LOOKED:
                return hits, is_whole
            count *= ENOUGH
            best = first(count)

    def made(self, found: Iterable[PassagePlace], limit: int) -> Iterator[Hit]:
        """Yields a hit for each turn, up to a limit; what stands in a copy of it too is one."""
        self.has_rest = False
        turns = [[one] for one in found] if self.is_each else _by_turn(found)
        if self.is_weighed:
            turns = [sorted(group, key=_lightness) for group in turns]
        self.sessions |= self.catalogue.sessions({group[0].sid for group in turns})
        paths = self.catalogue.paths({group[0].file for group in turns})
        now = SCALE * recency(int(datetime.now(UTC).timestamp()))
        seen: set[tuple[str, str, int]] = set()
        for number, group in enumerate(turns, 1):
            session = self.sessions.get(group[0].sid)
            if session is None:  # of a batch that is being written
                continue
            hit = self.hit(group[0], session, paths.get(group[0].file), len(group) - 1, now)
            if hit.uuid:
                name = hit.uuid, hit.kind, group[0].part
                if name in seen:
                    continue
                seen.add(name)
            yield hit
            limit -= 1
            if limit <= 0:
                self.has_rest = number < len(turns)
                return

    def hit(
        self, place: PassagePlace, session: SessionKnown, path: str | None, more: int, now: float
    ) -> Hit:
        """Returns the hit at a place."""
        lying = self._lying(place, session, path)
        text = lying.text if lying else session.title or "" if not place.line else ""
        shown = shown_part(text, self.marks, self.context)
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
            outcome=place.outcome,
            path=path or session.key,
            line=place.line,
            more=more,
            before=shown.before,
            after=shown.after,
        )

    def _lying(
        self, place: PassagePlace, session: SessionKnown, path: str | None
    ) -> PassageText | None:
        if not place.line or path is None:
            return None
        folder = Path(session.key).with_suffix("")
        return passage_text_at(path, place.line, place.offset, place.length, place.part, folder)

    def line_of(self, place: PassagePlace) -> LineRow | None:
        """Returns the DAG-line of a place."""
        if place.sid not in self.lines:
            self.lines[place.sid] = self.catalogue.lines(place.sid)
        rows = self.lines[place.sid]
        return rows[place.dag] if place.dag < len(rows) else None


def _by_turn(found: Iterable[PassagePlace]) -> list[list[PassagePlace]]:
    """Returns places by turn, in their order.

    A title is shown above the turns of its session: where one of them answers too, it stands
    in the place of the title, which counts as one more of its passages.
    """
    turns: dict[tuple[int, ...], list[PassagePlace]] = {}
    for place in found:
        turns.setdefault((place.sid, place.line > 0, place.dag, place.turn), []).append(place)
    first = dict[int, tuple[int, ...]]()
    for key in turns:
        if key[1]:
            first.setdefault(key[0], key)
    scores = dict[tuple[int, ...], float]()
    for key, group in list(turns.items()):
        shown = key if key[1] else first.get(key[0], key)
        if shown != key:
            turns[shown] = [*turns[shown], *group]
        scores.setdefault(shown, group[0].score)
    return [[replace(turns[key][0], score=score), *turns[key][1:]] for key, score in scores.items()]


def _lightness(place: PassagePlace) -> tuple[bool, float]:
    """Orders what people wrote before what tools printed, a title last: it stands above."""
    return not place.line, -WEIGHTS[place.kind]


def stamp_of(seconds: int | None) -> str | None:
    """Returns a moment as the log writes it."""
    if seconds is None:
        return None
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    except (ValueError, OverflowError, OSError):
        return None
