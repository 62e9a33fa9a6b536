"""Text to all that is found in it: as it stands, as a reader sees it, and in base64."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

from plait.redact.contexts import CONTEXTS
from plait.redact.encoded import ENCODED, LABEL, decoded
from plait.redact.known_tokens import KEYS
from plait.redact.logins import SHOWN
from plait.redact.look_alikes import STAND_IN
from plait.redact.model import GROUP_OF, GROUPS, Family, Group, Hit, Kind, TextSpan
from plait.redact.numbers import NUMBERS
from plait.redact.people import ALSO, PEOPLE

try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, and the same
    re2 = None

Engine = Literal["re2", "re"]
BEST: Engine = "re2" if re2 else "re"
MEMORY = 128 << 20  # for the states of the automaton; with the usual 8 MB it starts anew too often
VALUE = re.compile(r"\(\?P<v>")
HINT = 4
NEAR = 48
"""How far before its value a match may begin without hiding another one in between."""
LONGEST = 8192  # no secret is longer; of a private key only the first line is matched
PATIENCE = 64
"""How often a text is read again, because a match in it was none, before such are passed over:
only a text that is made to be slow needs more."""


class Expression:
    """One expression for many families."""

    def __init__(self, families: Sequence[Family], engine: Engine = BEST) -> None:
        self.families = tuple(families)
        self.engine = engine

    @cached_property
    def triggers(self) -> dict[str, list[int]]:
        """How matches begin, each with the numbers of the families that may follow."""
        found: dict[str, list[int]] = {}
        for number, family in enumerate(self.families):
            trigger = VALUE.sub("(?:", family.trigger or family.expression)
            found.setdefault(_without_limits(trigger), []).append(number)
        return found

    @cached_property
    def finder(self) -> Any:
        """The expression, compiled."""
        return compiled("|".join(self.triggers).encode(), self.engine)

    @cached_property
    def patterns(self) -> tuple[re.Pattern[bytes], ...]:
        """Every family with its own expression, for the second look."""
        return tuple(re.compile(one.expression.encode()) for one in self.families)

    @cached_property
    def opener(self) -> re.Pattern[bytes]:
        """One group for each trigger: the first that matches is the number of the group."""
        return re.compile("|".join(f"({trigger})" for trigger in self.triggers).encode())

    @cached_property
    def order(self) -> tuple[tuple[int, ...], ...]:
        """For each trigger, the families to try: its own, and those of all that come later."""
        groups = list(self.triggers.values())
        return tuple(tuple(chain.from_iterable(groups[place:])) for place in range(len(groups)))

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Yields what a text holds, in order."""
        place = 0
        patience = PATIENCE * (len(text) + PATIENCE)
        while place <= len(text):
            place, spent = yield from self._hits_from(text, place, is_patient=patience > 0)
            patience -= spent

    def _hits_from(
        self, text: bytes, place: int, *, is_patient: bool
    ) -> Generator[Hit, None, tuple[int, int]]:
        """Yields hits until one ends elsewhere than its match.

        Returns where to go on, and how many letters will be read again.
        """
        for match in self.finder.finditer(text, place):
            start, end = match.start(), match.end()
            hits = self.second_look(text, start)
            yield from hits
            is_near = bool(hits) and hits[0].start - start <= NEAR
            first = 0 if len(hits) > 1 and hits[0].kind == hits[-1].kind else -1
            behind = max(hits[first].end, start + 1) if is_near else start + 1
            if behind != end and (is_patient or behind > end):
                return behind, max(0, end - behind)
        return len(text) + 1, 0

    def second_look(self, text: bytes, start: int) -> list[Hit]:
        """Returns what begins at a place, after the first family that takes it."""
        first = self.opener.match(text, start)
        for number in self.order[(first.lastindex or 1) - 1] if first else ():
            family, pattern = self.families[number], self.patterns[number]
            match = pattern.match(text, start)
            if match is None or match.end() - start > LONGEST:
                continue
            whole = TextSpan(*match.span())
            value = TextSpan(*match.span("v")) if pattern.groups else whole
            if hits := _hits_of(family, text, whole, value):
                also = ALSO.get(family.name)
                return [*(_hits_of(also, text, whole, value) if also else ()), *hits]
        return []


NONE_OR, ONE_OR, SOME_OR = (
    re.compile(r"\{0,[0-9]+\}"),
    re.compile(r"\{1,[0-9]+\}"),
    re.compile(r"\{([0-9]+),[0-9]+\}"),
)


def _without_limits(expression: str) -> str:
    """Returns an expression that matches more: every count in it costs the automaton states."""
    return SOME_OR.sub(r"{\1,}", ONE_OR.sub("+", NONE_OR.sub("*", expression)))


def _hits_of(family: Family, text: bytes, match: TextSpan, value: TextSpan) -> list[Hit]:
    spans = family.look(text, match, value)
    if not spans:
        return []
    values = [(span,) for span in spans] if family.is_many else [spans]
    return [_hit_of(family, text, one) for one in values]


def _hit_of(family: Family, text: bytes, spans: tuple[TextSpan, ...]) -> Hit:
    found = b"".join(text[span.start : span.end] for span in spans)
    return Hit(family.kind, family.label, family.canonical(found), spans, _hint_of(family, found))


def _hint_of(family: Family, value: bytes) -> str:
    head = re.match(family.head.encode(), value)
    return head[0][:HINT].decode() if head and len(head[0]) >= HINT - 1 else ""


def compiled(expression: bytes, engine: Engine = BEST) -> Any:
    """Returns an expression that searches bytes."""
    if engine == "re" or re2 is None:
        return re.compile(expression)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = MEMORY
    options.never_capture = True
    return re2.compile(expression, options)


CODES = re.compile(
    rb"(?:\x1b|\\{1,4}u001[bB]|\\{1,4}(?:x1b|e|033))\[[0-9;?]*[A-Za-z]"
    rb"|\\{1,4}u(?P<unit>[0-9a-fA-F]{4})|\\{1,4}x(?P<byte>[0-9a-fA-F]{2})|\\{1,4}(?P<slash>/)"
    rb"|%(?:25)*(?P<percent>[0-9a-fA-F]{2})|&(?:amp;)*(?:#(?P<number>[0-9]{2,5});|#[xX](?P<hexa>[0-9a-fA-F]{2,4});"
    rb"|(?P<name>quot|apos|lt|gt|amp|nbsp|colon|equals);)|=(?P<printable>3D)"
)
ENTITIES = {b"quot": b'"', b"apos": b"'", b"lt": b"<", b"gt": b">", b"amp": b"&", b"nbsp": b" "}
ENTITIES |= {b"colon": b":", b"equals": b"="}
WRAPPING = compiled(
    rb"\x1b\[|\\[u/x]|%[2-7][0-9a-fA-F]|&(?:#[0-9xX]|quot;|apos;|lt;|amp;|colon;)|=3D"
)
CODE_FINDER = compiled(re.sub(rb"\?P<[a-z]+>", b"?:", CODES.pattern))


class Piece(NamedTuple):
    """A stretch that was copied, or one letter that was written as a code."""

    start: int
    """Where it begins in what a reader sees."""
    source: TextSpan
    is_copy: bool


class Unwrapped(NamedTuple):
    """A text as a reader sees it, and where each stretch of it came from."""

    text: bytes
    pieces: list[Piece]

    def source(self, span: TextSpan) -> TextSpan:
        """Returns the stretch of the original that a stretch of this text came from."""
        first = self.pieces[self._piece_at(span.start)]
        last = self.pieces[self._piece_at(span.end - 1)]
        start = first.source.start + (span.start - first.start if first.is_copy else 0)
        end = last.source.start + span.end - last.start if last.is_copy else last.source.end
        return TextSpan(start, end)

    def _piece_at(self, place: int) -> int:
        return bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1


def is_wrapped(text: bytes) -> bool:
    """Tells whether a text may look different to a reader."""
    return WRAPPING.search(text) is not None


@lru_cache(2)
def unwrap(text: bytes) -> Unwrapped:
    """Returns a text as a reader sees it."""
    parts: list[bytes] = []
    pieces: list[Piece] = []
    start = place = 0
    for found in CODE_FINDER.finditer(text):
        code = CODES.match(text, found.start())
        if code is None:
            continue
        if code.start() > place:
            pieces.append(Piece(start, TextSpan(place, code.start()), True))
            parts.append(text[place : code.start()])
            start += code.start() - place
        letter = _letter_of(code)
        if letter:
            pieces.append(Piece(start, TextSpan(*code.span()), False))
            parts.append(letter)
            start += len(letter)
        place = code.end()
    pieces.append(Piece(start, TextSpan(place, len(text)), True))
    parts.append(text[place:])
    return Unwrapped(b"".join(parts), pieces)


def _letter_of(code: re.Match[bytes]) -> bytes:
    if unit := code["unit"] or code["hexa"]:
        return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
    if code["number"]:
        number = int(code["number"])
        return chr(number).encode("utf-8", "surrogatepass")
    if code["name"]:
        return ENTITIES[code["name"]]
    digits = code["byte"] or code["percent"] or code["printable"]
    return bytes((int(digits, 16),)) if digits else code["slash"] or b""


# In two expressions: the states of an automaton grow with the product of what it looks for.
PARTS: tuple[tuple[Family, ...], ...] = (
    (*PEOPLE, *KEYS, *CONTEXTS),
    (*SHOWN, *NUMBERS, *ENCODED),
)
FAMILIES: tuple[Family, ...] = tuple(chain.from_iterable(PARTS))
MOST_LAYERS = 3
TOLD = frozenset(family.label for family in CONTEXTS)
STAND_INS = re.compile(STAND_IN)


class Scanner:
    """Looks for some groups of things."""

    def __init__(self, groups: Collection[Group] = GROUPS, engine: Engine = BEST) -> None:
        kinds = frozenset(kind for kind, group in GROUP_OF.items() if group in groups)
        self.engine = engine
        expressions = (_expression_of(kinds, engine, part) for part in PARTS)
        self.expressions = [one for one in expressions if one.families]
        self.keys = _keys_of(engine)

    def hits(self, text: bytes) -> list[Hit]:
        """Returns what a text holds: it may be there twice, as it stands and as it is read."""
        found = self.named_hits(text)
        if is_wrapped(text):
            seen = unwrap(text)
            for hit in self.named_hits(seen.text):
                spans = tuple(seen.source(span) for span in hit.spans)
                found.append(hit._replace(spans=spans))
        return found

    def named_hits(self, text: bytes) -> list[Hit]:
        """Returns what a text holds as it stands, each by its most telling name."""
        found: list[Hit] = []
        for hit in chain.from_iterable(one.hits(text) for one in self.expressions):
            named = self.opened(hit) if hit.label == LABEL else self.renamed(hit, text)
            if named:
                found.append(named)
        return found

    def renamed(self, hit: Hit, text: bytes) -> Hit:
        """Returns a hit that its surroundings told, by what the value itself tells."""
        if hit.kind != "secret" or hit.label not in TOLD:
            return hit
        key = next(iter(self.keys.second_look(text, hit.start)), None)
        return key if key and key.end >= hit.end else hit

    def opened(self, hit: Hit, layers: int = MOST_LAYERS) -> Hit | None:
        """Returns the secret that an encoded text holds, None where it holds none."""
        text = decoded(hit.value)
        inner = self._secret_in(text, layers) if text else None
        return hit._replace(label=inner.label, value=inner.value, hint="") if inner else None

    def _secret_in(self, text: bytes, layers: int) -> Hit | None:
        secrets = _expression_of(frozenset(["secret"]), self.engine, FAMILIES)
        texts = (text, unwrap(text).text) if is_wrapped(text) else (text,)
        for hit in chain.from_iterable(secrets.hits(one) for one in texts):
            if hit.label != LABEL:
                return hit
            if layers and (inner := self.opened(hit, layers - 1)):
                return inner
        return None


@lru_cache
def _keys_of(engine: Engine) -> Expression:
    return Expression(KEYS, engine)


@lru_cache
def _expression_of(
    kinds: frozenset[Kind], engine: Engine, families: tuple[Family, ...]
) -> Expression:
    return Expression([family for family in families if family.kind in kinds], engine)


def stand_ins_in(text: bytes) -> list[tuple[int, int]]:
    """Returns where stand-ins of an earlier run stand."""
    if b"\xe2\x80\xb9" not in text:
        return []
    return [match.span() for match in STAND_INS.finditer(text)]


def apart(hits: Iterable[Hit], taken: Iterable[tuple[int, int]] = ()) -> list[Hit]:
    """Returns hits in order: what touches an earlier one is left out, or cut where it goes on."""
    kept: list[Hit] = []
    places = deque(sorted(taken))
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if kept and hit.start < kept[-1].end:
            rest = _behind(hit, kept[-1].end)
            if rest is None:
                continue
            hit = rest
        while places and places[0][1] <= hit.start:
            places.popleft()
        if not places or places[0][0] >= hit.end:
            kept.append(hit)
    return kept


def _behind(hit: Hit, place: int) -> Hit | None:
    """Returns what is left of a hit behind a place, None where that is nothing."""
    length = hit.end - hit.start
    if hit.end <= place or len(hit.spans) > 1 or len(hit.value) != length:
        return None
    return hit._replace(value=hit.value[place - hit.start :], spans=(TextSpan(place, hit.end),))
