"""What is taken into a lake in one go to its files, read once, and to its sessions, open.

Rows of all tables are made of what this holds, so that no file is read twice.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.facts import LogFacts, log_facts
from plait.archive.lake.model import Unit
from plait.archive.lake.profiles import redaction_of
from plait.archive.model import Session
from plait.archive.open_session import Log, OpenSession
from plait.graph.source import source_of
from plait.line import LogFile, lines
from plait.line.model import Finding
from plait.record.account import broken_line
from plait.record.read import Blank, Broken, entry_of
from plait.record.time import moment

if TYPE_CHECKING:
    from plait.archive.redaction import Redaction

NO_MONTH = "none"


@dataclass(slots=True)
class LinedLog:
    """A log file as it was read: all its lines, and what they are."""

    file: LogFile
    name: str
    """Its path below the root."""
    log: Log
    lines: list[bytes]
    """As they are, without their newlines."""
    is_ended: bool = True
    """Whether a newline ends the last of them."""
    blank: int = 0
    broken: list[Finding] = field(default_factory=list)
    """What is said of lines that are neither records nor blank."""

    @property
    def size(self) -> int:
        """How many bytes were read."""
        return sum(map(len, self.lines)) + len(self.lines) - (not self.is_ended)

    @property
    def broken_lines(self) -> list[int]:
        """The numbers of lines that are neither records nor blank."""
        return [one.line for one in self.broken if one.line]


class Owner(NamedTuple):
    """What every row of a session begins with."""

    build: int
    source: str
    session: str
    project: str
    month: str


class OpenUnit:
    """Sessions that share records, as their files were when they were read."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.logs: dict[Path, LinedLog] = {
            file.path: read_lines(file, name_below(file.path, unit.roots))
            for session in unit.sessions
            for file in session.files
        }
        self.through = _taught(unit, self.logs.values())
        """What everything goes through before anything is made of it."""
        self._shown: dict[Path, list[bytes]] = {}

    @cached_property
    def alone(self) -> tuple[OpenSession, ...]:
        """Each session by itself, in the order in which they began."""
        return tuple(self._opened(one) for one in self.unit.sessions)

    @cached_property
    def whole(self) -> OpenSession:
        """All of them together: what their graph is made of."""
        sessions = self.unit.sessions
        if len(sessions) == 1:
            return self.alone[0]
        return self._opened(*sessions)

    def _opened(self, *sessions: Session) -> OpenSession:
        files = (file for one in sessions for file in one.files)
        return OpenSession(files, *sessions, through=self.through, read=self._read)

    def name_of(self, path: str) -> str:
        """Returns the path of a file below its root."""
        return self.shown(self.logs[Path(path)].name)

    def sentence(self, text: str) -> str:
        """Returns a sentence in which files are named from their roots on."""
        for root in self.unit.roots:
            text = text.replace(f"{root}{os.sep}", "")
        return self.shown(text)

    def shown(self, name: str) -> str:
        """Returns a name, an id or a sentence as the profile lets it out."""
        return self.through.name(name) if self.through else name

    def shown_lines(self, path: Path) -> list[bytes]:
        """Returns the lines of a file as the profile lets them out; a record stays one."""
        if self.through is None:
            return self.logs[path].lines
        if path not in self._shown:
            self._shown[path] = self._redacted(path, self.through)
        return self._shown[path]

    def _redacted(self, path: Path, through: "Redaction") -> list[bytes]:
        held = self.logs[path]
        found = held.lines.copy()
        for record in self.alone[self.places[str(path)]].records_of(path):
            found[record.line - 1] = record.raw
        for number in held.broken_lines:
            found[number - 1] = through.text(found[number - 1])
        return found

    def _read(self, path: Path) -> Log:
        return self.logs[path].log

    @cached_property
    def facts(self) -> tuple[LogFacts, ...]:
        """What lists show of each session."""
        return tuple(map(_facts_of, self.alone))

    @cached_property
    def owners(self) -> tuple[Owner, ...]:
        """What the rows of each session begin with."""
        unit = self.unit
        return tuple(
            Owner(
                build,
                unit.labels.source,
                self.shown(session.id),
                self.shown(session.project),
                month_of(facts.started),
            )
            for session, build, facts in zip(unit.sessions, unit.builds, self.facts, strict=True)
        )

    @cached_property
    def dag_lines(self) -> list[Counter[str]]:
        """How many DAG-lines of each kind begin in the files of each session."""
        found = [Counter[str]() for _ in self.unit.sessions]
        graph = self.whole.graph
        for line in graph.lines.values():
            found[self.places[graph.files[line.files[0]].path]][line.kind] += 1
        return found

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The session that each file belongs to, by number."""
        return {
            str(file.path): number
            for number, session in enumerate(self.unit.sessions)
            for file in session.files
        }


def _taught(unit: Unit, logs: Iterable[LinedLog]) -> "Redaction | None":
    """Returns what a unit is read through, once it knows all of it: what one place tells."""
    through = redaction_of(unit)
    if through is not None:
        for one in logs:
            through.learn_source(source_of(one.file, one.log.records))
            through.learn_texts(one.lines[number - 1] for number in one.broken_lines)
    return through


def _facts_of(read: OpenSession) -> LogFacts:
    return log_facts(read.session, read.records_of, lambda _: read.sources[0].title)


def read_lines(file: LogFile, name: str) -> LinedLog:
    """Reads a log file as far as it was when it was found; one that has gone is an error."""
    found = LinedLog(file, name, Log([], []), [])
    for line in lines(file.path, end=file.size):
        found.lines.append(line.data)
        found.is_ended = line.is_ended
        entry = entry_of(line)
        if isinstance(entry, Broken):
            found.broken.append(broken_line(entry, file.path))
            found.log.recovered.extend(entry.recovered)
        elif isinstance(entry, Blank):
            found.blank += 1
        else:
            found.log.records.append(entry)
    return found


def name_below(path: Path, roots: tuple[Path, ...]) -> str:
    """Returns the path of a file from its root on; of one that is a root itself, its name."""
    for root in roots:
        if path.is_relative_to(root):
            found = path.relative_to(root)
            return found.as_posix() if found.parts else path.name
    return PurePath(path).as_posix()


def month_of(stamp: str | None) -> str:
    """Returns the month that a time lies in."""
    time = moment(stamp)
    return f"{time:%Y-%m}" if time else NO_MONTH
