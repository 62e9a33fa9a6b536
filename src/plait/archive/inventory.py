"""Roots and a store to all files and sessions there are, at their source or only kept."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.model import Project, Session, StorePlace
from plait.archive.sessions import sessions_of
from plait.errors import SourceError
from plait.line import Discovery, LogFile, Root, discover
from plait.record.sidecar import running_sessions

if TYPE_CHECKING:
    from plait.archive.folding import Folding
    from plait.index.freshness import FileStamp
    from plait.keep.model import KeptSession


@dataclass(frozen=True, slots=True)
class Gone:
    """The sessions of an archive that are only kept."""

    sessions: tuple[Session, ...]
    kept: Mapping[Path, "KeptSession"]
    """As the store has them, by where their files are read."""
    stamps: "Mapping[str, FileStamp]"
    """What stands for the state of each file in the index: no file is needed for it."""
    left: frozenset[Path]
    """Files at the source that the cleanup has left of them."""


NOTHING = Gone((), {}, {}, frozenset())
UNREADABLE = Gone((), {}, {}, frozenset())
"""Of a store that is there, but not for us."""


class Inventory:
    """What lies under some roots and in a store; nothing is looked at before it is asked for."""

    def __init__(self, roots: tuple[Root, ...], store: StorePlace | None) -> None:
        self._roots = roots
        self._store = store

    @property
    def configs(self) -> tuple[Path, ...]:
        """The configuration folders of the clients whose sessions these are."""
        return tuple(dict.fromkeys(root.config for root in self._roots if root.config))

    @cached_property
    def _at_source(self) -> Discovery:
        return discover(self._roots)

    @cached_property
    def discovery(self) -> Discovery:
        """Everything that lies under the roots; a store that cannot be read is named, too."""
        found = self._at_source
        if self.gone is not UNREADABLE or self._store is None:
            return found
        return Discovery(found.files, (*found.unread, self._store.folder))

    @cached_property
    def gone(self) -> Gone:
        """What is no longer at its source, only kept."""
        if self._store is None or not self._store.is_there:
            return NOTHING
        from plait.archive.keeping.gone import gone_sessions

        try:
            return gone_sessions(self._store, self._roots, self._at_source.files)
        except SourceError:
            return UNREADABLE

    def is_kept(self, path: str) -> bool:
        """Tells whether a file is one of those that are only kept."""
        return self._store is not None and self._store.shelf.absolute() in Path(path).parents

    def stamps(self) -> "dict[str, FileStamp]":
        """Returns what the index knows files by, of all that it reads, by their whole paths."""
        from plait.index.freshness import stamps

        return stamps(root.logs.absolute() for root in self._roots) | dict(self.gone.stamps)

    @cached_property
    def here(self) -> tuple[LogFile, ...]:
        """The log files at their source, in the order of their paths."""
        found, left = self._at_source.files, self.gone.left
        return tuple(file for file in found if file.path not in left) if left else found

    @cached_property
    def files(self) -> tuple[LogFile, ...]:
        """All log files: those at their source, then those that are only kept."""
        return self.here + tuple(file for one in self.gone.sessions for file in one.files)

    def sessions(self) -> list[Session]:
        """Returns all sessions, the newest last."""
        found = [*sessions_of(self.here, self._roots), *self.gone.sessions]
        return sorted(found, key=lambda session: (session.modified, str(session.path)))


def store_place(store: StorePlace | Path | str) -> StorePlace:
    """Returns the place of a store by its folder; what is read of it lies beside it then."""
    if isinstance(store, StorePlace):
        return store
    folder = Path(store)
    return StorePlace(folder, folder.with_name(f"{folder.name}-read"))


def projects_of(sessions: Iterable[Session], folding: "Folding") -> tuple[Project, ...]:
    """Returns the projects of some sessions, by name."""
    members: dict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        members[folding.project(session.project)].append(session)
    return tuple(
        Project(name, tuple(found), folding.directory(name), folding.folders(name))
        for name, found in sorted(members.items())
    )


def live_sessions(roots: Iterable[Root]) -> frozenset[str]:
    """Returns the ids of sessions that a client is running now."""
    configs = [root.config for root in roots if root.config]
    return frozenset(one for config in configs for one in running_sessions(config))
