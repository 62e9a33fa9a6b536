"""Names, times and turns typed on the command line: which sessions, turns and periods they mean."""

import calendar
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive import Facts, Session, matches_project
from plait.cli import shared
from plait.cli.options import OptionGroup, Request, option
from plait.cli.text import now
from plait.errors import NoSuchSession, UserError
from plait.record.time import parse_time

if TYPE_CHECKING:
    from plait.conversation.model import Conversation, Turn

WORDS = (".", "latest")
SPAN = re.compile(r"(-?\d+)(?:(-)(-?\d+)?)?")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(r"(an?|one|\d+) ?(m|h|d|w|(?:min(?:ute)?|hour|day|week|month|year)s?)(?: ago)?")
PERIOD = re.compile(r"(this|last) (week|month|year)")
NAMED_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NAMED_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


class Filters(OptionGroup):
    """Which sessions are meant: those of a project, of a period, of some coding agents."""

    project: str | None = shared.project
    since: str | None = option(
        "--since",
        metavar="TIME",
        help="Only what ended after this: a day, a time, 7d, monday, 'last week'.",
    )
    until: str | None = option(
        "--until", metavar="TIME", help="Only what started before this day or time."
    )
    agent: str | None = shared.agent

    def period(self, zone: tzinfo | None = None) -> tuple[datetime | None, datetime | None]:
        """Return the beginning and the end of what is meant, None where it is open."""
        time = now()
        return parse_time_option(self.since, time, zone), parse_time_option(self.until, time, zone)

    def select(
        self, request: Request, *names: str | None, zone: tzinfo | None = None
    ) -> list[Session]:
        """Return the sessions of any of the names that pass all filters, the oldest first."""
        start, end = self.period(zone)
        found: dict[Path, Session] = {}
        for name in names or (None,):
            found |= {session.path: session for session in find_sessions(request, name)}
        sessions = list(found.values())
        if self.project:
            sessions = sessions_in_project(request, sessions, self.project)
        if start or end:
            facts = request.archive.facts
            sessions = [each for each in sessions if is_in_period(facts(each), start, end)]
        return sorted(sessions, key=lambda session: (session.modified, str(session.path)))

    def require_project(self, request: Request) -> list[Session]:
        """Return the sessions of the project that was named; fail if there are none."""
        found = sessions_in_project(request, request.archive.sessions, self.project or "")
        if not found:
            raise UserError(f"no project named '{self.project}'", "`plait ls` lists the projects")
        return found


def find_sessions(request: Request, name: str | None) -> list[Session]:
    """Return the sessions of a project, or the one session of that name; without a name, all."""
    archive = request.archive
    if name is None:
        return list(archive.sessions)
    if not _is_session_name(request, name):
        members = sessions_in_project(request, archive.sessions, name)
        if members:
            return members
    try:
        return [request.session(name)]
    except NoSuchSession as error:
        words = error.message.replace("no session named", "no session or project named")
        raise NoSuchSession(words, *error.hints) from None


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
    """Parse a day or time as people write it: `2026-11-15T10:00`, `7d`, `monday`, `last week`.

    A period means its beginning. Days are days of the zone, or of local time without one.
    """
    if text is None:
        return None
    try:
        words = " ".join(text.casefold().split())
        today = now.astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        time = _parse_ago(words, now.astimezone(zone)) or _parse_day(words, today)
        time = time or datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "use a day (2026-11-15), a time (2026-11-15T10:00), a month (2026-10), 7d, today, "
            "monday, 'last week' or '2 weeks ago'",
        ) from None


def _parse_ago(words: str, now: datetime) -> datetime | None:
    match = AGO.fullmatch(words)
    if not match:
        return None
    count = int(match[1]) if match[1].isdigit() else 1
    unit = match[2].removesuffix("s")
    if unit in ("month", "year"):
        return _months_before(now, count * (12 if unit == "year" else 1))
    return now - timedelta(**{UNITS[unit[0]]: count})


def _parse_day(words: str, today: datetime) -> datetime | None:
    """Parse the name of a day or of a period up to today."""
    if words in ("today", "yesterday"):
        return today - timedelta(days=words == "yesterday")
    if match := PERIOD.fullmatch(words):
        is_last = match[1] == "last"
        if match[2] == "week":
            return today - timedelta(days=today.weekday() + 7 * is_last)
        first = today.replace(day=1, month=1 if match[2] == "year" else today.month)
        return _months_before(first, (12 if match[2] == "year" else 1) * is_last)
    if re.fullmatch(r"\d{4}-\d\d", words):
        return datetime.strptime(words, "%Y-%m")
    match = re.fullmatch(r"(last )?([a-z]{3,})(?: (\d{4}))?", words)
    if not match:
        return None
    weekday, month = (_find_name(match[2], names) for names in (NAMED_DAYS, NAMED_MONTHS))
    if weekday is not None and not match[3]:
        days = (today.weekday() - weekday) % 7
        return today - timedelta(days=days or (7 if match[1] else 0))
    if month is not None and not (match[1] and match[3]):
        first = today.replace(month=month + 1, day=1)
        is_later = first > today or (match[1] and month + 1 == today.month)
        return first.replace(year=int(match[3]) if match[3] else today.year - bool(is_later))
    return None


def _find_name(word: str, names: tuple[str, ...]) -> int | None:
    """Return the place of a name or of its first letters."""
    return next((place for place, name in enumerate(names) if name.startswith(word)), None)


def _months_before(day: datetime, count: int) -> datetime:
    """Return the same day of an earlier month, or its last day if there is none."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def select_turns(conversation: "Conversation", text: str | None) -> "tuple[Turn, ...]":
    """Return the turns meant by `3`, `3-5`, `3-` or `-1`; without a text, all."""
    if text is None:
        return conversation.turns
    last = conversation.turns[-1].number if conversation.turns else 0
    numbers = parse_range(text, last, "--turn")
    found = tuple(turn for turn in conversation.turns if turn.number in numbers)
    if not found:
        known = f"turns 1 to {last}" if last > 1 else "1 turn" if last else "no turns"
        raise UserError(f"no turn {text} in this conversation", f"it has {known}")
    return found


def parse_range(text: str, last: int, option: str, noun: str = "turn") -> range:
    """Parse `3`, `3-5`, `3-` or `-1`, the value of an option; negative numbers count from the end."""
    match = SPAN.fullmatch(text)
    if not match:
        raise UserError(
            f"'{text}' is not a {noun}", f"use `{option} 3`, `{option} 3-5` or `{option} 3-`"
        )

    def from_start(number: int) -> int:
        return last + 1 + number if number < 0 else number

    start = from_start(int(match[1]))
    end = from_start(int(match[3])) if match[3] else last if match[2] else start
    return range(start, end + 1)
