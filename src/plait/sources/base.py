"""What a reader of another agent's logs provides, and which readers there are."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, cast

from msgspec import Struct, json

from plait.sources.places import BUILT_IN, find_plugins, list_source_names

if TYPE_CHECKING:
    from plait.sources.translation import Translation

HEAD_BYTES = 1 << 16


class SourceLog(Struct, frozen=True):
    """One session in a file or database of another agent; its content has not been read."""

    source: str
    id: str
    """The session's id, as in the agent's own resume command."""
    path: str
    """The file or database that contains it."""
    size: int = 0
    modified: int = 0
    """In nanoseconds since 1970."""
    cwd: str | None = None
    parent: str | None = None
    """The session that started it as a sub-agent."""
    key: str = ""
    """Distinguishes the sessions of one file, such as the id of a database row."""


class SentMessage(NamedTuple):
    """A message that an agent sends when it resumes a session."""

    role: str
    content: list[dict[str, Any]]
    """Blocks as the Messages API has them."""
    lines: tuple[int, ...] = ()
    """The lines of the log that it consists of; none for what the agent adds."""
    path: str | None = None
    """The file of these lines if it is another one, which the session continues."""


class Source:
    """A reader of one agent's logs. Subclasses set the names and implement `find` and `translate`."""

    name: ClassVar[str]
    """The value for `--agent`, such as `codex`."""
    title: ClassVar[str]
    """The agent's name, such as `Codex`."""
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    """The endings of its log files."""
    verified: ClassVar[str] = ""
    """The last version of the agent whose logs were checked."""

    roots: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Where it keeps its logs by default: an environment variable and what is below it, the first
    that is set; an empty name means the home folder.
    """

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the sessions in a file, none if it is not a log of this agent.

        `head` is the beginning of the file. `size` and `modified` are filled in by the caller if
        they are 0.
        """
        raise NotImplementedError

    def is_side_file(self, path: Path) -> bool:
        """Return whether a file belongs to the agent, but contains no session."""
        return False

    def translate(self, log: SourceLog, out: "Translation") -> None:
        """Write a session as lines of the neutral form."""
        raise NotImplementedError

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in the agent."""
        raise NotImplementedError

    def count_rows(self, log: SourceLog) -> int | None:
        """Return the number of rows of a log without lines, by which all are accounted for."""
        return None

    def export(self, log: SourceLog) -> bytes | None:
        """Return what a backup keeps of a session where its file must not be copied, else None."""
        return None

    def read_context(self, log: SourceLog) -> list[SentMessage] | None:
        """Return what the agent sends when it resumes a session; None if its rule is unknown."""
        return None


def load_sources() -> Mapping[str, Source]:
    """Return all readers by name, including those of installed packages."""
    return {name: load_source(name) for name in list_source_names()}


@cache
def load_source(name: str) -> Source:
    """Return a reader by its name."""
    target = BUILT_IN.get(name)
    if target is None:
        loaded = find_plugins()[name].load()
    else:
        module, _, attribute = target.partition(":")
        loaded = getattr(import_module(module), attribute)
    source: Source = loaded()
    return source


def open_zstd(file: BinaryIO) -> BinaryIO:
    """Return a decompressing reader for a zstd file."""
    from plait.line.compression import zstd

    return cast(BinaryIO, zstd.ZstdFile(file))


def open_database(path: Path) -> sqlite3.Connection:
    """Open a database of a running agent to read it; nothing is written or waited for long."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    base = sqlite3.connect(address, uri=True, timeout=2)
    try:
        base.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        base.close()
        log = Path(f"{path}-wal")
        if "unable to open" not in str(error) or (log.exists() and log.stat().st_size):
            raise
        # In a folder that cannot be written to, SQLite wants to be told that nobody else writes.
        base = sqlite3.connect(f"{address}&immutable=1", uri=True)
    base.row_factory = sqlite3.Row
    return base


def parse_object(data: bytes) -> dict[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    try:
        value = json.decode(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def parse_first_object(head: bytes) -> dict[str, Any]:
    """Return the JSON object on the first line of a file, an empty one for anything else."""
    return parse_object(head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0])


def iter_objects(head: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects on the complete lines at the beginning of a file."""
    for line in head.split(b"\n"):
        if value := parse_object(line):
            yield value
