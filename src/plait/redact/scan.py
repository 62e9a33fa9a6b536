"""Text to all that is found in it: as it stands, as a reader sees it, and in base64."""

import re
from collections import deque
from collections.abc import Collection, Iterable
from functools import lru_cache

from plait.redact.contexts import CONTEXTS
from plait.redact.encoded import ENCODED, LABEL, decoded
from plait.redact.expression import BEST, Engine, Expression
from plait.redact.families import KEYS
from plait.redact.looks import STAND_IN
from plait.redact.model import GROUP_OF, GROUPS, Family, Group, Hit, Kind, Span
from plait.redact.people import PEOPLE
from plait.redact.unwrap import is_wrapped, unwrap

FAMILIES: tuple[Family, ...] = (*PEOPLE, *KEYS, ENCODED, *CONTEXTS)
TOLD = frozenset(family.label for family in CONTEXTS)
STAND_INS = re.compile(STAND_IN)


class Scanner:
    """Looks for some groups of things."""

    def __init__(self, groups: Collection[Group] = GROUPS, engine: Engine = BEST) -> None:
        kinds = frozenset(kind for kind, group in GROUP_OF.items() if group in groups)
        self.expression = expression_of(kinds, engine)
        self.keys = keys_of(engine)

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
        for hit in self.expression.hits(text):
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

    def opened(self, hit: Hit) -> Hit | None:
        """Returns the secret that base64 holds, None where it holds none."""
        text = decoded(hit.value)
        secrets = expression_of(frozenset(["secret"]), self.expression.engine)
        inner = next(secrets.hits(text), None) if text else None
        return hit._replace(label=inner.label, value=inner.value, hint="") if inner else None


@lru_cache
def keys_of(engine: Engine) -> Expression:
    """Returns the expression for keys that tell what they are."""
    return Expression(KEYS, engine)


@lru_cache
def expression_of(kinds: frozenset[Kind], engine: Engine) -> Expression:
    """Returns the expression for some kinds of things: compiled once for all redactors."""
    return Expression([family for family in FAMILIES if family.kind in kinds], engine)


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
            rest = behind(hit, kept[-1].end)
            if rest is None:
                continue
            hit = rest
        while places and places[0][1] <= hit.start:
            places.popleft()
        if not places or places[0][0] >= hit.end:
            kept.append(hit)
    return kept


def behind(hit: Hit, place: int) -> Hit | None:
    """Returns what is left of a hit behind a place, None where that is nothing."""
    length = hit.end - hit.start
    if hit.end <= place or len(hit.spans) > 1 or len(hit.value) != length:
        return None
    return hit._replace(value=hit.value[place - hit.start :], spans=(Span(place, hit.end),))
