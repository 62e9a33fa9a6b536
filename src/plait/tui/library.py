"""The sessions of the list, and the filter over them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from plait.archive import Archive, Facts, Session
from plait.cli.options import Request
from plait.errors import PlaitError, UserError
from plait.sessions.names import is_in_project
from plait.terminal.text import safe_line
from plait.tui.rendering import ScreenOutput

if TYPE_CHECKING:
    from plait.index.model import Hit
    from plait.index.search import SharedReader

MOST_HITS = 400
"""Turns that a filter asks the logs for where there is no index."""
COST = re.compile(r"(<=|>=|<|>|=)?\$?(\d+(?:\.\d+)?)")
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda cost, limit: cost < limit,
    "<=": lambda cost, limit: cost <= limit,
    ">": lambda cost, limit: cost > limit,
    ">=": lambda cost, limit: cost >= limit,
    "=": lambda cost, limit: round(cost, 2) == limit,
}
TERM = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
UNFINISHED = re.compile(r"[\w-]{2,}")
"""A last word that may still be typed on: it is searched as the beginning of a word."""


@dataclass(frozen=True)
class Row:
    """One session in the list."""

    facts: Facts
    session: Session
    project: str
    directory: str
    cost: float | None = None
    is_starred: bool = False

    @property
    def key(self) -> Path:
        """What it is known by."""
        return self.facts.path


@dataclass(frozen=True)
class Filter:
    """What is wanted of the list."""

    words: str = ""
    """What the index is asked."""
    projects: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    costs: tuple[tuple[str, float], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether everything is wanted."""
        return self == Filter()

    @property
    def plain_words(self) -> tuple[str, ...]:
        """The words that titles are searched for; none where a field is asked for."""
        terms = [term.strip('"') for term in self.words.split()]
        has_fields = any(re.match(r"-|\(|\w+:", term) for term in terms)
        return () if has_fields else tuple(term.rstrip("*").casefold() for term in terms)

    def accepts(self, row: Row, project_of: Callable[[str], str]) -> bool:
        """Return whether a session passes everything but the words."""
        return (
            all(is_in_project(row.facts, name, project_of) for name in self.projects)
            and all(row.facts.agent.startswith(name) for name in self.agents)
            and all(row.cost is not None and COMPARE[sign](row.cost, n) for sign, n in self.costs)
        )


def parse_filter(text: str) -> Filter:
    """Parse what was typed; fail where a field has a value that it cannot have."""
    words, projects, agents, costs = [], [], [], []
    for term in TERM.findall(text):
        name, sign, value = term.partition(":")
        value = value.strip('"')
        match name.casefold() if sign else "":
            case "project" if value:
                projects.append(value)
            case "agent" if value:
                agents.append(value.casefold())
            case "cost" if value:
                if not (match := COST.fullmatch(value)):
                    raise UserError(f"'{term}' is not a cost", "write `cost:>1` or `cost:<0.5`")
                costs.append((match[1] or "=", float(match[2])))
            case "project" | "agent" | "cost" | "tool":
                if value:
                    words.append(term)
            case _:
                words.append(term)
    if words and UNFINISHED.fullmatch(words[-1]) and not text[-1:].isspace():
        words[-1] += "*"
    return Filter(" ".join(words), tuple(projects), tuple(agents), tuple(costs))


@dataclass(frozen=True)
class Selection:
    """What a filter leaves of the list."""

    rows: Sequence[Row]
    matched: frozenset[Path] = frozenset()
    """The sessions whose logs have the words, by key; others have them in the title alone."""
    hits: "Mapping[Path, Hit]" = field(default_factory=dict)
    """Where they have them, as far as that is known yet."""
    remark: str = ""


@dataclass
class Library:
    """The archive as the list shows it; every method may be called from any thread."""

    request: Request
    rows: list[Row] = field(default_factory=list)
    """All sessions, the newest first within projects, the projects with the newest first."""
    lock: RLock = field(default_factory=RLock)
    """Held while the archive reads: it keeps one session open."""

    def __post_init__(self) -> None:
        self._use(self.request)

    @property
    def archive(self) -> Archive:
        """The archive as it was last read."""
        return self.request.archive

    @cached_property
    def reader(self) -> "SharedReader":
        """The index, open between two filters."""
        from plait.index.search import SharedReader

        return SharedReader(self.request.settings.index)

    @property
    def has_index(self) -> bool:
        """Whether there is an index to search."""
        return self.request.settings.index.exists()

    def _use(self, request: Request) -> None:
        request.output = ScreenOutput(request.settings, request.root_options)
        self.request = request

    def renew(self) -> None:
        """Look at the folders again."""
        with self.lock:
            old = self.request
            request = replace(old)
            request.__dict__.update(
                {
                    name: old.__dict__[name]
                    for name in ("settings", "prices")
                    if name in old.__dict__
                }
            )
            self._use(request)
            known = {row.session: row.facts for row in self.rows}
            if not self.has_index:  # what has not changed need not be read again
                same = {
                    session.path: known[session]
                    for session in request.archive.sessions
                    if session in known
                    and known[session].is_live == (session.id in request.archive.running)
                }
                request.archive.add_facts(same)

    def load(self) -> list[Row]:
        """Read the facts of all sessions, without costs."""
        with self.lock, self.request.open_archive(no_index=not self.has_index) as archive:
            facts = archive.list_facts()
            folding, starred = archive.folding, self.request.starred
            costs = {row.key: row.cost for row in self.rows}
            rows = []
            for session, found in zip(archive.sessions, facts, strict=True):
                project = folding.project(found.project)
                rows.append(
                    Row(
                        found,
                        session,
                        project,
                        folding.directory(project) or project or "(no project)",
                        costs.get(found.path),
                        found.session in starred,
                    )
                )
            self.rows = arrange_rows(rows)
            return self.rows

    def load_costs(self) -> list[Row]:
        """Add what each session cost."""
        from plait.archive.listing import read_figures

        with self.lock, self.request.open_archive(no_index=not self.has_index) as archive:
            rows = self.rows
            figures = read_figures(archive, [row.facts for row in rows], self.request.prices)
            self.rows = [replace(row, cost=figures[row.key].cost_usd) for row in rows]
            return self.rows

    def select(self, text: str) -> Selection:
        """Return the sessions that pass a filter."""
        wanted, rows = parse_filter(text), self.rows
        if wanted.is_empty:
            return Selection(rows)
        project_of = self.archive.folding.project if wanted.projects else str
        chosen = [row for row in rows if wanted.accepts(row, project_of)]
        if not wanted.words:
            return Selection(chosen)
        matched, hits, remark = self._search(wanted)
        words = wanted.plain_words
        left = [row for row in chosen if row.key in matched or (words and _has_words(row, words))]
        return Selection(left, matched, hits, remark)

    def _search(self, wanted: Filter) -> "tuple[frozenset[Path], Mapping[Path, Hit], str]":
        """Return which sessions answer, where as far as that is known, and what is to be said."""
        try:
            if self.has_index:
                with self.reader.open() as reader:
                    reader.catalogue.project_of = self.archive.folding.project
                    return frozenset(map(Path, reader.match_sessions(wanted.words))), {}, ""
            if "tool:" in wanted.words:
                return frozenset(), {}, "`tool:` needs the index; run `plait index` once"
            with self.lock:
                found = self.archive.search(wanted.words, limit=MOST_HITS)
        except PlaitError as error:
            return frozenset(), {}, error.message
        keys = {session.id: session.path for session in self.archive.sessions}
        hits: dict[Path, Hit] = {}
        for hit in found.hits:
            hits.setdefault(keys[hit.session], hit)
        remark = (
            ""
            if found.is_whole
            else "only the first matches are shown; add words to narrow them down"
        )
        return frozenset(hits), hits, remark

    def locate(self, text: str, keys: Iterable[Path]) -> "dict[Path, Hit]":
        """Return where some sessions answer a filter best: their logs are read for it."""
        words = parse_filter(text).words
        with self.reader.open() as reader:
            found = reader.find_first_hits(words, map(str, keys))
        return {Path(key): hit for key, hit in found.items()}


def arrange_rows(rows: Iterable[Row]) -> list[Row]:
    """Sort rows by project, both with the newest first."""
    newest = sorted(rows, key=lambda row: row.facts.ended or "", reverse=True)
    places: dict[str, int] = {}
    for row in newest:
        places.setdefault(row.project, len(places))
    return sorted(newest, key=lambda row: places[row.project])


def iter_groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield the rows of each project with its directory."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.project, []).append(row)
    for members in groups.values():
        yield members[0].directory, members


def _has_words(row: Row, words: Sequence[str]) -> bool:
    facts = row.facts
    text = " ".join(filter(None, (facts.title, facts.first_prompt, facts.session, facts.project)))
    text = safe_line(text).casefold()
    return all(word in text for word in words)
