"""What is wanted to a query of the text index, and to the marks that show why it was met."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, assert_never

from plait.errors import UserError
from plait.index.catalogue import Catalogue
from plait.index.model import KINDS, OUTCOMES, SORTS, STATES
from plait.index.query import All, Either, Field, Not, Phrase, Wanted, Word, short
from plait.index.texts import UNSPACED, pairs_in, text_schema, words_of
from plait.line import slug_of

if TYPE_CHECKING:
    from tantivy import Query


GAP = r"[\W_]+"
START, END = r"(?<![^\W_])", r"(?![^\W_])"
"""The ends of a word."""


def distinct_words(parts: Iterable[Wanted]) -> list[Wanted]:
    """Returns parts once each; signs that are no words are left out beside others."""
    once = list(dict.fromkeys(parts))
    kept = [one for one in once if not isinstance(one, Word) or has_words(one.text)]
    return kept or once


def has_words(text: str) -> bool:
    """Tells whether a text holds anything that is indexed."""
    return bool(UNSPACED.search(text) or words_of(text))


def phrase_pattern(words: list[str], phrase: Phrase) -> str:
    """Returns how words in their order look in a text."""
    gap = rf"{GAP}(?:[^\W_]+{GAP}){{0,{phrase.slop}}}" if phrase.slop else GAP
    end = r"[^\W_]*" if phrase.is_prefix else END
    return f"{START}{gap.join(map(re.escape, words))}{end}"


def word_pattern(words: list[str], word: Word) -> str:
    """Returns how a word looks in a text."""
    parts = [re.escape(one) for one in words]
    start, end = START, END
    if word.distance:
        return rf"{start}{re.escape(words[0][: max(1, len(words[0]) - 3)])}[^\W_]*"
    if word.is_inner:
        return GAP.join(parts)
    return f"{start}{GAP.join(parts)}" + (r"[^\W_]*" if word.is_prefix else end)


BESIDE = {"tools": ("input", "output"), "human": ("prompt", "command")}
"""Words for several kinds."""
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
MOST = 20_000_000_000


@dataclass
class TextQuery:
    """Turns what is wanted into a query; keeps how its words look in a text."""

    catalogue: Catalogue
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    marks: list[re.Pattern[str]] = field(default_factory=list)
    has_words: bool = False
    has_kind: bool = False
    has_outcome: bool = False

    def of(self, wanted: Wanted, *, is_shown: bool = True) -> "Query":
        """Returns the query; what is not wanted is not marked."""
        match wanted:
            case Word():
                return self.word(wanted, is_shown=is_shown)
            case Phrase():
                return self.phrase(wanted, is_shown=is_shown)
            case Field():
                return FIELDS[wanted.name](self, wanted.value)
            case Not(inner):
                return self.without(inner)
            case All(parts):
                return self._all_of(parts, is_shown=is_shown)
            case Either(parts):
                return _any_of([self.of(part, is_shown=is_shown) for part in parts])
            case _:
                assert_never(wanted)

    def without(self, inner: Wanted) -> "Query":
        """Returns the query for everything but something."""
        from tantivy import Occur, Query

        unwanted = self.of(inner, is_shown=False)
        return Query.boolean_query([(Occur.Must, _everything()), (Occur.MustNot, unwanted)])

    def _all_of(self, parts: Iterable[Wanted], *, is_shown: bool) -> "Query":
        from tantivy import Occur, Query

        found: list[tuple[Occur, Query]] = []
        for part in distinct_words(parts):
            if isinstance(part, Not):
                found.append((Occur.MustNot, self.of(part.wanted, is_shown=False)))
            else:
                found.append((Occur.Must, self.of(part, is_shown=is_shown)))
        if all(occur == Occur.MustNot for occur, _ in found):
            found.append((Occur.Must, _everything()))
        return Query.boolean_query(found)

    def word(self, word: Word, *, is_shown: bool) -> "Query":
        """Returns the query for a word in any of its forms."""
        from tantivy import Query

        if UNSPACED.search(word.text):
            return self.phrase(Phrase(word.text), is_shown=is_shown)
        words = self.words(word.text)
        self.show(word_pattern(words, word), is_shown=is_shown)
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

    def phrase(self, phrase: Phrase, *, is_shown: bool) -> "Query":
        """Returns the query for words in their order, pairs of letters where they have none."""
        from tantivy import Occur, Query

        unspaced = UNSPACED.findall(phrase.text)
        spaced_out = UNSPACED.sub(" ", phrase.text)
        parts = [_pairs_query(run) for run in unspaced]
        for run in unspaced:
            self.show(re.escape(run), is_shown=is_shown)
        if not unspaced or words_of(spaced_out):
            words = self.words(spaced_out)
            self.show(phrase_pattern(words, phrase), is_shown=is_shown)
            parts.append(_phrase_query(words, phrase))
        self.has_words = True
        if len(parts) == 1:
            return parts[0]
        return Query.boolean_query([(Occur.Must, part) for part in parts])

    def words(self, text: str) -> list[str]:
        """Returns the words of a text, or says that it has none."""
        found = words_of(text)
        if not found:
            raise UserError(
                f"'{short(text)}' holds no word that is indexed",
                "`plait search --exact` finds any text, signs too",
            )
        self.has_words = True
        return found

    def show(self, look: str, *, is_shown: bool) -> None:
        """Keeps how something wanted looks in a text."""
        if is_shown:
            self.marks.append(re.compile(look, re.IGNORECASE))

    def tool(self, value: str) -> "Query":
        """Returns the query for what a tool was given or answered."""
        return self.named("tool", "tool", value)

    def model(self, value: str) -> "Query":
        """Returns the query for what a model said."""
        return self.named("model", "model", value)

    def named(self, sort: str, noun: str, value: str) -> "Query":
        """Returns the query for names: equal ones, else those that hold what was said."""
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
                f"no {noun} is called '{value}'",
                f"there are {', '.join(known)}" if known else "the index names none",
            )
        return _one_of(sort, codes)

    def kind(self, value: str) -> "Query":
        """Returns the query for kinds of passages."""
        codes: list[int] = []
        for part in value.casefold().split(","):
            kinds = BESIDE.get(part, (part if part in KINDS else part.removesuffix("s"),))
            if not set(kinds) <= set(KINDS):
                raise UserError(
                    f"no passage is of kind '{part}'",
                    f"known are {', '.join((*KINDS, *BESIDE))}",
                )
            codes += [code for code, (kind, *_) in enumerate(SORTS) if kind in kinds]
        self.has_kind = True
        return _one_of("kind", codes)

    def outcome(self, value: str) -> "Query":
        """Returns the query for calls by what became of them, and for their results."""
        wanted = value.casefold().split(",")
        if not set(wanted) <= set(OUTCOMES):
            raise UserError(f"no call ends '{value}'", f"known are {', '.join(OUTCOMES)}")
        self.has_outcome = True
        return _one_of("kind", [code for code, sort in enumerate(SORTS) if sort[1] in wanted])

    @property
    def is_of_calls(self) -> bool:
        """Tells whether outcomes are those of calls, each once, and not of their results too."""
        return not (self.has_words or self.has_kind)

    @property
    def is_list_of_calls(self) -> bool:
        """Tells whether calls are asked for by their outcome alone."""
        return self.has_outcome and self.is_of_calls

    def whole(self, wanted: Wanted) -> "Query":
        """Returns the query; a call that is asked for by its outcome alone answers once."""
        from tantivy import Occur, Query

        found = self.of(wanted)
        if not self.is_list_of_calls:
            return found
        with_calls = _one_of("kind", [code for code, sort in enumerate(SORTS) if sort[2]])
        return Query.boolean_query([(Occur.Must, found), (Occur.MustNot, with_calls)])

    def branch(self, value: str) -> "Query":
        """Returns the query for active, abandoned and other lines."""
        wanted = value.casefold().split(",")
        if not set(wanted) <= set(STATES):
            raise UserError(f"no branch is '{value}'", f"known are {', '.join(STATES)}")
        return _one_of("state", [STATES.index(state) for state in STATES if state in wanted])

    def project(self, value: str) -> "Query":
        """Returns the query for projects by their name, a folder's of theirs, or a part of one."""
        names, project_of = self.catalogue.names("project"), self.catalogue.project_of
        wanted = [slug_of(part.strip("*")).casefold() for part in value.split(",")]
        told = {code: f"{name}\n{project_of(name)}".casefold() for code, name in names.items()}
        codes = [code for code, name in told.items() if any(part in name for part in wanted)]
        if not codes:
            raise UserError(
                f"no project is called '{value}'", "`plait ls` lists the projects there are"
            )
        return _one_of("project", codes)

    def session(self, value: str) -> "Query":
        """Returns the query for sessions by the beginning of their id."""
        wanted = tuple(value.casefold().split(","))
        known = self.catalogue.sessions().values()
        sids = [one.sid for one in known if one.id.casefold().startswith(wanted)]
        if not sids:
            raise UserError(
                f"no session starts with '{value}'", "`plait ls` lists the sessions there are"
            )
        return _one_of("sid", sids)

    def file(self, value: str) -> "Query":
        """Returns the query for calls about a file, and for their results."""
        words = words_of(value.strip("*"))
        if not words:
            raise UserError(f"'{value}' names no file", "say `file:name.py` or a part of a path")
        return _words_query("path", words)

    def before(self, value: str) -> "Query":
        """Returns the query for what was before a moment."""
        return _in_time(None, _second_named(value, self.now))

    def after(self, value: str) -> "Query":
        """Returns the query for what was at a moment or after it."""
        return _in_time(_second_named(value, self.now), None)


FIELDS: dict[str, Callable[[TextQuery, str], "Query"]] = {
    "tool": TextQuery.tool,
    "model": TextQuery.model,
    "kind": TextQuery.kind,
    "outcome": TextQuery.outcome,
    "branch": TextQuery.branch,
    "project": TextQuery.project,
    "session": TextQuery.session,
    "file": TextQuery.file,
    "before": TextQuery.before,
    "after": TextQuery.after,
}


def _everything() -> "Query":
    from tantivy import Query

    return Query.all_query()


def _any_of(parts: list["Query"]) -> "Query":
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Should, part) for part in parts])


def _one_of(name: str, codes: Iterable[int]) -> "Query":
    from tantivy import Query

    found = _any_of([Query.term_query(text_schema(), name, code) for code in codes])
    return Query.const_score_query(found, 0.0)


def _phrase_query(words: list[str], phrase: Phrase) -> "Query":
    from tantivy import Query

    if phrase.is_prefix and len(words) > 1:
        return Query.phrase_prefix_query(text_schema(), "text", list(words))
    if phrase.is_prefix:
        return Query.regex_query(text_schema(), "text", f"{re.escape(words[0])}.*")
    if phrase.slop and len(words) > 1:
        return Query.phrase_query(text_schema(), "text", list(words), slop=phrase.slop)
    return _words_query("text", words)


def _words_query(name: str, words: list[str]) -> "Query":
    from tantivy import Query

    if len(words) == 1:
        return Query.term_query(text_schema(), name, words[0])
    return Query.phrase_query(text_schema(), name, list(words))


def _pairs_query(run: str) -> "Query":
    from tantivy import Query

    if len(run) == 1:
        return Query.regex_query(text_schema(), "pairs", f".?{re.escape(run)}.?")
    return _words_query("pairs", pairs_in(run))


def at_second(query: "Query", second: int) -> "Query":
    """Returns a query for what of another was at one second."""
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Must, query), (Occur.Must, _in_time(second, second + 1))])


def _in_time(start: int | None, end: int | None) -> "Query":
    from tantivy import FieldType, Query

    found = Query.range_query(
        text_schema(),
        "time",
        FieldType.Integer,
        -MOST if start is None else start,
        MOST if end is None else end,
        include_upper=False,
    )
    return Query.const_score_query(found, 0.0)


def _second_named(text: str, now: datetime) -> int:
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return int((midnight - timedelta(days=text == "yesterday")).timestamp())
    try:
        if text[:-1].isdigit() and text[-1] in UNITS:
            return int((now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})).timestamp())
        whole = {4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text)
        return int(datetime.fromisoformat(whole).astimezone(UTC).timestamp())
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "say a day (2026-11-15), a month (2026-11), a time (2026-11-15T10:00), 7d or today",
        ) from None
