"""Parsed drawings: tokens, statements, sections, and the files they become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


class DrawingError(ValueError):
    """A drawing that cannot be built; the message begins with the line number."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text, or `|` lines."""

    value: str


@dataclass(frozen=True, slots=True)
class Field:
    """A named value: `key=value`, or `key:` above `|` lines."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Merge:
    """A JSON object whose keys are added to the line."""

    value: Json


@dataclass(frozen=True, slots=True)
class Drop:
    """`-key`: a key removed from the line."""

    key: str


@dataclass(frozen=True, slots=True)
class Call:
    """`Tool(key=value, …)`."""

    tool: str
    input: Json


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: a kind, a subtype or a flag."""

    value: str


Token: TypeAlias = Text | Field | Merge | Drop | Call | Word


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing to write: a verb (`record`, `again`, a line type…) with its tokens.

    `parent` is None for a root, "" for the record drawn before, otherwise a reference.
    """

    line: int
    verb: str
    name: str = ""
    parent: str | None = None
    same: str = ""
    time: str = ""
    tokens: tuple[Token, ...] = ()

    def words(self) -> list[str]:
        """Return the bare words."""
        return [token.value for token in self.tokens if isinstance(token, Word)]

    def texts(self) -> list[str]:
        """Return the texts."""
        return [token.value for token in self.tokens if isinstance(token, Text)]

    def fields(self) -> Json:
        """Return the named values."""
        return {token.key: token.value for token in self.tokens if isinstance(token, Field)}


@dataclass(frozen=True, slots=True)
class Section:
    """A file to write: a session (`file`), a sub-agent (`agent`) or anything else (`also`)."""

    line: int
    kind: str
    name: str
    tokens: tuple[Token, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of every line of a file; `set key=value` changes them for the following lines."""

    session: str = "main"
    cwd: str = "/home/dev/shop"
    version: str = "2.1.325"
    branch: str = "main"
    model: str = "claude-opus-5-5"
    entrypoint: str = "cli"
    permission: str = "default"
    start: str = "2026-11-02T09:00:00.000Z"
    pace: str = "second"
    team: str = ""
    slug: str = ""
    effort: str = "medium"
    cache: str = ""
    """How long the provider holds what is sent (`5m`, `1h`); without, it holds all for ever."""

    def is_before(self, *version: int) -> bool:
        """Return whether the writing client is older than a version."""
        return tuple(int(part) for part in self.version.split(".")) < version


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as on disk, its name in the drawing, and its record if it is complete."""

    data: bytes
    name: str = ""
    record: Json | None = None


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """One file of a drawing: its name, its path below `projects/`, its lines."""

    name: str
    path: str
    lines: tuple[DrawnLine, ...] = ()
    uuids: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return b"".join(line.data for line in self.lines)


@dataclass(frozen=True, slots=True)
class Drawing:
    """The archive of a drawing. Without a file name, methods use the first file."""

    files: tuple[DrawnFile, ...]

    def file(self, name: str) -> DrawnFile:
        """Return the file (session, agent) with a name."""
        for file in self.files:
            if file.name == name:
                return file
        raise KeyError(name)

    @property
    def lines(self) -> list[Json | bytes]:
        """The lines in order: a record each, or bytes if there is none."""
        return [line.data if line.record is None else line.record for line in self.files[0].lines]

    @property
    def records(self) -> list[Json]:
        """The lines that are complete records."""
        return [line.record for line in self.files[0].lines if line.record is not None]

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.files[0].data

    @property
    def session(self) -> str:
        """The session id of the file."""
        return self.files[0].path.rpartition("/")[2].removesuffix(".jsonl")

    @property
    def uuids(self) -> Mapping[str, str]:
        """The uuid of each name, in the order of the drawing."""
        return self.files[0].uuids

    def uuid_of(self, name: str) -> str:
        """Return the uuid of a record, `FILE:NAME` for one of another file."""
        file, _, own = name.rpartition(":")
        return (self.file(file) if file else self.files[0]).uuids[own]

    def names(self, uuids: Iterable[str | None]) -> list[str]:
        """Return the names of records: uuids in letters, `?` for an unknown one, "" for None.

        A record that is only in another file is `FILE:NAME`.
        """
        known = {uuid: name for name, uuid in self.uuids.items()}
        for file in self.files[1:]:
            known = {uuid: f"{file.name}:{name}" for name, uuid in file.uuids.items()} | known
        return ["" if uuid is None else known.get(uuid, "?") for uuid in uuids]

    def write(self, root: Path) -> list[Path]:
        """Write all files below `root/projects` and return their paths."""
        paths = [root / "projects" / file.path for file in self.files]
        for path, file in zip(paths, self.files, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
        return paths


def flags(words: Sequence[str], known: frozenset[str]) -> tuple[frozenset[str], list[str]]:
    """Split bare words into known flags and the rest."""
    return frozenset(word for word in words if word in known), [w for w in words if w not in known]
