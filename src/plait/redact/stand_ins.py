"""Stand-ins: what replaces a value, and how the value is restored."""

import re
from typing import NamedTuple

from plait.redact.model import Found, Hit, Kind

WRITTEN = re.compile(r"‹[^‹›]+ \d+(?:\.\d+)?(?:: [^‹›]*)?›")


class StandInUse(NamedTuple):
    """A value for which a stand-in was made, how it was written, and what is in for it."""

    hit: Hit
    spelling: bytes | None
    """None where the value was counted alone."""
    is_rest: bool
    stand_in: str


class Ledger:
    """Remembers which stand-in belongs to which value.

    A value that is written in another way, or cut by a line break, keeps its number and gets
    a second one after a dot: `‹secret 3.1: github token›`. So each stand-in replaces exactly
    one string, and what was replaced can be put back.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[Kind, bytes], int] = {}
        self.labels: dict[tuple[Kind, int], str] = {}
        self.key: dict[str, str] = {}
        """What each stand-in replaces."""
        self._counts: dict[Kind, int] = {}
        self._spelled: dict[tuple[Kind, int, bytes], str] = {}
        self._spellings: dict[tuple[Kind, int], int] = {}
        self._settled: dict[Kind, int] | None = None
        self._unsettled: dict[tuple[Kind, bytes, bytes | None], StandInUse] = {}

    def settle(self) -> None:
        """Hold the numbers that were given so far for what everybody goes by."""
        self._settled = dict(self._counts)

    def copied(self) -> "Ledger":
        """Return another that gives the same stand-ins, and notes which were not settled."""
        found = Ledger()
        found.numbers, found.labels, found.key = {**self.numbers}, {**self.labels}, {**self.key}
        found._counts, found._spelled = {**self._counts}, {**self._spelled}
        found._spellings = {**self._spellings}
        found._settled = self._settled
        return found

    @property
    def unsettled(self) -> list[StandInUse]:
        """What was asked for and does not follow from what was settled, in order."""
        return list(self._unsettled.values())

    def agrees(self, namings: list[StandInUse]) -> bool:
        """Give stand-ins as another did, and tells whether they are the same."""
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
        """Return the stand-in of a value that is written as it is."""
        name = _format_stand_in(
            hit.kind, str(number := self.number(hit)), self.labels[hit.kind, number]
        )
        if self._settled is not None and number > self._settled.get(hit.kind, 0):
            self._note(StandInUse(hit, None, False, name))
        return name

    def stand_in(self, hit: Hit, spelling: bytes, *, is_rest: bool = False) -> str:
        """Return what is in for a value that is written so, or for the rest of it."""
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
    """Return whether something is in for a value in a text."""
    return WRITTEN.search(text) is not None


def restore_text(text: str, key: dict[str, str]) -> str:
    """Return a text with the values back instead of their stand-ins."""
    parts = text.split("‹")
    for place, part in enumerate(parts[1:], 1):
        name, end, rest = part.partition("›")
        value = key.get(f"‹{name}›") if end else None
        parts[place] = f"‹{part}" if value is None else value + rest
    return "".join(parts)


class Lesson(NamedTuple):
    """What some texts teach."""

    named: tuple[Hit, ...] = ()
    """What they hold, each value once, in the order in which it is there."""
    hits: tuple[Hit, ...] = ()
    """What is to be looked for elsewhere too."""
    owners: tuple[tuple[bytes, Hit], ...] = ()
    """Whose logs they are: by name, or by home where the name is a word of every log."""
    quiet: bytes = b""
    """The marks of lines that teach nothing, eight bytes each."""


class CheckOutcome(NamedTuple):
    """What was found in some texts by one that knew all that there is to know."""

    found: tuple[Found, ...]
    unsettled: tuple[StandInUse, ...]
    """Stand-ins that were not settled before: nobody else may have given them."""
