"""What a reading is made of, as plain values: heads of turns, words, calls, changes, remarks.

Each passage is drawn on its own, one below the other; `level` says how deep it is nested in
agents. Texts are the log's own: whoever draws them makes them safe.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Outcome

Voice: TypeAlias = Literal[
    "prompt",
    "queued",
    "command",
    "bash",
    "task",  # what an agent was sent out with
    "answer",
    "synthetic",  # words of the client in the model's place
    "error",  # of the API, in the model's place
    "thinking",
    "plan",
    "summary",
    "message",  # of a teammate or another session
]
Tone: TypeAlias = Literal["quiet", "plain", "trouble"]
ChangeKind: TypeAlias = Literal["same", "added", "removed", "gap"]


class Passage(Struct, frozen=True, kw_only=True, tag_field="passage"):
    """Something to draw, as deep as the agents that it stands in."""

    level: int = 0


class Figures(Struct, frozen=True, kw_only=True):
    """What something took: time, calls, tokens, money."""

    duration_ms: float | None = None
    calls: int = 0
    tokens: int = 0
    """All that was read and written."""
    written: int = 0
    cost: float | None = None
    """In US dollars; None where nothing of it has a price."""
    is_partly_priced: bool = False
    """True where some of it has no price."""


class TurnHead(Passage, frozen=True, kw_only=True, tag="turn"):
    """Where a turn begins."""

    number: int
    time: str | None
    spent: Figures
    is_interrupted: bool = False


class Words(Passage, frozen=True, kw_only=True, tag="words"):
    """What somebody said, as far as it is shown."""

    voice: Voice
    text: str
    name: str | None = None
    note: str | None = None
    """What a reader should know of it, in a few words."""
    is_markdown: bool = False
    hidden: int = 0
    """Lines that are left out at the end."""
    hidden_size: int = 0


class CallLine(Passage, frozen=True, kw_only=True, tag="call"):
    """One line a call: the tool, what it was about, how it went."""

    tool: str
    subject: str = ""
    result: str = ""
    outcome: Outcome = "ok"
    link: str | None = None
    """A file or an address that the subject names."""
    duration_ms: float | None = None
    is_late: bool = False
    """True for a result that stands apart from its call."""


class Printed(Passage, frozen=True, kw_only=True, tag="printed"):
    """Lines as a tool or a command printed them: the first, and the last of many."""

    lines: tuple[str, ...]
    last: tuple[str, ...] = ()
    hidden: int = 0
    """Lines that are left out between them."""
    hidden_size: int = 0
    tone: Tone = "quiet"
    is_whole: bool = False
    """True where lines are shown to their ends, however long they are."""


class ChangedLine(Struct, frozen=True):
    """A line of a change, with its number in the file as it is then."""

    kind: ChangeKind
    text: str = ""
    number: int | None = None


class Changed(Passage, frozen=True, kw_only=True, tag="changed"):
    """What was changed in a file."""

    lines: tuple[ChangedLine, ...]
    path: str | None = None
    hidden: int = 0
    is_whole: bool = False
    """True where lines are shown to their ends, however long they are."""


class Todos(Passage, frozen=True, kw_only=True, tag="todos"):
    """Things to do, and how far they are."""

    items: tuple[tuple[str, str], ...]
    """Pairs of status and words."""


class Choices(Passage, frozen=True, kw_only=True, tag="choices"):
    """Questions with what a person answered, None where they did not."""

    pairs: tuple[tuple[str, str | None], ...]


class Remark(Passage, frozen=True, kw_only=True, tag="remark"):
    """A line beside the conversation."""

    text: str
    tone: Tone = "quiet"
    time: str | None = None


class Landmark(Passage, frozen=True, kw_only=True, tag="landmark"):
    """A compaction: where a summary took the place of what was said before."""

    text: str
    details: tuple[str, ...] = ()
    time: str | None = None


class Leaving(Passage, frozen=True, kw_only=True, tag="leaving"):
    """Where a branch, or a session inside the same file, leaves."""

    to: str
    kind: str
    label: str | None = None
    is_active: bool = False
    time: str | None = None


AnyPassage: TypeAlias = (
    TurnHead | Words | CallLine | Printed | Changed | Todos | Choices | Remark | Landmark | Leaving
)
