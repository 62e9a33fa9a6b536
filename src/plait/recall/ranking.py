"""Which turns answer a question: those in which most of its words stand together, rare ones first."""

import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.errors import UserError
from plait.index.model import Hit, SearchResult, SearchSort
from plait.index.query import FIELDS, Field, QueryNode
from plait.index.search import IndexReader
from plait.index.text_index import split_words
from plait.record.time import parse_time
from plait.search.search import assign_projects
from plait.usage.spending import is_in_period

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.sessions.model import Session

MOST_WORDS = 16
LEAST_SHARE = 0.55
"""The share of the words that a turn must have to be shown beside one that has all."""
NEARBY = 600
"""Characters within which words stand together."""
WIDTH, MARGIN = 5, 3
"""How many times as many turns are compared as are asked for."""
OPERATORS = re.compile(
    r'"[^"]+"|\w\*|\*\w|\w~[12]?(?:\s|$)|\b(?:OR|NOT)\b|(?:^|\s)-?(?:' + "|".join(FIELDS) + r"):\S"
)
"""What only a query has, and no question."""
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


def list_content_words(query: str) -> list[str]:
    """Return the words of a question that say what it is about, each once."""
    words = dict.fromkeys(word.casefold() for word in split_words(query))
    content = [word for word in words if word not in COMMON and len(word) > 1]
    return (content or [*words])[:MOST_WORDS]


def stem(word: str) -> str:
    """Return a word without its ending, where enough is left to look for."""
    short = SUFFIX.sub("", word)
    return short if len(short) >= 4 and word.isascii() else word


def find_turns(
    reader: IndexReader,
    query: str,
    filters: tuple[QueryNode, ...],
    limit: int,
    excluded: str | None,
    *,
    is_newest_first: bool = False,
) -> tuple[list[Hit], int, float]:
    """Return the turns that answer best, how many others match, and the best share of the words.

    A turn counts by the words of a question that stand together in it, rare ones more than common
    ones: all of them somewhere in a long output say less than most of them in one paragraph. What
    is written in the language of `plait search` is searched as it says.
    """

    def search(text: str, count: int) -> tuple[SearchResult, list[Hit]]:
        sort: SearchSort | None = "time" if is_newest_first else None
        found = reader.search(text, filters, limit=count, context=2, sort=sort, has_offsets=True)
        found = assign_projects(found, reader.catalogue.project_of)
        return found, _choose_hits(found.hits, excluded)

    words = list_content_words(query)
    is_query = bool(OPERATORS.search(query)) or not words
    # All words of a question, each as it is written.
    tokens = (token.strip("\"'`?!.,;:()[]") for token in query.split())
    quoted = [f'"{t}"' for t in tokens if t.casefold() not in COMMON and split_words(t)]
    found, exact = list[Hit](), None
    with suppress(UserError):  # a question is not always a query
        exact, found = search(query if is_query else " ".join(quoted), limit + MARGIN)
    if is_newest_first or not words or (is_query and found):
        more = 0 if exact is None or exact.is_whole else exact.total - exact.listed
        return found[:limit], max(0, len(found) - limit) + more, 1.0
    words = [*dict.fromkeys(reader.correct_word(word, stem(word)) for word in words)]
    terms = [term for word in words for term in dict.fromkeys((word, f"{stem(word)}*"))]
    found = _choose_hits([*found, *search(" OR ".join(terms), (limit + MARGIN) * WIDTH)[1]])
    weights = reader.weigh_words(words)
    shares = {id(hit): share_words(hit, weights) for hit in found}
    found.sort(
        key=lambda hit: -hit.score * (0.1 + shares[id(hit)] ** 2) * (1 + 0.1 * min(hit.more, 5))
    )
    best = max((shares[id(hit)] for hit in found[:limit]), default=0.0)
    return found[:limit], max(0, len(found) - limit), best


def _choose_hits(hits: Iterable[Hit], excluded: str | None = None) -> list[Hit]:
    """Return the hits of other sessions, one of each turn."""
    chosen: dict[tuple[str, str | None, int | None], Hit] = {}
    for hit in hits:
        if excluded is None or hit.session != excluded:
            chosen.setdefault((hit.session, hit.branch, hit.turn), hit)
    return list(chosen.values())


def share_words(hit: Hit, weights: Mapping[str, float]) -> float:
    """Return the share of the words, by weight, that stand close together around a hit.

    Words of the session's title count half: they are near every turn of it.
    """
    if not weights:
        return 1.0
    by_stem: dict[str, float] = {}
    for word, weight in weights.items():
        by_stem[stem(word)] = max(weight, by_stem.get(stem(word), 0.0))
    pattern = re.compile("|".join(map(re.escape, sorted(by_stem, key=len, reverse=True))))
    in_title = {match[0] for match in pattern.finditer((hit.title or "").casefold())}
    text = "\n".join((*hit.before, hit.snippet, *hit.after)).casefold()
    places = [(match.start(), match[0]) for match in pattern.finditer(text)]
    best, first = 0.0, 0
    for last, (end, _) in enumerate(places):
        while end - places[first][0] > NEARBY:
            first += 1
        near = {found for _, found in places[first : last + 1]}
        in_text = sum(by_stem[found] for found in near)
        best = max(best, in_text + sum(by_stem[found] for found in in_title - near) / 2)
    return best / sum(by_stem.values())


def choose_newest(sessions: Iterable["Session"]) -> tuple[list["Session"], int]:
    """Return the sessions that are read where there is no index, and how many are not."""
    newest = sorted(sessions, key=lambda session: -session.modified)
    totals = accumulate(session.bytes for session in newest)
    fitting = sum(total <= SCAN_BYTES for total in totals)
    chosen = newest[: max(1, fitting)]
    return chosen, len(newest) - len(chosen)


def scan_newest(
    archive: "Archive",
    query: str,
    limit: int,
    excluded: str | None,
    project: str | None,
    start: datetime | None,
    end: datetime | None,
) -> tuple[list[Hit], int]:
    """Return turns from the newest logs, where there is no index yet: words alone, no fields.

    Returns how many sessions were not searched, too.
    """
    sessions: Iterable[Session] = archive.sessions
    if project:
        project_of = archive.folding.project
        sessions = [session for session in sessions if project_of(session.project) == project]
    chosen, unread = choose_newest(sessions)
    by_id = {session.id: session for session in chosen}
    searched = type(archive)([session.path for session in chosen], jobs=archive.jobs)
    words = sorted(list_content_words(query), key=len, reverse=True)
    hits: dict[str | None, Hit] = {}
    last = time.monotonic() + SCAN_SECONDS
    for text in dict.fromkeys((" ".join(words), " ".join(words[:2]), *words[:2])):
        if text and len(hits) < limit and time.monotonic() < last:
            for hit in _choose_hits(searched.search(text, limit=limit * WIDTH).hits, excluded):
                if not (start or end) or is_in_period(parse_time(hit.time), start, end):
                    hits.setdefault(hit.uuid, hit)
    return [_place(archive, by_id[hit.session], hit) for hit in [*hits.values()][:limit]], unread


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
