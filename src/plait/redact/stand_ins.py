"""Values that were recognised once to all their copies, and to what stands in for them."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from plait.redact.look_alikes import is_behind_stand_in, is_plain_word
from plait.redact.model import Hit, Kind, TextSpan
from plait.redact.people import NOBODY
from plait.redact.scan import BEST, Engine, compiled

LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
LEAST_SECRET, MOST_SECRET = 6, 4096
LEAST_WORD = 4
NOT_ALPHANUMERIC = re.compile(rb"[^A-Za-z0-9]")
# Names that are also words of every log.
WORDS = frozenset(
    b"""code main work data home temp dist build claude agent model prompt python java ruby rust
    docs mark will bill rich sage grant chase drew rose may june april august faith hope joy king
    page read write edit file line text note list view open close master branch""".split()
)


class Known(NamedTuple):
    """A string to look for, and the part of it that is the value."""

    hit: Hit
    part: TextSpan
    is_word: bool


class KnownValues:
    """All that was recognised so far."""

    def __init__(self, engine: Engine = BEST) -> None:
        self.engine = engine
        self.strings: dict[bytes, Known] = {}
        self._finder: Any = None
        self._added: set[tuple[Kind, bytes]] = set()

    def add(self, hit: Hit) -> None:
        """Remembers a value that something else told."""
        if (hit.kind, hit.value) in self._added:
            return
        self._added.add((hit.kind, hit.value))
        match hit.kind:
            case "secret":
                if LEAST_SECRET <= len(hit.value) <= MOST_SECRET and b"\n" not in hit.value:
                    for written in _spellings(hit.value):
                        self._add(written, hit, TextSpan(0, len(written)), is_word=False)
            case "user":
                name = NOT_ALPHANUMERIC.sub(b"-", hit.value)
                for folder in (b"-home-", b"-Users-"):
                    part = TextSpan(len(folder), len(folder) + len(name))
                    self._add(folder + name, hit, part, is_word=True)
            case "host" | "email" | "account":
                if is_telling(hit.value):
                    self._add(hit.value, hit, TextSpan(0, len(hit.value)), is_word=True)

    def add_word(self, value: bytes, kind: Kind) -> None:
        """Remembers a word that stands for itself wherever it stands alone."""
        hit = Hit(kind, "", value, (TextSpan(0, len(value)),))
        self._add(value, hit, TextSpan(0, len(value)), is_word=True)

    def _add(self, string: bytes, hit: Hit, part: TextSpan, *, is_word: bool) -> None:
        if string not in self.strings:
            self.strings[string] = Known(hit, part, is_word)
            self._finder = None

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Yields the copies in a text."""
        place = 0
        while self.strings and (match := self.finder.search(text, place)):
            start, end = match.span()
            known = self.strings[text[start:end]]
            if known.is_word and not _is_alone(text, start, end):
                place = start + 1
                continue
            place = end
            part = TextSpan(start + known.part.start, start + known.part.end)
            yield known.hit._replace(spans=(part,))

    @property
    def finder(self) -> Any:
        """The expression for all strings, the longest first."""
        if self._finder is None:
            longest = sorted(self.strings, key=len, reverse=True)
            self._finder = compiled(b"|".join(map(_escaped, longest)), self.engine)
        return self._finder


def _spellings(value: bytes) -> Iterator[bytes]:
    yield value
    text = value.decode("utf-8", "replace")
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    yield quote(text, safe="").encode()
    if len(value) >= 8:
        for shift in range(3):
            # The letters at both ends also hold bits of what stands beside the value.
            whole = base64.b64encode(b"\0" * shift + value).rstrip(b"=")
            yield whole[(0, 2, 3)[shift] : len(whole) - ((shift + len(value)) % 3 != 0)]


def is_telling(name: bytes) -> bool:
    """Tells whether a name is rare enough to be replaced wherever it stands alone."""
    lower = name.lower()
    is_common = lower in NOBODY or lower in WORDS or is_plain_word(lower)
    return len(name) >= LEAST_WORD and not is_common and not name.isdigit()


def _is_alone(text: bytes, start: int, end: int) -> bool:
    if end < len(text) and text[end] in LETTERS:
        return False
    if start == 0 or text[start] not in LETTERS:
        return True
    if text[start - 1] not in LETTERS:
        return not is_behind_stand_in(text, start)
    return start > 1 and text[start - 2] == 0x5C and text[start - 1] in b"nrt"


def _escaped(string: bytes) -> bytes:
    return b"".join(bytes((one,)) if one in LETTERS else b"\\x%02x" % one for one in string)


class Ledger:
    """Remembers which stand-in belongs to which value.

    A value that is written in another way, or cut by a line break, keeps its number and gets
    a second one behind a dot: `‹secret 3.1: github token›`. So each stand-in stands for exactly
    one string, and what was replaced can be put back.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[Kind, bytes], int] = {}
        self.labels: dict[tuple[Kind, int], str] = {}
        self.key: dict[str, str] = {}
        """What each stand-in stands for."""
        self._counts: dict[Kind, int] = {}
        self._spelled: dict[tuple[Kind, int, bytes], str] = {}
        self._spellings: dict[tuple[Kind, int], int] = {}

    def number(self, hit: Hit) -> int:
        """Returns the number of a value."""
        known = self.numbers.get((hit.kind, hit.value))
        if known is None:
            known = self._counts[hit.kind] = self._counts.get(hit.kind, 0) + 1
            self.numbers[hit.kind, hit.value] = known
            self.labels[hit.kind, known] = hit.label
        return known

    def name(self, hit: Hit) -> str:
        """Returns the stand-in of a value that is written as it is."""
        return _written(hit.kind, str(number := self.number(hit)), self.labels[hit.kind, number])

    def stand_in(self, hit: Hit, spelling: bytes, *, is_rest: bool = False) -> str:
        """Returns what stands in for a value that is written so, or for the rest of it."""
        number = self.number(hit)
        spelled = self._spelled.get((hit.kind, number, spelling))
        if spelled is None:
            spelled = self._next(hit.kind, number, is_other=spelling != hit.value, is_rest=is_rest)
            self._spelled[hit.kind, number, spelling] = spelled
            self.key[spelled] = spelling.decode("utf-8", "surrogatepass")
        return spelled

    def _next(self, kind: Kind, number: int, *, is_other: bool, is_rest: bool) -> str:
        name = str(number)
        if is_other:
            count = self._spellings[kind, number] = self._spellings.get((kind, number), 0) + 1
            name = f"{number}.{count}"
        return _written(kind, name, "" if is_rest else self.labels[kind, number])


def _written(kind: Kind, number: str, label: str) -> str:
    return f"‹{kind} {number}: {label}›" if label else f"‹{kind} {number}›"


def restored(text: str, key: dict[str, str]) -> str:
    """Returns a text with the values back in the place of their stand-ins."""
    parts = text.split("‹")
    for place, part in enumerate(parts[1:], 1):
        name, end, rest = part.partition("›")
        value = key.get(f"‹{name}›") if end else None
        parts[place] = f"‹{part}" if value is None else value + rest
    return "".join(parts)
