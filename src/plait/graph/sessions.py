"""DAG-lines to the sessions that they make up."""

from collections.abc import Iterable, Mapping, Sequence

from plait.graph.index import Index
from plait.graph.model import DagLine, Session

TITLES = ("custom-title", "ai-title")


def sessions_of(
    known: Index, lines: Mapping[str, DagLine], leaves: Sequence[str | None]
) -> dict[str, Session]:
    """Returns the sessions by id, with their lines."""
    files: dict[str, list[int]] = {}
    for number, session in enumerate(known.sessions):
        files.setdefault(session, []).append(number)
    held: dict[str, list[DagLine]] = {session: [] for session in files}
    for line in lines.values():
        held.setdefault(line.session, []).append(line)
    return {
        session: session_of(known, session, files.get(session, []), found, leaves)
        for session, found in held.items()
    }


def session_of(
    known: Index,
    session: str,
    files: Sequence[int],
    lines: Sequence[DagLine],
    leaves: Sequence[str | None],
) -> Session:
    """Returns one session."""
    own = [line for line in lines if line.id == session]
    stamps = [stamp for line in lines for stamp in (line.started, line.ended) if stamp]
    leaf = next((leaves[file] for file in files if leaves[file]), None)
    place = files[0] if files else lines[0].files[0]
    return Session(
        session,
        tuple(files),
        own[0].id if own else None,
        tuple(line.id for line in lines),
        leaf,
        min(stamps, default=None),
        max(stamps, default=None),
        title_of(known, files),
        known.files[place].project,
    )


def title_of(known: Index, files: Iterable[int]) -> str | None:
    """Returns the last title that a person, else the client, gave a session."""
    asides = [aside for file in files for aside in known.facts[file].asides]
    for kind in TITLES:
        for aside in reversed(asides):
            if aside.kind == kind and aside.text:
                return aside.text
    return None
