"""A working directory to where its sessions lie, and to the Git branch it is on."""

import re
from pathlib import Path

from plait.errors import UserError
from plait.line import read_small, slug_of

PROJECTS, FILE_HISTORY = "projects", "file-history"
HEAD = re.compile(rb"ref: refs/heads/(.+)")
ELSEWHERE = re.compile(rb"gitdir: (.+)")
NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")


def session_file(folder: Path, cwd: Path, session: str) -> Path:
    """Returns the file of a session, given the client's configuration folder or its projects."""
    if not NAME.fullmatch(session):
        raise UserError(f"'{session}' is no id of a session")
    projects = folder if folder.name == PROJECTS else folder / PROJECTS
    return projects / slug_of(str(cwd)) / f"{session}.jsonl"


def configuration_of(log: Path) -> Path | None:
    """Returns the client's configuration folder that a session lies in, None where in none."""
    projects = log.parent.parent
    return projects.parent if projects.name == PROJECTS else None


def history_folder(log: Path) -> Path | None:
    """Returns where the backups of a session lie, None where it is in no configuration folder."""
    configuration = configuration_of(log)
    return configuration / FILE_HISTORY / log.stem if configuration else None


def branch_of(cwd: Path) -> str | None:
    """Returns the Git branch of a directory, `HEAD` where it is on none, None outside of Git."""
    for folder in (cwd, *cwd.parents):
        head = read_small(_git_folder(folder) / "HEAD")
        if head is not None:
            named = HEAD.match(head.strip())
            return named[1].decode(errors="replace") if named else "HEAD"
    return None


def _git_folder(folder: Path) -> Path:
    """Returns where Git keeps its things: a worktree has a file that says so."""
    git = folder / ".git"
    told = ELSEWHERE.match((read_small(git) or b"").strip())
    return folder / told[1].decode(errors="replace") if told else git
