"""Sessions as files: which files below some roots belong to which session.

    <project>/<session>.jsonl, <project>/<session>/**      the session and its side files
    <project>/agent-<id>.jsonl, agent-<id>.meta.json       older versions: the log names the session
    tasks/<session>/**, todos/<session>-*.json             its lists
    file-history/<session>/**                              backups of files, if requested

A project is any folder with logs in it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import TypeAlias

from plait.line import Root
from plait.line.discovery import AGENT_PREFIX, JOURNAL, LOG_SUFFIX, PLAIT_FOLDER, SUBAGENTS
from plait.store.model import Kind, Source, SourceFile, Stamp, Unread

META = ".meta.json"
TITLE = "custom-title.json"
LISTS, TASKS, HISTORY = "todos", "tasks", "file-history"
SIGNS = frozenset({SUBAGENTS, "tool-results", "workflows", TITLE})
"""What only a session's folder contains."""
CHATS = "chats"
"""What only a project's folder of Qwen Code contains; its `subagents` are those of all sessions."""
NAMED = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
OTHER_LOGS = re.compile(r"rollout-.*\.jsonl\.zst|session-.*\.json")
"""Logs of other agents that are no lines of JSON."""
MOST_READ = 1 << 20
"""Bytes of an agent's log that are searched for its session."""

Owners: TypeAlias = Mapping[str, str]
"""Known sessions by the path of an agent's log."""


def find_sources(
    roots: Iterable[Root],
    *,
    backups: bool = False,
    owners: Owners | None = None,
    unread: list[Unread] | None = None,
) -> tuple[Source, ...]:
    """Return every session under the roots, by project and name.

    Unreadable folders are added to `unread`.
    """
    found: dict[tuple[str, str, str], list[SourceFile]] = {}
    seen: set[str] = set()
    for root in roots:
        home = root.config or (root.path if root.path.is_dir() else root.path.parent)
        walk = _Walk(
            str(home.absolute()).rstrip(os.sep),
            owners or {},
            seen,
            [] if unread is None else unread,
        )
        walk.projects(str(root.logs.absolute()))
        if root.config:
            walk.lists(walk.home, backups)
        for (project, session), files in walk.found.items():
            found.setdefault((walk.home, project, session), []).extend(files)
    for files in found.values():
        if len(files) > 1:
            files.sort(key=attrgetter("path"))
    return tuple(Source(*key, tuple(files)) for key, files in sorted(found.items()))


@dataclass
class _Walk:
    """One traversal of a root."""

    home: str
    owners: Owners
    seen: set[str]
    """Visited folders, by real path: links may lead back."""
    unread: list[Unread]
    found: dict[tuple[str, str], list[SourceFile]] = field(default_factory=dict)

    def projects(self, place: str) -> None:
        """Search for sessions in a folder and its subfolders, or take one file."""
        if not os.path.isdir(place):  # noqa: PTH112  text, as all places here
            folder = os.path.dirname(place)  # noqa: PTH120
            self._folder(folder, only=os.path.basename(place))  # noqa: PTH119
            return
        waiting = [place]
        while waiting:
            folder = waiting.pop()
            real = os.path.realpath(folder)
            if real not in self.seen:
                self.seen.add(real)
                waiting += self._folder(folder)

    def _folder(self, folder: str, only: str | None = None) -> list[str]:
        """Add the sessions of a folder; return its subfolders that belong to none of them."""
        project = os.path.basename(folder)  # noqa: PTH119
        kind: Kind
        folders: dict[str, str] = {}
        logs: set[str] = set()
        agents: list[tuple[str, os.stat_result]] = []
        for entry, status in self._entries(folder):
            name = entry.name
            if S_ISDIR(status.st_mode):
                folders[name] = entry.path
            elif not S_ISREG(status.st_mode) or (only is not None and name != only):
                continue
            elif name.startswith(AGENT_PREFIX) and name.endswith((LOG_SUFFIX, META)):
                agents.append((entry.path, status))
            elif name.endswith(LOG_SUFFIX) or OTHER_LOGS.fullmatch(name):
                session = re.sub(r"\.jsonl?(\.zst)?$", "", name)
                logs.add(session)
                self._take(project, session, entry.path, status, "session")
        for place, status in agents:
            kind = "agent" if place.endswith(LOG_SUFFIX) else "beside"
            log = place.removesuffix(META) + LOG_SUFFIX if place.endswith(META) else place
            owner = self.owners.get(log)
            if not owner:  # the log names its session
                with suppress(OSError), open(log, "rb") as file:  # noqa: PTH123
                    named = NAMED.search(file.read(MOST_READ))
                    owner = named[1].decode("utf-8", "replace") if named else None
            self._take(project, owner or Path(log).stem, place, status, kind)
        for name in [*folders]:
            inside: list[str] = []
            if only is None:
                with suppress(OSError):
                    inside = os.listdir(folders[name])  # noqa: PTH208
            if name in logs or (not SIGNS.isdisjoint(inside) and CHATS not in inside):
                for place, status in self._iter_files_below(folders.pop(name)):
                    file_name = os.path.basename(place)  # noqa: PTH119
                    kind = "journal" if file_name == JOURNAL else "beside"
                    if file_name.startswith(AGENT_PREFIX) and file_name.endswith(LOG_SUFFIX):
                        kind = "agent"
                    self._take(project, name, place, status, kind)
        folders.pop(PLAIT_FOLDER, None)
        return [] if only is not None else list(folders.values())

    def lists(self, config: str, backups: bool) -> None:
        """Add what the client stores elsewhere for the sessions."""
        projects = {session: project for project, session in self.found}
        kinds: dict[str, Kind] = {TASKS: "list", HISTORY: "backup"}
        for folder in (TASKS, HISTORY) if backups else (TASKS,):
            for entry, status in self._entries(f"{config}/{folder}"):
                if S_ISDIR(status.st_mode) and entry.name in projects:
                    for place, inner in self._iter_files_below(entry.path):
                        self._take(projects[entry.name], entry.name, place, inner, kinds[folder])
        for entry, status in self._entries(f"{config}/{LISTS}"):
            session = entry.name.partition("-agent-")[0]
            if session in projects and S_ISREG(status.st_mode):
                self._take(projects[session], session, entry.path, status, "list")

    def _take(
        self, project: str, session: str, place: str, status: os.stat_result, kind: Kind
    ) -> None:
        path = place[len(self.home) + 1 :].replace(os.sep, "/")
        file = SourceFile(place, path, kind, build_stamp(status))
        self.found.setdefault((project, session), []).append(file)

    def _entries(self, folder: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        """Yield the files and folders in a folder, including link targets."""
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except FileNotFoundError:
            return
        except OSError as error:
            self.unread.append(Unread(folder, (error.strerror or str(error)).lower()))
            return
        for entry in found:
            try:
                yield entry, entry.stat()
            except OSError:  # gone, or a broken link
                continue

    def _iter_files_below(self, folder: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the regular files in a folder and its subfolders, without links."""
        waiting = [folder]
        while waiting:
            for entry, status in self._entries(waiting.pop()):
                if entry.is_symlink():
                    continue
                if S_ISDIR(status.st_mode):
                    waiting.append(entry.path)
                elif S_ISREG(status.st_mode):
                    yield entry.path, status


def build_stamp(status: os.stat_result) -> Stamp:
    """Return a file's metadata in the journal's form."""
    return Stamp(
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        S_IMODE(status.st_mode),
    )
