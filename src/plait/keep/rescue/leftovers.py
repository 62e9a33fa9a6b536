"""A configuration folder to what it still holds of sessions, whether their logs are there or not.

history.jsonl                           what was typed, with the directory and the session
paste-cache/<hash>.txt                  what was pasted into it
file-history/<session>/<hash>@v<N>      files before they were changed
session-env/<session>/*.sh              what hooks left for the shell
projects/<slug>/sessions-index.json     a list that some versions keep
projects/<slug>/<session>/              what lay beside the log
"""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from plait.keep.rescue.model import Backup, Leftovers, Listed, Typed
from plait.line import files_under, lines, read_small, times_of
from plait.line.discover import PROJECTS, PROMPTS

BACKUPS, ENVIRONMENTS, PASTES = "file-history", "session-env", "paste-cache"
INDEX, TITLE = "sessions-index.json", "custom-title.json"
SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,127}")
"""What can be the name of a session's log."""
BACKUP = re.compile(r"([0-9a-f]{16})@v([0-9]{1,9})")
PASTE = re.compile(r"\[Pasted text #([0-9]{1,9})[^\]\n]{0,40}\]")
HASH = re.compile(r"[0-9a-f]{8,64}")
LATEST = 253402300799
"""The last second that a time can have."""


def leftovers_in(config: Path) -> Leftovers:
    """Returns what is left in a configuration folder; what cannot be read is not there."""
    prompts, unread = _typed_in(config)
    projects = config / PROJECTS
    listed: dict[str, Listed] = {}
    folders: dict[str, Path] = {}
    for project in _folders_in(projects).values():
        listed |= _listed_in(project / INDEX)
        folders |= _sessions_among(_folders_in(project))
    return Leftovers(
        config,
        tuple(prompts),
        _sessions_among(_folders_in(config / BACKUPS)),
        _sessions_among(_folders_in(config / ENVIRONMENTS)),
        listed,
        folders,
        unread,
    )


def _typed_in(config: Path) -> tuple[list[Typed], int]:
    path = config / PROMPTS
    if not path.is_file():
        return [], 0
    told = [_typed(line.data, config) for line in lines(path) if line.data.strip()]
    found = [one for one in told if one]
    return sorted(found, key=lambda one: one.time), len(told) - len(found)


def _typed(line: bytes, config: Path) -> Typed | None:
    entry = _object_in(line)
    text, time = entry.get("display"), _moment(entry.get("timestamp"), 1000)
    if not isinstance(text, str) or not text.strip() or time is None:
        return None
    session = _text(entry.get("sessionId"))
    if session is not None and not SESSION.fullmatch(session):
        return None
    words, missing = _with_pastes(text, entry.get("pastedContents"), config)
    return Typed(time, words, _text(entry.get("project")), session, missing)


def _with_pastes(text: str, pasted: object, config: Path) -> tuple[str, int]:
    """Returns a prompt with what was pasted into it, and how much of that is gone."""
    told = pasted if isinstance(pasted, dict) else {}
    found = {
        key: _pasted(one, config)
        for key, one in told.items()
        if isinstance(one, dict) and one.get("type") == "text"
    }

    def put_back(place: re.Match[str]) -> str:
        return found.get(place[1]) or place[0]

    return PASTE.sub(put_back, text), sum(one is None for one in found.values())


def _pasted(one: dict[str, Any], config: Path) -> str | None:
    content = _text(one.get("content"))
    name = _text(one.get("contentHash")) or ""
    if content is not None or not HASH.fullmatch(name):
        return content
    data = read_small(config / PASTES / f"{name}.txt")
    return None if data is None else data.decode(errors="replace")


def _listed_in(path: Path) -> dict[str, Listed]:
    found = _object_in(read_small(path) or b"")
    entries = found.get("entries")
    original = _text(found.get("originalPath"))
    listed: dict[str, Listed] = {}
    for one in entries if isinstance(entries, list) else ():
        session = _text(one.get("sessionId")) if isinstance(one, dict) else None
        if session and SESSION.fullmatch(session) and one.get("isSidechain") is not True:
            listed[session] = _listed(one, original)
    return listed


def _listed(one: dict[str, Any], original: str | None) -> Listed:
    messages = one.get("messageCount")
    return Listed(
        _text(one.get("projectPath")) or _text(one.get("cwd")) or original,
        _text(one.get("customTitle")) or _text(one.get("summary")),
        _text(one.get("firstPrompt")),
        _text(one.get("gitBranch")),
        messages if isinstance(messages, int) and messages > 0 else None,
        _moment(one.get("created")),
        _moment(one.get("modified")),
    )


def backups_in(folder: Path) -> Iterator[Backup]:
    """Yields the backups of a session, oldest first."""
    found = []
    for path in files_under(folder):
        name, times = BACKUP.fullmatch(path.name), times_of(path)
        if name and times:
            time = datetime.fromtimestamp(times[1] / 1e9, UTC)
            found.append(Backup(path, name[1], int(name[2]), time))
    yield from sorted(found, key=lambda one: (one.time, one.key, one.version))


def title_in(folder: Path) -> str | None:
    """Returns the name that a person gave the session of a folder."""
    return _text(_object_in(read_small(folder / TITLE) or b"").get("customTitle"))


def _folders_in(place: Path) -> dict[str, Path]:
    try:
        with os.scandir(place) as entries:
            named = {one.name: Path(one.path) for one in entries if one.is_dir()}
    except OSError:
        return {}
    return dict(sorted(named.items()))


def _sessions_among(folders: dict[str, Path]) -> dict[str, Path]:
    return {name: path for name, path in folders.items() if SESSION.fullmatch(name)}


def _object_in(data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _moment(value: object, scale: int = 1000) -> datetime | None:
    """Returns a time that is told in milliseconds or in words."""
    if isinstance(value, str):
        try:
            told = datetime.fromisoformat(value)
        except ValueError:
            return None
        return told if told.tzinfo else told.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / scale
    return datetime.fromtimestamp(seconds, UTC) if 0 <= seconds <= LATEST else None
