"""What a user names on the command line to sessions, branches, turns, moments and zones."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.archive import Facts, Session, is_of_project
from plait.cli.options import Request
from plait.cli.text import now
from plait.errors import UserError
from plait.record.time import moment

if TYPE_CHECKING:
    from plait.conversation.model import Conversation, Turn

WORDS = (".", "latest")
SPAN = re.compile(r"(-?\d+)(?:(-)(-?\d+)?)?")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def selected(
    request: Request,
    name: str | None,
    project: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> list[Session]:
    """Returns the sessions that a name and the filters leave, the oldest first."""
    time = now()
    start, end = point_in_time(since, time), point_in_time(until, time)
    found = named(request, name)
    if project:
        found = members_of(request, found, project)
    if start or end:
        facts = request.archive.facts
        found = [session for session in found if is_within(facts(session), start, end)]
    return found


def all_named(request: Request, asked: dict[str, Any]) -> list[Session]:
    """Returns the sessions of all names and filters, each once, the oldest first; some at least."""
    filters = {name: asked[name] for name in ("project", "since", "until")}
    found: dict[Path, Session] = {}
    for name in asked["names"] or (None,):
        found |= {one.path: one for one in selected(request, name, **filters)}
    return required(sorted(found.values(), key=lambda one: (one.modified, str(one.path))))


def named(request: Request, name: str | None) -> list[Session]:
    """Returns the sessions of a project, else the one session of that name; all without one."""
    archive = request.archive
    if name is None:
        return list(archive.sessions)
    if not _is_surely_session(request, name):
        members = members_of(request, archive.sessions, name)
        if members:
            return members
    return [request.session(name)]


def members_of(request: Request, sessions: Iterable[Session], project: str) -> list[Session]:
    """Returns the sessions of a project by its name or a folder's, else by their directory."""
    among, project_of = list(sessions), request.archive.folding.project
    by_folder = [one for one in among if is_of_project(one.project, project, project_of)]
    return by_folder or [one for one in among if is_in(request.archive.facts(one), project)]


def _is_surely_session(request: Request, name: str) -> bool:
    if name in WORDS or name.startswith("latest:") or Path(name).suffix == ".jsonl":
        return True
    return any(one.id.casefold().startswith(name.casefold()) for one in request.archive.sessions)


def required(found: list[Session]) -> list[Session]:
    """Returns the sessions, or says that there are none."""
    if not found:
        raise UserError("no session matches", "`plait ls` lists the sessions there are")
    return found


def is_in(row: Facts, project: str, project_of: Callable[[str], str] = str) -> bool:
    """Tells whether a session is of a project: by its name, its folder's or its directory."""
    directory = (row.cwd or "").casefold()
    return is_of_project(row.project, project, project_of) or project.casefold() in directory


def is_within(row: Facts, start: datetime | None, end: datetime | None) -> bool:
    """Tells whether a session was held in a span of time."""
    began, ended = moment(row.started), moment(row.ended)
    if start and not (ended and ended >= start):
        return False
    return not end or bool(began and began < end)


def zone_named(name: str | None) -> tzinfo | None:
    """Returns a zone by its name, None for the machine's own."""
    if name is None:
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UserError(
            f"no time zone is called '{name}'", "say a name such as Europe/Rome, or UTC"
        ) from None


def point_in_time(text: str | None, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """Returns the moment that a user names: `2026-11-15`, `2026-11-15T10:00`, `7d`, `today`.

    A day is a day of the zone, of the machine's own without one.
    """
    if text is None:
        return None
    if text in ("today", "yesterday"):
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=text == "yesterday")).astimezone(UTC)
    try:
        if text[:-1].isdigit() and text[-1] in UNITS:
            return now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})
        named = datetime.fromisoformat(text)
        return (named if named.tzinfo else named.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "say a day (2026-11-15), a time (2026-11-15T10:00), 7d or today",
        ) from None


def chosen_turns(conversation: "Conversation", text: str | None) -> "tuple[Turn, ...]":
    """Returns the turns that `3`, `3-5`, `3-` or `-1` means, all without a text."""
    if text is None:
        return conversation.turns
    last = conversation.turns[-1].number if conversation.turns else 0
    numbers = turn_numbers(text, last)
    found = tuple(turn for turn in conversation.turns if turn.number in numbers)
    if not found:
        are = f"turns 1 to {last}" if last > 1 else "1 turn" if last else "no turns"
        raise UserError(f"no turn {text} in this conversation", f"it has {are}")
    return found


def turn_numbers(text: str, last: int) -> range:
    """Returns the numbers that `3`, `3-5`, `3-` or `-1` means; those below 0 count from the end."""
    match = SPAN.fullmatch(text)
    if not match:
        raise UserError(f"'{text}' is not a turn", "say `--turn 3`, `--turn 3-5` or `--turn -1`")

    def from_start(number: int) -> int:
        return last + 1 + number if number < 0 else number

    start = from_start(int(match[1]))
    end = from_start(int(match[3])) if match[3] else last if match[2] else start
    return range(start, end + 1)
