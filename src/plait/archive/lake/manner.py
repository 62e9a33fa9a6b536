"""Whose sessions come into a lake, and what their rows are made by, to what stands for both."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING

from plait.archive.lake.known_words import ID
from plait.archive.lake.profiles import counted_id
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.lake.model import Labels, Profile
from plait.lake.schema import VERSION

if TYPE_CHECKING:
    from plait.redact.rules import Rules


@dataclass(frozen=True)
class Manner:
    """Whose sessions these are, and what their rows are made by."""

    labels: Labels
    profile: Profile = "full"
    prices: Prices = field(default_factory=Prices)
    key: bytes = field(default=b"", repr=False)
    """What stand-ins are made by in counts, and marks of sessions wherever names are hidden."""
    rules: "Rules | None" = None
    """What to hide besides the families, where sessions are redacted."""

    def __post_init__(self) -> None:
        if hides_names(self.profile) and not self.key:
            raise UserError(f"a lake of {self.profile} needs a key", "else names could be tried")

    @cached_property
    def fingerprint(self) -> str:
        """What stands for all that rows depend on besides the files."""
        own = (self.profile, self.labels, self.prices.lists, self.rules, self.digest("key"))
        return digest_of(VERSION, version("plait"), *own)

    def digest(self, text: str) -> str:
        """Returns what stands for a name: nobody without the key can try which one it is."""
        secret = blake2b(self.key, digest_size=32).digest() if self.key else b""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=8, key=secret).hexdigest()

    def shown_id(self, session: str) -> str:
        """Returns the id of a session as the rows of a lake have it."""
        return counted_id(self.key, session) if self.profile == "counts" else session

    def tells(self, session: str) -> bool:
        """Tells an id in a lake whose session can be told from it: names may be redacted."""
        return self.profile != "redacted" or ID.fullmatch(session) is not None


def hides_names(profile: Profile) -> bool:
    """Tells whether names have stand-ins in a lake of a profile."""
    return profile != "full"


def digest_of(*values: object) -> str:
    """Returns what stands for some values."""
    text = repr(values).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()
