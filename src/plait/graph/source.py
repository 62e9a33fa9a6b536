"""Files and records to the facts that graphs are built from, one value a file.

The facts of a file that has grown are the old ones and those of its new lines, so a graph
can follow a file without reading it twice.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.graph.facts import node_of
from plait.graph.model import Node, Place, SourceFile
from plait.line import LogFile
from plait.line.discover import log_file
from plait.record import Record
from plait.record.prompt import TitleSearch
from plait.record.read import read_if_there
from plait.record.sidecar import AgentMeta, agent_meta, title_file
from plait.record.types.kinds import ForkContextRef

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """Records with the name of the file that they are from."""

    file: SourceFile
    records: Iterable[Record]
    meta: AgentMeta | None = None
    title: str | None = None
    """The one that lies beside a session's file."""


Name: TypeAlias = LogFile | SourceFile | PurePath | str
Readable: TypeAlias = Source | LogFile | Record | tuple[Name, Iterable[Record]]
LOOSE = SourceFile("", "session", None)
"""Where records are from that came without a file."""


class Aside(Struct, frozen=True, gc=False):
    """A line without uuid, with what it says of the graph."""

    kind: str
    line: int
    offset: int
    length: int
    after: int
    """How many records with a uuid stand before it in the file."""
    session: str | None = None
    leaf: str | None = None
    text: str | None = None
    explicit: bool = False
    agent: str | None = None
    timestamp: str | None = None


@dataclass(slots=True)
class FileFacts:
    """What is known of one file; grows with it."""

    file: SourceFile
    meta: AgentMeta | None = None
    nodes: list[Node] = field(default_factory=list)
    """Every record with a uuid, repeats too, in file order."""
    asides: list[Aside] = field(default_factory=list)
    lines: int = 0
    titles: TitleSearch = field(default_factory=TitleSearch)
    beside: str | None = None
    """The title that lies beside the file."""

    def add(self, records: Iterable[Record], number: int) -> None:
        """Takes in the records that follow."""
        before = ""
        for record in records:
            self.lines = record.line or self.lines + 1
            self.titles.add_words(record)
            node = node_of(record, number, self.lines, before)
            if node is None:
                self.asides.append(_aside_of(record, self.lines, len(self.nodes)))
            else:
                self.nodes.append(node)
                before = node.uuid

    def renumbered(self, number: int) -> "FileFacts":
        """Returns itself under the number of its file among others."""
        if self.nodes and self.nodes[0].file != number:
            self.nodes = [replace(node, file=number) for node in self.nodes]
        return self

    @property
    def session(self) -> str:
        """The session that the file is about: by its name, else by its first records."""
        own = self.file.session or ""
        if UUID.fullmatch(own):
            return own
        node = next((one for one in self.nodes if one.session), None)
        aside = next((one for one in self.asides if one.session), None)
        said = sorted((one.line, one.session or "") for one in (node, aside) if one)
        first = said[0][1] if said else own or PurePath(self.file.path).stem
        return first if self.file.kind == "session" else first.partition("#")[0]

    def place(self, aside: Aside, number: int) -> Place:
        """Returns where a line without uuid lies."""
        return Place(number, aside.line, aside.offset, aside.length)


def _aside_of(record: Record, line: int, after: int) -> Aside:
    envelope = record.envelope
    leaf = envelope.leaf_uuid
    if isinstance(record, ForkContextRef):
        leaf = record.parent_last_uuid
    return Aside(
        record.kind,
        line,
        record.offset,
        len(record.raw),
        after,
        envelope.session_id,
        leaf,
        envelope.summary or envelope.custom_title or envelope.ai_title,
        envelope.explicit is True,
        envelope.agent_id,
        record.timestamp,
    )


def sources(given: Iterable[Readable]) -> Iterator[Source]:
    """Yields what was given as records with the name of their file; bare ones form one file."""
    for one in given:
        if isinstance(one, Source):
            yield one
        elif isinstance(one, Record):
            yield Source(LOOSE, (one,))
        elif isinstance(one, LogFile):
            yield source_of(one, read_if_there(one.path))
        else:
            yield Source(source_file(one[0]), one[1])


def source_of(file: LogFile, records: Iterable[Record]) -> Source:
    """Returns records with the name of their file and what lies beside it."""
    meta = agent_meta(file.path) if file.kind == "agent" else None
    title = title_file(file.folder) if file.kind == "session" else None
    return Source(source_file(file), records, meta, title)


def source_file(name: Name) -> SourceFile:
    """Returns the file that a name stands for, named by where it would lie."""
    if isinstance(name, SourceFile):
        return name
    file = name if isinstance(name, LogFile) else log_file(Path(name))
    return SourceFile(
        str(file.path), file.kind, file.session, file.agent, file.run, file.project, file.size
    )
