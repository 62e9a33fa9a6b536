"""Those whose logs these are to lines without them: their names stand in nearly every line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from plait.redact.known_values import KnownValues, is_telling
from plait.redact.model import Hit
from plait.redact.stand_ins import Ledger

AROUND = frozenset(((b"/", b"/"), (b"/", b'"'), (b"-", b"-")))
HOME = re.compile(rb"/(?:home|Users)/(?![A-Z][A-Z0-9-]+\Z)[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""A home whose owner is the step behind it: what is all capitals may be a domain before one."""
HOME_KEYS = tuple(
    b'"%b":' % key.encode() for key in "cwd file_path filePath notebook_path path".split()
)
BEFORE_HOMES = (*HOME_KEYS, b"{", b"},")
"""What stands before a path that no word around it makes anything else."""


@dataclass
class Owners:
    """The users whose logs these are."""

    names: dict[bytes, Hit] = field(default_factory=dict)
    homes: dict[bytes, Hit] = field(default_factory=dict)
    """Of those whose names are words of every log."""

    def add(self, hit: Hit, home: bytes, known: KnownValues) -> None:
        """Remembers a user, and the home that told of them."""
        if is_telling(hit.value):
            known.add_word(hit.value, "user")
            self.names[hit.value] = hit
        elif HOME.fullmatch(home):
            self.homes[home] = hit

    def hits(self) -> Iterator[tuple[bytes, Hit]]:
        """Yields each user with the home that told of them, or the name."""
        for found in (self.names, self.homes):
            yield from ((name, hit._replace(spans=())) for name, hit in found.items())

    def copied(self) -> "Owners":
        """Returns the same, to be added to."""
        return Owners({**self.names}, {**self.homes})

    def replaced(self, raw: bytes, ledger: Ledger) -> tuple[bytes, list[Hit]]:
        """Returns a line with stand-ins for them in paths, at once, and what was replaced."""
        hits: list[Hit] = []
        for name, hit in self.names.items():
            if name in raw:
                raw, count = _without_name(raw, name, ledger.stand_in(hit, name).encode())
                hits += [hit] * count
        for home, hit in self.homes.items():
            if home in raw:
                stand_in = ledger.stand_in(hit, hit.value).encode()
                raw, count = _without_home(raw, home, hit.value, stand_in)
                hits += [hit] * count
        return raw, hits


def _without_name(raw: bytes, name: bytes, stand_in: bytes) -> tuple[bytes, int]:
    """Returns a line with something else for a name that is a step of paths, and how often."""
    parts = raw.split(name)
    last, count = parts[0], 0
    found = [last]
    for part in parts[1:]:
        is_step = (last[-1:], part[:1]) in AROUND
        found += (stand_in if is_step else name, part)
        last, count = part, count + is_step
    return b"".join(found), count


def _without_home(raw: bytes, home: bytes, name: bytes, stand_in: bytes) -> tuple[bytes, int]:
    """Returns a line with another name for the owner of a home where a path begins with it."""
    parts = raw.split(b'"' + home)
    last, count = parts[0], 0
    found = [last]
    for part in parts[1:]:
        is_home = part[:1] in (b"/", b'"') and last.endswith(BEFORE_HOMES)
        found += (b'"', home.removesuffix(name), stand_in if is_home else name, part)
        last, count = part, count + is_home
    return b"".join(found), count
