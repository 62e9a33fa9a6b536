"""Files of a session to its DAG-lines, each with what stands on it and where its turns begin.

What `plait.conversation.build` makes of them, without what no word depends on: the same rules
say what stands where and what opens a turn.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from plait.archive.brief import Models, brief_items
from plait.archive.conversations import Shelf
from plait.conversation.build import Teller, told_lines
from plait.conversation.items import items_of
from plait.conversation.model import Item
from plait.conversation.pair import paired
from plait.conversation.turns import openers_of
from plait.conversation.walk import opened
from plait.graph.model import DagLine, SessionGraph
from plait.graph.source import Source, source_file
from plait.line import LogFile
from plait.record import Record
from plait.record.sidecar import agent_meta, title_file
from plait.record.worded import worded


@dataclass(frozen=True, slots=True)
class ReadLine:
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


class WordedShelf(Shelf):
    """All records of some files with their words, as they were when those were read."""

    def __init__(self, files: Iterable[LogFile]) -> None:
        self._lines: dict[str, int] = {}
        super().__init__(self._read(file) for file in files)

    def _read(self, file: LogFile) -> Source:
        records, self._lines[str(file.path)] = worded(file.path)
        meta = agent_meta(file.path) if file.kind == "agent" else None
        title = title_file(file.folder) if file.kind == "session" else None
        return Source(source_file(file), records, meta, title)

    def recovered(self, graph: SessionGraph) -> Iterator[tuple[int, Record]]:
        """Yields what can be read from broken lines; files without any are not read again."""
        is_whole = all(count == len(self.records_of(path)) for path, count in self._lines.items())
        return iter(()) if is_whole else super().recovered(graph)


def lines_read(shelf: WordedShelf, graph: SessionGraph, session: str) -> list[ReadLine]:
    """Returns the DAG-lines of a graph by their numbers, what was recovered last."""
    teller = Teller(graph, shelf.finder(graph), brief_items)
    found = {line.id: read_line(teller, line) for line in told_lines(graph)}
    broken = recovered_line(shelf, graph, session)
    return [*found.values(), *([broken] if broken else ())]


def read_line(teller: Teller, line: DagLine) -> ReadLine:
    """Returns a DAG-line with what stands on it."""
    models = Models()
    items = teller.items(line, models)
    is_agent = line.kind in ("agent", "service")
    return ReadLine(line, items, list(openers_of(items, is_agent=is_agent)), models.models)


def recovered_line(shelf: Shelf, graph: SessionGraph, session: str) -> ReadLine | None:
    """Returns what could be read from broken lines as a line of its own."""
    models = Models()
    items = [item for file, one in shelf.recovered(graph) for item in items_of(one, models, file)]
    if not items:
        return None
    told = paired(items, lambda _: None, lambda _: True)
    line = DagLine(f"{session}~recovered", "foreign", session, ())
    return ReadLine(line, told, list(openers_of(told, is_agent=False)), models.models, True)
