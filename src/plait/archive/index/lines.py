"""Files of a session to its DAG-lines, each with its words and where its turns begin.

What `plait.conversation.build` makes of them, without what no word depends on: the client's
view of a result, the figures of a response. The same rules say what stands where and what
opens a turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plait.archive.index.straight import StraightLog, straight_log
from plait.archive.model import Session
from plait.archive.open_session import Log, OpenSession, read_log
from plait.conversation.build import Teller, told_lines
from plait.conversation.items import items_of
from plait.conversation.model import Item
from plait.conversation.results import paired
from plait.conversation.turns import openers_of
from plait.conversation.walk import opened
from plait.graph.model import DagLine, SourceFile
from plait.graph.paths import SPOKEN
from plait.index.model import Passage
from plait.index.passages import ResponseModels, light_items
from plait.index.rows import SessionShape
from plait.line.split import read_whole
from plait.record.read import read_with_words, records_with_words

SMALL = 4_000_000
"""Bytes of a file that are held while all is made of it; a larger one is read several times."""


@dataclass(frozen=True, slots=True)
class WordedLine:
    """A DAG-line with what stands on it."""

    line: DagLine
    items: list[Item]
    openers: list[int]
    """Where its turns begin."""
    models: list[str | None]
    """Of its responses."""
    is_recovered: bool = False
    """True for what was read from broken lines."""

    @property
    def last_turn(self) -> list[Item]:
        """What stands in the last turn, all where there is none."""
        return self.items[self.openers[-1] :] if self.openers else self.items

    def walk(self) -> Iterator[tuple[int, Item]]:
        """Yields every item with the number of its turn, what is folded in the place of its fold.

        What was written twice is yielded once: replays stay folded.
        """
        begins = [0, *self.openers]
        ends = [*self.openers, len(self.items)]
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            for item in opened(self.items[begin:end]):
                yield number, item


class WordedSession(OpenSession):
    """A session read for its words; where it goes on straight, that takes no graph."""

    def __init__(self, session: Session) -> None:
        self._data: dict[str, bytes] = {}
        super().__init__(session.files, session, read=self._worded_log)

    def data_of(self, path: str) -> bytes | None:
        """Returns the bytes of a file, None where it is too large to be held."""
        return self._data.get(path)

    def _worded_log(self, path: Path) -> Log:
        data = read_whole(path, SMALL)
        if data is None:
            records, count = read_with_words(path)
        else:
            self._data[str(path)] = data
            records, count = records_with_words(data)
        return Log(records, [] if count == len(records) else read_log(path).recovered)

    @cached_property
    def straight(self) -> StraightLog | None:
        """Its log, where that is all there is and goes on straight."""
        return straight_log(self.sources[0]) if len(self.sources) == 1 else None

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """Its files in the order of their numbers."""
        return (self.sources[0].file,) if self.straight else self.graph.files

    @cached_property
    def lines(self) -> list[WordedLine]:
        """The DAG-lines in the order of their numbers, what was recovered last."""
        if self.straight:
            found = [_straight_line(self.straight)]
        else:
            teller = Teller(self.graph, self.record_at, light_items)
            found = [_worded_line(teller, line) for line in told_lines(self.graph)]
        broken = _recovered_line(self)
        return [*found, *([broken] if broken else ())]


def _straight_line(log: StraightLog) -> WordedLine:
    models = ResponseModels()
    items = log.items(models)
    line = DagLine(log.name, "trunk", log.name, (), label=log.label, files=(0,))
    return WordedLine(line, items, list(openers_of(items, is_agent=False)), models.models)


def _worded_line(teller: Teller, line: DagLine) -> WordedLine:
    models = ResponseModels()
    items = teller.items(line, models)
    is_agent = line.kind in ("agent", "service")
    return WordedLine(line, items, list(openers_of(items, is_agent=is_agent)), models.models)


def _recovered_line(read: WordedSession) -> WordedLine | None:
    if not any(read.recovered_of(file.path) for file in read.files):
        return None
    models = ResponseModels()
    items = [item for file, one in read.recovered() for item in items_of(one, models, file)]
    if not items:
        return None
    told = paired(items, lambda _: None, lambda _: True)
    line = DagLine(f"{read.id}~recovered", "foreign", read.id, ())
    return WordedLine(line, told, list(openers_of(told, is_agent=False)), models.models, True)


def shape_of(session: Session) -> SessionShape:
    """Returns how large a session is, as the index would keep it."""
    lines = WordedSession(session).lines
    kinds = [one.line.kind for one in lines]
    turns = sum(len(one.openers) for one in lines if one.line.kind in SPOKEN)
    return SessionShape(turns, kinds.count("branch"), kinds.count("agent"))


def title_passage(title: str, started: str | None) -> Passage:
    """Returns the words of a session's title, which stand in no turn."""
    return Passage("title", title, "active", 0, 0, 0, 0, 0, 0, 0, started)
