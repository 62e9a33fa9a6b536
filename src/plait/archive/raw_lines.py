"""A log file to its lines as they lie: where each begins, of what type it is, what is odd."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plait.graph.model import Node, Place, SessionGraph
from plait.line import Line, lines
from plait.line.split import read_slice
from plait.record.read import Broken, Entry, entry_of, read
from plait.record.record import Record
from plait.view.words import RawLine, record_words

if TYPE_CHECKING:
    from plait.archive.open_session import OpenSession

BLANK, BROKEN, OTHER = "blank", "broken", "other"
MANY = 50
"""From so many records on, a file is read from its beginning."""
WORDS = 240
MOST_KINDS = 200
"""Types that are told apart; a log may make up as many as it likes."""


@dataclass(frozen=True)
class LineSurvey:
    """Where the lines of a file lie, and of which type each is."""

    path: Path
    offsets: "array[int]"
    """Of each line, and of the end of the last."""
    kinds: "array[int]"
    names: tuple[str, ...]
    counts: dict[str, int]
    broken: dict[int, str]
    """What is wrong with broken lines, by number."""

    def __len__(self) -> int:
        return len(self.kinds)

    def kind(self, number: int) -> str:
        """Returns the type of a line."""
        return self.names[self.kinds[number - 1]]

    def numbers(self, kind: str | None) -> Sequence[int]:
        """Returns the lines of a type, or all."""
        if kind is None:
            return range(1, len(self) + 1)
        if kind not in self.names:
            return ()
        wanted = self.names.index(kind)
        return [at for at, one in enumerate(self.kinds, 1) if one == wanted]

    def lines(self, numbers: Sequence[int], most: int | None = None) -> Iterator[RawLine]:
        """Yields some lines of a file; of long ones the beginning."""
        for number in numbers:
            offset = self.offsets[number - 1]
            length = self.offsets[number] - offset - 1
            data = read_slice(self.path, offset, length)
            entry = entry_of(Line(number, offset, data, True))
            record = entry if isinstance(entry, Record) else None
            yield RawLine(
                number=number,
                offset=offset,
                length=length,
                type=self.kind(number),
                uuid=record.uuid if record else None,
                time=record.timestamp if record else None,
                words=_words_of(record) if record else "",
                text=(data if most is None else data[: 4 * most]).decode("utf-8", "replace")[:most],
                finding=self.broken.get(number),
            )


def line_survey(path: Path, size: int) -> LineSurvey:
    """Reads a file once, as far as it was when it was found, and returns where its lines lie."""
    offsets, kinds = array("Q"), array("H")
    places: dict[str, int] = {}
    counts = Counter[str]()
    broken: dict[int, str] = {}
    end = 0
    for line in lines(path, end=size):
        entry = entry_of(line)
        kind = _kind_of(entry)
        if isinstance(entry, Broken):
            broken[line.number] = entry.reason
        if kind not in places and len(places) >= MOST_KINDS:
            kind = OTHER
        offsets.append(line.offset)
        kinds.append(places.setdefault(kind, len(places)))
        counts[kind] += 1
        end = line.offset + len(line.data) + 1
    offsets.append(end)
    return LineSurvey(path, offsets, kinds, tuple(places), dict(counts.most_common()), broken)


def _kind_of(entry: Entry) -> str:
    match entry:
        case Record():
            return entry.kind
        case Broken():
            return BROKEN
        case _:
            return BLANK


def _words_of(record: Record) -> str:
    told = record_words(record)
    return f"{told.kind} {told.words}"[:WORDS] if told.words else ""


def records_of(
    graph: SessionGraph, uuids: Iterable[str], held: "OpenSession | None" = None
) -> Iterator[tuple[str, Record]]:
    """Yields the records of some nodes: of a session that is open, else from where they lie."""
    if held and held.is_graph(graph):
        yield from held.records_behind(graph, uuids)
        return
    by_file: dict[int, list[Node]] = {}
    for uuid in uuids:
        by_file.setdefault(graph.nodes[uuid].file, []).append(graph.nodes[uuid])
    for file, nodes in sorted(by_file.items()):
        yield from _records_in(Path(graph.files[file].path), nodes)


def _records_in(path: Path, nodes: list[Node]) -> Iterator[tuple[str, Record]]:
    """Yields records of one file: a few by their places, many in one pass."""
    if len(nodes) > MANY:
        wanted = {node.offset: node.uuid for node in nodes}
        for record in read(path):
            if record.offset in wanted:
                yield wanted[record.offset], record
        return
    for node in sorted(nodes, key=lambda node: node.line):
        found = _record_lying_at(path, node.place)
        if found is not None:
            yield node.uuid, found


def _record_lying_at(path: Path, place: Place) -> Record | None:
    """Returns the record at a place of a file, None where another stands there by now."""
    end = place.offset + place.length
    for line in lines(path, offset=place.offset, number=place.line, end=end):
        entry = entry_of(line)
        return entry if isinstance(entry, Record) else None
    return None
