"""What a terminal draws, as plain values: heads of turns, words, calls, changes, remarks.

Each block is drawn on its own, one below the other; `level` says how deep it is nested in
agents. Texts are the log's own: whoever draws them makes them safe.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Left
from plait.view.costs import Figures
from plait.view.passages.tools import CallLine

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


class Block(Struct, frozen=True, kw_only=True):
    """Something to draw, as deep as the agents that it stands in."""

    level: int = 0


class TurnHead(Block, frozen=True, kw_only=True):
    """Where a turn begins."""

    number: int
    time: str | None
    spent: Figures
    is_interrupted: bool = False


class Words(Block, frozen=True, kw_only=True):
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


class Printed(Block, frozen=True, kw_only=True):
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


class Changed(Block, frozen=True, kw_only=True):
    """What was changed in a file."""

    lines: tuple[ChangedLine, ...]
    path: str | None = None
    hidden: int = 0
    is_whole: bool = False
    """True where lines are shown to their ends, however long they are."""


class Todos(Block, frozen=True, kw_only=True):
    """Things to do, and how far they are."""

    items: tuple[tuple[str, str], ...]
    """Pairs of status and words."""


class Choices(Block, frozen=True, kw_only=True):
    """Questions with what a person answered, None where they did not."""

    pairs: tuple[tuple[str, str | None], ...]


class Remark(Block, frozen=True, kw_only=True):
    """A line beside the conversation."""

    text: str
    tone: Tone = "quiet"
    time: str | None = None


class Landmark(Block, frozen=True, kw_only=True):
    """A compaction: where a summary took the place of what was said before."""

    text: str
    details: tuple[str, ...] = ()
    time: str | None = None


class Leaving(Block, frozen=True, kw_only=True):
    """Where a branch, or a session inside the same file, leaves."""

    left: Left


AnyBlock: TypeAlias = (
    TurnHead | Words | CallLine | Printed | Changed | Todos | Choices | Remark | Landmark | Leaving
)
