"""Where other agents keep their logs, and which readers there are.

Every command looks here, so little is loaded: the readers themselves only where there are logs.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.line import LogFile, Root
from plait.line.discovery import PLAIT_FOLDER, PROJECTS, SUBAGENTS, is_new_folder

if TYPE_CHECKING:
    from plait.sources.base import SourceLog

GROUP = "plait.sources"
"""The entry point group in which packages register their readers."""
BUILT_IN = {
    "claude": "plait.sources.claude:ClaudeCode",
    "codex": "plait.sources.codex:Codex",
    "copilot": "plait.sources.copilot:Copilot",
    "gemini": "plait.sources.gemini:Gemini",
    "opencode": "plait.sources.opencode:OpenCode",
    "pi": "plait.sources.pi:Pi",
    "qwen": "plait.sources.qwen:Qwen",
}
"""The entry points of this package. Reading them from its metadata takes as long as starting
Python.
"""
ROOTS: dict[str, tuple[tuple[str, str], ...]] = {
    "claude": (("CLAUDE_CONFIG_DIR", ""), ("", ".claude")),
    "codex": (("CODEX_HOME", ""), ("", ".codex")),
    "copilot": (("COPILOT_HOME", ""), ("", ".copilot")),
    "gemini": (("GEMINI_CLI_HOME", ".gemini"), ("", ".gemini")),
    "opencode": (("OPENCODE_DB", ""), ("XDG_DATA_HOME", "opencode"), ("", ".local/share/opencode")),
    "pi": (
        ("PI_CODING_AGENT_SESSION_DIR", ""),
        ("PI_CODING_AGENT_DIR", "sessions"),
        ("", ".pi/agent/sessions"),
    ),
    "qwen": (("QWEN_RUNTIME_DIR", ""), ("QWEN_HOME", ""), ("", ".qwen")),
}
"""Where the agents keep their logs: an environment variable and what is below it, the first that is
set; an empty name means the home folder.
"""
FOLDERS = frozenset({".codex", ".copilot", ".gemini", ".qwen"})
"""Names of folders in which only other agents keep logs."""
KEPT_ROWS = "plait-sessions"
"""The folder beside a database in which a backup has its sessions."""
CANDIDATE = re.compile(r".*\.jsonl\.zst|session-.*\.json|ses_.*\.json|opencode.*\.db")
"""Names of logs that are not JSON lines."""
SNIFFED = 4096
CLAUDE_FIELDS = (
    b'"parentUuid":',
    b'"leafUuid":',
    b'"isSidechain":',
    b'"type":"file-history-snapshot"',
)
QWEN_FIELDS = (b'"parts":', b'"systemPayload":', b'"provenance":')
"""What distinguishes logs of Claude Code from others: for most files no reader is loaded."""
CHATS = "chats"
"""Qwen Code's folder of sessions inside a project folder like Claude Code's."""


class SourceSession(NamedTuple):
    """A session of another agent, with its files, its own first."""

    log: "SourceLog"
    files: "tuple[tuple[LogFile, SourceLog], ...]"


class KeptLog(NamedTuple):
    """A file in a backup that may be a log of another agent."""

    path: Path
    """Where it is read once it is unpacked."""
    source: Path
    """Where it lay."""
    head: bytes
    size: int
    modified: int
    """In nanoseconds since 1970."""


@dataclass(slots=True)
class FoundSources:
    """The sessions of other agents under some roots."""

    sessions: list[SourceSession] = field(default_factory=list)
    claimed: set[Path] = field(default_factory=set)
    """Files of other agents, which are not logs of Claude Code."""
    unread: list[Path] = field(default_factory=list)

    def holds(self, root: Root) -> bool:
        """Return whether a root is the folder of another agent, which contains nothing else."""
        return root.path.name in FOLDERS


def find_candidates(roots: Iterable[Root], unread: list[Path]) -> list[Path]:
    """Return the files under some roots that may be logs of other agents, by their names."""
    plugins = (point.load() for point in find_plugins().values())
    suffixes = tuple(suffix for reader in plugins for suffix in reader.suffixes)
    found: list[Path] = []
    for root in roots:
        if root.logs.is_file():
            found.append(root.logs)
            continue
        folders = [root.logs]
        if root.path.name in FOLDERS:
            folders = [root.path]
        elif root.config is not None:
            folders = _find_chats(root.logs)
        seen: set[tuple[int, int]] = set()
        while folders:
            folder = folders.pop()
            if not is_new_folder(folder, seen):
                continue
            for entry in _scan(folder, unread):
                if entry.is_dir():
                    if entry.name != PLAIT_FOLDER:
                        folders.append(Path(entry.path))
                elif is_candidate(Path(entry.path)) or entry.name.endswith(suffixes):
                    found.append(Path(entry.path))
    return found


def _scan(folder: Path, unread: list[Path]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        unread.append(folder)
        return []


def is_candidate(path: Path, head: bytes | None = None) -> bool:
    """Return whether a file may be a log of another agent, by its name, its folder and beginning."""
    if not path.name.endswith(".jsonl"):
        return CANDIDATE.fullmatch(path.name) is not None
    folders = path.parts[-8:-1]
    if CHATS in folders[-2:]:
        return True
    is_agent = folders[-2:-1] == (SUBAGENTS,)  # Qwen Code's lie in a folder for each session there
    if {PROJECTS, SUBAGENTS} & {*folders} and not is_agent:
        return False
    if head is None:
        try:
            with path.open("rb", buffering=0) as file:
                head = file.read(SNIFFED)
        except OSError:
            return False
    is_claude = is_agent or any(name in head for name in CLAUDE_FIELDS)
    return not is_claude or any(name in head for name in QWEN_FIELDS)


def _find_chats(projects: Path) -> list[Path]:
    """Return the folders of Qwen Code's sessions; nothing else is in a folder like Claude Code's."""
    try:
        found = [chats for project in projects.iterdir() if (chats := project / CHATS).is_dir()]
    except OSError:
        return []
    return [*found, *(chats.with_name(SUBAGENTS) for chats in found)]


def find_default_roots(
    env: Mapping[str, str], home: Path, agents: Sequence[str] | None = None
) -> list[Path]:
    """Return the folders of other agents, or of some, that exist on this machine.

    No reader of this package is loaded for it.
    """
    places = ROOTS | {name: point.load().roots for name, point in find_plugins().items()}
    roots = []
    for agent, rows in places.items():
        if agents is not None and agent not in agents:
            continue
        chosen = ((env.get(name) if name else str(home), below) for name, below in rows)
        # A relative OPENCODE_DB lies in the folder that comes next.
        base, below = next(
            (
                (base, below)
                for base, below in chosen
                if base and (below or Path(base).is_absolute())
            ),
            ("", ""),
        )
        if base.startswith("~/"):
            base = str(home / base[2:])
        if base and (folder := Path(base, below)).exists():
            roots.append(folder)
    return roots


@cache
def list_source_names() -> tuple[str, ...]:
    """Return the names of all readers."""
    return (*BUILT_IN, *(name for name in find_plugins() if name not in BUILT_IN))


@cache
def find_plugins() -> dict[str, Any]:
    """Return the entry points of other packages; searched only if one may be installed."""
    # Importing importlib.metadata takes 30 ms, reading all entry points another 5; most users have
    # no reader of their own. So only packages whose names begin with `plait-` are looked at.
    group = f"[{GROUP}]".encode()
    may_exist = any(
        group in file.read_bytes()
        for place in sys.path
        for file in Path(place).glob("plait[-_][A-Za-z]*-info/entry_points.txt")
    )
    if not may_exist:
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
