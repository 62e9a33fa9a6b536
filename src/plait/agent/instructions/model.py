"""A file of instructions as a value: whose they are, what they say, what they are for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["User", "Project", "Local"]
WHOSE: dict[Kind, str] = {
    "User": "user's private global instructions for all projects",
    "Project": "project instructions, checked into the codebase",
    "Local": "user's private project instructions, not checked in",
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One file."""

    path: Path
    kind: Kind
    content: str
    """What it says, without its head and its remarks."""
    raw: str
    """What it holds."""
    globs: tuple[str, ...] = ()
    """The files that it is for; without any it is for all."""
    parent: Path | None = None
    """The file that brings it in."""
    is_rule: bool = False
    """Whether it lies in a folder of rules."""

    @property
    def differs(self) -> bool:
        """Whether something of the file is not told."""
        return self.content != self.raw

    @property
    def as_told(self) -> str:
        """How it is told before all else."""
        return f"Contents of {self.path} ({WHOSE[self.kind]}):\n\n{self.content.strip()}"

    @property
    def fields(self) -> dict[str, Any]:
        """What the log keeps of one that came into play within a session."""
        told: dict[str, Any] = {
            "path": str(self.path),
            "type": self.kind,
            "content": self.content,
        }
        if self.globs:
            told["globs"] = [*self.globs]
        told["contentDiffersFromDisk"] = self.differs
        if self.differs:
            told["rawContent"] = self.raw
        if self.parent:
            told["parent"] = str(self.parent)
        return told | ({"isRule": True} if self.is_rule else {})
