"""What a resumed session shows to Claude, and the working values on the way there."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from plait.graph.entries import Entries
from plait.record import Record

Block: TypeAlias = dict[str, Any]
"""One content block as the API takes it."""

Message: TypeAlias = tuple[str, list[Block]]
"""A role and its blocks."""

NO_CONTENT = "(no content)"
"""What the client sends in place of nothing."""


class Reason(StrEnum):
    """Why a record is not among the messages."""

    ABANDONED = "abandoned branch"
    API_ERROR = "api error"
    BEFORE_COMPACTION = "before compaction"
    BRIDGED = "bridged progress"
    CLEARED = "before a cleared context"
    EMPTY = "empty"
    NO_MESSAGE = "no message"
    NO_RENDERED_TEXT = "attachment without text"
    OTHER_SESSION = "of another session"
    OWN_WORDS = "sent in words of the client that no log holds"
    REPLACED = "replaced by a later line"
    SIDECHAIN = "sidechain"
    SYSTEM = "system entry"
    THINKING_ONLY = "thinking-only"
    UNANSWERED = "unanswered call dropped"
    UNKNOWN_TYPE = "unknown type"
    UNREAD = "line that the client does not read"
    """It begins with a byte order mark, and the file does not begin with it."""
    UNSEEN = "beside the chain"
    """On the line that goes on, and yet not on the chain that the client sends."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is in the file and not in the messages."""

    uuid: str
    line: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Resumption:
    """Where the client goes on, without what it would send."""

    chain: tuple[str, ...] = ()
    """The records that lead there, the last of them last; none where it would not resume."""
    open_calls: tuple[str, ...] = ()
    """The calls at its end that the client answers itself, since nobody did."""
    needs_answer: bool = False
    """Whether it then makes up an answer too."""


@dataclass(frozen=True, slots=True)
class Context:
    """What Claude will see when a session is resumed."""

    resumes: bool
    why_not: str | None
    leaf: str | None
    chain: tuple[str, ...]
    messages: list[Message]
    """In the form for comparing: no reminders, no system texts, no signatures."""
    request: list[Message]
    """In full: reminders, system texts and signatures kept, ready for sending."""
    left_out: tuple[LeftOut, ...]


Loaded: TypeAlias = Entries[Record]
"""The records of a file as the client loads them."""


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of the chain as it will be said: who speaks, and the blocks."""

    number: int
    """The entry it comes from, or ROOT where the client made it up."""
    role: str
    blocks: list[Block]
    message_id: str | None = None
    is_note: bool = False
    """An attachment: moves up to the head of its turn."""
    is_apart: bool = False
    """An attachment that stands beside a result, never in it."""
    place: int = 0
    """Which of the texts of an attachment it is."""
    is_queued: bool = False
    """A prompt typed while the model worked: comes before the others of its turn."""
    is_plain: bool = False
    """A prompt that is a string, not blocks."""
    is_error: bool = False
    """An API error: not sent, yet it parts what stands around it."""
