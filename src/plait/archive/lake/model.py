"""What is taken into a lake in one go, as values that another machine can be given."""

from dataclasses import dataclass, field
from pathlib import Path

from plait.archive.model import Session
from plait.lake.model import Labels, Profile
from plait.redact.rules import Rules


@dataclass(frozen=True, slots=True)
class Unit:
    """Sessions that share records and so must be read together; nearly always one alone."""

    sessions: tuple[Session, ...]
    """In the order in which they began."""
    builds: tuple[int, ...]
    """What tells the rows of each from those of any other building of it."""
    fingerprint: str
    labels: Labels
    profile: Profile
    roots: tuple[Path, ...]
    """What their files lie under: tables name files from there on."""
    key: bytes = field(default=b"", repr=False)
    """What stand-ins are made by in counts, and marks of sessions wherever names are hidden."""
    rules: Rules | None = None
    """What to hide besides the families, where sessions are redacted."""

    @property
    def family(self) -> str:
        """The session that the family is called by."""
        return self.sessions[0].id

    @property
    def size(self) -> int:
        """The bytes of all its log files."""
        return sum(file.size for one in self.sessions for file in one.files)
