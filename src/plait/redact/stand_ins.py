"""Placeholders: what replaces a value, and how the value is restored."""

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from plait.errors import SourceError, UserError
from plait.redact.model import Found, Hit, Kind

WRITTEN = re.compile(r"‹[^‹›]+ \d+(?:\.\d+)?(?:: [^‹›]*)?›")


class StandInUse(NamedTuple):
    """A value with a placeholder, its spelling, and the placeholder."""

    hit: Hit
    spelling: bytes | None
    """None if the value was only counted."""
    is_rest: bool
    stand_in: str


class Ledger:
    """Assigns placeholders to values.

    A value in another spelling, or split by a line break, keeps its number and gets a second one
    after a dot: `‹secret 3.1: github token›`. So each placeholder replaces exactly one string and
    can be reversed.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[Kind, bytes], int] = {}
        self.labels: dict[tuple[Kind, int], str] = {}
        self.key: dict[str, str] = {}
        """The value of each placeholder."""
        self._counts: dict[Kind, int] = {}
        self._spelled: dict[tuple[Kind, int, bytes], str] = {}
        self._spellings: dict[tuple[Kind, int], int] = {}
        self._settled: dict[Kind, int] | None = None
        self._unsettled: dict[tuple[Kind, bytes, bytes | None], StandInUse] = {}

    def settle(self) -> None:
        """Fix the numbers given so far as the basis for everybody."""
        self._settled = dict(self._counts)

    def copied(self) -> "Ledger":
        """Return a copy that gives the same placeholders, and notes new ones."""
        found = Ledger()
        found.numbers, found.labels, found.key = {**self.numbers}, {**self.labels}, {**self.key}
        found._counts, found._spelled = {**self._counts}, {**self._spelled}
        found._spellings = {**self._spellings}
        found._settled = self._settled
        return found

    @property
    def unsettled(self) -> list[StandInUse]:
        """New placeholders since the basis was fixed, in order."""
        return list(self._unsettled.values())

    def agrees(self, namings: list[StandInUse]) -> bool:
        """Give placeholders as another ledger did, and return whether they are equal."""
        for hit, spelling, is_rest, stand_in in namings:
            given = (
                self.name(hit)
                if spelling is None
                else self.stand_in(hit, spelling, is_rest=is_rest)
            )
            if given != stand_in:
                return False
        return True

    def number(self, hit: Hit) -> int:
        """Return the number of a value."""
        known = self.numbers.get((hit.kind, hit.value))
        if known is None:
            known = self._counts[hit.kind] = self._counts.get(hit.kind, 0) + 1
            self.numbers[hit.kind, hit.value] = known
            self.labels[hit.kind, known] = hit.label
        return known

    def name(self, hit: Hit) -> str:
        """Return the placeholder of a value in its own spelling."""
        name = _format_stand_in(
            hit.kind, str(number := self.number(hit)), self.labels[hit.kind, number]
        )
        if self._settled is not None and number > self._settled.get(hit.kind, 0):
            self._note(StandInUse(hit, None, False, name))
        return name

    def stand_in(self, hit: Hit, spelling: bytes, *, is_rest: bool = False) -> str:
        """Return the placeholder of a value in some spelling, or of the rest of it."""
        number = self.number(hit)
        spelled = self._spelled.get((hit.kind, number, spelling))
        if spelled is None:
            spelled = self._next(hit.kind, number, is_other=spelling != hit.value, is_rest=is_rest)
            self._spelled[hit.kind, number, spelling] = spelled
            self.key[spelled] = spelling.decode("utf-8", "surrogatepass")
        if self._settled is not None and (
            spelling != hit.value or number > self._settled.get(hit.kind, 0)
        ):
            self._note(StandInUse(hit, spelling, is_rest, spelled))
        return spelled

    def _note(self, naming: StandInUse) -> None:
        key = (naming.hit.kind, naming.hit.value, naming.spelling)
        if key not in self._unsettled:
            self._unsettled[key] = naming._replace(hit=naming.hit._replace(spans=()))

    def _next(self, kind: Kind, number: int, *, is_other: bool, is_rest: bool) -> str:
        name = str(number)
        if is_other:
            count = self._spellings[kind, number] = self._spellings.get((kind, number), 0) + 1
            name = f"{number}.{count}"
        return _format_stand_in(kind, name, "" if is_rest else self.labels[kind, number])


def _format_stand_in(kind: Kind, number: str, label: str) -> str:
    return f"‹{kind} {number}: {label}›" if label else f"‹{kind} {number}›"


def holds_stand_in(text: str) -> bool:
    """Return whether a text contains a placeholder."""
    return WRITTEN.search(text) is not None


def restore_text(text: str, key: dict[str, str]) -> str:
    """Return a text with its placeholders replaced by the values."""
    parts = text.split("‹")
    for place, part in enumerate(parts[1:], 1):
        name, end, rest = part.partition("›")
        value = key.get(f"‹{name}›") if end else None
        parts[place] = f"‹{part}" if value is None else value + rest
    return "".join(parts)


class Lesson(NamedTuple):
    """What some texts teach."""

    named: tuple[Hit, ...] = ()
    """The values they contain, each once, in order."""
    hits: tuple[Hit, ...] = ()
    """What to search for elsewhere too."""
    owners: tuple[tuple[bytes, Hit], ...] = ()
    """The users whose logs they are: by name, or by home if the name is a word in every log."""
    quiet: bytes = b""
    """Hashes of lines that teach nothing, eight bytes each."""


class CheckOutcome(NamedTuple):
    """What a redactor with complete knowledge found in some texts."""

    found: tuple[Found, ...]
    unsettled: tuple[StandInUse, ...]
    """Placeholders that were not fixed before: nobody else may have given them."""


def write_key(path: Path, key: dict[str, str]) -> None:
    """Write the replaced values to a new file that only its owner can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UserError(f"'{path}' exists", "a key is never overwritten") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{path}': {reason}") from error
    with os.fdopen(handle, "wb") as file:
        file.write(json.dumps(key, indent=2).encode() + b"\n")


def read_key(path: Path) -> dict[str, str]:
    """Return the replaced values by their placeholders."""
    try:
        key = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"cannot read the key '{path}': {error}") from error
    if not isinstance(key, dict) or not all(isinstance(value, str) for value in key.values()):
        raise SourceError(f"'{path}' is not a key of plait redact")
    return key
