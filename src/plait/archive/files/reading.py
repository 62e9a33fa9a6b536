"""Sessions to what happened to files in them: those alone that can know of a file."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from plait.archive.model import Session
from plait.archive.open_session import OpenSession, opened
from plait.conversation.versions.events import Kept, LoadBackup, events_of
from plait.conversation.versions.model import FileEvent
from plait.conversation.versions.text import text_in, text_of
from plait.errors import SourceError
from plait.line import pieces, read_small
from plait.line.folder import is_plain_name
from plait.record.codec import mapping
from plait.write.place import history_folder

IsNamed: TypeAlias = Callable[[str], bool]
"""Tells a path that is a name of the file."""


def session_events(read: OpenSession) -> tuple[FileEvent, ...]:
    """Returns what happened to files in a session, in the order of time."""
    if not read.graph.sessions:
        return ()
    return events_of(read.conversations, directory_of(read), backups_of(read.session))


def directory_of(read: OpenSession) -> str | None:
    """Returns the directory that a session was begun in, from which backups name files."""
    records = (record for source in read.sources for record in source.records)
    return next((record.cwd for record in records if record.cwd), None)


def backups_of(session: Session) -> LoadBackup:
    """Returns what reads the backups of a session; each copy once."""
    folder = history_folder(session.file.path) if session.file else None
    read: dict[str, Kept | None] = {}

    def load(backup: Any) -> Kept | None:
        if isinstance(backup, str):  # format: 2.1.29 keeps the text itself
            return Kept(text_of(backup))
        fields = mapping(backup)
        copy = fields.get("backupFileName")
        if copy is None:
            return Kept(None, is_there=False) if "backupFileName" in fields else None
        if not isinstance(copy, str) or folder is None or not _is_copy_name(copy):
            return None
        if copy not in read:
            data = read_small(folder / copy)
            text = text_in(data) if data is not None else None
            read[copy] = Kept(text) if text is not None else None
        return read[copy]

    return load


def _is_copy_name(name: str) -> bool:
    return "/" not in name and "\\" not in name and is_plain_name(name)


def file_events(
    sessions: Iterable[Session], endings: Iterable[str], is_named: IsNamed
) -> list[FileEvent]:
    """Returns what happened to a file in some sessions, once where a session was copied."""
    found: dict[tuple[object, ...], FileEvent] = {}
    needles = tuple(needle for name in endings for needle in _needles(name))
    for session in sorted(sessions, key=lambda one: (one.modified, one.id)):
        if _mentions(session, needles):
            for event in session_events(opened(session)):
                if is_named(event.path):
                    _keep(event, found)
    return sorted(found.values(), key=lambda event: event.time)


def _keep(event: FileEvent, found: dict[tuple[object, ...], FileEvent]) -> None:
    """Keeps an event; of copies the one that Claude would go on from the oldest of."""
    key = (event.path, event.kind, event.time, event.origin.call or event.after)
    known = found.get(key)
    if known is None or (event.origin.is_active and not known.origin.is_active):
        found[key] = event


def _needles(name: str) -> Iterator[bytes]:
    """Yields how the end of a path can stand in a log."""
    for is_ascii in (True, False):
        text = json.dumps(name, ensure_ascii=is_ascii)[1:-1]
        yield text.encode("utf-8", "surrogatepass")


def _mentions(session: Session, needles: tuple[bytes, ...]) -> bool:
    return any(_holds(file.path, needles) for file in session.files)


def _holds(path: Path, needles: tuple[bytes, ...]) -> bool:
    longest = max(map(len, needles), default=1)
    rest = b""
    with suppress(SourceError):  # it may have gone meanwhile
        for piece in pieces(path):
            held = rest + piece
            if any(needle in held for needle in needles):
                return True
            rest = held[-longest:]
    return False
