"""DAG-lines to the sessions that they make up."""

from collections.abc import Mapping, Sequence

from plait.graph.index import Index
from plait.graph.model import DagLine, Session
from plait.record.title import followed, one_line


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
    home = known.homes.get(session)
    place = files[0] if files else lines[0].files[0]
    return Session(
        session,
        tuple(files),
        own[0].id if own else None,
        tuple(line.id for line in lines),
        None if home is None else leaves[home],
        min(stamps, default=None),
        max(stamps, default=None),
        title_of(known, session, files),
        known.files[place].project,
    )


def title_of(known: Index, session: str, files: Sequence[int]) -> str | None:
    """Returns the title of a session by its own file, else by those of its agents."""
    own = [known.facts[known.homes[session]]] if session in known.homes else []
    told = own or [known.facts[file] for file in files if known.files[file].kind == "agent"]
    titles = followed(facts.titles for facts in told)
    beside = next((facts.beside for facts in own if facts.beside), None)
    if beside and not titles.custom:
        return one_line(beside)
    leaves = titles.summaries
    held = {node.uuid for facts in told for node in facts.nodes if node.uuid in leaves}
    found = titles.title(held)
    return found[0] if found else None
