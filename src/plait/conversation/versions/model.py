"""Files through time as plain values: who wrote, what happened, what a file held."""

from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.patches import Hunk

Certainty: TypeAlias = Literal[
    "sure",  # the log has it written, and nobody else changed the file since
    "likely",  # somebody else changed the file since, and the line stands as it was written
    "unknown",
]
Why: TypeAlias = Literal[
    "",
    "before",  # it stood there when the first session came that is known
    "between",  # it came between two moments in which the file is known: by hand, or by a command
    "several",  # the same line was written more than once: it may be either
    "moved",  # a change put it elsewhere: whoever did may count, or whoever wrote it first
    "again",  # it had gone and came again, nobody saw how: it may be somebody else's
    "earlier",  # Git has it in a commit from before it was written
    "unread",  # the log does not say what the file held
]
EventKind: TypeAlias = Literal["created", "written", "edited", "read", "backed up"]
CHANGES: frozenset[EventKind] = frozenset({"created", "written", "edited"})


class Origin(Struct, frozen=True, kw_only=True):
    """Where in which session something was written."""

    session: str
    line: str
    """The conversation."""
    turn: int
    """Of the conversation that people had: an agent counts where it was sent out."""
    branch: str | None = None
    """The branch whose turn that is; None in the conversation that goes on."""
    uuid: str | None = None
    time: str | None = None
    call: str | None = None
    prompt: str | None = None
    agent: str | None = None
    """The agent's task, None where no agent wrote it."""
    model: str | None = None
    is_active: bool = True
    """False on a branch that was left."""


class Mark(Struct, frozen=True):
    """Who wrote a line."""

    origin: Origin | None = None
    certainty: Certainty = "unknown"
    why: Why = ""
    gone: str | None = None
    """When it went, where it came again since: only a commit from before says that it is this."""


class Text(Struct, frozen=True):
    """What a file held, as lines without their ends."""

    lines: tuple[str, ...]
    is_ended: bool = True
    """Whether the last line has an end."""
    line_end: Literal["\n", "\r\n"] | None = None
    """None where nothing tells: the client logs every line end as a newline."""
    is_whole: bool = True
    """False where only patches tell of it: other lines are unseen, and there may be more."""

    def __str__(self) -> str:
        end = self.line_end or "\n"
        return end.join(self.lines) + (end if self.is_ended and self.lines else "")


class Replacement(Struct, frozen=True):
    """A text that took the place of another."""

    old: str
    new: str
    is_everywhere: bool = False


class FileEvent(Struct, frozen=True, kw_only=True):
    """What happened to a file, or what was seen of it."""

    path: str
    kind: EventKind
    time: str
    """When it was done, in the form that sorts as text."""
    origin: Origin
    before: Text | None = None
    """All of it; None where the log does not hold it."""
    after: Text | None = None
    hunks: tuple[Hunk, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    is_there: bool = True
    """False for a backup that says that there was no file."""
    proposal: "FileEvent | None" = None
    """The change as it was asked for, where a person had it be another one."""

    @property
    def is_change(self) -> bool:
        """Tells whether the file is another since."""
        return self.kind in CHANGES


class Version(Struct, frozen=True, kw_only=True):
    """What a file held from a moment on."""

    time: str
    text: Text | None
    """None where it is not known."""
    marks: tuple[Mark, ...] = ()
    """Who wrote each line."""
    event: FileEvent | None = None
    """What made it; None where somebody else did, and this is when it was seen."""
    is_there: bool = True
    completed: str | None = None
    """When the lines were seen that its patches do not show."""

    @property
    def is_foreign(self) -> bool:
        """Tells whether nobody's event made it."""
        return self.event is None


class NetChange(Struct, frozen=True, kw_only=True):
    """What became of a file in all."""

    path: str
    changes: int
    """How often it was changed."""
    turns: tuple[int, ...]
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    is_new: bool = False
    """It was not there before."""
    is_known: bool = True
    """False where the log holds too little to compare."""
    has_others: bool = False
    """Somebody else changed it in between: that is among the change."""
