"""What a user names on the command line to the sessions meant: one, a project's, or all."""

from collections.abc import Iterable
from pathlib import Path

import click

from plait.archive import Session
from plait.archive.sessions import is_of_project
from plait.cli.ls import is_in, is_within
from plait.cli.options import Request, complete_session, point_in_time
from plait.cli.text import now
from plait.errors import UserError

WORDS = (".", "latest")

name_argument = click.argument(
    "name", metavar="[SESSION|PROJECT]", required=False, shell_complete=complete_session
)


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


def named(request: Request, name: str | None) -> list[Session]:
    """Returns the sessions of a project, else the one session of that name; all without one."""
    archive = request.archive
    if name is None:
        return list(archive.sessions)
    if not is_surely_session(request, name):
        members = members_of(request, archive.sessions, name)
        if members:
            return members
    return [archive.session(name, request.settings.directory)]


def members_of(request: Request, sessions: Iterable[Session], project: str) -> list[Session]:
    """Returns the sessions of a project by its folder's name, else by their directory."""
    among = list(sessions)
    by_folder = [one for one in among if is_of_project(one.project, project)]
    return by_folder or [one for one in among if is_in(request.archive.facts(one), project)]


def is_surely_session(request: Request, name: str) -> bool:
    """Tells whether a name is a file, a word for a session, or the beginning of an id."""
    if name in WORDS or name.startswith("latest:") or Path(name).suffix == ".jsonl":
        return True
    return any(one.id.casefold().startswith(name.casefold()) for one in request.archive.sessions)


def required(found: list[Session]) -> list[Session]:
    """Returns the sessions, or says that there are none."""
    if not found:
        raise UserError("no session matches", "`plait ls` lists the sessions there are")
    return found
