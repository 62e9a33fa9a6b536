"""Turns to whether they are final: nothing more will come to them.

A turn is final when the next prompt stands after it, when the client has noted how long it took,
or when somebody says that it is over: the session has ended, or nothing has been written for
a while. An answer alone says little: a hook may send the model back to work. And who says so
speaks of the log as it was then: what was written since is the turn of a client that resumed it.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from plait.conversation.branching import role_on_line
from plait.conversation.model import (
    Answered,
    Called,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.record import Record
from plait.record.types.kinds import QueueOperation
from plait.trace.spans.builder import nanoseconds

MODEL = (Said, Thought, Called, Shown, Answered)
ASIDE = frozenset({"command", "command-output", "bash", "bash-output", "ide", "reminder", "empty"})
"""What stands between two prompts though the model need not have seen it."""
ABSORBED = "queued_command"
"""What a prompt becomes that was typed while a tool ran."""


@dataclass(frozen=True)
class Occasion:
    """Why a session is looked at."""

    is_over: bool = False
    """Nothing more comes to the last turn."""
    agents: Set[str] = frozenset()
    """The agents that said they are done."""
    idle: float = 30.0
    """Seconds without a new line after which an agent of the client's own is done."""
    forgotten: float = 3600.0
    """Seconds after which any agent is."""
    until: int | None = None
    """How many bytes of the log it speaks of; None for all that there is."""
    is_silent: bool = False
    """Nothing was written since, so that what the model left undone stays so."""

    def ends(self, turn: Turn) -> bool:
        """Tells whether nothing more comes to the last of the turns that it speaks of."""
        return self.is_over and (self.until is None or self.is_silent or is_at_rest(turn))


def closing_line(turn: Turn) -> int | None:
    """Returns the line where the client has noted the end of a turn; None where it has not, or
    where the model did something after.
    """
    for item in reversed(turn.items):
        if isinstance(item, Noted) and item.subtype == "turn_duration":
            return item.line
        if isinstance(item, MODEL):
            return None
    return None


def is_at_rest(turn: Turn) -> bool:
    """Tells whether the model has said its last word, as far as one can see."""
    for item in reversed(turn.items):
        if isinstance(item, Told) and (item.kind in ASIDE or item.name == "caveat"):
            continue
        if isinstance(item, Told) and item.is_only_queued:
            continue
        if isinstance(item, Told):
            return item.kind == "interruption"
        if isinstance(item, MODEL):
            return isinstance(item, Said | Shown)
    return False


def undecided_prompts(records: Iterable[Record]) -> set[int | None]:
    """Returns the times of prompts in the queue of which the log does not tell yet what they
    became: a turn, words beside a result, or nothing. Several may be taken out at once, and are
    written before the model answers; what is older than that was copied from another session.
    """
    queue: list[Record] = []
    taken: list[Record] = []
    is_asked, since = False, ""
    for record in records:
        role = role_on_line(record)
        if isinstance(record, QueueOperation):
            _pass_on(record, queue, taken)
            is_asked, since = False, record.timestamp or ""
        elif role == "prompt" or _is_absorbed(record):
            is_asked = True
        elif role == "answer" and is_asked and (record.timestamp or "") >= since:
            taken.clear()
    return {nanoseconds(one.timestamp) for one in (*queue, *taken)}


def _is_absorbed(record: Record) -> bool:
    head = record.envelope.attachment
    return head is not None and head.type == ABSORBED


def _pass_on(record: QueueOperation, queue: list[Record], taken: list[Record]) -> None:
    if record.operation == "enqueue":
        queue.append(record)
        return
    named = [one for one in queue if one.fields.get("content") == record.content]
    leaving = queue[:] if record.operation == "popAll" else (named or queue)[:1]
    taken += leaving
    queue[:] = [one for one in queue if one not in leaving]
