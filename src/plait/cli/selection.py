"""Names, times and turns typed on the command line: which sessions, turns and periods they mean."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.archive import Facts, Session, matches_project
from plait.cli.options import Request
from plait.cli.text import now
from plait.errors import UserError
from plait.record.time import parse_time

if TYPE_CHECKING:
    from plait.conversation.model import Conversation, Turn

WORDS = (".", "latest")
SPAN = re.compile(r"(-?\d+)(?:(-)(-?\d+)?)?")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def select_sessions(
    request: Request,
    name: str | None,
    project: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> list[Session]:
    """Return the sessions that match a name and the filters, the oldest first."""
    time = now()
    start, end = parse_time_option(since, time), parse_time_option(until, time)
    found = find_sessions(request, name)
    if project:
        found = sessions_in_project(request, found, project)
    if start or end:
        facts = request.archive.facts
        found = [session for session in found if is_in_period(facts(session), start, end)]
    return found


def select_all(request: Request, asked: dict[str, Any]) -> list[Session]:
    """Return the sessions that match any of the names and all filters; fail if none does."""
    filters = {name: asked[name] for name in ("project", "since", "until")}
    found: dict[Path, Session] = {}
    for name in asked["names"] or (None,):
        found |= {match.path: match for match in select_sessions(request, name, **filters)}
    return require_sessions(
        sorted(found.values(), key=lambda match: (match.modified, str(match.path)))
    )


def find_sessions(request: Request, name: str | None) -> list[Session]:
    """Return the sessions of a project, or the one session of that name; without a name, all."""
    archive = request.archive
    if name is None:
        return list(archive.sessions)
    if not _is_session_name(request, name):
        members = sessions_in_project(request, archive.sessions, name)
        if members:
            return members
    return [request.session(name)]


def sessions_in_project(
    request: Request, sessions: Iterable[Session], project: str
) -> list[Session]:
    """Return the sessions of a project by its name or folder, else by their directory."""
    candidates, project_of = list(sessions), request.archive.folding.project
    by_folder = [each for each in candidates if matches_project(each.project, project, project_of)]
    return by_folder or [
        each for each in candidates if is_in_project(request.archive.facts(each), project)
    ]


def _is_session_name(request: Request, name: str) -> bool:
    if name in WORDS or name.startswith("latest:") or Path(name).suffix == ".jsonl":
        return True
    return any(
        session.id.casefold().startswith(name.casefold()) for session in request.archive.sessions
    )


def require_sessions(found: list[Session]) -> list[Session]:
    """Return the sessions; fail if there are none."""
    if not found:
        raise UserError("no session matches", "`plait ls` lists all sessions")
    return found


def is_in_project(row: Facts, project: str, project_of: Callable[[str], str] = str) -> bool:
    """Return whether a session belongs to a project, by name, folder or directory."""
    directory = (row.cwd or "").casefold()
    return matches_project(row.project, project, project_of) or project.casefold() in directory


def is_in_period(row: Facts, start: datetime | None, end: datetime | None) -> bool:
    """Return whether a session overlaps a period."""
    started, ended = parse_time(row.started), parse_time(row.ended)
    if start and not (ended and ended >= start):
        return False
    return not end or bool(started and started < end)


def parse_zone(name: str | None) -> tzinfo | None:
    """Return a time zone by name; None means local time."""
    if name is None:
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UserError(
            f"unknown time zone '{name}'", "use a name such as Europe/Rome, or UTC"
        ) from None


def parse_time_option(
    text: str | None, now: datetime, zone: tzinfo | None = None
) -> datetime | None:
    """Parse `2026-11-15`, `2026-11-15T10:00`, `7d`, `12h`, `today` or `yesterday`.

    Days are days of the zone, or of local time without one.
    """
    if text is None:
        return None
    if text in ("today", "yesterday"):
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=text == "yesterday")).astimezone(UTC)
    try:
        if text[:-1].isdigit() and text[-1] in UNITS:
            return now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "use a day (2026-11-15), a time (2026-11-15T10:00), 7d or today",
        ) from None


def select_turns(conversation: "Conversation", text: str | None) -> "tuple[Turn, ...]":
    """Return the turns meant by `3`, `3-5`, `3-` or `-1`; without a text, all."""
    if text is None:
        return conversation.turns
    last = conversation.turns[-1].number if conversation.turns else 0
    numbers = parse_turn_range(text, last)
    found = tuple(turn for turn in conversation.turns if turn.number in numbers)
    if not found:
        known = f"turns 1 to {last}" if last > 1 else "1 turn" if last else "no turns"
        raise UserError(f"no turn {text} in this conversation", f"it has {known}")
    return found


def parse_turn_range(text: str, last: int) -> range:
    """Parse `3`, `3-5`, `3-` or `-1` into turn numbers; negative ones count from the end."""
    match = SPAN.fullmatch(text)
    if not match:
        raise UserError(f"'{text}' is not a turn", "use `--turn 3`, `--turn 3-5` or `--turn -1`")

    def from_start(number: int) -> int:
        return last + 1 + number if number < 0 else number

    start = from_start(int(match[1]))
    end = from_start(int(match[3])) if match[3] else last if match[2] else start
    return range(start, end + 1)
