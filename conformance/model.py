"""What client, SDK and Plait make of a session, and how they compare, as plain values."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

Message: TypeAlias = tuple[str, list[Json]]
"""A role and its blocks."""


class Missing(Exception):
    """Something that a part of the run needs is not here."""


class Mark(StrEnum):
    """How a comparison came out."""

    EQUAL = "="
    DIFFERENT = "DIFFERS"
    EXPLAINED = "explained"
    NOT_ASKED = "-"


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie, all below one ignored folder."""

    root: Path

    @property
    def clients(self) -> Path:
        """The installed clients, one folder a version."""
        return self.root / "clients"

    @property
    def sdk(self) -> Path:
        """The private environment of the SDK."""
        return self.root / "sdk"

    @property
    def disagreements(self) -> Path:
        """Case folders of what came out different."""
        return self.root / "disagreements"

    @property
    def produced(self) -> Path:
        """The sessions that the client wrote, as it wrote them."""
        return self.root / "produced"


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a reader makes of a session file."""

    resumes: bool
    leaf: str | None
    chain: tuple[str, ...]
    messages: list[Message]
    """In the form for comparing."""
    request: list[Message] = field(default_factory=list)
    """In full: reminders and what the system says, block for block."""
    note: str = ""
    """What the client said, where it did not resume."""
    is_summarized: bool = False
    """The messages are those of a request for a summary: the session is too long."""
    own_words: int = 0
    """Attachments for which the client has words that are in no log."""

    def as_object(self) -> Json:
        """Return it as `expected.json` holds it."""
        return {
            "resumes": self.resumes,
            "leaf": self.leaf,
            "chain": list(self.chain),
            "messages": [list(message) for message in self.messages],
        }


@dataclass(frozen=True, slots=True)
class Readings:
    """What all readers make of one session file."""

    client: Resumed
    plait: Resumed
    sdk: Resumed | None
    plait_as_sdk: Resumed

    def by_name(self) -> dict[str, Resumed | None]:
        """Return each with the name of its reader."""
        return {
            "client": self.client,
            "plait": self.plait,
            "sdk": self.sdk,
            "plait-as-sdk": self.plait_as_sdk,
        }


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in a list."""

    session: str
    title: str | None
    first_prompt: str | None
    tag: str | None = None
    given: str | None = None
    """The title that somebody, or the model, has given it, as the SDK says."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of the table: how the readers agree on one session."""

    group: str
    name: str
    resumed: Mark
    leaf: Mark
    messages: Mark
    full: Mark = Mark.NOT_ASKED
    sdk: Mark = Mark.NOT_ASKED
    title: Mark = Mark.NOT_ASKED
    account: Mark = Mark.NOT_ASKED
    why: str = ""
    """Why it was skipped, or what the difference is about."""

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        asked = (self.resumed, self.leaf, self.messages, self.full, self.sdk)
        return Mark.DIFFERENT not in (*asked, self.title, self.account)


@dataclass(frozen=True, slots=True)
class EditVerdict:
    """One row of the table of edits: what came of each operation on one session."""

    group: str
    name: str
    marks: dict[str, Mark]
    why: str = ""
    """In what which operation failed, or why that is no fault."""

    @property
    def is_equal(self) -> bool:
        """Whether every operation left what it should."""
        return Mark.DIFFERENT not in self.marks.values()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row of the table for what could not be run."""

    group: str
    why: str


@dataclass(slots=True)
class Outcome:
    """All rows of a run, and what was seen on the way."""

    client: str
    rows: list[Verdict | EditVerdict | Skipped] = field(default_factory=list)
    seconds: float = 0

    @property
    def differences(self) -> list[Verdict | EditVerdict]:
        """The rows that are not equal."""
        return [row for row in self.rows if not isinstance(row, Skipped) and not row.is_equal]
