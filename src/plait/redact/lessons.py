"""What one redactor has learnt or found to what another takes over, as plain values."""

from typing import NamedTuple

from plait.redact.model import Found, Hit
from plait.redact.stand_ins import Naming


class Lesson(NamedTuple):
    """What some texts teach."""

    named: tuple[Hit, ...] = ()
    """What they hold, each value once, in the order in which it stands there."""
    told: tuple[Hit, ...] = ()
    """What is to be looked for elsewhere too."""
    owners: tuple[tuple[bytes, Hit], ...] = ()
    """Whose logs they are: by name, or by home where the name is a word of every log."""
    quiet: bytes = b""
    """The marks of lines that teach nothing, eight bytes each."""


class Outcome(NamedTuple):
    """What was found in some texts by one that knew all that there is to know."""

    found: tuple[Found, ...]
    unsettled: tuple[Naming, ...]
    """Stand-ins that were not settled before: nobody else may have given them."""
