"""What a store holds, and what lies at its source, to the sessions that are only kept.

A session whose own log is at its source is the source's. One whose log has gone from there is
the store's, all of it, whatever the cleanup has left of its agents; unless it only moved. One that
came from elsewhere is shown unless it is here, too.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.inventory import Gone
from plait.archive.keeping.joined import joined
from plait.archive.keeping.moved import Moves
from plait.archive.keeping.shelf import shelf_at
from plait.archive.model import Session, StorePlace
from plait.index.freshness import FileStamp, is_indexed
from plait.line import LogFile, Root
from plait.line.discover import log_file

if TYPE_CHECKING:
    from plait.keep.model import KeptFile, KeptSession

LOGS = frozenset({"session", "agent", "journal"})
DIGITS = 15
"""Of a checksum, so many as fit where the index has the number of a file."""


def gone_sessions(place: StorePlace, roots: Sequence[Root], files: Sequence[LogFile]) -> Gone:
    """Returns the kept sessions whose source was below some roots, where these files are left."""
    from plait.keep.store import Store

    there = _Sources(roots, files)
    found: dict[Path, tuple[Session, KeptSession]] = {}
    stamps: dict[str, FileStamp] = {}
    left: set[Path] = set()
    shelf = shelf_at(place)
    for kept, root in _shown(joined(Store.open(place.folder)), there, place):
        folder = shelf.folder_of(kept)
        session = _session_of(kept, folder, root)
        if session is not None:
            found[session.path] = session, kept
            stamps |= _stamps_of(kept, folder)
            left.update(there.left_of(kept))
    return Gone(
        tuple(session for session, _ in found.values()),
        {path: kept for path, (_, kept) in found.items()},
        stamps,
        frozenset(left),
    )


def _shown(
    sessions: "Sequence[KeptSession]", there: "_Sources", place: StorePlace
) -> "Iterator[tuple[KeptSession, Root | None]]":
    """Yields the sessions that are only kept; what is from elsewhere and here too, once."""
    strangers: list[KeptSession] = []
    places: dict[str, tuple[KeptSession, Root]] = {}
    known = set(there.sessions)
    moves = Moves(sessions, there.times)
    for kept in sorted(sessions, key=lambda one: one.modified):
        root = there.root_of(kept)
        if root is not None and not there.holds(kept) and not moves.has_left(kept):
            known.add(kept.session)
            places[there.place_of(kept)] = kept, root  # the newest, of one kept by two roots
        elif root is None and _is_stranger(kept, place):
            strangers.append(kept)
    yield from places.values()
    for kept in sorted(strangers, key=lambda one: one.modified, reverse=True):
        if kept.session not in known:
            known.add(kept.session)
            yield kept, None


class _Sources:
    """The files that lie under some roots, by their real places."""

    def __init__(self, roots: Sequence[Root], files: Iterable[LogFile]) -> None:
        self._roots = {os.path.realpath(root.logs): root for root in roots if root.logs.is_dir()}
        self._real: dict[str, str] = {}
        folders: dict[Path, str] = {}
        self._files: dict[str, LogFile] = {}
        for file in files:
            folder = file.path.parent
            if folder not in folders:
                folders[folder] = os.path.realpath(folder)
            self._files[f"{folders[folder]}{os.sep}{file.path.name}"] = file

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions whose own logs are there."""
        logs = (file for file in self._files.values() if file.kind == "session")
        return frozenset(file.session for file in logs if file.session)

    @property
    def times(self) -> dict[str, float]:
        """When each session's own log was last written to, in seconds, by its real place."""
        logs = self._files.items()
        return {place: file.modified for place, file in logs if file.kind == "session"}

    def root_of(self, kept: "KeptSession") -> Root | None:
        """Returns the root that a kept session was below."""
        place = self.place_of(kept)
        return next(
            (root for logs, root in self._roots.items() if place.startswith(f"{logs}{os.sep}")),
            None,
        )

    def place_of(self, kept: "KeptSession") -> str:
        """Returns where a session lay: its own log, else the first of its files."""
        return self._place_of(kept, kept.log or kept.files[0])

    def holds(self, kept: "KeptSession") -> bool:
        """Tells whether a session is at its source: its own log, else any of its agents'."""
        own = [kept.log] if kept.log else [file for file in kept.files if file.kind in LOGS]
        return any(self._place_of(kept, file) in self._files for file in own)

    def left_of(self, kept: "KeptSession") -> Iterator[Path]:
        """Yields the logs at the source that a session without its own still has there."""
        places = (self._place_of(kept, file) for file in kept.files if file.kind in LOGS)
        yield from (self._files[place].path for place in places if place in self._files)

    def _place_of(self, kept: "KeptSession", file: "KeptFile") -> str:
        if kept.root not in self._real:
            self._real[kept.root] = os.path.realpath(kept.root)
        return os.path.join(self._real[kept.root], *file.path.split("/"))  # noqa: PTH118


def _is_stranger(kept: "KeptSession", place: StorePlace) -> bool:
    """Tells a session that comes from a folder which is not on this machine, or may be shown."""
    is_elsewhere = place.has_strangers and not os.path.isdir(kept.root)  # noqa: PTH112
    return is_elsewhere or place.is_whole


def _session_of(kept: "KeptSession", folder: Path, root: Root | None) -> Session | None:
    logs = [
        log_file(folder.joinpath(*file.path.split("/")), file.size, file.modified / 1e9)
        for file in kept.files
        if file.kind in LOGS
    ]
    own = next((file for file in logs if file.kind == "session"), None)
    if not logs:
        return None
    return Session(
        id=kept.session,
        project=(own or logs[0]).project,
        file=own,
        agents=tuple(file for file in logs if file.kind == "agent"),
        journals=tuple(file for file in logs if file.kind == "journal"),
        config=root.config if root else None,
        is_kept=True,
        is_incomplete=kept.mark == "incomplete",
    )


def _stamps_of(kept: "KeptSession", folder: Path) -> Iterator[tuple[str, FileStamp]]:
    for file in kept.files:
        path = str(folder.joinpath(*file.path.split("/")))
        if is_indexed(path):
            yield path, FileStamp(file.size, file.modified, int(file.sha256[:DIGITS], 16))
