"""The raw lines of a log file: offset, type, and what is wrong with broken ones."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plait.graph.model import Node, Place, SessionGraph
from plait.line import Line, iter_lines
from plait.line.files import read_slice
from plait.record.reader import Broken, Entry, parse_entry, read
from plait.record.types import Record
from plait.view.summaries import RawLine, summarize_record

if TYPE_CHECKING:
    from plait.sessions.open_session import OpenSession

BLANK, BROKEN, OTHER = "blank", "broken", "other"
MANY = 50
"""Number of records from which a file is read sequentially."""
WORDS = 240
MOST_KINDS = 200
"""Types that are counted separately; a log may contain any number."""


@dataclass(frozen=True)
class LineSurvey:
    """Where the lines of a file are, and their types."""

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
        """Return the type of a line."""
        return self.names[self.kinds[number - 1]]

    def numbers(self, kind: str | None) -> Sequence[int]:
        """Return the lines of a type, or all."""
        if kind is None:
            return range(1, len(self) + 1)
        if kind not in self.names:
            return ()
        wanted = self.names.index(kind)
        return [at for at, number in enumerate(self.kinds, 1) if number == wanted]

    def lines(self, numbers: Sequence[int], most: int | None = None) -> Iterator[RawLine]:
        """Yield some lines of a file, long ones truncated."""
        for number in numbers:
            offset = self.offsets[number - 1]
            length = self.offsets[number] - offset - 1
            data = read_slice(self.path, offset, length)
            entry = parse_entry(Line(number, offset, data, True))
            record = entry if isinstance(entry, Record) else None
            yield RawLine(
                number=number,
                offset=offset,
                length=length,
                type=self.kind(number),
                uuid=record.uuid if record else None,
                time=record.timestamp if record else None,
                words=_describe_line(record) if record else "",
                text=(data if most is None else data[: 4 * most]).decode("utf-8", "replace")[:most],
                finding=self.broken.get(number),
            )


def survey_lines(path: Path, size: int) -> LineSurvey:
    """Read a file once, up to its size when found, and return where its lines are."""
    offsets, kinds = array("Q"), array("H")
    places: dict[str, int] = {}
    counts = Counter[str]()
    broken: dict[int, str] = {}
    end = 0
    for line in iter_lines(path, end=size):
        entry = parse_entry(line)
        kind = _get_kind(entry)
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


def _get_kind(entry: Entry) -> str:
    match entry:
        case Record():
            return entry.kind
        case Broken():
            return BROKEN
        case _:
            return BLANK


def _describe_line(record: Record) -> str:
    summary = summarize_record(record)
    return f"{summary.kind} {summary.text}"[:WORDS] if summary.text else ""


def read_node_records(
    graph: SessionGraph, uuids: Iterable[str], opened: "OpenSession | None" = None
) -> Iterator[tuple[str, Record]]:
    """Yield the records of some nodes: of an open session, else read from their files."""
    if opened and opened.owns_graph(graph):
        yield from opened.iter_node_records(graph, uuids)
        return
    by_file: dict[int, list[Node]] = {}
    for uuid in uuids:
        by_file.setdefault(graph.nodes[uuid].file, []).append(graph.nodes[uuid])
    for file, nodes in sorted(by_file.items()):
        path = Path(graph.files[file].path)
        if len(nodes) > MANY:  # one pass is cheaper than many seeks
            wanted = {node.offset: node.uuid for node in nodes}
            for record in read(path):
                if record.offset in wanted:
                    yield wanted[record.offset], record
            continue
        for node in sorted(nodes, key=lambda node: node.line):
            found = _read_record_at(path, node.place)
            if found is not None:
                yield node.uuid, found


def _read_record_at(path: Path, place: Place) -> Record | None:
    """Return the record at a place of a file; None if the file has changed there."""
    end = place.offset + place.length
    for line in iter_lines(path, offset=place.offset, number=place.line, end=end):
        entry = parse_entry(line)
        return entry if isinstance(entry, Record) else None
    return None
