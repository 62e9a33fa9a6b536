"""Roots to the log files that lie in them, and a working directory to its project folder.

    <config>/projects/<slug>/<session>.jsonl
    <config>/projects/<slug>/<session>/subagents/agent-<id>.jsonl
    <config>/projects/<slug>/<session>/subagents/workflows/<run>/agent-<id>.jsonl, journal.jsonl
    <config>/projects/<slug>/agent-<id>.jsonl          older versions: beside the session

A root may also be a projects folder, any folder with logs somewhere in it, or one file.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from plait.line.model import Discovery, LogFile, Root
from plait.line.split import unreadable

SUFFIX = ".jsonl"
AGENT = "agent-"
JOURNAL = "journal.jsonl"
SUBAGENTS = "subagents"
PROJECTS = "projects"
PROMPTS = "history.jsonl"
OURS = ".plait"
"""The folder in which edits keep what they changed: no log lies there."""


def root_at(path: Path) -> Root:
    """Returns the root at a path: a configuration folder, a folder of logs, or one file."""
    projects = path / PROJECTS
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
        is_config = is_folder and projects.is_dir()
    except OSError as error:
        raise unreadable(path, error) from error
    if is_config:
        return Root(path, path, projects)
    if is_folder and path.name == PROJECTS:
        return Root(path, path.parent, path)
    return Root(path, None, path)


def discover(roots: Iterable[Root]) -> Discovery:
    """Returns every log file under the roots, once, in the order of their paths."""
    found: dict[tuple[int, int], LogFile] = {}
    unread: list[Path] = []
    for root in roots:
        for path in _log_paths(root.logs, unread):
            status = _readable_status(path)
            if status is None:
                unread.append(path)
            else:
                file = log_file(path, status.st_size, status.st_mtime)
                found.setdefault((status.st_dev, status.st_ino), file)
    return Discovery(tuple(sorted(found.values(), key=_by_path)), tuple(unread))


def logs_beside(root: Root) -> list[Path]:
    """Returns the logs in a configuration folder that lie outside its projects: nobody reads them.

    The client's own list of prompts is none.
    """
    if root.config != root.path or root.logs == root.path:
        return []
    found = _log_paths(root.path, [])
    return sorted(
        path for path in found if root.logs not in path.parents and path != root.path / PROMPTS
    )


def files_under(folder: Path) -> tuple[Path, ...]:
    """Returns the plain files in a folder and in those below it, none that a link leads to."""
    found: list[Path] = []
    waiting = [str(folder)]
    while waiting:
        for entry in _entries_of(waiting.pop(), []):
            if entry.is_dir(follow_symlinks=False):
                waiting += [entry.path]
            elif entry.is_file(follow_symlinks=False):
                found.append(Path(entry.path))
    return tuple(sorted(found))


def _readable_status(path: Path) -> os.stat_result | None:
    """Returns what the system says of a file, None where it cannot be read as one.

    A link to nothing, a pipe, a file of somebody else's, one that has gone since its folder
    was listed.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    is_file = stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK)
    return status if is_file else None


def _by_path(file: LogFile) -> str:
    return str(file.path)


def _log_paths(place: Path, unread: list[Path]) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    waiting, seen = [str(place)], set[str]()
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in seen:  # a link that leads back
            continue
        seen.add(real)
        for entry in _entries_of(folder, unread):
            if _is_folder(entry):
                if entry.name != OURS:
                    waiting.append(entry.path)
            elif entry.name.endswith(SUFFIX):
                yield Path(entry.path)


def _entries_of(folder: str, unread: list[Path]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        unread.append(Path(folder))
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def log_file(path: Path, size: int = 0, modified: float = 0) -> LogFile:
    """Names a file by where it lies, or would lie."""
    home, run = session_folder(path)
    is_agent = path.name.startswith(AGENT)
    is_journal = path.name == JOURNAL and run is not None
    session = home.name if home else (None if is_agent else path.stem)
    return LogFile(
        path=path,
        kind="agent" if is_agent else "journal" if is_journal else "session",
        project=(home or path).parent.name,
        session=session,
        agent=path.stem.removeprefix(AGENT) if is_agent else None,
        run=run,
        size=size,
        modified=modified,
    )


def session_folder(path: Path) -> tuple[Path | None, str | None]:
    """Returns the session's folder and the workflow run that a side file belongs to."""
    folder = path.parent
    if folder.name == SUBAGENTS:
        return folder.parent, None
    if folder.parent.name == "workflows" and folder.parent.parent.name == SUBAGENTS:
        return folder.parent.parent.parent, folder.name
    return None, None


def config_above(log: Path) -> Path | None:
    """Returns the configuration folder in whose projects a log lies, None where it lies in none."""
    above = log.parents
    return above[2] if len(above) > 2 and above[1].name == PROJECTS else None


WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def is_foreign(path: str) -> bool:
    """Tells a directory of another system than this, which cannot be looked up here."""
    return os.sep == "/" and WINDOWS.match(path) is not None


LONGEST = 200
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
UNPLAIN = re.compile("[^a-zA-Z0-9]")
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def slug_of(directory: str) -> str:
    """Returns the folder name that the client gives to the sessions of a real path.

    It cannot be turned back: different paths may share a slug.
    """
    if len(directory) <= LONGEST and directory.isascii():
        return UNPLAIN.sub("-", directory)
    path = unicodedata.normalize("NFC", directory)
    units = utf16_units(path)
    slug = "".join(chr(unit) if chr(unit) in PLAIN else "-" for unit in units)
    if len(slug) <= LONGEST:
        return slug
    return f"{slug[:LONGEST]}-{base36(abs(signed_hash(units)))}"


def utf16_units(text: str) -> list[int]:
    """Returns the code units that the client's language counts: two for an emoji."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    return [low | high << 8 for low, high in zip(encoded[::2], encoded[1::2], strict=True)]


def signed_hash(units: list[int]) -> int:
    """Returns the 32-bit signed hash `h * 31 + unit`."""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def base36(number: int) -> str:
    """Writes a number in base 36, as the client does."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return digits or "0"
