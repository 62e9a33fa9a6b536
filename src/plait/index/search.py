"""Search in the index: from a parsed query to hits, one for each turn, with snippets and facets."""

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from math import log
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict, replace
from tantivy import Occur, Query, Searcher

from plait.errors import SourceError, UserError
from plait.index.catalogue import CATALOGUE, Catalogue
from plait.index.model import (
    SORTS,
    Hit,
    LineRow,
    PassageKind,
    PassagePlace,
    PlacedHit,
    SearchResult,
    SearchSort,
    SessionKnown,
    Snippet,
    elapsed_ms,
)
from plait.index.plain_lines import block_at, passage_kind, read_plain_texts, result_words
from plait.index.query import And, Field, Or, Phrase, QueryNode, Word, list_terms, parse_query
from plait.index.text_index import (
    SCALE,
    WEIGHTS,
    compute_recency,
    is_damaged,
    load_places,
    open_searcher,
    split_words,
    text_index_error,
    text_schema,
)
from plait.index.text_query import TextQueryBuilder, restrict_to_second
from plait.line import iter_lines, read_slice
from plait.record.codec import NotAnObject, iter_strings
from plait.record.reader import Entry, decode_with_text, parse_entry, parse_record
from plait.record.types import get_timestamp

if TYPE_CHECKING:
    from plait.index.expression import Highlighter, ScanPattern
    from plait.index.scanning import ScanMatch


SNIPPET_LEAD = 50
SNIPPET_WIDTH = 220
MOST_CHARACTERS = 4_000_000
MOST_BYTES = 64 << 20
MAX_MATCHES = 40
FIELD_BREAK = "\n· "
"""Separates the fields of a tool call in a snippet."""
ERROR_TAG = re.compile(r"</?tool_use_error>")
FAILURE_WIDTH = 160
MOST_LINES_TO_RESULT = 400
"""Lines after a call in which its result is searched: agents may write in between."""


class PassageText(NamedTuple):
    """The text at a place."""

    uuid: str | None
    time: str | None
    kind: PassageKind
    text: str
    tool: str | None = None
    call: str | None = None
    fields: tuple[str, ...] = ()
    """The texts of a tool call: command, description, path …"""

    @property
    def separated(self) -> str:
        """The text with the fields of a tool call separated."""
        return FIELD_BREAK.join(self.fields) or self.text


def read_passage_text(
    path: str, line: int, offset: int, length: int, part: int, folder: Path
) -> PassageText | None:
    """Return the text at a place; None if the file has changed since."""
    try:
        if 0 < length <= MOST_BYTES:
            data = read_slice(Path(path), offset, length)
            plain = _read_plain_passage(data, part)
            return plain or _read_passage(parse_record(data, line, offset), part, folder)
        broken = (found for found in iter_lines(Path(path)) if found.number == line)
        return next((_read_passage(parse_entry(found), part, folder) for found in broken), None)
    except (SourceError, NotAnObject):
        return None


def _read_plain_passage(data: bytes, part: int) -> PassageText | None:
    line = decode_with_text(data)
    texts = read_plain_texts(line) if line else None
    if line is None or texts is None or part >= len(texts):
        return None
    block, kind = block_at(line, part), passage_kind(line, part)
    passage = PassageText(line.uuid, get_timestamp(line), kind, texts[part])
    if block and block.type == "tool_use":
        fields = tuple(iter_strings(block.input, ()))
        return passage._replace(tool=block.name, call=block.id, fields=fields)
    return passage


def _read_passage(entry: Entry, part: int, folder: Path) -> PassageText | None:
    # Imported here, as most hits are on lines in one of the usual forms.
    from plait.conversation.model import ToolCall
    from plait.index.passages import add_saved_output, extract_words, list_items, list_records

    items = ((record, item) for record in list_records(entry) for item in list_items(record))
    for record, item in islice(items, part, part + 1):
        words = extract_words(item)
        if words is None:
            return None
        text = add_saved_output(item, words, folder).text
        passage = PassageText(record.uuid, record.timestamp, words.kind, text)
        if isinstance(item, ToolCall):
            fields = tuple(iter_strings(item.input, ()))
            return passage._replace(tool=item.name, call=item.call, fields=fields)
        return passage
    return None


def _read_failure(path: Path, place: PassagePlace, call: str) -> str:
    """Return the beginning of a failed call's result: its exit code and error text."""
    sign = call.encode()
    after = iter_lines(path, offset=place.offset + place.length + 1, number=place.line + 1)
    with suppress(SourceError):
        for line in islice(after, MOST_LINES_TO_RESULT):
            result = decode_with_text(line.data) if sign in line.data else None
            content = result.message.content if result and result.message else None
            for block in content if isinstance(content, list) else ():
                if block.type == "tool_result" and block.tool_use_id == call:
                    lines = ERROR_TAG.sub("", result_words(block) or "").split("\n")
                    text = " · ".join(" ".join(line.split()) for line in lines if line.strip())
                    return text if len(text) <= FAILURE_WIDTH else text[: FAILURE_WIDTH - 1] + "…"
    return ""


def _make_snippet(text: str, marks: "Sequence[Highlighter]") -> tuple[Snippet, int]:
    looked = text[:MOST_CHARACTERS]
    places: list[tuple[int, int]] = []
    for number, mark in enumerate(marks):
        for tried, match in enumerate(mark.finditer(looked)):
            if tried == MAX_MATCHES:
                break
            places.append((match.start(), number))
    places.sort()
    best, most = 0, 0
    for place, (start, _) in enumerate(places):
        within = {
            number for at, number in places[place : place + 60] if at < start + SNIPPET_WIDTH - 60
        }
        if len(within) > most:
            best, most = start, len(within)
    first = max(0, best - SNIPPET_LEAD)
    if first:
        space = looked.find(" ", first, best)
        first = space + 1 if space >= 0 else first
    cut = looked[first : first + SNIPPET_WIDTH]
    shown = " ".join(cut.split())
    shown = ("…" if first else "") + shown + ("…" if first + SNIPPET_WIDTH < len(text) else "")
    # Matches that overlap are highlighted as one
    found: list[tuple[int, int]] = []
    spans = (match.span() for mark in marks for match in mark.finditer(shown))
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return Snippet(shown, tuple(found)), best


class Excerpt(NamedTuple):
    """A snippet with surrounding lines."""

    snippet: Snippet
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def make_excerpt(text: str, marks: "Sequence[Highlighter]", context: int) -> Excerpt:
    """Return the part of a text worth showing; with context its line, and some around it."""
    snippet, start = _make_snippet(text, marks)
    if context <= 0:
        return Excerpt(snippet)
    first = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = text[first:] if end < 0 else text[first:end]
    room = 2000 * context
    before = text[max(0, first - room) : max(0, first - 1)].split("\n") if first else []
    after = text[end + 1 : end + room].split("\n") if end >= 0 else []
    return Excerpt(_make_snippet(line, marks)[0], tuple(before[-context:]), tuple(after[:context]))


PASSAGES_PER_HIT = 6
"""Passages examined for each hit: several may be in one turn."""
MAX_PASSAGES = 4000


@dataclass
class HitBuilder:
    """Builds hits from places and reads their texts."""

    catalogue: Catalogue
    marks: "Sequence[Highlighter]"
    context: int = 0
    is_each: bool = False
    """Whether every passage is a hit of its own."""
    is_weighed: bool = False
    """Whether a turn shows what people wrote rather than what came first."""
    has_offsets: bool = False
    """True where hits are placed hits."""
    has_rest: bool = False
    """Whether there are more hits than were built."""
    sessions: dict[int, SessionKnown] = field(default_factory=dict)
    lines: dict[int, list[LineRow]] = field(default_factory=dict)

    def first_hits(
        self,
        first: Callable[[int], list[PassagePlace]],
        limit: int,
        best: list[PassagePlace] | None = None,
    ) -> tuple[list[Hit], bool]:
        """Return the first hits, one per turn, and whether these are all; read as far as needed."""
        count = limit * PASSAGES_PER_HIT
        best = first(count) if best is None else best
        while True:
            hits = list(self.build(best, limit))
            is_complete = not self.has_rest and len(best) < count
            if len(hits) >= limit or len(best) < count or count >= MAX_PASSAGES:
                return hits, is_complete
            count *= PASSAGES_PER_HIT
            best = first(count)

    def build(self, found: Iterable[PassagePlace], limit: int) -> Iterator[Hit]:
        """Yield a hit for each turn, up to a limit; copies of a turn count as one."""
        self.has_rest = False
        turns = (
            [[passage_place] for passage_place in found] if self.is_each else _group_by_turn(found)
        )
        if self.is_weighed:
            turns = [sorted(group, key=_rank_for_display) for group in turns]
        self.sessions |= self.catalogue.sessions({group[0].sid for group in turns})
        paths = self.catalogue.paths({group[0].file for group in turns})
        now = SCALE * compute_recency(int(datetime.now(UTC).timestamp()))
        seen: set[tuple[str, str, int]] = set()
        for number, group in enumerate(turns, 1):
            session = self.sessions.get(group[0].sid)
            if session is None:  # of a batch that is being written
                continue
            hit = self.hit(group[0], session, paths.get(group[0].file), len(group) - 1, now)
            if hit.uuid:
                name = hit.uuid, hit.kind, group[0].part
                if name in seen:
                    continue
                seen.add(name)
            yield hit
            limit -= 1
            if limit <= 0:
                self.has_rest = number < len(turns)
                return

    def hit(
        self, place: PassagePlace, session: SessionKnown, path: str | None, more: int, now: float
    ) -> Hit:
        """Return the hit at a place."""
        found, text = None, ""
        if not place.line:
            text = session.title or ""
        elif path is not None:
            folder = Path(session.key).with_suffix("")
            found = read_passage_text(
                path, place.line, place.offset, place.length, place.part, folder
            )
            text = found.separated if found else ""
        excerpt = make_excerpt(text, self.marks, self.context)
        line = self.line_of(place)
        hit = Hit(
            session=session.id,
            uuid=found.uuid if found else None,
            turn=place.turn if place.line else None,
            kind=place.kind,
            time=(found.time if found else None) or format_timestamp(place.time) or session.ended,
            snippet=excerpt.snippet.text,
            marks=excerpt.snippet.marks,
            score=round(place.score / now, 4),
            project=session.project,
            title=session.title,
            branch=line.id if line and place.line else None,
            state=place.state,
            tool=found.tool if found and place.kind == "input" else None,
            outcome=place.outcome,
            path=path or session.key,
            line=place.line,
            more=more,
            before=excerpt.before,
            after=excerpt.after,
            result=_read_failure(Path(path), place, found.call)
            if place.outcome == "failed" and place.kind == "input" and path and found and found.call
            else "",
        )
        return PlacedHit(**asdict(hit), offset=place.offset) if self.has_offsets else hit

    def line_of(self, place: PassagePlace) -> LineRow | None:
        """Return the DAG-line of a place."""
        if place.sid not in self.lines:
            self.lines[place.sid] = self.catalogue.lines(place.sid)
        rows = self.lines[place.sid]
        return rows[place.dag] if place.dag < len(rows) else None


def _group_by_turn(found: Iterable[PassagePlace]) -> list[list[PassagePlace]]:
    """Return places by turn, in order.

    A title is shown above the turns of its session: if one of them matches too, it takes the place
    of the title, which counts as one more of its passages.
    """
    turns: dict[tuple[int, ...], list[PassagePlace]] = {}
    for place in found:
        turns.setdefault((place.sid, place.line > 0, place.dag, place.turn), []).append(place)
    first = dict[int, tuple[int, ...]]()
    for key in turns:
        if key[1]:
            first.setdefault(key[0], key)
    scores = dict[tuple[int, ...], float]()
    for key, group in list(turns.items()):
        shown = key if key[1] else first.get(key[0], key)
        if shown != key:
            turns[shown] = [*turns[shown], *group]
        scores.setdefault(shown, group[0].score)
    return [[replace(turns[key][0], score=score), *turns[key][1:]] for key, score in scores.items()]


def _rank_for_display(place: PassagePlace) -> tuple[bool, float]:
    """Return a sort key: what people wrote before what tools printed, a title last, since it is
    shown above.
    """
    return not place.line, -WEIGHTS[place.kind]


def format_timestamp(seconds: int | None) -> str | None:
    """Return a moment in the form of the log."""
    if seconds is None:
        return None
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    except (ValueError, OverflowError, OSError):
        return None


class IndexReader:
    """An index open for reading; it never waits for a writer."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue(folder)
        if not self.catalogue.is_current():
            self.catalogue.close()
            raise SourceError(
                f"the index in '{folder}' was built by another version", "`plait index` rebuilds it"
            )
        self.folder = folder
        self.generation = self.catalogue.generation()
        self.searcher: Searcher
        self.searcher, self._links = open_searcher(folder)

    def close(self) -> None:
        """Close the index."""
        self.catalogue.close()
        if self._links:
            self._links.cleanup()

    def search(
        self,
        text: str,
        filters: Sequence[QueryNode] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
        sort: SearchSort | None = None,
        is_each: bool | None = None,
        has_offsets: bool = False,
    ) -> SearchResult:
        """Return the turns that match a query and pass all filters, best first.

        Without words, newest first; calls by outcome alone are separate hits.
        """
        started = time.perf_counter()
        wanted = parse_query(text) if text.strip() or not filters else None
        asked, query = self.build_query(wanted, filters)
        sort = sort or ("relevance" if asked.has_words else "time")
        listing = self.newest if sort == "time" else self.best
        total, best = listing(query, limit * PASSAGES_PER_HIT)
        note, near, looks = None, tuple[str, ...](), list_terms(wanted)
        if not total and (inner := _as_inner_word(wanted)):
            asked, query = self.build_query(inner, filters)
            total, best = listing(query, limit * PASSAGES_PER_HIT)
            looks = list_terms(inner)
            note = f"no whole word matches '{text}'; these contain it" if total else None
        if not total and wanted:
            note, near = _explain_no_hits(self, text, wanted, filters)
        is_each = asked.is_list_of_calls if is_each is None else is_each
        builder = HitBuilder(
            self.catalogue, asked.highlights, context, is_each, sort == "time", has_offsets
        )
        hits, is_complete = builder.first_hits(lambda count: listing(query, count)[1], limit, best)
        return SearchResult(
            hits=tuple(hits),
            total=total,
            listed=_count_listed(hits),
            is_whole=is_complete,
            sort=sort,
            looks=looks,
            is_each=is_each,
            took_ms=elapsed_ms(started),
            facets=self.facets(query, asked) if has_facets and total else {},
            note=note,
            near=near,
            sessions=self.catalogue.count("sessions"),
        )

    def weigh_words(self, words: Iterable[str]) -> dict[str, float]:
        """Return how much each word says about a passage: a rare word more than a common one."""
        all_passages = self.searcher.num_docs
        counts = {word: self.searcher.doc_freq("text", word) for word in words}
        # What occurs in no passage may be another form of a word, of whatever frequency.
        common = max(1, all_passages // 10)
        return {word: log(1 + all_passages / (count or common)) for word, count in counts.items()}

    def correct_word(self, word: str, stem: str) -> str:
        """Return the word that is most likely meant where no word begins with the stem of one."""
        if len(word) < MIN_MISSPELT or self.searcher.terms_with_prefix("text", stem, limit=1):
            return word
        similar = _find_similar_words(self.searcher, word, MISSPELT_LIKENESS)
        return similar[0] if similar else word

    def match_sessions(self, text: str) -> set[str]:
        """Return the keys of the sessions with a passage that matches a query.

        No passage is ranked and no log is read: this is for lists filtered while typing.
        """
        wanted = parse_query(text)
        found = self._match_sids(wanted)
        inner = None if found else _as_inner_word(wanted)
        found = self._match_sids(inner) if inner else found
        return {key for key, sid in self._session_keys.items() if sid in found}

    def _match_sids(self, wanted: QueryNode) -> set[int]:
        query = Query.const_score_query(self.build_query(wanted, ())[1], 1.0)
        size = max(1, len(self._session_keys))
        counted = self.searcher.aggregate(query, {"sid": {"terms": {"field": "sid", "size": size}}})
        return {int(bucket["key"]) for bucket in counted["sid"]["buckets"]}

    def find_first_hits(self, text: str, keys: Iterable[str]) -> dict[str, Hit]:
        """Return the best passage of each of some sessions, by key."""
        wanted = parse_query(text)
        queries = [self.build_query(wanted, ())]
        if inner := _as_inner_word(wanted):
            queries.append(self.build_query(inner, ()))
        found: dict[str, Hit] = {}
        for key in keys:
            for asked, query in queries:
                hits = self._find_in_session(asked, query, self._session_keys.get(key, 0))
                if hits:
                    found[key] = hits[0]
                    break
        return found

    def _find_in_session(self, asked: TextQueryBuilder, query: Query, sid: int) -> list[Hit]:
        own = Query.const_score_query(Query.term_query(text_schema(), "sid", sid), 0.0)
        both = Query.boolean_query([(Occur.Must, query), (Occur.Must, own)])
        listing = self.best if asked.has_words else self.newest
        _, places = listing(both, PASSAGES_PER_HIT)
        return list(HitBuilder(self.catalogue, asked.highlights).build(places, 1))

    @cached_property
    def _session_keys(self) -> dict[str, int]:
        return self.catalogue.keys()

    def resolve_matches(
        self,
        sightings: "Iterable[ScanMatch]",
        sought: "ScanPattern",
        filters: Sequence[QueryNode] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
        is_each: bool | None = None,
    ) -> SearchResult:
        """Return the matches of a scan with their turns, newest first."""
        from plait.index.expression import make_finder
        from plait.index.scanning import match_passages

        started = time.perf_counter()
        passing = [TextQueryBuilder(self.catalogue).build(wanted) for wanted in filters]
        newest = match_passages(self.searcher, self.catalogue.logs(), sightings, passing)
        builder = HitBuilder(self.catalogue, [make_finder(sought)], context, bool(is_each))
        hits, is_complete = builder.first_hits(newest.first, limit)
        return SearchResult(
            hits=tuple(hits),
            total=len(newest.at),
            listed=_count_listed(hits),
            is_whole=is_complete,
            sort="time",
            is_each=bool(is_each),
            took_ms=elapsed_ms(started),
            facets=newest.facets(self.catalogue) if has_facets and newest.at else {},
            by="scan",
            sessions=self.catalogue.count("sessions"),
        )

    def build_query(
        self, wanted: QueryNode | None, filters: Sequence[QueryNode]
    ) -> tuple[TextQueryBuilder, Query]:
        """Return a condition as a query, with the patterns that highlight its matches."""
        asked = TextQueryBuilder(self.catalogue)
        parts = (*((wanted,) if wanted else ()), *filters)
        query = asked.build_answer(parts[0] if len(parts) == 1 else And(parts))
        return asked, query if asked.has_words else Query.const_score_query(query, 1.0)

    def best(self, query: Query, count: int) -> tuple[int, list[PassagePlace]]:
        """Return the number of matching passages, and the places of the best: by words, kind and
        age.
        """
        total, hits = self._order_hits(query, count, weight_by_field="weight")
        return total, sorted(load_places(self.searcher, hits), key=_rank)

    def newest(self, query: Query, count: int) -> tuple[int, list[PassagePlace]]:
        """Return the number of matching passages, and the places of the newest."""
        total, hits = self._order_hits(query, count + MAX_EQUAL_TIMES, order_by_field="time")
        last = hits[-1][0] if len(hits) < total else None
        if last is not None and hits[count - 1][0] == last:
            # which of several equal ones come first depends on the segments of the index
            earlier = [hit for hit in hits if hit[0] != last]
            hits = [*earlier, *self._order_hits(restrict_to_second(query, last), total)[1]]
        found = load_places(self.searcher, [(0.0, address) for _, address in hits])
        return total, sorted(found, key=_sort_newest_first)[:count]

    def _order_hits(self, query: Query, count: int, **order: Any) -> tuple[int, list[Any]]:
        try:
            found = self.searcher.search(query, count, count=True, **order)
        except ValueError as error:
            if is_damaged(error):
                raise text_index_error(self.folder, error) from error
            raise UserError(f"cannot search: {' '.join(str(error).split())[:120]}") from error
        total: int | None = found.count  # type: ignore[attr-defined]
        return total or 0, found.hits

    def count(self, wanted: QueryNode) -> int:
        """Return the number of matching passages."""
        query = Query.const_score_query(self.build_query(wanted, ())[1], 1.0)
        found = self.searcher.search(query, 1, count=True)
        return found.count or 0  # type: ignore[attr-defined]

    def facets(self, query: Query, asked: TextQueryBuilder) -> dict[str, dict[str, int]]:
        """Return the numbers of passages by project, tool, kind, outcome and month."""
        names = {name: self.catalogue.names(name) for name in ("project", "tool")}
        sizes = {"project": len(names["project"]) + 1}  # several may be one
        least = max(MAX_NAMES + 1, len(SORTS))
        wanted: dict[str, Any] = {
            name: {"terms": {"field": name, "size": max(least, sizes.get(name, 0))}}
            for name in FACETS
        }
        ends = {name: {name: {"field": "time"}} for name in ("min", "max")}
        counts = self.searcher.aggregate(query, wanted | ends)
        folded = {code: self.catalogue.project_of(name) for code, name in names["project"].items()}
        found = {
            "project": _count_names(counts["project"]["buckets"], folded),
            "tool": _count_names(counts["tool"]["buckets"], names["tool"]),
        }
        sorts = {int(count["key"]): int(count["doc_count"]) for count in counts["kind"]["buckets"]}
        found |= count_by_kind(sorts, is_of_calls=asked.is_of_calls)
        found["month"] = {}
        if spans := list(_iter_months(counts["min"]["value"], counts["max"]["value"])):
            by_month = {"month": {"range": {"field": "time", "ranges": spans}}}
            for count in self.searcher.aggregate(query, by_month)["month"]["buckets"]:
                if int(count["doc_count"]) and "-" in count["key"][4:5]:
                    found["month"][count["key"]] = int(count["doc_count"])
        return found


class SharedReader:
    """An index that stays open between searches of one process, and is reopened when it changes.

    Opening takes longer than most searches. Threads use it in turn.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = RLock()
        self._reader: IndexReader | None = None
        self._file = 0
        """The inode of its catalogue: a rebuilt index has another one."""

    @contextmanager
    def open(self) -> Iterator[IndexReader]:
        """Yield the current index; fail if there is none that this version can read."""
        with self._lock:
            if self._reader is None or not self._is_current(self._reader):
                self.close()
                try:
                    self._file = (self.folder / CATALOGUE).stat().st_ino
                except OSError as error:
                    raise SourceError(f"no index in '{self.folder}'") from error
                self._reader = IndexReader(self.folder)
            yield self._reader

    def _is_current(self, reader: IndexReader) -> bool:
        with suppress(OSError, sqlite3.Error):
            inode = (self.folder / CATALOGUE).stat().st_ino
            return inode == self._file and reader.generation == reader.catalogue.generation()
        return False

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._reader:
                self._reader.close()
            self._reader = None


MAX_EQUAL_TIMES = 40
"""More passages of one second than this are searched separately."""


def _rank(place: PassagePlace) -> tuple[float, ...]:
    """Sort equal ones by insertion, whatever segments of the text index have them."""
    return -place.score, place.sid, place.dag, place.turn, place.file, place.line, place.part


def _sort_newest_first(place: PassagePlace) -> tuple[float, ...]:
    """Return a sort key: newest first, without a time last; the last of a session first."""
    time = float("inf") if place.time is None else -place.time
    return time, place.sid, place.dag, -place.turn, place.file, -place.line, -place.part


def _count_listed(hits: Iterable[Hit]) -> int:
    return sum(1 + hit.more for hit in hits)


def _as_inner_word(wanted: QueryNode | None) -> Word | None:
    """Return the word to search inside others, if one plain word is the whole query.

    So `user` finds `getUserName`, which is one word to the index.
    """
    if not isinstance(wanted, Word) or wanted.is_prefix or wanted.distance or wanted.is_inner:
        return None
    return Word(wanted.text, is_inner=True) if re.fullmatch(r"\w{3,}", wanted.text) else None


FACETS = ("project", "tool", "kind")
MAX_NAMES = 12
"""Names of each kind that are counted; one more may stand for passages without any."""
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
LATEST = datetime(2099, 12, 1, tzinfo=UTC).timestamp()


def _iter_months(first: float | None, last: float | None) -> Iterator[dict[str, Any]]:
    if first is None or last is None:
        return
    within = (min(max(item, EARLIEST), LATEST) for item in (first, last))
    start, end = (datetime.fromtimestamp(item, UTC) for item in within)
    year, month = start.year, start.month
    while (year, month) <= (end.year, end.month):
        following = (year + month // 12, month % 12 + 1)
        bounds = (datetime(*item, 1, tzinfo=UTC) for item in ((year, month), following))
        span = dict(zip(("from", "to"), (datetime.timestamp() for datetime in bounds), strict=True))
        yield {"key": f"{year}-{month:02}", **span}
        year, month = following


def count_by_kind(
    counts: Mapping[int, int], *, is_of_calls: bool = False
) -> dict[str, dict[str, int]]:
    """Return the numbers of passages by kind and by outcome of calls."""
    kinds, outcomes = Counter[str](), Counter[str]()
    for code, count in counts.items():
        kind, outcome, is_with_call = SORTS[code]
        kinds[kind] += count
        if outcome and not (is_of_calls and is_with_call):
            outcomes[outcome] += count
    return {"kind": largest_counts(kinds), "outcome": largest_counts(outcomes)}


def _count_names(buckets: list[dict[str, Any]], names: dict[int, str]) -> dict[str, int]:
    found = Counter[str]()
    for bucket in buckets:
        if (name := names.get(int(bucket["key"]))) is not None:
            found[name] += int(bucket["doc_count"])
    return largest_counts(found)


def largest_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the largest counts, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda count: (-count[1], count[0]))[:MAX_NAMES])


MOST_WORDS = 8
MOST_NEAR = 3
MOST_TERMS = 3000
LIKENESS = 0.74
MIN_WORD_LENGTH = 4
MIN_MISSPELT, MISSPELT_LIKENESS = 6, 0.83
"""Length and likeness from which another word is searched instead: two swapped letters of six."""


def _explain_no_hits(
    reader: "IndexReader", text: str, wanted: QueryNode, filters: Sequence[QueryNode]
) -> tuple[str | None, tuple[str, ...]]:
    words = list(dict.fromkeys(_iter_plain_words(wanted)))[:MOST_WORDS]
    counts = {word: reader.searcher.doc_freq("text", word) for word in words}
    unknown = [word for word in words if not counts[word]]
    if unknown:
        return None, tuple(_suggest_queries(reader.searcher, text, unknown))
    bare = _drop_fields(wanted)
    if bare and (filters or bare != wanted) and (count := reader.count(bare)):
        passages = f"{count} passage{'' if count == 1 else 's'}"
        return f"without the fields, {passages} would match", ()
    if len(words) > 1:
        found = ", ".join(f"'{word}' in {count}" for word, count in counts.items())
        return f"no passage contains every word: {found}", ()
    return None, ()


def _iter_plain_words(wanted: QueryNode) -> Iterator[str]:
    match wanted:
        case Word(text=text, is_prefix=False, is_inner=False, distance=0) | Phrase(text=text):
            yield from split_words(text)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _iter_plain_words(part)


def _drop_fields(wanted: QueryNode) -> QueryNode | None:
    """Return a query without its fields; None if nothing is left."""
    if isinstance(wanted, Field):
        return None
    if not isinstance(wanted, And):
        return wanted
    parts = tuple(part for part in wanted.operands if not isinstance(part, Field))
    return And(parts) if parts else None


def _suggest_queries(searcher: Searcher, text: str, unknown: Sequence[str]) -> Iterator[str]:
    near = {word: _find_similar_words(searcher, word) for word in unknown}
    if not all(near.values()):
        return
    for choice in range(MOST_NEAR if len(unknown) == 1 else 1):
        if any(choice >= len(words) for words in near.values()):
            return
        other = text
        for word, words in near.items():
            other = re.sub(
                re.escape(word), words[choice].replace("\\", ""), other, flags=re.IGNORECASE
            )
        yield other


def _find_similar_words(searcher: Searcher, word: str, likeness: float = LIKENESS) -> list[str]:
    if len(word) < MIN_WORD_LENGTH:
        return []
    for start in dict.fromkeys((word[:2], word[:1])):
        terms = searcher.terms_with_prefix("text", start, limit=MOST_TERMS)
        like = [term for term, _ in terms if abs(len(term) - len(word)) <= 2]
        found = get_close_matches(word, like, n=MOST_NEAR, cutoff=likeness)
        if found:
            return found
    return []
