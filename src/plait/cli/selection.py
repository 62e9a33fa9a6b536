"""Names, times and turns typed on the command line: which sessions, turns and periods they mean."""

import re
from collections.abc import Iterable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive import Session, matches_project
from plait.cli import shared
from plait.cli.options import OptionGroup, Request, option
from plait.errors import NoSuchSession, UserError
from plait.line.discovery import LOG_SUFFIX
from plait.record.time_words import parse_time_option
from plait.sessions.names import is_in_period, is_in_project
from plait.terminal.text import now, shell_command, short_id

if TYPE_CHECKING:
    from plait.conversation.model import Conversation, Turn

WORDS = (".", "latest")
SPAN = re.compile(r"(-?\d+)(?:(-)(-?\d+)?)?")


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
    sessions = request.archive.sessions
    if name is None:
        return list(sessions)
    is_session = name in WORDS or name.startswith("latest:") or Path(name).suffix == LOG_SUFFIX
    if not is_session and not any(
        session.id.casefold().startswith(name.casefold()) for session in sessions
    ):
        members = sessions_in_project(request, sessions, name)
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


def require_sessions(found: list[Session]) -> list[Session]:
    """Return the sessions; fail if there are none."""
    if not found:
        raise UserError("no session matches", "`plait ls` lists all sessions")
    return found


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


def format_show_command(
    request: Request, session: str, branch: str | None, turn: int | None
) -> str:
    """Return the command that shows a turn; no branch means the active one."""
    words = ["plait", "show", short_id(session)]
    if branch:
        words += ["--branch", branch.rpartition("@")[2].rpartition("#")[2]]
    if turn is not None:
        words += ["--turn", str(turn)]
    return shell_command(*words, *request.root_options)


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
