"""Checkpoints: how far a log was read, and what must be known to continue reading there.

The index, the trace hook and the page continue from a checkpoint. One rule decides: as long as each
new record follows the turn before it (`plait.conversation.build`), and no pointer leads further
back, new lines add turns and change nothing before them. Otherwise the log is read again, which is
always right.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from plait.conversation.build import BranchDetector, get_line_role
from plait.line import read_slice
from plait.record import Record
from plait.record.reader import parse_record

DIGEST_SIZE = 8


class Checkpoint(Struct, array_like=True, gc=False):
    """The stored state that decides whether a log continues linearly."""

    before: tuple[int, int, int] | None
    """The last record: its line, its offset, its length."""
    after: str
    session: str | None
    turn: list[str]
    """The records of the last turn."""
    seen: bytes
    response: list[str]
    responses: bytes

    @classmethod
    def from_detector(cls, judge: BranchDetector) -> "Checkpoint":
        """Return a checkpoint with the state of a branching check."""
        last = judge.before
        return cls(
            (last.line, last.offset, len(last.raw)) if last else None,
            judge.after,
            judge.session,
            sorted(judge.turn),
            _packed(judge.seen),
            sorted(judge.response),
            _packed(judge.responses),
        )

    def to_branching(
        self, path: Path, kind: type[BranchDetector] = BranchDetector
    ) -> BranchDetector:
        """Return the branching check for what follows in a log."""
        before = None
        if self.before:
            line, offset, length = self.before
            before = parse_record(read_slice(path, offset, length), line, offset)
        return kind(
            False,
            before,
            self.after,
            self.session,
            set(self.turn),
            DigestSet(self.seen),
            set(self.response),
            DigestSet(self.responses),
        )


class AgentBranching(BranchDetector):
    """The branching check for an agent's file, whose records are all off the main line."""

    def add(self, record: Record) -> None:
        """Add one record."""
        uuid = record.uuid
        if uuid is None or self.may_branch:
            return
        self.session = self.session or record.session_id
        is_again = uuid in self.turn or uuid in self.seen
        self.may_branch = is_again or not self.extend(record, uuid)
        self.before = record


class DigestSet(set[str]):
    """Texts by their digests, and texts that were added since.

    The digests are kept as one string of bytes: few are looked up, and there are thousands.
    """

    def __init__(self, digests: bytes) -> None:
        super().__init__()
        self.digests = digests

    def __contains__(self, text: object) -> bool:
        return super().__contains__(text) or self._holds(digest(str(text)))

    def _holds(self, wanted: bytes) -> bool:
        place = self.digests.find(wanted)
        while place >= 0 and place % DIGEST_SIZE:  # two halves of neighbours
            place = self.digests.find(wanted, place + 1)
        return place >= 0


def _packed(texts: set[str]) -> bytes:
    known = texts.digests if isinstance(texts, DigestSet) else b""
    return known + b"".join(sorted(map(digest, texts)))


def digest(text: str) -> bytes:
    """Return a digest of eight bytes for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_SIZE).digest()


def replay(judge: BranchDetector, records: Iterable[Record]) -> BranchDetector:
    """Replay records that a graph has already placed: however they branch, the log continues."""
    for record in records:
        judge.session = record.session_id or judge.session
        judge.add(record)
        judge.may_branch = False
    return judge


def stays_linear(judge: BranchDetector, records: Iterable[Record]) -> bool:
    """Return whether the records that follow only add to the last turn, or add turns."""
    for record in records:
        leaf = record.envelope.leaf_uuid
        if leaf is not None and (leaf not in judge.turn or record.envelope.explicit is True):
            return False
        judge.add(record)
        if judge.may_branch:
            return False
    return True


def continues_from(record: Record, before: Record | None) -> bool:
    """Return whether a record continues the one before it; a result may follow any call of the
    turn.
    """
    if before is None or record.uuid is None or record.parent_uuid == before.uuid:
        return True
    return get_line_role(record) == "result"
