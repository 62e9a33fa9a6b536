"""The redactor: finds secrets in texts and records, remembers them, replaces them everywhere.

A value that was recognised once is replaced in all its copies: encoded, truncated, broken over
lines. A few known values are one expression. If there are many, each text is probed at every
seventh character for six characters of a known value, so the time grows with the text alone.

A log on stdin is not plain text: each line is read as a record, as everywhere else.
"""

import base64
import html
import json
import re
from array import array
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar
from urllib.parse import quote

from plait.record import Record, parse_record
from plait.record.codec import NotAnObject, decode_envelope, decode_object
from plait.redact.contexts import CONTEXTS
from plait.redact.expression import BEST, Engine, Expression, Search, compile_expression
from plait.redact.formats import FORMAT_GATES, FORMATS
from plait.redact.labelled import FORMS, GATES, SECRETS, has_harmless_label
from plait.redact.likelihood import GAP, STAND_IN, is_behind_stand_in, is_plain_word, is_random
from plait.redact.model import (
    GROUP_OF,
    GROUPS,
    Family,
    Found,
    Group,
    Hit,
    Island,
    Kind,
    Place,
    Report,
    TextSpan,
)
from plait.redact.people import AUTHORS, GIVEN_NAMED, LOGINS, MACHINES, NOBODY, PEOPLE
from plait.redact.personal import GATES_OF_PEOPLE, PERSONAL
from plait.redact.rules import CustomRules, Rules
from plait.redact.stand_ins import CheckOutcome, Ledger, Lesson, restore_text
from plait.redact.strict import STRICT, SUSPECTED, is_worth_remembering
from plait.redact.texts import (
    WRAPPING,
    Joined,
    Tree,
    collect_texts,
    holds_more,
    is_wrapped,
    iter_views,
    unwrap,
)
from plait.redact.tokens import ENCODED, KEYS, LABEL, NUMBERS, decode_value

LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
LEAST_SECRET, MOST_SECRET = 6, 4096
LEAST_WORD = 4
LEAST_CUT, HEAD = 16, 10
SHARED_BEGINNINGS = (b"LS0tLS1CRUdJTiB", b"-----BEGIN", b"eyJ", b"MII")
"""How values begin that are secret, and others that are not."""
NOT_ALPHANUMERIC = re.compile(rb"[^A-Za-z0-9]")
ESCAPED = re.compile(rb'[\x00-\x1f"\\]')
"""Characters that a line of a log escapes."""
# Names that are also words in every log.
WORDS = frozenset(
    b"""code main work data home temp dist build claude agent model prompt python java ruby rust
    docs mark will bill rich sage grant chase drew rose may june april august faith hope joy king
    page read write edit file line text note list view open close master branch""".split()
)
FEW: dict[Engine, int] = {"re2": 2000, "re": 60}
"""How many strings one expression holds."""
MOST_LETTERS = 100_000
"""Their total length: the automaton of a longer expression would not fit."""
RENEWALS = 100
"""How often the expression is rebuilt before the other method is used."""
BEGINNING = 16
"""Characters that many strings may have in common: what follows them is probed."""
SIZES = ((4, 4, 1), (6, 4, 3), (12, 6, 7))
"""Minimum length, number of characters to probe, and probing distance."""


class KnownString(NamedTuple):
    """A string to search for, and the part of it that is the value."""

    hit: Hit
    part: TextSpan
    is_word: bool
    is_head: bool = False
    """Whether the string is only the beginning of the value."""


class KnownValues:
    """Everything recognised so far."""

    def __init__(self, engine: Engine = BEST) -> None:
        self.engine = engine
        self.strings: dict[bytes, KnownString] = {}
        self._finder: Any = None
        self._renewed = 0
        self._samples: list[dict[bytes, list[tuple[bytes, int]]]] | None = None
        self._added: dict[tuple[Kind, bytes], Hit] = {}
        self._letters = 0
        self._has_escapes = False
        self._is_shared = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_finder": None}  # a compiled expression stays in its process

    @property
    def taught_hits(self) -> Iterator[Hit]:
        """Everything that was taught, in order."""
        return (hit._replace(spans=()) for hit in self._added.values())

    def copied(self) -> "KnownValues":
        """Return a copy that learns independently."""
        found = copy(self)
        found.strings, found._added = {**self.strings}, {**self._added}
        found._is_shared = self._samples is not None
        return found

    def add(self, hit: Hit) -> None:
        """Add a value that its surroundings revealed."""
        if (hit.kind, hit.value) in self._added:
            return
        self._added[hit.kind, hit.value] = hit
        match hit.kind:
            case "secret":
                if LEAST_SECRET <= len(hit.value) <= MOST_SECRET and b"\n" not in hit.value:
                    for written in dict.fromkeys(_spellings(hit.value)):
                        part = TextSpan(0, len(written))
                        self._remember(written, KnownString(hit, part, is_word=False))
                    is_begun = not hit.value.startswith(SHARED_BEGINNINGS)
                    if len(hit.value) >= LEAST_CUT and is_begun and is_random(hit.value):
                        known = KnownString(hit, TextSpan(0, HEAD), is_word=False, is_head=True)
                        self._remember(hit.value[:HEAD], known)
            case "user":
                name = NOT_ALPHANUMERIC.sub(b"-", hit.value)
                for folder in (b"-home-", b"-Users-"):
                    part = TextSpan(len(folder), len(folder) + len(name))
                    self._remember(folder + name, KnownString(hit, part, is_word=True))
            case "host" | "email" | "account" | "phone":
                if is_distinctive(hit.value):
                    part = TextSpan(0, len(hit.value))
                    self._remember(hit.value, KnownString(hit, part, is_word=True))

    def add_word(self, value: bytes, kind: Kind) -> None:
        """Add a word to replace wherever it occurs alone."""
        part = TextSpan(0, len(value))
        self._remember(value, KnownString(Hit(kind, "", value, (part,)), part, is_word=True))

    def _remember(self, string: bytes, known: KnownString) -> None:
        if string in self.strings:
            return
        self.strings[string] = known
        self._letters += len(string)
        self._finder = None
        self._has_escapes = self._has_escapes or ESCAPED.search(string) is not None
        if self._samples is not None:
            if self._is_shared:
                # Copies share the samples until one of them learns something: they are large.
                self._samples = [
                    {gram: [*held] for gram, held in grams.items()} for grams in self._samples
                ]
                self._is_shared = False
            self._sample(string)

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Yield the copies in a text."""
        if not self.strings:
            return
        place = 0
        while match := self._next(text, place):
            known = self.strings[text[match.start : match.end]]
            if known.is_word and not _is_alone(text, match.start, match.end):
                place = match.start + 1
                continue
            if known.is_head:
                spans = _cut(text, match, known)
            else:
                part = known.part
                spans = (TextSpan(match.start + part.start, match.start + part.end),)
            place = max(spans[-1].end, match.start + 1)
            yield known.hit._replace(spans=spans)

    def may_stand_in(self, line: bytes) -> bool:
        """Return whether a line of a log may contain a copy, without decoding it.

        True if its bytes do not tell: they are escaped differently from the values.
        """
        if not self.strings:
            return False
        is_literal = not (self._has_escapes or b"\\u" in line or b"\\/" in line)
        return not is_literal or self._next(line, 0) is not None

    def _next(self, text: bytes, place: int) -> TextSpan | None:
        """Return the first of the strings after a position, the longest of those that begin there."""
        if not self._is_large():
            match = self.finder.search(text, place)
            return TextSpan(*match.span()) if match else None
        found: list[TextSpan] = []
        for (_, width, step), grams in zip(SIZES, self._samples or (), strict=True):
            if grams and (text_span := self._first(text, place, width, step, grams)):
                found.append(text_span)
        return min(found, key=lambda span: (span.start, -span.end), default=None)

    def _is_large(self) -> bool:
        if self._samples is None:
            is_short = self._letters <= MOST_LETTERS
            if is_short and len(self.strings) <= FEW[self.engine] and self._renewed < RENEWALS:
                return False
            self._samples = [{} for _ in SIZES]
            for string in self.strings:
                self._sample(string)
        return True

    def _sample(self, string: bytes) -> None:
        size = max(n for n, (least, _, _) in enumerate(SIZES) if n == 0 or len(string) >= least)
        _, width, step = SIZES[size]
        last = max(0, len(string) - width)
        first = max(0, min(BEGINNING, last - step + 1))
        for offset in range(first, min(first + step, last + 1)):
            gram = string[offset : offset + width]
            self._samples[size].setdefault(gram, []).append((string, offset))  # type: ignore[index]

    def _first(
        self,
        text: bytes,
        place: int,
        width: int,
        step: int,
        grams: dict[bytes, list[tuple[bytes, int]]],
    ) -> TextSpan | None:
        best: TextSpan | None = None
        for at in range(place, len(text) - width + 1, step):
            if (gram := text[at : at + width]) not in grams:
                continue
            for string, offset in grams[gram]:
                start = at - offset
                if start >= place and text.startswith(string, start):
                    span = TextSpan(start, start + len(string))
                    if best is None or (span.start, -span.end) < (best.start, -best.end):
                        best = span
            if best is not None and at > best.start + BEGINNING + step:
                break
        return best

    @property
    def finder(self) -> Any:
        """The expression for all strings, longest first."""
        if self._finder is None:
            longest = sorted(self.strings, key=len, reverse=True)
            self._finder = compile_expression(b"|".join(map(_escaped, longest)), self.engine)
            self._renewed += 1
        return self._finder


def _cut(text: bytes, match: TextSpan, known: KnownString) -> tuple[TextSpan, ...]:
    """Return how far a value continues after its beginning, across line breaks."""
    value, spans, place = known.hit.value, [], HEAD
    start, end = match.start, match.end
    while place < len(value):
        while place < len(value) and text[end : end + 1] == value[place : place + 1]:
            place, end = place + 1, end + 1
        gap = GAP.match(text, end)
        if (
            gap is None
            or gap.end() == end
            or text[gap.end() : gap.end() + 1] != value[place : place + 1]
        ):
            break
        spans.append(TextSpan(start, end))
        start = end = gap.end()
    spans.append(TextSpan(start, end))
    return tuple(span for span in spans if span.start < span.end)


def _spellings(value: bytes) -> Iterator[bytes]:
    yield value
    text = value.decode("utf-8", "replace")
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    yield quote(text, safe="").encode()
    yield html.escape(text).encode("utf-8", "replace")
    if len(value) >= 8:
        yield value.hex().encode()
        for shift in range(3):
            # The characters at both ends also hold bits of the value's neighbours.
            encoded = base64.b64encode(b"\0" * shift + value).rstrip(b"=")
            inner = encoded[(0, 2, 3)[shift] : len(encoded) - ((shift + len(value)) % 3 != 0)]
            yield inner
            yield inner.translate(bytes.maketrans(b"+/", b"-_"))
    if len(value) >= LEAST_CUT and is_random(value):
        yield value.upper()
        yield value.lower()


def is_distinctive(name: bytes) -> bool:
    """Return whether a name is rare enough to be replaced wherever it occurs alone."""
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
    return b"".join(
        bytes((number,)) if number in LETTERS else b"\\x%02x" % number for number in string
    )


AROUND = frozenset(((b"/", b"/"), (b"/", b'"'), (b"-", b"-")))
HOME = re.compile(rb"/(?:home|Users)/(?![A-Z][A-Z0-9-]+\Z)[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""A home directory whose owner is the next component: all capitals may be a domain before it."""
HOME_KEYS = tuple(
    b'"%b":' % key.encode() for key in "cwd file_path filePath notebook_path path".split()
)
BEFORE_HOMES = (*HOME_KEYS, b"{", b"},")
"""Characters that may precede a path."""


@dataclass
class Owners:
    """The users whose logs these are."""

    names: dict[bytes, Hit] = field(default_factory=dict)
    homes: dict[bytes, Hit] = field(default_factory=dict)
    """Homes of users whose names are words in every log."""

    def add(self, hit: Hit, home: bytes, known: KnownValues) -> None:
        """Add a user, and the home directory that revealed the name."""
        if is_distinctive(hit.value):
            known.add_word(hit.value, "user")
            self.names[hit.value] = hit
        elif HOME.fullmatch(home):
            self.homes[home] = hit

    def hits(self) -> Iterator[tuple[bytes, Hit]]:
        """Yield each user with the home directory that revealed it, or the name."""
        for found in (self.names, self.homes):
            yield from ((name, hit._replace(spans=())) for name, hit in found.items())

    def copied(self) -> "Owners":
        """Return a copy that can be added to."""
        return Owners({**self.names}, {**self.homes})

    def replaced(self, raw: bytes, ledger: Ledger) -> tuple[bytes, list[Hit]]:
        """Return a line with their names in paths replaced, and what was replaced."""
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
    """Return a line with a path component replaced, and how often."""
    parts = raw.split(name)
    last, count = parts[0], 0
    found = [last]
    for part in parts[1:]:
        # Cheaper than an expression: most lines of a log contain the owner's home.
        is_step = (last[-1:], part[:1]) in AROUND
        found += (stand_in if is_step else name, part)
        last, count = part, count + is_step
    return b"".join(found), count


def _without_home(raw: bytes, home: bytes, name: bytes, stand_in: bytes) -> tuple[bytes, int]:
    """Return a line with the owner of a home replaced where a path begins with it."""
    parts = raw.split(b'"' + home)
    last, count = parts[0], 0
    found = [last]
    for part in parts[1:]:
        is_home = part[:1] in (b"/", b'"') and last.endswith(BEFORE_HOMES)
        found += (b'"', home.removesuffix(name), stand_in if is_home else name, part)
        last, count = part, count + is_home
    return b"".join(found), count


Rows: TypeAlias = tuple[tuple[Family, ...], ...]
# What begins at one position is decided by the first family of a group that accepts it. Each group
# is an expression of its own: the states of an automaton grow with the product of its alternatives.
PARTS: tuple[Rows, ...] = (
    (KEYS, *CONTEXTS),
    (PEOPLE,),
    (LOGINS, (*MACHINES, *AUTHORS), GIVEN_NAMED, (*NUMBERS, *ENCODED)),
)
ROWS: Rows = tuple(chain.from_iterable(PARTS))
FAMILIES: tuple[Family, ...] = tuple(chain.from_iterable(ROWS))
MOST_LAYERS = 3
CONTEXT_LABELS = frozenset((SUSPECTED, *(family.label for family in chain.from_iterable(CONTEXTS))))
STAND_INS = re.compile(STAND_IN)
VIEWED: Rows = (SECRETS, FORMS, PERSONAL)
# Two expressions: four passes over every text cost more than the states of their product, and the
# states of all of them together cost more than a second pass.
FORMAT_FINDER = compile_expression("|".join(f"(?:{gate})" for gate in FORMAT_GATES).encode())
LABEL_FINDERS = (
    compile_expression("|".join(f"(?:{gate})" for gate in (*GATES, *GATES_OF_PEOPLE)).encode()),
    FORMAT_FINDER,
)


class Texts(Protocol):
    """Joined texts and their positions."""

    @property
    def data(self) -> bytes:
        """All texts, joined."""

    @property
    def islands(self) -> Sequence[Island]:
        """Where they are."""


class Scanner:
    """Searches for some groups of things."""

    def __init__(
        self, groups: Collection[Group] = GROUPS, engine: Engine = BEST, *, strict: bool = False
    ) -> None:
        kinds = frozenset(kind for kind, group in GROUP_OF.items() if group in groups)
        self.engine = engine
        parts = (*PARTS, (STRICT,)) if strict else PARTS
        expressions = (_expression_of(kinds, engine, part) for part in parts)
        self.expressions = [expression for expression in expressions if expression.families]
        self.keys = _keys_of(engine)
        self.viewed = _expression_of(kinds, engine, VIEWED)
        self.viewed_with_formats = _expression_of(kinds, engine, (*VIEWED, FORMATS))
        self._window_cache: dict[bytes, list[Hit]] = {}

    def hits_in(self, source: Texts) -> Iterator[Hit]:
        """Yield what the ranges of a joined text contain, each read as if it were alone.

        All of it is searched once for beginnings; a range is read from there on.
        """
        for expression in self.expressions:
            for island, place in _touched(source, expression.finders):
                yield from self._hits_of(expression, source.data, island.span, place)
                for part in iter_touched_texts(island, place, source.data, expression.finders):
                    yield from self._hits_of(expression, source.data, part, 0)
        wrapped = _touched(source, (WRAPPING,)) if is_wrapped(source.data) else ()
        for (span, parts), _ in wrapped:
            for start, end in (span, *parts):
                yield from (hit.moved(start) for hit in self._seen_hits(source.data[start:end]))
        for (span, parts), _ in _touched(source, LABEL_FINDERS):
            for start, end in (span, *parts):
                yield from (hit.moved(start) for hit in self._view_hits(source.data[start:end]))

    def _hits_of(
        self, expression: Expression, text: bytes, span: TextSpan, place: int
    ) -> Iterator[Hit]:
        inner = text[span.start : span.end]
        for hit in self._rename_hits(expression.hits(inner, place), inner):
            yield hit.moved(span.start)

    def hits(self, text: bytes) -> list[Hit]:
        """Return what a text contains, as written and as shown."""
        found = self.named_hits(text)
        if is_wrapped(text):
            found += self._seen_hits(text)
        found += self._view_hits(text)
        return found

    def named_hits(self, text: bytes) -> list[Hit]:
        """Return what a text contains as written, each by its most specific name."""
        found = (self._rename_hits(expression.hits(text), text) for expression in self.expressions)
        return list(chain.from_iterable(found))

    def _view_hits(self, text: bytes) -> Iterator[Hit]:
        """Yield what the labels in a text reveal, also when its wrappings are removed."""
        for window in iter_windows(text):
            part = text[slice(*window)]
            found = self._window_cache.get(part)
            if found is None:
                if len(self._window_cache) >= MOST_CACHED:
                    self._window_cache.clear()
                found = self._window_cache[part] = list(self._iter_window_hits(part))
            for hit in found:
                yield hit.moved(window.start)

    def _iter_window_hits(self, text: bytes) -> Iterator[Hit]:
        has_format = FORMAT_FINDER.search(text) is not None
        viewed = self.viewed_with_formats if has_format else self.viewed
        yield from self._rename_hits(viewed.hits(text), text)
        for view in iter_views(text):
            labelled = self._rename_hits(viewed.hits(view.text), view.text)
            for hit in chain(self.named_hits(view.text), labelled):
                yield hit._replace(spans=tuple(view.source(span) for span in hit.spans))

    def _seen_hits(self, text: bytes) -> Iterator[Hit]:
        seen = unwrap(text)
        for hit in chain(self.named_hits(seen.text), self._view_hits(seen.text)):
            yield hit._replace(spans=tuple(seen.source(span) for span in hit.spans))

    def _rename_hits(self, hits: Iterable[Hit], text: bytes) -> Iterator[Hit]:
        for hit in hits:
            named = self.decode_hit(hit) if hit.label == LABEL else self.renamed(hit, text)
            is_known = hit.kind != "secret" or hit.label not in CONTEXT_LABELS
            if named and (is_known or not has_harmless_label(text, hit.start, hit.end)):
                yield named

    def renamed(self, hit: Hit, text: bytes) -> Hit:
        """Return a hit found by its surroundings, labelled by its own form."""
        if hit.kind != "secret" or hit.label not in CONTEXT_LABELS:
            return hit
        key = next(iter(self.keys.second_look(text, hit.start)), None)
        return key if key and key.end >= hit.end else hit

    def decode_hit(self, hit: Hit, layers: int = MOST_LAYERS) -> Hit | None:
        """Return the secret in an encoded text; None if it contains none."""
        text = decode_value(hit.value)
        inner = self._secret_in(text, layers) if text else None
        return hit._replace(label=inner.label, value=inner.value, hint="") if inner else None

    def _secret_in(self, text: bytes, layers: int) -> Hit | None:
        secrets = _expression_of(frozenset(["secret"]), self.engine, ROWS)
        texts = (text, unwrap(text).text) if is_wrapped(text) else (text,)
        for hit in chain.from_iterable(secrets.hits(text) for text in texts):
            if hit.label != LABEL:
                return hit
            if layers and (inner := self.decode_hit(hit, layers - 1)):
                return inner
        return None


MOST_CACHED = 1000
"""Parts of texts whose hits are kept: a text is read when something is learnt and when it is
replaced, and results of tools repeat their lines.
"""
BEFORE_LABEL, BEHIND_LABEL = 200, 800
"""How much of a text around a label is read again without its wrappings."""


def iter_windows(text: bytes) -> Iterator[TextSpan]:
    """Yield the parts of a text around its labels, from the start of a line to the end of one."""
    search = Search(LABEL_FINDERS, text)
    first = last = -1
    label = search.next(0)
    while label:
        start = max(0, label.start - BEFORE_LABEL)
        if start:
            start = max(text.find(b"\n", start, label.start) + 1, start)
        if first >= 0 and start > last:
            yield TextSpan(first, last)
            first = -1
        first = start if first < 0 else first
        end = min(len(text), label.end + BEHIND_LABEL)
        line = text.rfind(b"\n", label.end, end) if end < len(text) else -1
        last = max(last, line if line >= 0 else end)
        label = search.next(max(label.end, label.start + 1))
    if first >= 0:
        yield TextSpan(first, last)


def _touched(source: Texts, finders: Sequence[Any]) -> Iterator[tuple[Island, int]]:
    """Yield the ranges in which a match begins or ends, and the position of the first in them."""
    search = Search(finders, source.data)
    match = search.next(0)
    starts = [island.span.start for island in source.islands] if match else []
    done = 0
    while match and done < len(starts):
        first = max(bisect_right(starts, match.start) - 1, done)
        last = max(bisect_right(starts, match.end - 1) - 1, first)
        for number in range(first, last + 1):
            if match.start < source.islands[number].span.end:
                yield source.islands[number], max(0, match.start - starts[number])
        done = last + 1
        match = search.next(max(source.islands[last].span.end, match.start + 1))


def iter_touched_texts(
    island: Island, place: int, text: bytes, finders: Sequence[Any]
) -> Iterator[TextSpan]:
    """Yield the texts of a range in which something may be found when read alone.

    What begins in such a text begins in the range too, or with the break before it.
    """
    first, end = island.span
    if any(part.start > first and text[part.start - 1] not in b"\n\0" for part in island.parts):
        yield from island.parts
        return
    starts = [part.start - first for part in island.parts]
    search = Search(finders, text[first:end] if starts else b"")
    while match := search.next(place):
        part = island.parts[max(0, bisect_right(starts, match.start + 1) - 1)]
        yield part
        place = max(match.start + 1, part.end - first)


@lru_cache
def _keys_of(engine: Engine) -> Expression:
    return Expression(KEYS, engine=engine)


@lru_cache
def _expression_of(kinds: frozenset[Kind], engine: Engine, rows: Rows) -> Expression:
    chosen = ([family for family in row if family.kind in kinds] for row in rows)
    return Expression(*chosen, engine=engine)


def find_stand_ins(text: bytes) -> list[tuple[int, int]]:
    """Return the placeholders of an earlier run."""
    if b"\xe2\x80\xb9" not in text:
        return []
    return [match.span() for match in STAND_INS.finditer(text)]


def separate_hits(hits: Iterable[Hit], claimed: Iterable[tuple[int, int]] = ()) -> list[Hit]:
    """Return hits in order: one that overlaps an earlier one is dropped, or cut if it continues."""
    kept: list[Hit] = []
    places = deque(sorted(claimed))
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if kept and hit.start < kept[-1].end:
            place = kept[-1].end
            length = hit.end - hit.start
            if hit.end <= place or len(hit.spans) > 1 or len(hit.value) != length:
                continue
            rest = hit.value[place - hit.start :]
            hit = hit._replace(value=rest, spans=(TextSpan(place, hit.end),))
        while places and places[0][1] <= hit.start:
            places.popleft()
        if not places or places[0][0] >= hit.end:
            kept.append(hit)
    return kept


R = TypeVar("R", bound=Record)
NOWHERE = Place()
MOST_QUIET = 250_000


QuickVerdict = Literal["nothing", "copies", "something"]
"""Whether texts contain nothing to hide, only copies of known values, or perhaps more."""


class Cut(NamedTuple):
    """A range of a text and its replacement."""

    span: TextSpan
    stand_in: str


class Redactor:
    """Replaces what should not be shared; equal values get the same placeholder everywhere.

    What one place reveals, such as `API_KEY=…`, is replaced in everything that follows. To replace
    it in what came before too, let `learn` see everything first.
    """

    def __init__(self, rules: Rules | None = None, *, engine: Engine = BEST) -> None:
        self.rules = rules or Rules()
        self.report = Report(groups=self.rules.groups, is_strict=self.rules.strict)
        self._scanner = Scanner(self.rules.groups, engine, strict=self.rules.strict)
        self._ledger = Ledger()
        self._known = KnownValues(engine)
        self._custom = CustomRules(self.rules)
        self._kept = frozenset(item.encode("utf-8", "surrogatepass") for item in self.rules.keep)
        self._seen: set[str] = set()
        self._quiet: set[int] = set()
        """Hashes of texts that reveal nothing by themselves: they are not read twice."""
        self._quiet_lines: set[int] = set()
        """The same for lines, by a hash that is stable between processes."""
        self._owners = Owners()
        self._is_numbering = False
        if "rules" in self.rules.groups:
            for word in self.rules.words:
                self._known.add_word(word.encode("utf-8", "surrogatepass"), "word")
        for kind, name in self.rules.own:
            value = name.encode("utf-8", "surrogatepass")
            if GROUP_OF[kind] in self.rules.groups and is_distinctive(value):
                self._known.add_word(value, kind)

    @property
    def key(self) -> dict[str, str]:
        """The value of each placeholder: with it everything can be restored."""
        return self._ledger.key

    @property
    def values(self) -> frozenset[str]:
        """All replaced values, as they are and as they were written."""
        plain = (value.decode("utf-8", "replace") for _, value in self._ledger.numbers)
        return frozenset((*plain, *self.key.values()))

    @property
    def learnt(self) -> int:
        """The amount of what it searches for: what does not increase it has taught nothing."""
        return len(self._known.strings) + len(self._owners.names)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scanner": self._scanner.engine, "_custom": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        rules, engine = self.rules, state["_scanner"]
        self._scanner = Scanner(rules.groups, engine, strict=rules.strict)
        self._custom = CustomRules(rules)

    @property
    def has_own_rules(self) -> bool:
        """Whether it uses expressions, fields or files of the user: those apply across texts."""
        return bool(self._custom)

    def apprentice(self) -> "Redactor":
        """Return a redactor with the same rules and no knowledge, for a lesson of its own."""
        found = Redactor(self.rules, engine=self._scanner.engine)
        found._is_numbering = True
        return found

    @property
    def lesson(self) -> Lesson:
        """What it has learnt, for another one with the same rules."""
        quiet = array("Q", sorted(self._quiet_lines)).tobytes()
        named = tuple(
            Hit(kind, self._ledger.labels[kind, number], value, ())
            for (kind, value), number in self._ledger.numbers.items()
        )
        return Lesson(named, tuple(self._known.taught_hits), tuple(self._owners.hits()), quiet)

    def take(self, lesson: Lesson) -> None:
        """Learn what another one has learnt."""
        for hit in lesson.named:
            self._ledger.number(hit)
        for hit in lesson.hits:
            self._known.add(hit)
        for name, hit in lesson.owners:
            self._owners.add(hit, name, self._known)

    def settle(self) -> None:
        """Fix what was learnt so far as the basis of everything that follows, in any process."""
        self._ledger.settle()

    def twin(self, lesson: Lesson | None = None) -> "Redactor":
        """Return a copy that does not report its findings to this one.

        Lines that taught nothing in a lesson are not read a second time.
        """
        found = Redactor.__new__(Redactor)
        found.__dict__.update(self.__dict__)
        found.report = Report(groups=self.rules.groups, is_strict=self.rules.strict)
        found._known, found._ledger = self._known.copied(), self._ledger.copied()
        found._seen, found._owners = {*self._seen}, self._owners.copied()
        found._quiet, found._quiet_lines = set(), set()
        if lesson:
            found._quiet_lines.update(array("Q", lesson.quiet))
        return found

    @property
    def outcome(self) -> CheckOutcome:
        """The findings of a copy, for its original."""
        return CheckOutcome(tuple(self.report.found.values()), tuple(self._ledger.unsettled))

    def absorb(self, outcome: CheckOutcome) -> bool:
        """Add the findings of a copy; return False if it used a placeholder that was taken."""
        ledger = self._ledger.copied() if outcome.unsettled else self._ledger
        if not ledger.agrees(list(outcome.unsettled)):
            return False
        self._ledger = ledger
        for found in outcome.found:
            known = self.report.found.get(found.stand_in)
            if known is None:
                known = self.report.found[found.stand_in] = Found(
                    found.stand_in, found.kind, found.label, found.hint
                )
            known.join(found)
        return True

    def text(self, text: str, place: Place = NOWHERE) -> str:
        """Return a text, redacted; the same object if nothing was found."""
        data = text.encode("utf-8", "surrogatepass")
        hits = self._hits(data)
        if not hits:
            return text
        cuts: list[Cut] = []
        line, last = place.line or 1, 0
        for hit in hits:
            if place.line is None:
                line += data.count(b"\n", last, hit.start)
                last = hit.start
            self._count(hit, Place(place.file, line, place.uuid))
            for part, span in enumerate(hit.spans):
                cuts.append(Cut(span, self._stand_in(hit, data, span, is_rest=part > 0)))
        return _with_cuts(data, cuts).decode("utf-8", "surrogatepass")

    def value(self, value: Any, place: Place = NOWHERE) -> Any:
        """Return a value of any shape with its texts redacted.

        Unchanged parts stay the same objects. Ids, kinds and times of records, signatures and
        images are left alone.
        """
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, Record):
            return self.record(value, place.file)
        return self._of_tree(Tree(value), place)

    def _of_tree(self, tree: Tree, place: Place, *, has_only_copies: bool = False) -> Any:
        joined = Joined(tree)
        texts = self._hide_full_texts(tree, place)
        cuts: defaultdict[int, list[Cut]] = defaultdict(list)
        hits = self._with_known(joined.data, []) if has_only_copies else self._hits_in(joined)
        for hit in hits:
            found = [text_span for span in hit.spans if (text_span := joined.leaf_at(span))]
            if not found or found[0][0] in texts:
                continue
            leaf = tree.leaves[found[0][0]]
            self._count(hit, _place_in(place, tree.place(leaf)))
            for part, (number, span) in enumerate(found):
                stand_in = self._stand_in(hit, joined.texts[number], span, is_rest=part > 0)
                cuts[number].append(Cut(span, stand_in))
        for number, made in cuts.items():
            texts[number] = _with_cuts(joined.texts[number], made).decode("utf-8", "surrogatepass")
        return tree.replace(texts) if texts else tree.nodes[0].value

    def record(self, record: R, file: str | None = None) -> R:
        """Return a record, redacted; the record itself if nothing was found.

        A text in it becomes what the text alone would become, or less if its neighbours or its key
        say more. The owner's name in paths is replaced in the bytes of the line.
        """
        place = Place(file, record.line or None, record.uuid)
        self._learn_owner(record)
        raw, owners = self._without_owners(record.raw)
        plain = record
        if owners:
            plain = type(record)(decode_envelope(raw), raw, record.line, record.offset)
        for hit in owners:
            self._count(hit, place)
        is_known = bool(self._quiet_lines) and _mark(record.raw) in self._quiet_lines
        is_quiet = is_known and not self._known.may_stand_in(raw)
        verdict = "nothing" if is_quiet else self._classify_quickly(raw, plain.fields)
        if verdict == "nothing":
            return plain
        tree = Tree(plain.fields)
        fields = self._of_tree(tree, place, has_only_copies=verdict == "copies")
        if fields is plain.fields and not holds_more(plain.raw, tree.count_of_keys):
            return plain
        return record.with_fields(fields)

    def records(self, records: Iterable[R], file: str | None = None) -> Iterator[R]:
        """Yield records, redacted one by one."""
        for record in records:
            yield self.record(record, file)

    def learn(self, source: Any) -> None:
        """Learn values that are to be replaced everywhere; nothing is changed.

        The source is a text, a record, any value, or an iterable of them.
        """
        if isinstance(source, str):
            self._find_hits(source.encode("utf-8", "surrogatepass"))
        elif isinstance(source, Record):
            self._learn_owner(source)
            raw, _ = self._without_owners(source.raw)
            fields = source.fields if raw is source.raw else decode_object(raw)
            if self._classify_quickly(raw, fields, learnt=source.raw) == "something":
                self.learn(fields)
        elif isinstance(source, dict):
            tree = Tree(source)
            self._custom.find_hidden_texts(tree)
            self._find_hits_in(Joined(tree))
        elif isinstance(source, Iterable):
            for item in source:
                self.learn(item)
        else:
            self.learn({"": source})

    def _hits(self, data: bytes) -> list[Hit]:
        """Return what a text contains, in order without duplicates, and remember it."""
        return self._with_known(data, self._find_hits(data) + list(self._custom.hits(data)))

    def _hits_in(self, joined: Joined) -> list[Hit]:
        """Return what joined texts contain, in order without duplicates, and remember it."""
        custom = self._custom.hits_in(joined.data, joined.islands)
        return self._with_known(joined.data, [*self._find_hits_in(joined), *custom])

    def _classify_quickly(
        self, raw: bytes, fields: Any, *, learnt: bytes | None = None
    ) -> QuickVerdict:
        """Return what is to be hidden in a line, as far as that is quickly known."""
        texts = None if self._custom else collect_texts(fields)
        if texts is None or holds_more(raw, texts.keys):
            return "something"
        data = texts.data
        mark = hash(data)
        if mark not in self._quiet:
            if any(self._scanner.hits_in(texts)):
                return "something"
            self._note_quiet(mark)
        if learnt is not None:
            if not is_wrapped(data) and len(self._quiet_lines) < MOST_QUIET:
                self._quiet_lines.add(_mark(learnt))
            return "nothing"
        is_known = any(self._known.hits(data)) or (
            is_wrapped(data) and any(_as_read(data, self._known))
        )
        return "copies" if is_known else "nothing"

    def _with_known(self, data: bytes, found: list[Hit]) -> list[Hit]:
        found += self._known.hits(data)
        if is_wrapped(data):
            found += _as_read(data, self._known)
        return separate_hits(found, find_stand_ins(data)) if found else found

    def _find_hits(self, data: bytes) -> list[Hit]:
        """Return what a text reveals by itself, and remember it."""
        return self._remembered(data, lambda: self._scanner.hits(data))

    def _find_hits_in(self, joined: Joined) -> list[Hit]:
        return self._remembered(joined.data, lambda: list(self._scanner.hits_in(joined)))

    def _remembered(self, data: bytes, look: Callable[[], list[Hit]]) -> list[Hit]:
        mark = hash(data)
        if mark in self._quiet:
            return []
        found = look()
        if not found:
            self._note_quiet(mark)
        if self._kept:
            found = [hit for hit in found if hit.value not in self._kept]
        if self._is_numbering:
            for hit in separate_hits(found, find_stand_ins(data)):
                self._ledger.number(hit)
        for hit in filter(is_worth_remembering, found):
            self._known.add(hit)
        return found

    def _note_quiet(self, mark: int) -> None:
        if len(self._quiet) < MOST_QUIET:
            self._quiet.add(mark)

    def _learn_owner(self, record: Record) -> None:
        """Remember the name of the user whose log this is."""
        cwd = record.cwd
        if cwd and cwd not in self._seen:
            self._seen.add(cwd)
            data = cwd.encode("utf-8", "surrogatepass")
            for hit in self._scanner.hits(data):
                if hit.kind == "user" and hit.value not in self._kept:
                    self._owners.add(hit, data[: hit.end], self._known)

    def _without_owners(self, raw: bytes) -> tuple[bytes, list[Hit]]:
        return (raw, []) if self._custom else self._owners.replaced(raw, self._ledger)

    def _hide_full_texts(self, tree: Tree, place: Place) -> dict[int, str]:
        """Return the placeholders of texts that the user's rules hide completely."""
        texts: dict[int, str] = {}
        for number, kind in self._custom.find_hidden_texts(tree).items() if self._custom else ():
            leaf = tree.leaves[number]
            data = leaf.text.encode("utf-8", "surrogatepass")
            if data and not find_stand_ins(data):
                hit = Hit(kind, "", data, (TextSpan(0, len(data)),))
                self._count(hit, _place_in(place, tree.place(leaf)))
                texts[number] = self._stand_in(hit, data, hit.spans[0])
        return texts

    def _stand_in(self, hit: Hit, data: bytes, span: TextSpan, *, is_rest: bool = False) -> str:
        return self._ledger.stand_in(hit, data[span.start : span.end], is_rest=is_rest)

    def _count(self, hit: Hit, place: Place) -> None:
        """Note in the report what was found, and where."""
        name = self._ledger.name(hit)
        found = self.report.found.get(name)
        if found is None:
            label = self._ledger.labels[hit.kind, self._ledger.number(hit)]
            found = self.report.found[name] = Found(name, hit.kind, label, hit.hint)
        found.add(place)


def _place_in(place: Place, field: str) -> Place:
    return Place(place.file, place.line, place.uuid, field)


def _as_read(data: bytes, known: KnownValues) -> Iterator[Hit]:
    """Yield the copies that only a reader sees, because some characters are escaped."""
    seen = unwrap(data)
    for hit in known.hits(seen.text):
        yield hit._replace(spans=tuple(seen.source(span) for span in hit.spans))


def _mark(data: bytes) -> int:
    """Return a hash of a line that is stable between processes."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _with_cuts(data: bytes, cuts: list[Cut]) -> bytes:
    parts: list[bytes] = []
    last = 0
    for span, stand_in in sorted(cuts):
        parts += (data[last : span.start], stand_in.encode())
        last = span.end
    parts.append(data[last:])
    return b"".join(parts)


def is_log(text: str) -> bool:
    """Return whether a text is a log: its first line is an object that says its type."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    record = _record_in(first)
    return record is not None and record.type is not None


def redact_log(redactor: Redactor, text: str) -> str:
    """Return a log, redacted; what one line reveals is replaced in all."""
    redactor.learn(_record_in(line) or line for line in text.split("\n"))
    return _map_lines(text, redactor.record, redactor.text)


def restore_log(text: str, key: dict[str, str]) -> str:
    """Return a log with its placeholders replaced by the values."""

    def restore(record: Record) -> Record:
        tree = Tree(record.fields)
        found = {n: restore_text(leaf.text, key) for n, leaf in enumerate(tree.leaves)}
        changed = {n: new for n, new in found.items() if new != tree.leaves[n].text}
        return record.with_fields(tree.replace(changed)) if changed else record

    return _map_lines(text, restore, lambda line: restore_text(line, key))


def _map_lines(
    text: str, of_record: Callable[[Record], Record], of_text: Callable[[str], str]
) -> str:
    def change(line: str) -> str:
        record = _record_in(line)
        if record is None:
            return of_text(line)
        changed = of_record(record)
        end = "\r" if line.endswith("\r") else ""
        return line if changed is record else changed.raw.decode("utf-8", "surrogateescape") + end

    return "\n".join(map(change, text.split("\n")))


def _record_in(line: str) -> Record | None:
    if not line.lstrip("\ufeff \t").startswith("{"):
        return None
    try:
        return parse_record(line.strip().encode("utf-8", "surrogateescape"))
    except (NotAnObject, UnicodeEncodeError):
        return None
