"""What is wanted to a query of the text index, and to the marks that show why it was met."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, assert_never

from plait.errors import UserError
from plait.index.catalogue import Catalogue
from plait.index.looks import look_of, phrase_look, worded
from plait.index.model import KINDS, STATES
from plait.index.query import All, Either, Field, Not, Phrase, Wanted, Word, short
from plait.index.texts import schema
from plait.index.times import second_named
from plait.index.words import UNSPACED, pairs_in, words_of
from plait.line import slug_of

if TYPE_CHECKING:
    from tantivy import Query

BESIDE = {"tools": ("input", "output"), "human": ("prompt", "command")}
"""Words for several kinds."""
MOST = 20_000_000_000


@dataclass
class Meaning:
    """Turns what is wanted into a query; keeps how its words look in a text."""

    catalogue: Catalogue
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    marks: list[re.Pattern[str]] = field(default_factory=list)
    has_words: bool = False

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
                return self.all_of(parts, is_shown=is_shown)
            case Either(parts):
                return any_of([self.of(part, is_shown=is_shown) for part in parts])
            case _:
                assert_never(wanted)

    def without(self, inner: Wanted) -> "Query":
        """Returns the query for everything but something."""
        from tantivy import Occur, Query

        unwanted = self.of(inner, is_shown=False)
        return Query.boolean_query([(Occur.Must, everything()), (Occur.MustNot, unwanted)])

    def all_of(self, parts: Iterable[Wanted], *, is_shown: bool) -> "Query":
        """Returns the query for several things together."""
        from tantivy import Occur, Query

        found: list[tuple[Occur, Query]] = []
        for part in worded(parts):
            if isinstance(part, Not):
                found.append((Occur.MustNot, self.of(part.wanted, is_shown=False)))
            else:
                found.append((Occur.Must, self.of(part, is_shown=is_shown)))
        if all(occur == Occur.MustNot for occur, _ in found):
            found.append((Occur.Must, everything()))
        return Query.boolean_query(found)

    def word(self, word: Word, *, is_shown: bool) -> "Query":
        """Returns the query for a word in any of its forms."""
        from tantivy import Query

        if UNSPACED.search(word.text):
            return self.phrase(Phrase(word.text), is_shown=is_shown)
        words = self.words(word.text)
        self.show(look_of(words, word), is_shown=is_shown)
        if len(words) > 1:
            if word.is_prefix:
                return Query.phrase_prefix_query(schema(), "text", list(words))
            return Query.phrase_query(schema(), "text", list(words))
        if word.distance:
            return Query.fuzzy_term_query(schema(), "text", words[0], word.distance)
        if word.is_prefix or word.is_inner:
            start = ".*" if word.is_inner else ""
            return Query.regex_query(schema(), "text", f"{start}{re.escape(words[0])}.*")
        return Query.term_query(schema(), "text", words[0])

    def phrase(self, phrase: Phrase, *, is_shown: bool) -> "Query":
        """Returns the query for words in their order, pairs of letters where they have none."""
        from tantivy import Occur, Query

        unspaced = UNSPACED.findall(phrase.text)
        spaced_out = UNSPACED.sub(" ", phrase.text)
        parts = [pairs_query(run) for run in unspaced]
        for run in unspaced:
            self.show(re.escape(run), is_shown=is_shown)
        if not unspaced or words_of(spaced_out):
            words = self.words(spaced_out)
            self.show(phrase_look(words, phrase), is_shown=is_shown)
            parts.append(phrase_query(words, phrase))
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
        return one_of(sort, codes)

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
            codes += [KINDS.index(kind) for kind in KINDS if kind in kinds]
        return one_of("kind", codes)

    def branch(self, value: str) -> "Query":
        """Returns the query for active, abandoned and other lines."""
        wanted = value.casefold().split(",")
        if not set(wanted) <= set(STATES):
            raise UserError(f"no branch is '{value}'", f"known are {', '.join(STATES)}")
        return one_of("state", [STATES.index(state) for state in STATES if state in wanted])

    def project(self, value: str) -> "Query":
        """Returns the query for projects by their folder's name or a part of it."""
        names = self.catalogue.names("project")
        wanted = [slug_of(part.strip("*")).casefold() for part in value.split(",")]
        codes = [
            code for code, name in names.items() if any(part in name.casefold() for part in wanted)
        ]
        if not codes:
            raise UserError(
                f"no project is called '{value}'", "`plait ls` lists the projects there are"
            )
        return one_of("project", codes)

    def session(self, value: str) -> "Query":
        """Returns the query for sessions by the beginning of their id."""
        wanted = tuple(value.casefold().split(","))
        known = self.catalogue.sessions().values()
        sids = [one.sid for one in known if one.id.casefold().startswith(wanted)]
        if not sids:
            raise UserError(
                f"no session starts with '{value}'", "`plait ls` lists the sessions there are"
            )
        return one_of("sid", sids)

    def file(self, value: str) -> "Query":
        """Returns the query for calls about a file, and for their results."""
        words = words_of(value.strip("*"))
        if not words:
            raise UserError(f"'{value}' names no file", "say `file:name.py` or a part of a path")
        return words_query("path", words)

    def before(self, value: str) -> "Query":
        """Returns the query for what was before a moment."""
        return in_time(None, second_named(value, self.now))

    def after(self, value: str) -> "Query":
        """Returns the query for what was at a moment or after it."""
        return in_time(second_named(value, self.now), None)


FIELDS: dict[str, Callable[[Meaning, str], "Query"]] = {
    "tool": Meaning.tool,
    "model": Meaning.model,
    "kind": Meaning.kind,
    "branch": Meaning.branch,
    "project": Meaning.project,
    "session": Meaning.session,
    "file": Meaning.file,
    "before": Meaning.before,
    "after": Meaning.after,
}


def everything() -> "Query":
    """Returns the query that everything answers."""
    from tantivy import Query

    return Query.all_query()


def any_of(parts: list["Query"]) -> "Query":
    """Returns the query that any of some answers."""
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Should, part) for part in parts])


def one_of(name: str, codes: Iterable[int]) -> "Query":
    """Returns the query for any of some numbers; it says nothing of how good a hit is."""
    from tantivy import Query

    found = any_of([Query.term_query(schema(), name, code) for code in codes])
    return Query.const_score_query(found, 0.0)


def phrase_query(words: list[str], phrase: Phrase) -> "Query":
    """Returns the query for a phrase."""
    from tantivy import Query

    if phrase.is_prefix and len(words) > 1:
        return Query.phrase_prefix_query(schema(), "text", list(words))
    if phrase.is_prefix:
        return Query.regex_query(schema(), "text", f"{re.escape(words[0])}.*")
    if phrase.slop and len(words) > 1:
        return Query.phrase_query(schema(), "text", list(words), slop=phrase.slop)
    return words_query("text", words)


def words_query(name: str, words: list[str]) -> "Query":
    """Returns the query for words in their order."""
    from tantivy import Query

    if len(words) == 1:
        return Query.term_query(schema(), name, words[0])
    return Query.phrase_query(schema(), name, list(words))


def pairs_query(run: str) -> "Query":
    """Returns the query for letters of an unspaced script."""
    from tantivy import Query

    if len(run) == 1:
        return Query.regex_query(schema(), "pairs", f".?{re.escape(run)}.?")
    return words_query("pairs", pairs_in(run))


def in_time(start: int | None, end: int | None) -> "Query":
    """Returns the query for a span of time."""
    from tantivy import FieldType, Query

    found = Query.range_query(
        schema(),
        "time",
        FieldType.Integer,
        -MOST if start is None else start,
        MOST if end is None else end,
        include_upper=False,
    )
    return Query.const_score_query(found, 0.0)
