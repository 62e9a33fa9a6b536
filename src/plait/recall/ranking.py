"""Which turns answer a question: all its words first, then any of them, by how many they share."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from plait.errors import UserError
from plait.index.model import Hit, SearchResult
from plait.index.query import Field, QueryNode, parse_query
from plait.index.text_index import split_words

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.sessions.model import Session

MOST_WORDS = 16
LEAST_SHARE = 0.6
"""The share of the words that a turn must have to be shown beside one that has all."""
WIDTH = 5
"""How many times as many turns are compared as are asked for."""
SCAN_BYTES, SCAN_SECONDS = 24_000_000, 1.0
"""How much of the newest logs is searched where there is no index yet, and for how long."""
MOST_OPENED = 4_000_000
"""Bytes of a session that is opened to find the turn of a hit."""
COMMON = frozenset(
    "a about after again all also am an and any are as at be because been before being both but by "
    "can could d did do does doing done down each ever few for from get go got had has have having "
    "he her here his how i if in into is it its just ll m make me more most my no nor not now of "
    "off on once only or other our out over own please re s same she should so some such t than "
    "that the their them then there these they this those through to too under until up us use "
    "used using ve very was we went were what when where which while who whom why will with would "
    "you your".split()
)
"""Words that say nothing of what is looked for."""
SUFFIX = re.compile(r"(?:ingly|edly|ings|ing|ies|ied|ed|es|ly|ions|ion|s|e|y)$")
KINDS = {
    "any": (),
    "prompt": (Field("kind", "human"),),
    "answer": (Field("kind", "answer,summary"),),
    "tool": (Field("kind", "tools"),),
    "error": (Field("outcome", "failed"), Field("kind", "tools")),
}
"""The filters of each kind of passage that can be asked for; files are a field of their own."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What is looked for, and in which part of the archive."""

    query: str
    filters: tuple[QueryNode, ...] = ()
    limit: int = 5
    excluded: str | None = None
    """The session that asks."""
    is_newest_first: bool = False


def list_content_words(query: str) -> list[str]:
    """Return the words of a question that say what it is about, each once."""
    words = dict.fromkeys(word.casefold() for word in split_words(query))
    content = [word for word in words if word not in COMMON and len(word) > 1]
    return (content or [*words])[:MOST_WORDS]


def stem(word: str) -> str:
    """Return a word without its ending, where enough is left to look for."""
    short = SUFFIX.sub("", word)
    return short if len(short) >= 4 and word.isascii() else word


def find_turns(archive: "Archive", wanted: Wanted, *, is_updating: bool) -> tuple[list[Hit], int]:
    """Return the turns that answer best, and how many others were seen to match."""
    count = wanted.limit + 3
    exact: SearchResult | None = None
    with suppress(UserError):  # a question is not always a query
        parse_query(wanted.query)
        exact = _search(archive, wanted, wanted.query, count, is_updating=is_updating)
    found = _keep(exact.hits if exact else (), wanted.excluded)
    words = list_content_words(wanted.query)
    if len(found) >= wanted.limit or wanted.is_newest_first or not words:
        more = 0 if exact is None or exact.is_whole else exact.total - exact.listed
        return found[: wanted.limit], max(0, len(found) - wanted.limit) + more
    terms = [term for word in words for term in dict.fromkeys((word, f"{stem(word)}*"))]
    loose = _search(archive, wanted, " OR ".join(terms), count * WIDTH, is_updating=False)
    known = {_turn_key(hit) for hit in found}
    rest = [hit for hit in _keep(loose.hits, wanted.excluded) if _turn_key(hit) not in known]
    if found:  # beside turns that have all words, others must have most of them
        rest = [hit for hit in rest if share_words(hit, words) >= LEAST_SHARE]
    rest.sort(key=lambda hit: -_score(hit, words))
    found += rest
    return found[: wanted.limit], max(0, len(found) - wanted.limit)


def _search(
    archive: "Archive", wanted: Wanted, text: str, count: int, *, is_updating: bool
) -> SearchResult:
    return archive.search(
        text,
        wanted.filters,
        limit=count,
        context=2,
        sort="time" if wanted.is_newest_first else None,
        is_updating=is_updating,
    )


def _turn_key(hit: Hit) -> tuple[str, str | None, int | None]:
    return hit.session, hit.branch, hit.turn


def _keep(hits: Iterable[Hit], excluded: str | None) -> list[Hit]:
    """Return the hits of other sessions, one of each turn; those on service lines are nobody's."""
    once = {_turn_key(hit): hit for hit in reversed([*hits])}
    return [hit for hit in reversed(once.values()) if excluded is None or hit.session != excluded]


def share_words(hit: Hit, words: Sequence[str]) -> float:
    """Return the share of the words that stand near a hit, or in its session's title."""
    if not words:
        return 1.0
    text = " ".join((hit.title or "", *hit.before, hit.snippet, *hit.after)).casefold()
    return sum(stem(word) in text for word in words) / len(words)


def _score(hit: Hit, words: Sequence[str]) -> float:
    """Return how well a turn answers: its score, by the share of the words it has nearby."""
    shared = share_words(hit, words)
    return hit.score * (0.3 + shared * shared) * (1 + 0.1 * min(hit.more, 5))


def scan_newest(
    archive: "Archive", wanted: Wanted, passes: Callable[["Session", Hit], bool]
) -> tuple[list[Hit], int]:
    """Return turns from the newest logs, where there is no index yet: words alone, no fields.

    Returns how many sessions were not searched, too.
    """
    chosen: list[Session] = []
    room = SCAN_BYTES
    newest = sorted(archive.sessions, key=lambda session: -session.modified)
    for session in newest:
        room -= session.bytes
        if chosen and room < 0:
            break
        chosen.append(session)
    searched = type(archive)([session.path for session in chosen], jobs=archive.jobs)
    by_id = {session.id: session for session in chosen}
    words = sorted(list_content_words(wanted.query), key=len, reverse=True)
    hits: list[Hit] = []
    end = time.monotonic() + SCAN_SECONDS
    for text in dict.fromkeys((" ".join(words), " ".join(words[:2]), *words[:2])):
        if text and len(hits) < wanted.limit and time.monotonic() < end:
            found = _keep(searched.search(text, limit=wanted.limit * WIDTH).hits, wanted.excluded)
            known = {hit.uuid for hit in hits}
            hits += [
                _place(archive, by_id[hit.session], hit)
                for hit in found[: wanted.limit]
                if hit.uuid not in known and passes(by_id[hit.session], hit)
            ]
    return hits[: wanted.limit], len(newest) - len(chosen)


def _place(archive: "Archive", session: "Session", hit: Hit) -> Hit:
    """Return a hit of a scan with its turn and title, which only an open session knows."""
    title = archive.read_facts(session).title
    if session.bytes > MOST_OPENED:
        return replace(hit, title=title)
    for line in archive.open(session).by_line.values():
        for turn in line.turns:
            if any(item.uuid == hit.uuid for item in turn.items):
                state = "active" if line.is_active else "abandoned"
                return replace(hit, turn=turn.number, branch=line.id, state=state, title=title)
    return replace(hit, title=title)
