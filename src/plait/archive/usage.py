"""An archive to its responses, each counted once over all files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from plait.archive.model import Session
from plait.conversation.usage import Ledger, Origin, Response, RunKind
from plait.line import LogFile
from plait.record.billing import bills
from plait.record.read import read_if_there

# As the graph has them, whose modules are not loaded for counting.
SERVICE_IDS = ("acompact", "aprompt_suggestion", "aside_question")
SERVICE_PROMPT = "Warmup"
LOOK_AHEAD = 16
Watch = Callable[[Sequence[LogFile]], Iterable[LogFile]]


class Counted(NamedTuple):
    """All responses of some sessions, with what else their files say of money."""

    responses: Sequence[Response]
    client_costs: Mapping[str, float]
    """What the client itself counted, by session."""


def count(
    sessions: Iterable[Session], watch: Watch | None = None, since: float | None = None
) -> Counted:
    """Reads every file of some sessions once and counts their responses.

    Where only what is newer than a moment matters, files that were last written before it
    are passed over.
    """
    owners = {
        file.path: (file, session)
        for session in sessions
        for file in session.files
        if file.kind != "journal" and (since is None or file.modified >= since)
    }
    files = [owners[path][0] for path in sorted(owners, key=str)]
    ledger = Ledger()
    for file in watch(files) if watch else files:
        ledger.add(origin_of(file, owners[file.path][1]), bills(file.path))
    return Counted(tuple(ledger.responses()), ledger.client_costs)


def origin_of(file: LogFile, session: Session) -> Origin:
    """Returns whose bills a file holds."""
    if file.kind == "session":
        return Origin(session.id, session.project)
    return Origin(session.id, session.project, run_kind(file), file.agent)


def run_kind(file: LogFile) -> RunKind:
    """Returns what kind of agent a file is of."""
    if (file.agent or "").startswith(SERVICE_IDS) or is_warmup(file):
        return "service"
    return "workflow" if file.run else "agent"


def is_warmup(file: LogFile) -> bool:
    """Tells an agent that the client sends out to warm up its cache, by its first prompt."""
    for record in islice(read_if_there(file.path), LOOK_AHEAD):
        if record.kind == "user" and all(head.type == "text" for head in record.block_heads):
            return record.text.strip() == SERVICE_PROMPT
    return False


def abandoned(
    sessions: Iterable[Session], responses: Iterable[Response], watch: Watch | None = None
) -> frozenset[str]:
    """Returns the uuids of responses on branches that were left, and of agents sent from there.

    The graph is asked only about sessions that have responses and are not straight.
    """
    from plait.conversation.bends import may_branch

    uuids: dict[str, set[str]] = {}
    for response in responses:
        if response.uuid is not None:
            uuids.setdefault(response.session, set()).add(response.uuid)
    by_file = {one.file.path: one for one in sessions if one.file and one.id in uuids}
    files = [one.file for one in by_file.values() if one.file]
    found: set[str] = set()
    for file in watch(files) if watch else files:
        if may_branch(read_if_there(file.path)):
            session = by_file[file.path]
            found |= uuids[session.id].intersection(left_behind(session))
    return frozenset(found)


def left_behind(session: Session) -> Iterator[str]:
    """Yields the records of a session that stand on a line that is not active."""
    from plait.archive.lightly import lightly
    from plait.graph.build import join_up
    from plait.graph.index import index
    from plait.graph.leaf import leaf_of
    from plait.graph.tree import mark_active

    made = join_up(index(lightly(session.files)), leaf_of).finished
    for line in mark_active([*made.lines, *made.bare]).values():
        if not line.is_active:
            yield from line.nodes
            for folded in line.folded.values():
                yield from folded
