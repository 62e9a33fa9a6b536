"""A query to the turns that answer it, the best first, each once."""

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import SourceError, UserError
from plait.index.catalogue import Catalogue
from plait.index.hits import ENOUGH, Hits
from plait.index.meaning import Meaning
from plait.index.model import Found, Place
from plait.index.query import All, Field, Wanted, Word, parse
from plait.index.texts import is_damaged, open_searcher, places, unusable
from plait.index.times import ms_since

if TYPE_CHECKING:
    from tantivy import Query, Searcher

    from plait.index.expression import Sought
    from plait.index.rawscan import Sighting


class Reader:
    """An index, open for questions; never waits for who writes it."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue(folder)
        if not self.catalogue.is_current():
            self.catalogue.close()
            raise SourceError(
                f"the index in '{folder}' is of another version", "`plait index` makes it anew"
            )
        self.folder = folder
        self.searcher: Searcher
        self.searcher, self._links = open_searcher(folder)

    def close(self) -> None:
        """Lets go of the index."""
        self.catalogue.close()
        if self._links:
            self._links.cleanup()

    def search(
        self,
        text: str,
        filters: Sequence[Field] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
    ) -> Found:
        """Returns the turns that answer a query and pass all filters."""
        started = time.perf_counter()
        wanted = parse(text)
        asked, query = self.asked(wanted, filters)
        total, best = self.best(query, limit * ENOUGH)
        note, near = None, tuple[str, ...]()
        if not total and (inner := within_words(wanted)):
            asked, query = self.asked(inner, filters)
            total, best = self.best(query, limit * ENOUGH)
            note = f"no word is '{text}': these hold it" if total else None
        if not total:
            from plait.index.nothing import explained

            note, near = explained(self, text, wanted, filters)
        hits = Hits(self.catalogue, asked.marks, context)
        return Found(
            hits=tuple(hits.of(lambda count: self.best(query, count)[1], limit, best)),
            total=total,
            took_ms=ms_since(started),
            facets=self.facets(query) if has_facets and total else {},
            note=note,
            near=near,
            sessions=self.catalogue.count("sessions"),
        )

    def sighted(
        self,
        sightings: "Iterable[Sighting]",
        sought: "Sought",
        filters: Sequence[Field] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
    ) -> Found:
        """Returns what a scan has found with its turns, the newest first."""
        from plait.index.expression import finder_of
        from plait.index.placing import known_places

        started = time.perf_counter()
        passing = [Meaning(self.catalogue).of(one) for one in filters]
        newest = known_places(self.searcher, self.catalogue.logs(), sightings, passing)
        hits = Hits(self.catalogue, [finder_of(sought)], context).of(newest.first, limit)
        return Found(
            hits=tuple(hits),
            total=len(newest.at),
            took_ms=ms_since(started),
            facets=newest.facets(self.catalogue) if has_facets and newest.at else {},
            by="scan",
            sessions=self.catalogue.count("sessions"),
        )

    def asked(self, wanted: Wanted, filters: Sequence[Field]) -> tuple[Meaning, "Query"]:
        """Returns what is wanted as a query, with what shows why it was met."""
        asked = Meaning(self.catalogue)
        query = asked.of(All((wanted, *filters)) if filters else wanted)
        return asked, query if asked.has_words else evenly(query)

    def best(self, query: "Query", count: int) -> tuple[int, list[Place]]:
        """Returns how many passages answer, and the places of the best: by words, kind and age."""
        try:
            found = self.searcher.search(query, count, count=True, weight_by_field="weight")
        except ValueError as error:
            if is_damaged(error):
                raise unusable(self.folder, error) from error
            raise UserError(f"cannot search: {' '.join(str(error).split())[:120]}") from error
        total: int | None = found.count  # type: ignore[attr-defined]
        return total or 0, places(self.searcher, found.hits)

    def count(self, wanted: Wanted) -> int:
        """Returns how many passages answer."""
        found = self.searcher.search(evenly(self.asked(wanted, ())[1]), 1, count=True)
        return found.count or 0  # type: ignore[attr-defined]

    def facets(self, query: "Query") -> dict[str, dict[str, int]]:
        """Returns how many passages there are of each project, tool, kind and month."""
        from plait.index.facets import facets_of

        return facets_of(self.searcher, self.catalogue, query)


def evenly(query: "Query") -> "Query":
    """Returns a query without words: kind and age alone decide."""
    from tantivy import Query

    return Query.const_score_query(query, 1.0)


def within_words(wanted: Wanted) -> Word | None:
    """Returns the word to be looked for within others, where one plain word is all there is.

    So `user` finds `getUserName`, which is one word to the index.
    """
    if not isinstance(wanted, Word) or wanted.is_prefix or wanted.distance or wanted.is_inner:
        return None
    return Word(wanted.text, is_inner=True) if re.fullmatch(r"\w{3,}", wanted.text) else None
