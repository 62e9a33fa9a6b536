"""The project of a session: worktrees and subdirectories belong to their repository.

A directory is assigned to a repository by the first rule that applies:

    Git's own files      shop-fix/.git says that it is a worktree of shop
    the log              a record says that a worktree was made of shop
    the path's form      shop/.claude/worktrees/fix, shop/.worktrees/fix
    Git's records        shop/.git/worktrees/fix says where a deleted worktree was
    the path             shop/api is inside shop, and both were on a branch

For sessions that exist only in the backup or come from another machine, only paths count. A home
folder, a folder for temporary files and the root of a disk are never a repository.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import MsgspecError
from msgspec.structs import replace

from plait.line import make_project_slug
from plait.line.discovery import is_foreign_path
from plait.line.git import GitFiles
from plait.sessions.facts import Beginning, LogFacts
from plait.sessions.model import Facts, Session

if TYPE_CHECKING:
    from plait.conversation.usage import BilledResponse
    from plait.index.catalogue import Catalogue
    from plait.sessions.library import SessionLibrary
WORKTREE = re.compile(r"(.+?)[/\\](?:\.claude[/\\]worktrees|\.worktrees)[/\\][^/\\]+")
NOT_A_PROJECT = re.compile(
    r"""(?x) [/\\]* | [A-Za-z]:[/\\]*
    | /(?:home|Users|mnt|media|Volumes|srv|opt|usr|var|etc|private|tmp|root)
    | (?:/var|/export)?/home/[^/]+ | /var/root
    | (?:/mnt)?(?:/[A-Za-z]|[A-Za-z]:|)[/\\]Users(?:[/\\][^/\\]+)? | /mnt/[a-z]
    | (?:/private)?/(?:tmp|var/tmp|var/folders(?:/[^/]+){0,3})
    | [A-Za-z]:[/\\](?:Windows[/\\])?Te?mp | .+[/\\]AppData[/\\]Local[/\\]Temp"""
)
"""Disks, homes, and folders for temporary files."""
NO_BRANCH = (None, "", "HEAD")
"""What a log says of a directory outside Git, or on no branch."""


class Place(NamedTuple):
    """Where a session began, according to its log."""

    folder: str
    """The folder of the log."""
    directory: str | None
    branch: str | None = None
    worktree_of: str | None = None
    """The directory that a worktree was made of, if the log says so."""
    is_here: bool = True
    """Whether the directory may be looked up on this machine."""


@dataclass(frozen=True, slots=True)
class ProjectFolders:
    """The projects of folders with sessions."""

    projects: Mapping[str, str] = field(default_factory=dict)
    """The project of each folder whose sessions belong to another one."""
    directories: Mapping[str, str] = field(default_factory=dict)
    """The directory of each folder and each project."""

    def project(self, folder: str) -> str:
        """Return the project of a folder's sessions."""
        return self.projects.get(folder, folder)

    def folders(self, project: str) -> tuple[str, ...]:
        """Return the folders that were merged into a project, by name."""
        return tuple(sorted(folder for folder, of in self.projects.items() if of == project))

    def directory(self, name: str) -> str | None:
        """Return the directory of a project or a folder; None if no session names one."""
        return self.directories.get(name)

    def unfolded(self) -> "ProjectFolders":
        """Return the same with each folder as a project of its own."""
        return ProjectFolders({}, self.directories)


def read_project_folders(
    archive: "SessionLibrary", known: "Mapping[Path, Facts] | None" = None
) -> ProjectFolders:
    """Return the projects of an archive; of unread sessions only the beginnings are read.

    With given facts nothing is read, and sessions without facts are left out.
    """
    homes = _homes(archive)
    if known is not None:
        places = (
            get_session_place(session, known[session.path])
            for session in archive.sessions
            if session.path in known
        )
        return group_into_projects(places, homes)
    archive.load_facts()
    return group_into_projects(map(archive.place, archive.sessions), homes)


def read_indexed_project_folders(
    archive: "SessionLibrary", catalogue: "Catalogue"
) -> ProjectFolders:
    """Return the projects of the sessions in an index, from what it stores about them."""
    if not archive.is_folding or "folding" in vars(archive):
        return archive.folding
    from plait.index.catalogue import from_bytes

    is_kept = archive.inventory.is_kept if archive.store else lambda _: False
    places: dict[Place, None] = {}
    for key, folder, data in catalogue.facts_by_project():
        try:
            facts = from_bytes(data, LogFacts)
        except MsgspecError:  # a session without further facts
            continue
        started_in = facts.cwd, facts.first_branch, facts.worktree_of
        places[Place(folder, *started_in, is_here=not is_kept(key))] = None
    return group_into_projects(places, _homes(archive))


def _homes(archive: "SessionLibrary") -> list[str]:
    """Return the home folders that contain the clients' configuration folders."""
    configs = [root.config for root in archive.roots if root.config]
    return [str(config.absolute().parent) for config in configs if config.name == ".claude"]


def get_session_place(session: "Session", found: "Facts | Beginning") -> Place:
    """Return where a session was started, as far as its log says."""
    started_in = found.cwd, found.first_branch, found.worktree_of
    return Place(session.project, *started_in, is_here=not session.is_kept)


def assign_projects(
    responses: "Sequence[BilledResponse]", folding: ProjectFolders
) -> "Sequence[BilledResponse]":
    """Return responses with their folders replaced by projects."""
    projects = folding.projects
    if not projects:
        return responses
    return [
        replace(response, project=name) if (name := projects.get(response.project)) else response
        for response in responses
    ]


def group_into_projects(places: Iterable[Place], homes: Iterable[str] = ()) -> ProjectFolders:
    """Return the projects of sessions, newest last.

    A folder whose directories belong to several repositories stays separate; so do folders whose
    projects would have equal names without being the same.
    """
    rule = _Repositories(list(places), frozenset(homes))
    members: dict[str, list[str]] = defaultdict(list)
    for folder, roots_of_folder in rule.roots.items():
        root = next(iter(roots_of_folder)) if len(roots_of_folder) == 1 else None
        if root is not None:
            members[root].append(folder)
    projects: dict[str, str] = {}
    roots: dict[str, str] = {}
    for root, folders in members.items():
        name = make_project_slug(root)
        is_own = len(folders) == 1 and rule.holds(folders[0], root)
        if not is_own and rule.is_free(name, root, members):
            projects |= {folder: name for folder in folders if folder != name}
            roots[name] = root
    return ProjectFolders(projects, rule.newest | roots)


class _Repositories:
    """What is known of directories: which are repositories, and which are inside one."""

    def __init__(self, places: Sequence[Place], homes: frozenset[str]) -> None:
        self._homes = homes
        self._git = GitFiles(self._is_nobodys)
        self._places = [place for place in places if place.directory]
        self._branched = {d for _, d, branch, _, _ in self._places if branch not in NO_BRANCH}
        self._here = {
            place.directory for place in self._places if place.directory and place.is_here
        }
        mains: dict[str, set[str]] = defaultdict(set)
        for place in self._places:
            if place.directory and place.worktree_of:
                mains[place.directory].add(place.worktree_of)
        # The repository of each worktree, where all logs name the same one
        self._made_of = {
            directory: main for directory, (main, *others) in mains.items() if not others
        }
        self._known: dict[str, str | None] = {}
        self._slug = cache(make_project_slug)

    @cached_property
    def newest(self) -> dict[str, str]:
        """The directory of each folder: the one it is named after, else the newest."""
        return {folder: directories[-1] for folder, directories in self._directories.items()}

    @cached_property
    def _directories(self) -> dict[str, list[str]]:
        """The directories of each folder, without others if some match its name."""
        found: dict[str, list[str]] = defaultdict(list)
        for place in self._places:
            found[place.folder].append(place.directory or "")
        for folder, directories in found.items():
            unique = dict.fromkeys(directories)
            own = {directory for directory in unique if self._slug(directory) == folder}
            found[folder] = [
                directory for directory in directories if directory in own
            ] or directories
        return found

    @cached_property
    def roots(self) -> dict[str, set[str | None]]:
        """The repositories of each folder's sessions."""
        in_git = {place.folder for place in self._places if place.branch not in NO_BRANCH}
        found: dict[str, set[str | None]] = {}
        for folder, directories in self._directories.items():
            unique = set(directories)
            is_meant = folder in in_git or any(self._slug(path) == folder for path in unique)
            found[folder] = {self._root(path) if is_meant else None for path in unique}
        return found

    def holds(self, folder: str, directory: str) -> bool:
        """Return whether sessions of a folder began in a directory."""
        return directory in self._directories[folder]

    def is_free(self, name: str, root: str, members: Mapping[str, object]) -> bool:
        """Return whether a name is used by no other repository or its folders."""
        others = self.roots.get(name, {root}) - {root}
        return not others and not any(
            member != root and self._slug(member) == name for member in members
        )

    def _root(self, directory: str) -> str | None:
        """Return the repository that a directory belongs to; None if there is none."""
        if directory not in self._known:
            is_here = directory in self._here
            passed: list[str] = []
            above: str | None = directory
            while above and above not in passed and not self._is_nobodys(above):
                passed.append(above)
                above = self._above(above, is_here=is_here)
            is_root = bool(passed) and (above == passed[-1] or passed[-1] in self._repositories)
            self._known[directory] = passed[-1] if is_root else None
        return self._known[directory]

    def _above(self, directory: str, *, is_here: bool) -> str | None:
        """Return what a directory is part of, by the first rule that applies; else itself."""
        if is_here and (found := self._on_disk(directory)):
            return found
        main = (
            self._made_of.get(directory)
            or _guess_by_name(directory)
            or self._deleted.get(directory)
        )
        if main or directory not in self._branched:
            return main
        return next(
            (parent for parent in _iter_parents(directory) if parent in self._repositories), None
        )

    def _on_disk(self, directory: str) -> str | None:
        is_remote = directory[:2] in ("//", "\\\\")
        if is_remote or is_foreign_path(directory) or not os.path.isabs(directory):  # noqa: PTH117  text
            return None
        return self._git.find_root(directory)

    @cached_property
    def _roots_on_disk(self) -> set[str]:
        return {root for path in self._here if (root := self._on_disk(path))}

    @cached_property
    def _deleted(self) -> dict[str, str]:
        """The repositories of deleted worktrees, by Git's own records."""
        git = self._git
        return {
            worktree: root for root in self._roots_on_disk for worktree in git.iter_worktrees(root)
        }

    @cached_property
    def _repositories(self) -> frozenset[str]:
        by_form = (_guess_by_name(place.directory or "") for place in self._places)
        paths = chain(self._made_of.values(), by_form, self._branched, self._roots_on_disk)
        return frozenset(path for path in paths if path and not self._is_nobodys(path))

    def _is_nobodys(self, directory: str) -> bool:
        return directory in self._homes or NOT_A_PROJECT.fullmatch(directory) is not None


def _guess_by_name(directory: str) -> str | None:
    """Return the repository of a worktree by the form of its path."""
    match = WORKTREE.match(directory)
    return match[1] if match else None


def _iter_parents(directory: str) -> Iterator[str]:
    """Yield the parents of a path, nearest first."""
    separators = "/" if directory.startswith("/") else r"[/\\]"
    ends = [match.start() for match in re.finditer(separators, directory)]
    yield from (directory[:end] for end in reversed(ends) if end)
