"""What a user calls a session to the session meant.

A file, `latest`, `latest:PROJECT`, `.` (the newest of a directory), an id or the beginning
of one, a title or a part of one.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from plait.archive.model import Facts, Session
from plait.errors import AmbiguousSession, NoSuchSession
from plait.line import slug_of

Describe = Callable[[Session], Facts]
LATEST = "latest"
LIST_THEM = "`plait ls` lists the sessions there are"


def resolve(
    name: str, sessions: Sequence[Session], describe: Describe, directory: Path | None
) -> Session:
    """Returns the one session that a name means, or raises an error that helps on."""
    if not sessions:
        raise NoSuchSession(f"no session '{name}': there are no sessions here")
    if not name.strip():
        raise NoSuchSession("no session has an empty name", LIST_THEM)
    if name == ".":
        return newest_in(directory, sessions)
    if name == LATEST or name.startswith(f"{LATEST}:"):
        return newest_of(name.partition(":")[2], sessions)
    by_id = matching_ids(name, sessions)
    if by_id:
        return only(name, by_id, describe)
    by_title = matching_titles(name, sessions, describe)
    if by_title:
        return only(name, by_title, describe)
    raise NoSuchSession(f"no session is called '{name}'", *closest(name, sessions, describe))


def newest_in(directory: Path | None, sessions: Sequence[Session]) -> Session:
    """Returns the newest session of a working directory."""
    slug = slug_of(str(directory.resolve())) if directory else None
    here = [session for session in sessions if session.project == slug]
    if not here:
        raise NoSuchSession(
            f"no session was held in '{directory}'", "`plait ls` lists the projects there are"
        )
    return newest(here)


def newest_of(project: str, sessions: Sequence[Session]) -> Session:
    """Returns the newest session, of one project where it is named."""
    among = [session for session in sessions if is_of_project(session.project, project)]
    if not among:
        raise NoSuchSession(
            f"no project is called '{project}'", "`plait ls` lists the projects there are"
        )
    return newest(among)


def newest(sessions: Sequence[Session]) -> Session:
    """Returns the session that was written last."""
    return max(sessions, key=lambda session: session.modified)


def is_of_project(folder: str, name: str) -> bool:
    """Tells whether a project's folder answers to a name: a path, a slug or a part of one."""
    return slug_of(name).casefold() in folder.casefold()


def matching_ids(name: str, sessions: Sequence[Session]) -> list[Session]:
    """Returns the sessions with this id, else those whose id begins so."""
    wanted = name.casefold()
    exact = [session for session in sessions if session.id.casefold() == wanted]
    return exact or [session for session in sessions if session.id.casefold().startswith(wanted)]


def matching_titles(name: str, sessions: Sequence[Session], describe: Describe) -> list[Session]:
    """Returns the sessions with this title, else those whose title holds it."""
    wanted = name.casefold()
    titles = [((describe(session).title or "").casefold(), session) for session in sessions]
    exact = [session for title, session in titles if title == wanted]
    return exact or [session for title, session in titles if wanted in title]


def only(name: str, found: list[Session], describe: Describe) -> Session:
    """Returns the one session found, or says which ones are meant."""
    if len(found) == 1:
        return found[0]
    newest_first = sorted(found, key=lambda session: -session.modified)
    shown = [label(describe(session)) for session in newest_first[:2]]
    if len(set(shown)) < len(shown):  # only where they lie tells them apart
        shown = [f"'{session.path}'" for session in newest_first[:2]]
    hint = f"the newest are {' and '.join(shown)}"
    raise AmbiguousSession(f"'{name}' means {len(found)} sessions", hint)


def closest(name: str, sessions: Sequence[Session], describe: Describe) -> list[str]:
    """Returns the hint that names the sessions most like the name."""
    facts = [describe(session) for session in sessions]
    names = {fact.session: fact for fact in facts} | {fact.title or "": fact for fact in facts}
    near = [names[match] for match in get_close_matches(name, names, n=2, cutoff=0.5)]
    if not near:
        return [LIST_THEM]
    return ["closest: " + " and ".join(dict.fromkeys(label(fact) for fact in near))]


def label(fact: Facts) -> str:
    """Returns a session's short id with its title."""
    known = [f"'{fact.title[:40]}'" if fact.title else "", (fact.ended or "")[:10]]
    told = ", ".join(part for part in known if part)
    return f"{fact.session[:8]} ({told})" if told else fact.session[:8]
