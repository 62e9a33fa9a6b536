"""Where sessions are: the log files below roots, and the project folder of a directory.

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

from plait.errors import UserError
from plait.line.files import Discovery, LogFile, Root, make_read_error, read_small

LOG_SUFFIX = ".jsonl"
AGENT_PREFIX = "agent-"
JOURNAL = "journal.jsonl"
SUBAGENTS = "subagents"
PROJECTS = "projects"
PROMPT_HISTORY = "history.jsonl"
PLAIT_FOLDER = ".plait"
"""The folder in which edits store what they changed: it contains no logs."""


def make_root(path: Path) -> Root:
    """Return the root at a path: a configuration folder, a folder of logs, or a single file."""
    projects = path / PROJECTS
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
        is_config = is_folder and projects.is_dir()
    except OSError as error:
        raise make_read_error(path, error) from error
    if is_config:
        return Root(path, path, projects)
    if is_folder and path.name == PROJECTS:
        return Root(path, path.parent, path)
    return Root(path, None, path)


def discover(roots: Iterable[Root]) -> Discovery:
    """Return every log file under the roots once, in the order of their paths."""
    found: dict[tuple[int, int], LogFile] = {}
    unread: list[Path] = []
    for root in roots:
        for path in _log_paths(root.logs, unread):
            # Not readable: a link to nothing, a pipe, a file of somebody else's, one that has
            # gone since its folder was listed.
            try:
                status = path.stat()
            except OSError:
                unread.append(path)
                continue
            if not stat.S_ISREG(status.st_mode) or not os.access(path, os.R_OK):
                unread.append(path)
                continue
            file = make_log_file(path, status.st_size, status.st_mtime)
            found.setdefault((status.st_dev, status.st_ino), file)
    files = sorted(found.values(), key=lambda file: str(file.path))
    return Discovery(tuple(files), tuple(unread))


def list_stray_logs(root: Root) -> list[Path]:
    """Return the logs in a configuration folder outside its projects, which nobody reads.

    The client's own history of prompts is not among them.
    """
    if root.config != root.path or root.logs == root.path:
        return []
    found = _log_paths(root.path, [])
    return sorted(
        path
        for path in found
        if root.logs not in path.parents and path != root.path / PROMPT_HISTORY
    )


def list_files(folder: Path) -> tuple[Path, ...]:
    """Return the regular files in a folder and below it, without following links."""
    found: list[Path] = []
    waiting = [str(folder)]
    while waiting:
        for entry in _scan(waiting.pop(), []):
            if entry.is_dir(follow_symlinks=False):
                waiting += [entry.path]
            elif entry.is_file(follow_symlinks=False):
                found.append(Path(entry.path))
    return tuple(sorted(found))


def _log_paths(root: Path, unread: list[Path]) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    waiting, seen = [str(root)], set[tuple[int, int]]()
    while waiting:
        folder = waiting.pop()
        if not is_new_folder(folder, seen):
            continue
        for entry in _scan(folder, unread):
            try:
                is_folder = entry.is_dir()
            except OSError:
                is_folder = False
            if is_folder:
                if entry.name != PLAIT_FOLDER:
                    waiting.append(entry.path)
            elif entry.name.endswith(LOG_SUFFIX):
                yield Path(entry.path)


def is_new_folder(folder: str | os.PathLike[str], seen: set[tuple[int, int]]) -> bool:
    """Return whether a folder was not seen before, under this name or by a link that leads back."""
    try:
        status = os.stat(folder)  # noqa: PTH116  several times faster than resolving the path
    except OSError:
        return True
    if (place := (status.st_dev, status.st_ino)) in seen:
        return False
    seen.add(place)
    return True


def _scan(folder: str, unread: list[Path]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        unread.append(Path(folder))
        return []


def make_log_file(path: Path, size: int = 0, modified: float = 0) -> LogFile:
    """Return a log file, named by its place; it need not exist."""
    home, run = find_session_folder(path)
    is_agent = path.name.startswith(AGENT_PREFIX)
    is_journal = path.name == JOURNAL and run is not None
    session = home.name if home else (None if is_agent else path.stem)
    return LogFile(
        path=path,
        kind="agent" if is_agent else "journal" if is_journal else "session",
        project=(home or path).parent.name,
        session=session,
        agent=path.stem.removeprefix(AGENT_PREFIX) if is_agent else None,
        run=run,
        size=size,
        modified=modified,
    )


def find_session_folder(path: Path) -> tuple[Path | None, str | None]:
    """Return the session's folder and the workflow run that a side file belongs to, if any."""
    folder = path.parent
    if folder.name == SUBAGENTS:
        return folder.parent, None
    if folder.parent.name == "workflows" and folder.parent.parent.name == SUBAGENTS:
        return folder.parent.parent.parent, folder.name
    return None, None


def find_config_folder(log: Path) -> Path | None:
    """Return the configuration folder that a log or side file belongs to, if any."""
    above = log.parents
    return above[2] if len(above) > 2 and above[1].name == PROJECTS else None


WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def is_foreign_path(path: str) -> bool:
    """Return whether a path is of another operating system and so cannot be looked up here."""
    return os.sep == "/" and WINDOWS.match(path) is not None


LONGEST = 200
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
NOT_ALPHANUMERIC = re.compile("[^a-zA-Z0-9]")


def make_project_slug(directory: str) -> str:
    """Return the folder name that the client gives to the sessions of a real path.

    It cannot be turned back: different paths may share a slug.
    """
    if len(directory) <= LONGEST and directory.isascii():
        return NOT_ALPHANUMERIC.sub("-", directory)
    units = split_utf16(unicodedata.normalize("NFC", directory))
    slug = NOT_ALPHANUMERIC.sub("-", "".join(map(chr, units)))
    if len(slug) <= LONGEST:
        return slug
    return f"{slug[:LONGEST]}-{format_base36(abs(compute_signed_hash(units)))}"


def split_utf16(text: str) -> list[int]:
    """Return the code units that JavaScript, and so the client, counts: two for an emoji."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    return [low | high << 8 for low, high in zip(encoded[::2], encoded[1::2], strict=True)]


def compute_signed_hash(units: list[int]) -> int:
    """Return the 32-bit signed hash `h * 31 + unit`, as the client does."""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def format_base36(number: int) -> str:
    """Return a number in base 36, as the client shortens long folder names."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return digits or "0"


FILE_HISTORY = "file-history"
HEAD = re.compile(rb"ref: refs/heads/(.+)")
GIT_LINK = re.compile(rb"gitdir: (.+)")
SESSION_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")


def get_session_file(folder: Path, cwd: Path, session: str) -> Path:
    """Return the file of a session, given the client's configuration folder or its projects."""
    if not SESSION_ID.fullmatch(session):
        raise UserError(f"'{session}' is not a session id")
    projects = folder if folder.name == PROJECTS else folder / PROJECTS
    return projects / make_project_slug(str(cwd)) / f"{session}.jsonl"


def find_configuration(log: Path) -> Path | None:
    """Return the configuration folder that a session's own file is in, if any."""
    projects = log.parent.parent
    return projects.parent if projects.name == PROJECTS else None


def find_history_folder(log: Path) -> Path | None:
    """Return the folder of a session's file backups, None outside of a configuration folder."""
    configuration = find_configuration(log)
    return configuration / FILE_HISTORY / log.stem if configuration else None


def read_git_branch(cwd: Path) -> str | None:
    """Return the Git branch of a directory, `HEAD` if it is detached, None outside of Git."""
    for folder in (cwd, *cwd.parents):
        git = folder / ".git"
        link = GIT_LINK.match((read_small(git) or b"").strip())  # a worktree's `.git` is a file
        git_folder = folder / link[1].decode(errors="replace") if link else git
        head = read_small(git_folder / "HEAD")
        if head is not None:
            branch = HEAD.match(head.strip())
            return branch[1].decode(errors="replace") if branch else "HEAD"
    return None
