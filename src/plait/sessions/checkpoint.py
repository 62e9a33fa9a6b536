"""Checkpoints: how far a log was read, and what must be known to read on from there.

The index, the trace hook and the page go on from a checkpoint. One rule settles doubt: where each
new record follows the turn before it (`plait.conversation.build`), and the client points to
nothing earlier, new lines add turns and change nothing before them. Otherwise the log is read
again, which is always right.
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
    """The judge of whether a log goes on straight, as it is kept."""

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
    def from_branching(cls, judge: BranchDetector) -> "Checkpoint":
        """Return what is kept of a judge."""
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
        """Return the judge of what follows in a log."""
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
    """Takes the records of an agent's file, all of which stand beside the main line."""

    def add(self, record: Record) -> None:
        """Take in one record."""
        uuid = record.uuid
        if uuid is None or self.may_branch:
            return
        self.session = self.session or record.session_id
        is_again = uuid in self.turn or uuid in self.seen
        self.may_branch = is_again or not self.extend(record, uuid)
        self.before = record


class DigestSet(set[str]):
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
        while place >= 0 and place % DIGEST_SIZE:  # two halves of neighbours
            place = self.digests.find(wanted, place + 1)
        return place >= 0


def _packed(texts: set[str]) -> bytes:
    known = texts.digests if isinstance(texts, DigestSet) else b""
    return known + b"".join(sorted(map(digest, texts)))


def digest(text: str) -> bytes:
    """Return eight bytes that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_SIZE).digest()


def replay(judge: BranchDetector, records: Iterable[Record]) -> BranchDetector:
    """Take in records that a graph has judged already: however they bend, the log goes on."""
    for record in records:
        judge.session = record.session_id or judge.session
        judge.add(record)
        judge.may_branch = False
    return judge


def stays_linear(judge: BranchDetector, records: Iterable[Record]) -> bool:
    """Return whether records that follow can only add to the last turn, or add turns."""
    for record in records:
        leaf = record.envelope.leaf_uuid
        if leaf is not None and (leaf not in judge.turn or record.envelope.explicit is True):
            return False
        judge.add(record)
        if judge.may_branch:
            return False
    return True


def continues_from(record: Record, before: Record | None) -> bool:
    """Tell what hangs on the record before it; a result may hang on any call of the turn."""
    if before is None or record.uuid is None or record.parent_uuid == before.uuid:
        return True
    return get_line_role(record) == "result"
