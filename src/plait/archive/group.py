"""Log files to sessions: each file with the session it belongs to.

Where a file lies says whose it is; where that does not help (older versions keep agents
beside their session, people keep logs in folders of their own), its records do.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

from plait.archive.model import Session
from plait.line import LogFile, Root
from plait.record.read import read_if_there

LOOK_AHEAD = 20
Home: TypeAlias = tuple[Path, str]
"""The folder of a session's own file, and its name without the ending."""


def sessions_of(files: Sequence[LogFile], roots: Iterable[Root]) -> tuple[Session, ...]:
    """Returns the sessions that the files form; an agent without a session forms its own."""
    own = {home_of_session(file): file for file in files if file.kind == "session"}
    ids = {home: session_id(file) for home, file in own.items()}
    homes_by_id: dict[str, list[Home]] = defaultdict(list)
    for home, id_ in ids.items():
        homes_by_id[id_].append(home)
    others: dict[Home, list[LogFile]] = defaultdict(list)
    for file in files:
        if file.kind != "session":
            others[home_of_side_file(file, own, homes_by_id)].append(file)
    configs = [root for root in roots if root.config]
    return tuple(
        session_of(ids.get(home, home[1]), own.get(home), others.get(home, []), configs)
        for home in own | others
    )


def home_of_session(file: LogFile) -> Home:
    """Returns the home of a session's own file."""
    return file.path.parent, file.path.stem


def home_of_side_file(
    file: LogFile, own: dict[Home, LogFile], homes_by_id: dict[str, list[Home]]
) -> Home:
    """Returns the home that an agent's or a run's file belongs to."""
    by_place = home_by_place(file)
    if by_place in own:
        return by_place
    named = session_named_in(file)
    homes = homes_by_id.get(named or "", [])
    if homes:
        return max(homes, key=lambda home: shared_parts(home[0], file.path))
    return by_place if file.session else (file.path.parent, named or file.path.stem)


def home_by_place(file: LogFile) -> Home:
    """Returns the home that the folders above a file say."""
    if file.session is None:
        return file.path.parent, ""
    return file.path.parents[4 if file.run else 2], file.session


def shared_parts(one: Path, other: Path) -> int:
    """Returns how far two paths go together."""
    count = 0
    for left, right in zip(one.parts, other.parts, strict=False):
        if left != right:
            break
        count += 1
    return count


def session_id(file: LogFile) -> str:
    """Returns a session's id: its file's name, or what its records say where that is none."""
    name = file.path.stem
    return name if is_uuid(name) else session_named_in(file) or name


def session_named_in(file: LogFile) -> str | None:
    """Returns the session that the first records of a file name."""
    for record in islice(read_if_there(file.path), LOOK_AHEAD):
        if record.session_id:
            return record.session_id
    return None


def session_of(
    id_: str, own: LogFile | None, others: list[LogFile], configs: list[Root]
) -> Session:
    """Returns the session that these files form."""
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
