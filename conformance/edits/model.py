"""A session before and after an edit, and what has to be true of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from conformance.model import Listed, Readings
from conformance.sandbox import Desk
from plait.archive import Archive
from plait.edit.plan import Plan

if TYPE_CHECKING:
    from conformance.judge import Judge


@dataclass(frozen=True, slots=True)
class Case:
    """A session on a desk of its own, as everybody reads it before it is edited."""

    name: str
    desk: Desk
    file: Path
    before: Readings
    judge: "Judge"
    """Whoever has to ask the client more."""
    listed: Listed | None = None
    """As the SDK lists it; None where it does not, or is not there to be asked."""

    @property
    def archive(self) -> Archive:
        """All that lies on the desk, looked at anew."""
        return Archive([self.desk.config])

    @property
    def chance(self) -> Random:
        """Choices that are the same in every run."""
        return Random(self.name)


@dataclass(frozen=True, slots=True)
class Edited:
    """The session that an edit left, as everybody reads it."""

    case: Case
    plan: Plan
    after: Readings
    listed: Listed | None
    """As the SDK lists it now."""
    moved_to: Path | None = None
    """Where it lies, if the plan is not about one log."""

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self.moved_to or self.plan.path


Faults: TypeAlias = Iterable[str]
"""What is not as it should be, in a few words each."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit that is to be done, and what has to be true then beside what is true of all."""

    plan: Plan
    faults: Callable[[Edited], Faults]
    desk: Desk | None = None
    """Where the client works then; None where it did before."""
    file: Path | None = None
    """The log that is left, if the plan is not about one."""


Operation: TypeAlias = Callable[[Case], Trial | None]
"""Plans one edit of a case; None where the session gives no occasion for it."""
