"""Log files to sessions, and what a user calls a session to the one meant."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from errno import EACCES
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TypeAlias
from uuid import UUID

from plait.archive.model import Facts, Session
from plait.errors import AmbiguousSession, NoSuchSession, UserError
from plait.line import LogFile, Root, discover, slug_of
from plait.line.discover import AGENT, SUFFIX, session_folder
from plait.line.split import unreadable
from plait.record.read import read_if_there

LOOK_AHEAD = 20
Home: TypeAlias = tuple[Path, str]
"""The folder of a session's own file, and its name without the ending."""


def sessions_of(files: Sequence[LogFile], roots: Iterable[Root]) -> tuple[Session, ...]:
    """Returns the sessions that the files form; an agent without a session forms its own."""
    own = {_home_of_session(file): file for file in files if file.kind == "session"}
    ids = {home: _session_id(file) for home, file in own.items()}
    homes_by_id: dict[str, list[Home]] = defaultdict(list)
    for home, id_ in ids.items():
        homes_by_id[id_].append(home)
    others: dict[Home, list[LogFile]] = defaultdict(list)
    for file in files:
        if file.kind != "session":
            others[_home_of_side_file(file, own, homes_by_id)].append(file)
    configs = [root for root in roots if root.config]
    return tuple(
        _session_of(ids.get(home, home[1]), own.get(home), others.get(home, []), configs)
        for home in own | others
    )


def _home_of_session(file: LogFile) -> Home:
    return file.path.parent, file.path.stem


def _home_of_side_file(
    file: LogFile, own: dict[Home, LogFile], homes_by_id: dict[str, list[Home]]
) -> Home:
    by_place = _home_by_place(file)
    if by_place in own:
        return by_place
    named = _session_named_in(file)
    homes = homes_by_id.get(named or "", [])
    if homes:
        return max(homes, key=lambda home: _shared_parts(home[0], file.path))
    return by_place if file.session else (file.path.parent, named or file.path.stem)


def _home_by_place(file: LogFile) -> Home:
    if file.session is None:
        return file.path.parent, ""
    return file.path.parents[4 if file.run else 2], file.session


def _shared_parts(one: Path, other: Path) -> int:
    count = 0
    for left, right in zip(one.parts, other.parts, strict=False):
        if left != right:
            break
        count += 1
    return count


def _session_id(file: LogFile) -> str:
    name = file.path.stem
    return name if is_uuid(name) else _session_named_in(file) or name


def _session_named_in(file: LogFile) -> str | None:
    for record in islice(read_if_there(file.path), LOOK_AHEAD):
        if record.session_id:
            return record.session_id
    return None


def _session_of(
    id_: str, own: LogFile | None, others: list[LogFile], configs: list[Root]
) -> Session:
    first = own or others[0]
    return Session(
        id=id_,
        project=first.project,
        file=own,
        agents=tuple(file for file in others if file.kind == "agent"),
        journals=tuple(file for file in others if file.kind == "journal"),
        config=next((root.config for root in configs if root.logs in first.path.parents), None),
    )


def is_uuid(text: str) -> bool:
    """Tells whether a file's name is a session's id."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


Describe = Callable[[Session], Facts]
LATEST = "latest"
LIST_THEM = "`plait ls` lists the sessions there are"


def resolve(
    name: str,
    sessions: Sequence[Session],
    describe: Describe,
    directory: Path | None,
    project_of: Callable[[str], str] = str,
) -> Session:
    """Returns the one session that a name means, or raises an error that helps on."""
    if not sessions:
        raise NoSuchSession(f"no session '{name}': there are no sessions here")
    if not name.strip():
        raise NoSuchSession("no session has an empty name", LIST_THEM)
    if name == ".":
        return _newest_in(directory, sessions)
    if name == LATEST or name.startswith(f"{LATEST}:"):
        return _newest_of(name.partition(":")[2], sessions, project_of)
    by_id = _matching_ids(name, sessions)
    if by_id:
        return _only_one(name, by_id, describe)
    by_title = _matching_titles(name, sessions, describe)
    if by_title:
        return _only_one(name, by_title, describe)
    check_log(Path(name))
    raise NoSuchSession(f"no session is called '{name}'", *_closest(name, sessions, describe))


def _newest_in(directory: Path | None, sessions: Sequence[Session]) -> Session:
    slug = slug_of(str(directory.resolve())) if directory else None
    here = [session for session in sessions if session.project == slug]
    if not here:
        raise NoSuchSession(
            f"no session was held in '{directory}'", "`plait ls` lists the projects there are"
        )
    return _newest(here)


def _newest_of(
    project: str, sessions: Sequence[Session], project_of: Callable[[str], str]
) -> Session:
    among = [one for one in sessions if is_of_project(one.project, project, project_of)]
    if not among:
        raise NoSuchSession(
            f"no project is called '{project}'", "`plait ls` lists the projects there are"
        )
    return _newest(among)


def _newest(sessions: Sequence[Session]) -> Session:
    return max(sessions, key=lambda session: session.modified)


def is_of_project(folder: str, name: str, project_of: Callable[[str], str] = str) -> bool:
    """Tells whether a folder, or the project it is of, answers to a path, a slug, a part of one."""
    wanted = slug_of(name).casefold()
    return wanted in folder.casefold() or wanted in project_of(folder).casefold()


def _matching_ids(name: str, sessions: Sequence[Session]) -> list[Session]:
    wanted = name.casefold()
    exact = [session for session in sessions if session.id.casefold() == wanted]
    return exact or [session for session in sessions if session.id.casefold().startswith(wanted)]


def _matching_titles(name: str, sessions: Sequence[Session], describe: Describe) -> list[Session]:
    wanted = name.casefold()
    titles = [((describe(session).title or "").casefold(), session) for session in sessions]
    exact = [session for title, session in titles if title == wanted]
    return exact or [session for title, session in titles if wanted in title]


def _only_one(name: str, found: list[Session], describe: Describe) -> Session:
    if len(found) == 1:
        return found[0]
    newest_first = sorted(found, key=lambda session: -session.modified)
    shown = [_label(describe(session)) for session in newest_first[:2]]
    if len(set(shown)) < len(shown):  # only where they lie tells them apart
        shown = [f"'{session.path}'" for session in newest_first[:2]]
    hint = f"the newest are {' and '.join(shown)}"
    raise AmbiguousSession(f"'{name}' means {len(found)} sessions", hint)


def _closest(name: str, sessions: Sequence[Session], describe: Describe) -> list[str]:
    from difflib import get_close_matches

    facts = [describe(session) for session in sessions]
    names = {fact.session: fact for fact in facts} | {fact.title or "": fact for fact in facts}
    near = [names[match] for match in get_close_matches(name, names, n=2, cutoff=0.5)]
    if not near:
        return [LIST_THEM]
    return ["closest: " + " and ".join(dict.fromkeys(_label(fact) for fact in near))]


def _label(fact: Facts) -> str:
    known = [f"'{fact.title[:40]}'" if fact.title else "", (fact.ended or "")[:10]]
    told = ", ".join(part for part in known if part)
    return f"{fact.session[:8]} ({told})" if told else fact.session[:8]


def session_at(path: Path, known: Iterable[Session]) -> Session:
    """Returns the session that a file belongs to, a known one or one that lies elsewhere."""
    check_file(path)
    held = list(known)
    for session in held:
        if any(file.path == path for file in session.files):
            return session
    real = path.resolve()
    for session in held:
        if any(file.path.resolve() == real for file in session.files):
            return session
    check_log(path)
    for session in beside(real):
        if any(file.path.resolve() == real for file in session.files):
            return session
    raise NoSuchSession(f"no session lies at '{path}'")


def _holds_records(path: Path) -> bool:
    from plait.record.is_log import is_log

    return is_log(path)


def check_log(path: Path) -> None:
    """Refuses a file that is no log; a folder may hold some.

    What is named as the client names its logs is one, however broken.
    """
    if _is_file(path) and not _is_named_as_log(path) and not _holds_records(path):
        raise NoSuchSession(
            f"'{path}' is no log of Claude Code: none of its lines is a record", LIST_THEM
        )


def _is_named_as_log(path: Path) -> bool:
    return path.suffix == SUFFIX and (is_uuid(path.stem) or path.stem.startswith(AGENT))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than any file's
        return False


def check_file(path: Path) -> None:
    """Refuses what is no file that can be read, and says what it is."""
    if path.is_dir():
        hint = f"`plait ls --root {quote(str(path))}` lists the sessions in it"
        raise UserError(f"'{path}' is a folder", hint)
    try:
        path.stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except OSError as error:
        raise unreadable(path, error) from error


def beside(path: Path) -> tuple[Session, ...]:
    """Returns the sessions of a file that lies under no root, and of what lies beside it."""
    home, _ = session_folder(path)
    own = home.with_suffix(SUFFIX) if home else path
    places = [own, own.with_suffix(""), *own.parent.glob(f"{AGENT}*{SUFFIX}"), path]
    roots = [Root(place, None, place) for place in places if place.exists()]
    return sessions_of(discover(roots).files, ())
