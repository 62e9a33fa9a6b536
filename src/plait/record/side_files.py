"""The small JSON files that accompany logs, as typed values."""

import os
from math import inf
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from plait.line import read_small
from plait.record.codec import NotAnObject, convert_leniently, decode_object, wire_name

S = TypeVar("S", bound=Struct)

CLEANUP_DAYS = 30
IN_PROJECT = ("settings.local.json", "settings.json")
"""The settings of a project, nearest first."""


class AgentMeta(Struct, frozen=True, rename=wire_name):
    """The content of `agent-<id>.meta.json`."""

    agent_type: str | None = None
    description: str | None = None
    call_id: str | None = None
    name: str | None = None
    model: str | None = None
    parent_agent_id: str | None = None


class TitleFile(Struct, frozen=True, rename=wire_name):
    """The content of `custom-title.json`."""

    custom_title: str | None = None


class RunningClient(Struct, frozen=True, rename=wire_name):
    """The content of `sessions/<pid>.json`; the client may have exited since."""

    pid: int | None = None
    session_id: str | None = None
    cwd: str | None = None
    status: str | None = None


class ClientSettings(Struct, frozen=True, rename=wire_name):
    """The client's settings that affect its logs."""

    cleanup_period_days: int | float | None = None


def read_agent_meta(log: Path) -> AgentMeta | None:
    """Return what is known of the agent with this log."""
    return _sidecar(log.with_suffix(".meta.json"), AgentMeta)


def read_title_file(folder: Path) -> str | None:
    """Return the title in the file next to a session's log."""
    found = _sidecar(folder / "custom-title.json", TitleFile)
    return found.custom_title if found else None


def list_running_sessions(config: Path) -> list[str]:
    """Return the sessions of clients that say they are running and are."""
    try:
        paths = sorted((config / "sessions").glob("*.json"))
    except OSError:
        return []
    clients = [client for path in paths if (client := _sidecar(path, RunningClient))]
    return [
        client.session_id
        for client in clients
        if client.session_id and client.pid and _is_running(client.pid)
    ]


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # on Windows, signal 0 would kill it
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def read_cleanup_days(config: Path, directory: Path | None = None) -> float:
    """Return after how many days a client deletes sessions, by its own settings.

    The settings of its working directory take precedence. The client does not accept a number below
    1: it deletes nothing then.
    """
    places = [config / "settings.json"]
    if directory is not None:
        places[:0] = (directory / ".claude" / name for name in IN_PROJECT)
    for place in places:
        settings = _sidecar(place, ClientSettings)
        if settings and settings.cleanup_period_days is not None:
            days = settings.cleanup_period_days
            return days if days >= 1 else inf
    return CLEANUP_DAYS


def _sidecar(path: Path, kind: type[S]) -> S | None:
    """Return a small JSON file as far as it fits; None if there is none."""
    data = read_small(path)
    if data is None:
        return None
    try:
        return convert_leniently(decode_object(data), kind)
    except NotAnObject:
        return None
