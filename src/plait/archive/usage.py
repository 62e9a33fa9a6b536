"""An archive to its responses, each counted once over all files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from plait.archive.model import Session
from plait.archive.shares import ALONE, Hands, made_of_each
from plait.conversation.usage import BilledResponse, Key, Ledger, Origin, RunKind
from plait.line import LogFile
from plait.record.billing import Bill, bills
from plait.record.prompt import is_warmup
from plait.record.read import read_if_there

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.conversation.prices import Prices
    from plait.conversation.spending import By, Spending
    from plait.graph.model import DagLine
    from plait.graph.source import FileFacts

# As the graph has them, whose modules are not loaded for counting.
WORTH = 24_000_000
"""Bytes of logs from which on several processes are sooner done with them."""
GRAPHS_WORTH = 16_000_000
"""The same where graphs are made of some of them."""
SERVICE_IDS = ("acompact", "aprompt_suggestion", "aside_question")
Watch = Callable[[Sequence[LogFile]], Iterable[LogFile]]


class Counted(NamedTuple):
    """All responses of some sessions, with what else their files say of money."""

    responses: Sequence[BilledResponse]
    client_costs: Mapping[str, float]
    """What the client itself counted, by session."""
    keys: Sequence[Key] = ()
    """What each response is known by."""
    own_costs: Mapping[str, float] = {}
    """The same without what a fork had taken over."""


class FileBills(NamedTuple):
    """What one file says of money."""

    bills: Iterable[tuple[int, Bill]]
    is_warmup: bool
    """Of an agent that the client sent out to warm up its cache."""


ReadBills: TypeAlias = Callable[[Sequence[LogFile]], Iterator[FileBills]]
ReadLeft: TypeAlias = Callable[[Session], Iterable[str]]


def _read_bills(files: Sequence[LogFile]) -> Iterator[FileBills]:
    for file in files:
        yield FileBills(bills(file.path), file.kind == "agent" and is_warmup(file.path))


def bills_by(jobs: int, losses: list[str]) -> ReadBills:
    """Returns what reads bills, by several processes where that is sooner done.

    What is said of those that died is added to the losses.
    """

    def read(files: Sequence[LogFile]) -> Iterator[FileBills]:
        sizes = [file.size for file in files]
        if jobs == 1 or sum(sizes) < WORTH:
            yield from _read_bills(files)
            return
        from plait.index.charges import sent_bills
        from plait.line.workers import Workers

        items = [(str(file.path), file.kind) for file in files]
        with Workers(jobs, losses) as workers:
            for data in workers.each("plait.index.charges:packed_bills", items, sizes):
                found = sent_bills(data)
                yield FileBills(zip(found.lines, found.bills, strict=True), found.is_warmup)

    return read


def count(
    sessions: Iterable[Session],
    watch: Watch | None = None,
    since: float | None = None,
    read: ReadBills = _read_bills,
) -> Counted:
    """Reads every file of some sessions once and counts their responses.

    Where only what is newer than a moment matters, files that were last written before it
    are passed over.
    """
    owners = {
        file.path: (file, session)
        for session in sessions
        for file in counted_files(session)
        if since is None or file.modified >= since
    }
    files = [owners[path][0] for path in sorted(owners, key=str)]
    ledger = Ledger()
    for file, found in zip(watch(files) if watch else files, read(files), strict=True):
        origin = _origin_of(file, owners[file.path][1], is_warmup=found.is_warmup)
        ledger.add(origin, found.bills)
    responses = tuple(ledger.responses())
    return Counted(responses, ledger.client_costs, tuple(ledger.drafts), ledger.own_costs())


def counted_files(session: Session) -> list[LogFile]:
    """Returns the files of a session whose responses are counted."""
    return [file for file in session.files if file.kind != "journal"]


def counted_paths(sessions: Iterable[Session]) -> list[Path]:
    """Returns the files that are counted, in the order of their numbers."""
    return sorted({file.path for one in sessions for file in counted_files(one)}, key=str)


def _origin_of(file: LogFile, session: Session, *, is_warmup: bool) -> Origin:
    if file.kind == "session":
        return Origin(session.id, session.project)
    is_service = is_warmup or (file.agent or "").startswith(SERVICE_IDS)
    kind: RunKind = "service" if is_service else "workflow" if file.run else "agent"
    return Origin(session.id, session.project, kind, file.agent)


def abandoned(
    sessions: Iterable[Session],
    responses: Iterable[BilledResponse],
    watch: Watch | None = None,
    read: ReadLeft | None = None,
    hands: Hands = ALONE,
) -> frozenset[str]:
    """Returns the uuids of responses on branches that were left, and of agents sent from there.

    The graph is asked only about sessions that have responses and are not straight.
    """
    uuids: dict[str, set[str]] = {}
    for response in responses:
        if response.uuid is not None:
            uuids.setdefault(response.session, set()).add(response.uuid)
    by_file = {one.file.path: one for one in sessions if one.file and one.id in uuids}
    files = [one.file for one in by_file.values() if one.file]
    meant = list(by_file.values())
    each: Iterator[Iterable[str]] = (
        map(read, meant) if read else made_of_each(hands, left_list, list[str], meant, GRAPHS_WORTH)
    )
    found: set[str] = set()
    for file, left in zip(watch(files) if watch else files, each, strict=True):
        found |= uuids[by_file[file.path].id].intersection(left)
    return frozenset(found)


def left_list(session: Session) -> list[str]:
    """Returns the records of a session that stand on a line that is not active, as a list."""
    return list(left_in(session))


def left_in(session: Session) -> Iterable[str]:
    """Returns the records of a session that stand on a line that is not active."""
    from plait.conversation.branching import may_branch

    if session.file and may_branch(read_if_there(session.file.path)):
        from plait.archive.light_graphs import light_facts

        return left_behind(light_facts(session.files))
    return ()


def left_behind(facts: "Iterable[FileFacts]") -> Iterator[str]:
    """Yields the records that stand on a line that is not active."""
    from plait.graph.build import join_up
    from plait.graph.index import index
    from plait.graph.leaf import leaf_of
    from plait.graph.tree import mark_active

    made = join_up(index(facts), leaf_of).finished
    return left_on(mark_active([*made.lines, *made.copied]).values())


def left_on(lines: "Iterable[DagLine]") -> Iterator[str]:
    """Yields the records that stand on those of some lines that are not active."""
    for line in lines:
        if not line.is_active:
            yield from line.nodes
            for folded in line.folded.values():
                yield from folded


def usage_of(
    archive: "Archive",
    by: "By",
    prices: "Prices",
    zone: tzinfo | None,
    since: datetime | None,
    until: datetime | None,
) -> "Spending":
    """Returns tokens and money of an archive, of a span of time or of all."""
    from plait.conversation.spending import spending, within

    found = within(archive.responses().responses, since, until)
    if by == "project":
        from plait.archive.folding import refolded

        found = refolded(found, archive.folding)
    return spending(found, by, prices, zone, archive.abandoned(found))
