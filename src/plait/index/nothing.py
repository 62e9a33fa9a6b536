"""A query that nothing answers to why, and to queries that something would."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from plait.index.query import All, Either, Field, Phrase, Wanted, Word
from plait.index.words import words_of

if TYPE_CHECKING:
    from tantivy import Searcher

    from plait.index.search import Reader

MOST_WORDS = 8
MOST_NEAR = 3
MOST_TERMS = 3000
LIKENESS = 0.74
SHORTEST = 4


def explained(
    reader: "Reader", text: str, wanted: Wanted, filters: Sequence[Field]
) -> tuple[str | None, tuple[str, ...]]:
    """Returns what is known of a query without an answer, and queries much like it."""
    words = list(dict.fromkeys(plain_words(wanted)))[:MOST_WORDS]
    counts = {word: reader.searcher.doc_freq("text", word) for word in words}
    unknown = [word for word in words if not counts[word]]
    if unknown:
        return None, tuple(instead(reader.searcher, text, unknown))
    bare = without_fields(wanted)
    if bare and (filters or bare != wanted) and (count := reader.count(bare)):
        return f"without the fields it is found in {of_passages(count)}", ()
    if len(words) > 1:
        return f"nothing holds all of it: {', '.join(map(' in '.join, told(counts)))}", ()
    return None, ()


def of_passages(count: int) -> str:
    """Returns a number of passages in words."""
    return f"{count} passage{'' if count == 1 else 's'}"


def told(counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yields words with how many passages hold them."""
    for word, count in counts.items():
        yield f"'{word}'", str(count)


def plain_words(wanted: Wanted) -> Iterator[str]:
    """Yields the words that are looked for as they are."""
    match wanted:
        case Word(text=text, is_prefix=False, is_inner=False, distance=0) | Phrase(text=text):
            yield from words_of(text)
        case All(parts) | Either(parts):
            for part in parts:
                yield from plain_words(part)


def without_fields(wanted: Wanted) -> Wanted | None:
    """Returns the words of a query alone, None where there are none."""
    if isinstance(wanted, Field):
        return None
    if not isinstance(wanted, All):
        return wanted
    parts = tuple(part for part in wanted.wanted if not isinstance(part, Field))
    return All(parts) if parts else None


def instead(searcher: "Searcher", text: str, unknown: Sequence[str]) -> Iterator[str]:
    """Yields the query with words that are there in place of those that are not."""
    near = {word: near_words(searcher, word) for word in unknown}
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


def near_words(searcher: "Searcher", word: str) -> list[str]:
    """Returns words of the index much like one that it does not hold, the likeliest first."""
    if len(word) < SHORTEST:
        return []
    for start in dict.fromkeys((word[:2], word[:1])):
        terms = searcher.terms_with_prefix("text", start, limit=MOST_TERMS)
        like = [term for term, _ in terms if abs(len(term) - len(word)) <= 2]
        found = get_close_matches(word, like, n=MOST_NEAR, cutoff=LIKENESS)
        if found:
            return found
    return []
