"""The end of a log to what must be known to go on from it, without reading it again.

Where all records of a log stand on one DAG-line and it goes on straight
(`plait.conversation.branching`), new lines add turns and change nothing that stands before them.
Of any other log nothing is kept: it is read anew when it grows.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from plait.conversation.branching import Branching, role_on_line
from plait.conversation.items import squeezed
from plait.conversation.model import Called, Told
from plait.conversation.turns import SPOKEN
from plait.conversation.walk import opened
from plait.graph.model import SessionGraph
from plait.index.model import LineState
from plait.index.passages import path_in
from plait.line import read_slice
from plait.record import Record
from plait.record.read import record_of

if TYPE_CHECKING:
    from plait.archive.index.lines import WordedLine
    from plait.archive.open_session import OpenSession

WIDTH = 8


class Checkpoint(Struct, gc=False, array_like=True):
    """Where a log has come to."""

    dag: int
    turn: int
    state: LineState
    lines: int
    before: tuple[int, int, int]
    """The last record: its line, its offset, its length."""
    after: str
    session: str | None
    members: list[str]
    """The records of the last turn."""
    response: list[str]
    calls: dict[str, tuple[str, str | None]]
    """The tools that were called in the last turn, with the files that they were asked about."""
    queued: list[bytes]
    """Prompts of this session that stand in the queue alone."""
    seen: bytes
    responses: bytes

    def bends(self, before: Record) -> Branching:
        """Returns the judge of what follows."""
        return self.judge()(
            False,
            before,
            self.after,
            self.session,
            set(self.members),
            Digests(self.seen),
            set(self.response),
            Digests(self.responses),
        )

    def judge(self) -> type[Branching]:
        """Returns the kind of judge."""
        return AgentBends if self.state == "agent" else Branching


class AgentBends(Branching):
    """Takes the records of an agent's file, all of which stand beside the main line."""

    def add(self, record: Record) -> None:
        """Takes in one record."""
        uuid = record.uuid
        if uuid is None or self.is_bent:
            return
        self.session = self.session or record.session_id
        is_again = uuid in self.turn or uuid in self.seen
        self.is_bent = is_again or not self._is_straight(record, uuid)
        self.before = record


class Digests(set[str]):
    """Texts by their digests, and texts that were added since.

    The digests stay the bytes they are: few are looked up, and there are thousands.
    """

    def __init__(self, digests: bytes) -> None:
        super().__init__()
        self.digests = digests

    def __contains__(self, text: object) -> bool:
        return super().__contains__(text) or self._holds(digest(str(text)))

    def _holds(self, wanted: bytes) -> bool:
        place = self.digests.find(wanted)
        while place >= 0 and place % WIDTH:  # two halves of neighbours
            place = self.digests.find(wanted, place + 1)
        return place >= 0

    def packed(self) -> bytes:
        """Returns the digests of all."""
        return self.digests + _packed_digests(self)


def _packed_digests(texts: Iterable[str]) -> bytes:
    return b"".join(map(digest, texts))


def digest(text: str) -> bytes:
    """Returns eight bytes that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()


def checkpoints_of(read: "OpenSession", lines: "list[WordedLine]") -> dict[str, bytes]:
    """Returns the checkpoints of those files of a session that go on straight, by path."""
    if any(one.is_recovered for one in lines):
        return {}
    graph = read.graph
    found: dict[str, bytes] = {}
    numbers = {one.line.id: number for number, one in enumerate(lines)}
    queued = _queued_in(lines)
    for file in graph.files:
        records = read.records_of(file.path)
        last = next((one for one in reversed(records) if one.uuid), None)
        number = numbers.get(graph.line_of.get(last.uuid or "", "") if last else "")
        if number is None or not _can_go_on(lines[number]):
            continue
        line = lines[number].line
        if _is_one_line(graph, records, line.id):
            bends = AgentBends() if line.kind == "agent" else Branching()
            if _ends_straight(records, bends):
                tail = _checkpoint_of(lines[number], bends, records, number, queued)
                found[file.path] = msgspec.msgpack.encode(tail)
    return found


def _ends_straight(records: Iterable[Record], bends: Branching) -> bool:
    """Takes in records that stand on one line; False where the last turn ends on a twig.

    U ┬ A        what hangs on the twig would leave the answer behind
      └ P
    """
    is_twig = False
    for record in records:
        is_twig = (is_twig and role_on_line(record) != "prompt") or not follows(
            record, bends.before
        )
        bends.add(record)
        bends.is_bent = False  # the graph has judged it: the line goes on
    return not is_twig


def follows(record: Record, before: Record | None) -> bool:
    """Tells what hangs on the record before it; a result may hang on any call of the turn."""
    if before is None or record.uuid is None or record.parent_uuid == before.uuid:
        return True
    return role_on_line(record) == "result"


def _can_go_on(read: "WordedLine") -> bool:
    line = read.line
    if line.kind not in ("trunk", "agent") or not read.items:
        return False
    if line.kind == "trunk" and not line.is_active:
        return False
    is_agent = line.kind == "agent"
    for item in reversed(read.last_turn):
        if isinstance(item, SPOKEN):
            return True
        if isinstance(item, Told) and not opens(item, is_agent=is_agent):
            return False
    return bool(read.openers)


def opens(item: Told, *, is_agent: bool) -> bool:
    """Tells whether a prompt opens a turn whatever follows."""
    return item.kind == "prompt" and (item.is_typed or is_agent)


def _is_one_line(graph: SessionGraph, records: Iterable[Record], line: str) -> bool:
    home = graph.line_of
    uuids = [record.uuid for record in records if record.uuid]
    return all(home.get(uuid) == line and uuid not in graph.folds for uuid in uuids)


def _checkpoint_of(
    read: "WordedLine", bends: Branching, records: list[Record], dag: int, queued: list[bytes]
) -> Checkpoint:
    last = bends.before or records[-1]
    calls = {
        item.call: (item.name, path_in(item.input))
        for item in read.last_turn
        if isinstance(item, Called)
    }
    return Checkpoint(
        dag,
        len(read.openers),
        "agent" if read.line.kind == "agent" else "active",
        records[-1].line,
        (last.line, last.offset, len(last.raw)),
        bends.after,
        bends.session,
        sorted(bends.turn),
        sorted(bends.response),
        calls,
        queued,
        _packed_digests(bends.seen),
        _packed_digests(bends.responses),
    )


def _queued_in(lines: "list[WordedLine]") -> list[bytes]:
    found = {
        digest(squeezed(item.text))
        for read in lines
        for item in opened(read.items)
        if isinstance(item, Told) and item.is_only_queued
    }
    return sorted(found)


class PackedBends(Struct, array_like=True):
    """The judge of whether a log goes on straight, as it is kept."""

    before: tuple[int, int, int] | None
    """The last record: its line, its offset, its length."""
    after: str
    session: str | None
    turn: list[str]
    seen: bytes
    response: list[str]
    responses: bytes


def packed_bends(bends: Branching) -> bytes:
    """Returns the bytes of a judge."""
    last = bends.before
    kept = PackedBends(
        (last.line, last.offset, len(last.raw)) if last else None,
        bends.after,
        bends.session,
        sorted(bends.turn),
        _digests_of(bends.seen),
        sorted(bends.response),
        _digests_of(bends.responses),
    )
    return msgspec.msgpack.encode(kept)


def _digests_of(known: set[str]) -> bytes:
    return known.packed() if isinstance(known, Digests) else _packed_digests(known)


def unpacked_bends(data: bytes, path: Path) -> Branching:
    """Returns a judge from its bytes and the log that it is of."""
    kept = msgspec.msgpack.decode(data, type=PackedBends)
    before = None
    if kept.before:
        line, offset, length = kept.before
        before = record_of(read_slice(path, offset, length), line, offset)
    return Branching(
        False,
        before,
        kept.after,
        kept.session,
        set(kept.turn),
        Digests(kept.seen),
        set(kept.response),
        Digests(kept.responses),
    )


def with_judged(bends: Branching, records: Iterable[Record]) -> Branching:
    """Takes in records that a graph has judged already: however they bend, the log goes on."""
    for record in records:
        bends.session = record.session_id or bends.session
        bends.add(record)
        bends.is_bent = False
    return bends


def goes_on_straight(bends: Branching, records: Iterable[Record]) -> bool:
    """Tells whether records that follow can only add to the last turn, or add turns."""
    for record in records:
        if record.envelope.leaf_uuid is not None and record.envelope.explicit is True:
            return False
        bends.add(record)
        if bends.is_bent:
            return False
    return True
