"""A session's records to whether one of its branches can have been left.

A graph takes longer than all the counting, and most sessions are straight: each prompt hangs
on the record before it, and what answers it hangs within its turn. Such a session has one
line. Everything else may be a branch, and only the graph can say.

    U₁ ── A ── U₂ ── A ┬ A ── R        straight: the calls of a turn may run side by side
                       └── R
    U₁ ── A ── U₂ ── A                 may branch: U₃ goes back
          └── U₃ ── A
    U₁ ┬─ A                            may branch: U₂ goes back, by way of a note
       └── N ── U₂
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from plait.record import Record
from plait.record.record import content_of

BOUNDARY = "compact_boundary"


@dataclass(slots=True)
class Branching:
    """Takes the records of a session's own file in their order."""

    may_branch: bool = False
    before: Record | None = None
    """The last record of the main line."""
    after: str = ""
    """What the last record that people or the model made was: a prompt, a result, an answer."""
    session: str | None = None
    turn: set[str] = field(default_factory=set)
    """The records since the last prompt."""
    seen: set[str] = field(default_factory=set)
    """All records before that."""
    response: set[str] = field(default_factory=set)
    """The responses of this turn."""
    responses: set[str] = field(default_factory=set)
    """All responses before that."""
    last: str | None = None
    """The last record that people or the model made."""
    hosts: dict[str, str] = field(default_factory=dict)
    """The notes of this turn, with the records that they hang on."""

    def add(self, record: Record) -> None:
        """Takes in one record."""
        uuid = record.uuid
        if uuid is None or self.may_branch:
            return
        named = record.session_id
        self.session = self.session or named
        if uuid in self.turn or uuid in self.seen or named != self.session:
            self.may_branch = True
        elif not record.envelope.is_sidechain:
            self.may_branch = not self._is_straight(record, uuid)
            self.before = record
        else:
            self.seen.add(uuid)

    def _is_straight(self, record: Record, uuid: str) -> bool:
        kind = role_on_line(record)
        parent, before = record.parent_uuid, self.before
        if kind == "prompt":
            is_next = before is None or (parent == before.uuid and self._is_at_the_end(before))
            self._begin()
        else:
            is_next = before is None or parent in self.turn or self._goes_on(record)
        self.turn.add(uuid)
        if kind:
            self.after, self.last = kind, uuid
        elif parent:
            self.hosts[uuid] = self.hosts.get(parent, parent)
        return is_next and (kind != "answer" or self._is_new(record))

    def _is_at_the_end(self, before: Record) -> bool:
        """Tells whether what hangs on the last record follows all that was said."""
        host = self.hosts.get(before.uuid or "")
        return self.after != "result" and (host is None or self.last in (None, host))

    def _begin(self) -> None:
        self.hosts.clear()
        self.seen |= self.turn
        self.responses |= self.response
        self.turn, self.response = set(), set()

    def _goes_on(self, record: Record) -> bool:
        """Tells whether a compaction goes on from the turn that it follows."""
        is_boundary = record.parent_uuid is None and record.subtype == BOUNDARY
        return is_boundary and record.logical_parent_uuid in self.turn

    def _is_new(self, record: Record) -> bool:
        """Tells whether a response belongs to this turn alone."""
        name = record.message_id or record.request_id
        if name is None:
            return True
        self.response.add(name)
        return name not in self.responses


def role_on_line(record: Record) -> str:
    """Returns what a record is to the line: a prompt, a result, an answer, or nothing."""
    if record.kind == "assistant":
        return "answer"
    if record.kind != "user":
        return ""
    content = content_of(record.envelope)
    heads = content if isinstance(content, list) else []
    return "result" if any(head.type == "tool_result" for head in heads) else "prompt"


def may_branch(records: Iterable[Record]) -> bool:
    """Tells whether a session may have branches; where it says no, it has none."""
    branching = Branching()
    for record in records:
        branching.add(record)
        if branching.may_branch:
            return True
    return False
