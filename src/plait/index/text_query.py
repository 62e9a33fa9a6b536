"""Translation of a parsed query for Tantivy, with patterns that highlight matches in a text."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import assert_never

from tantivy import FieldType, Occur, Query

from plait.errors import UserError
from plait.index.catalogue import Catalogue
from plait.index.model import KINDS, OUTCOMES, SORTS, STATES
from plait.index.query import And, Field, Not, Or, Phrase, QueryNode, Word, shorten
from plait.index.text_index import UNSPACED, letter_pairs, split_words, text_schema
from plait.line import make_project_slug

GAP = r"[\W_]+"
START, END = r"(?<![^\W_])", r"(?![^\W_])"
"""Word boundaries."""


def drop_repeated_words(parts: Iterable[QueryNode]) -> list[QueryNode]:
    """Return parts once each; punctuation is dropped if there are other parts."""
    once = list(dict.fromkeys(parts))
    kept = [item for item in once if not isinstance(item, Word) or has_words(item.text)]
    return kept or once


def has_words(text: str) -> bool:
    """Return whether a text contains anything that is indexed."""
    return bool(UNSPACED.search(text) or split_words(text))


def phrase_pattern(words: list[str], phrase: Phrase) -> str:
    """Return the pattern of consecutive words in a text."""
    gap = rf"{GAP}(?:[^\W_]+{GAP}){{0,{phrase.slop}}}" if phrase.slop else GAP
    end = r"[^\W_]*" if phrase.is_prefix else END
    return f"{START}{gap.join(map(re.escape, words))}{end}"


def word_pattern(words: list[str], word: Word) -> str:
    """Return the pattern of a word in a text."""
    parts = [re.escape(word) for word in words]
    start, end = START, END
    if word.distance:
        return rf"{start}{re.escape(words[0][: max(1, len(words[0]) - 3)])}[^\W_]*"
    if word.is_inner:
        return GAP.join(parts)
    return f"{start}{GAP.join(parts)}" + (r"[^\W_]*" if word.is_prefix else end)


KIND_GROUPS = {"tools": ("input", "output"), "human": ("prompt", "command")}
"""Words for several kinds."""
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
MAX_SECONDS = 20_000_000_000


@dataclass
class TextQueryBuilder:
    """Translates conditions to a query; collects patterns that highlight matches."""

    catalogue: Catalogue
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    highlights: list[re.Pattern[str]] = field(default_factory=list)
    has_words: bool = False
    has_kind: bool = False
    has_outcome: bool = False

    def build(self, wanted: QueryNode, *, is_highlighted: bool = True) -> Query:
        """Return the query; exclusions are not highlighted."""
        match wanted:
            case Word():
                return self.word(wanted, is_highlighted=is_highlighted)
            case Phrase():
                return self.phrase(wanted, is_highlighted=is_highlighted)
            case Field():
                return FIELD_QUERIES[wanted.name](self, wanted.value)
            case Not(inner):
                return self.without(inner)
            case And(parts):
                return self._build_conjunction(parts, is_highlighted=is_highlighted)
            case Or(parts):
                return _require_any(
                    [self.build(part, is_highlighted=is_highlighted) for part in parts]
                )
            case _:
                assert_never(wanted)

    def without(self, inner: QueryNode) -> Query:
        """Return the query for everything except something."""
        unwanted = self.build(inner, is_highlighted=False)
        return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, unwanted)])

    def _build_conjunction(self, parts: Iterable[QueryNode], *, is_highlighted: bool) -> Query:
        found: list[tuple[Occur, Query]] = []
        for part in drop_repeated_words(parts):
            if isinstance(part, Not):
                found.append((Occur.MustNot, self.build(part.operand, is_highlighted=False)))
            else:
                found.append((Occur.Must, self.build(part, is_highlighted=is_highlighted)))
        if all(occur == Occur.MustNot for occur, _ in found):
            found.append((Occur.Must, Query.all_query()))
        return Query.boolean_query(found)

    def word(self, word: Word, *, is_highlighted: bool) -> Query:
        """Return the query for a word in any of its forms."""
        if UNSPACED.search(word.text):
            return self.phrase(Phrase(word.text), is_highlighted=is_highlighted)
        words = self.words(word.text)
        self.add_highlight(word_pattern(words, word), is_highlighted=is_highlighted)
        if len(words) > 1:
            if word.is_prefix:
                return Query.phrase_prefix_query(text_schema(), "text", list(words))
            return Query.phrase_query(text_schema(), "text", list(words))
        if word.distance:
            return Query.fuzzy_term_query(text_schema(), "text", words[0], word.distance)
        if word.is_prefix or word.is_inner:
            start = ".*" if word.is_inner else ""
            return Query.regex_query(text_schema(), "text", f"{start}{re.escape(words[0])}.*")
        return Query.term_query(text_schema(), "text", words[0])

    def phrase(self, phrase: Phrase, *, is_highlighted: bool) -> Query:
        """Return the query for consecutive words, or pairs of letters if it has none."""
        unspaced = UNSPACED.findall(phrase.text)
        spaced_out = UNSPACED.sub(" ", phrase.text)
        parts: list[Query] = []
        for run in unspaced:
            if len(run) == 1:
                parts.append(Query.regex_query(text_schema(), "pairs", f".?{re.escape(run)}.?"))
            else:
                parts.append(_build_words_query("pairs", letter_pairs(run)))
        for run in unspaced:
            self.add_highlight(re.escape(run), is_highlighted=is_highlighted)
        if not unspaced or split_words(spaced_out):
            words = self.words(spaced_out)
            self.add_highlight(phrase_pattern(words, phrase), is_highlighted=is_highlighted)
            if phrase.is_prefix and len(words) > 1:
                query = Query.phrase_prefix_query(text_schema(), "text", list(words))
            elif phrase.is_prefix:
                query = Query.regex_query(text_schema(), "text", f"{re.escape(words[0])}.*")
            elif phrase.slop and len(words) > 1:
                query = Query.phrase_query(text_schema(), "text", list(words), slop=phrase.slop)
            else:
                query = _build_words_query("text", words)
            parts.append(query)
        self.has_words = True
        if len(parts) == 1:
            return parts[0]
        return Query.boolean_query([(Occur.Must, part) for part in parts])

    def words(self, text: str) -> list[str]:
        """Return the words of a text; raise if it has none."""
        found = split_words(text)
        if not found:
            raise UserError(
                f"'{shorten(text)}' has no searchable word",
                "`plait search --exact` finds any text, including punctuation",
            )
        self.has_words = True
        return found

    def add_highlight(self, look: str, *, is_highlighted: bool) -> None:
        """Add a pattern that highlights a match."""
        if is_highlighted:
            self.highlights.append(re.compile(look, re.IGNORECASE))

    def match_names(self, sort: str, value: str) -> Query:
        """Return the query for names of tools or models: equal ones, else those that contain it."""
        names = self.catalogue.names(sort)
        codes: list[int] = []
        for part in value.split(","):
            wanted = part.strip("*").casefold()
            equal = [code for code, name in names.items() if name.casefold() == part.casefold()]
            codes += equal or [code for code, name in names.items() if wanted in name.casefold()]
        if not codes:
            near = get_close_matches(value, names.values(), n=3, cutoff=0.4)
            known = near or sorted(names.values(), key=str.casefold)[:6]
            raise UserError(
                f"no {sort} named '{value}'",
                f"choose from {', '.join(known)}" if known else "the index has none",
            )
        return _match_codes(sort, codes)

    def kind(self, value: str) -> Query:
        """Return the query for kinds of passages."""
        codes: list[int] = []
        for part in value.casefold().split(","):
            kinds = KIND_GROUPS.get(part, (part if part in KINDS else part.removesuffix("s"),))
            if not set(kinds) <= set(KINDS):
                raise UserError(
                    f"no kind of passage named '{part}'",
                    f"kinds are {', '.join((*KINDS, *KIND_GROUPS))}",
                )
            codes += [code for code, (kind, *_) in enumerate(SORTS) if kind in kinds]
        self.has_kind = True
        return _match_codes("kind", codes)

    def outcome(self, value: str) -> Query:
        """Return the query for calls by outcome, and for their results."""
        wanted = value.casefold().split(",")
        if not set(wanted) <= set(OUTCOMES):
            raise UserError(f"no outcome named '{value}'", f"outcomes are {', '.join(OUTCOMES)}")
        self.has_outcome = True
        return _match_codes("kind", [code for code, sort in enumerate(SORTS) if sort[1] in wanted])

    @property
    def is_of_calls(self) -> bool:
        """Return whether outcomes mean calls, each once, and not their results too."""
        return not (self.has_words or self.has_kind)

    @property
    def is_list_of_calls(self) -> bool:
        """Return whether only an outcome of calls is asked for."""
        return self.has_outcome and self.is_of_calls

    def build_answer(self, wanted: QueryNode) -> Query:
        """Return the query; a call searched by outcome alone matches once."""
        found = self.build(wanted)
        if not self.is_list_of_calls:
            return found
        with_calls = _match_codes("kind", [code for code, sort in enumerate(SORTS) if sort[2]])
        return Query.boolean_query([(Occur.Must, found), (Occur.MustNot, with_calls)])

    def branch(self, value: str) -> Query:
        """Return the query for active, abandoned and other lines."""
        wanted = value.casefold().split(",")
        if not set(wanted) <= set(STATES):
            raise UserError(f"no branch state named '{value}'", f"states are {', '.join(STATES)}")
        return _match_codes("state", [STATES.index(state) for state in STATES if state in wanted])

    def project(self, value: str) -> Query:
        """Return the query for projects by their name, one of their folders, or a part of it."""
        names, project_of = self.catalogue.names("project"), self.catalogue.project_of
        wanted = [make_project_slug(part.strip("*")).casefold() for part in value.split(",")]
        names_by_code = {
            code: f"{name}\n{project_of(name)}".casefold() for code, name in names.items()
        }
        codes = [
            code for code, name in names_by_code.items() if any(part in name for part in wanted)
        ]
        if not codes:
            raise UserError(f"no project named '{value}'", "`plait ls` lists your projects")
        return _match_codes("project", codes)

    def session(self, value: str) -> Query:
        """Return the query for sessions by id prefix."""
        wanted = tuple(value.casefold().split(","))
        known = self.catalogue.sessions().values()
        sids = [
            session_known.sid
            for session_known in known
            if session_known.id.casefold().startswith(wanted)
        ]
        if not sids:
            raise UserError(f"no session starts with '{value}'", "`plait ls` lists your sessions")
        return _match_codes("sid", sids)

    def file(self, value: str) -> Query:
        """Return the query for calls about a file, and for their results."""
        words = split_words(value.strip("*"))
        if not words:
            raise UserError(f"'{value}' is not a file name", "use `file:name.py` or part of a path")
        return _build_words_query("path", words)

    def before(self, value: str) -> Query:
        """Return the query for what was before a time."""
        return _build_time_range(None, _parse_time(value, self.now))

    def after(self, value: str) -> Query:
        """Return the query for what was at or after a time."""
        return _build_time_range(_parse_time(value, self.now), None)


FIELD_QUERIES: dict[str, Callable[[TextQueryBuilder, str], Query]] = {
    "tool": lambda builder, value: builder.match_names("tool", value),
    "model": lambda builder, value: builder.match_names("model", value),
    "kind": TextQueryBuilder.kind,
    "outcome": TextQueryBuilder.outcome,
    "branch": TextQueryBuilder.branch,
    "project": TextQueryBuilder.project,
    "session": TextQueryBuilder.session,
    "file": TextQueryBuilder.file,
    "before": TextQueryBuilder.before,
    "after": TextQueryBuilder.after,
}


def _require_any(parts: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, part) for part in parts])


def _match_codes(name: str, codes: Iterable[int]) -> Query:
    found = _require_any([Query.term_query(text_schema(), name, code) for code in codes])
    return Query.const_score_query(found, 0.0)


def _build_words_query(name: str, words: list[str]) -> Query:
    if len(words) == 1:
        return Query.term_query(text_schema(), name, words[0])
    return Query.phrase_query(text_schema(), name, list(words))


def restrict_to_second(query: Query, second: int) -> Query:
    """Return a query restricted to one second."""
    return Query.boolean_query(
        [(Occur.Must, query), (Occur.Must, _build_time_range(second, second + 1))]
    )


def _build_time_range(start: int | None, end: int | None) -> Query:
    found = Query.range_query(
        text_schema(),
        "time",
        FieldType.Integer,
        -MAX_SECONDS if start is None else start,
        MAX_SECONDS if end is None else end,
        include_upper=False,
    )
    return Query.const_score_query(found, 0.0)


def _parse_time(text: str, now: datetime) -> int:
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return int((midnight - timedelta(days=text == "yesterday")).timestamp())
    try:
        if text[:-1].isdigit() and text[-1] in UNITS:
            return int((now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})).timestamp())
        date = {4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text)
        return int(datetime.fromisoformat(date).astimezone(UTC).timestamp())
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "use a day (2026-11-15), a month (2026-11), a time (2026-11-15T10:00), 7d or today",
        ) from None
