"""The archive at one moment, for the lists and figures of the page.

Sessions have names for URLs here. What the index does not know yet is left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from time import monotonic

from plait.archive.archive import Archive
from plait.conversation.prices import Prices
from plait.conversation.usage import BilledResponse, parse_known_time
from plait.errors import NoSuchSession, SourceError
from plait.files.touched import TouchedPath
from plait.index.catalogue import (
    CATALOGUE,
    Catalogue,
    SessionSize,
    TouchRow,
    load_prompted_turns,
    load_session_lines,
    load_session_sizes,
    load_turns_by_time,
)
from plait.index.model import LineRow
from plait.insights.waste import CountedWaste
from plait.insights.why import ResponsesByFile
from plait.keep.backups import KeepStatus
from plait.record.time import parse_time
from plait.sessions.fresh_index import catalogue_key, read_fresh_facts, read_unchanged_facts
from plait.sessions.model import Facts, Session
from plait.sessions.project_folders import ProjectFolders, assign_projects, read_project_folders
from plait.sessions.statistics import SessionStatistics
from plait.usage.responses import CountedResponses
from plait.usage.spending import SpendingSum, UnloggedCost, find_unlogged_costs, sum_by_session
from plait.view.page.charts import StartedTurn
from plait.view.page.graph import SmallTurn, get_side, render_small_graph
from plait.view.page.session_rows import ListedSession

NO_SIZE = SessionSize(0, 0, 0)


@dataclass(frozen=True, eq=False)
class Billing:
    """All responses, and which of them are on abandoned branches."""

    counted: CountedResponses
    sessions: Sequence[Session]
    abandoned: frozenset[str]
    unlogged: Sequence[UnloggedCost] = ()
    """What the client counted beyond them."""

    @property
    def responses(self) -> Sequence[BilledResponse]:
        """All of them, each once."""
        return self.counted.responses

    @cached_property
    def by_file(self) -> ResponsesByFile:
        """The same by the file that each counts for."""
        return ResponsesByFile(self.counted, self.sessions)


class Snapshot:
    """An archive at one moment."""

    def __init__(
        self,
        archive: Archive,
        known: dict[Path, Facts] | None = None,
        patience: float | None = None,
    ) -> None:
        self.archive = archive
        self._known = known or {}
        """Facts from a moment ago."""
        self._patience = patience
        """Seconds for reading logs before lists do without the rest; None for no limit."""

    @cached_property
    def facts(self) -> dict[Path, Facts]:
        """The facts of every session, from the index if it is up to date.

        Otherwise recent facts are reused; the logs of other sessions are read, newest first, up to
        the time limit.
        """
        found, index = None, self.archive.index
        with suppress(SourceError):  # an index that is being built does not count yet
            found = read_fresh_facts(self.archive, index) if index else None
        if found is not None:
            return found
        sessions = self.archive.sessions
        found = {
            session.path: self._known[session.path]
            for session in sessions
            if session.path in self._known
        }
        if len(found) < len(sessions) and index:
            found = read_unchanged_facts(self.archive, index) | found
        found.update(self._read([session for session in sessions if session.path not in found]))
        return found

    def _read(self, unread: Sequence[Session]) -> Iterator[tuple[Path, Facts]]:
        end = None if self._patience is None else monotonic() + self._patience
        for session in reversed(unread):
            yield session.path, self.archive.read_facts(session)
            if end is not None and monotonic() > end:
                return

    @property
    def unread(self) -> int:
        """The number of sessions that lists do not show yet."""
        return len(self.archive.sessions) - len(self.facts)

    def facts_of(self, session: Session) -> Facts:
        """Return the facts of a session, whether lists show it yet or not."""
        return self.facts.get(session.path) or self.archive.read_facts(session)

    @cached_property
    def folding(self) -> ProjectFolders:
        """The projects of folders with sessions, as far as known."""
        return read_project_folders(self.archive, self.facts)

    def is_in_project(self, session: Session, project: str | None) -> bool:
        """Return whether a session is of a project, by its name or by that of its folder."""
        return project in (None, session.project, self.folding.project(session.project))

    @property
    def known_facts(self) -> dict[Path, Facts]:
        """The facts requested so far."""
        asked: dict[Path, Facts] | None = self.__dict__.get("facts")
        return self._known if asked is None else asked

    @cached_property
    def names(self) -> dict[str, Session]:
        """All sessions by their names in URLs; equal ids get a number."""
        found: dict[str, Session] = {}
        counts: Counter[str] = Counter()
        for session in sorted(self.archive.sessions, key=lambda session: str(session.path)):
            counts[session.id] += 1
            number = counts[session.id]
            found[session.id if number == 1 else f"{session.id}~{number}"] = session
        return found

    @cached_property
    def name_of(self) -> dict[str, str]:
        """The name in URLs of the session that each file belongs to, by absolute path."""
        return {
            catalogue_key(file.path): name
            for name, session in self.names.items()
            for file in session.files
        }

    def name_session(self, session: Session) -> str:
        """Return the name of a session in URLs; its id if it is not here."""
        return self.name_of.get(catalogue_key(session.path), session.id)

    def session(self, name: str) -> Session:
        """Return the session with this name."""
        found = self.names.get(name)
        if found is None:
            raise NoSuchSession(f"no session named '{name[:80]}'")
        return found

    def iter_listed(self) -> Iterable[tuple[str, Facts]]:
        """Yield all sessions, newest first."""
        for session in reversed(self.archive.sessions):
            facts = self.facts.get(session.path)
            if facts is not None:
                yield self.name_of[catalogue_key(session.path)], facts

    def changed_since(self, before: "Snapshot") -> dict[str, int]:
        """Return the size of the sessions that have changed since; 0 if one is gone."""
        known = {name: session.files for name, session in before.names.items()}
        sizes = {
            name: sum(file.size for file in session.files)
            for name, session in self.names.items()
            if known.get(name) != session.files
        }
        return sizes | dict.fromkeys(known.keys() - self.names.keys(), 0)

    @contextmanager
    def _catalogue(self) -> Iterator[Catalogue | None]:
        """Yield the catalogue; None if there is none, if it is being built, or if it has another
        version.
        """
        catalogue, index = None, self.archive.index
        with suppress(SourceError):
            catalogue = Catalogue(index) if index and (index / CATALOGUE).exists() else None
        if catalogue is None:
            yield None
            return
        with closing(catalogue):
            yield catalogue if catalogue.is_current() else None

    @cached_property
    def _shapes(self) -> dict[str, SessionSize]:
        with self._catalogue() as catalogue:
            return load_session_sizes(catalogue) if catalogue else {}

    @cached_property
    def prompted_turns(self) -> Sequence[StartedTurn]:
        """The turns with prompts, in local time; empty without an index."""
        with self._catalogue() as catalogue:
            found = list(load_prompted_turns(catalogue)) if catalogue else []
        return [
            StartedTurn(self.name_of.get(key, key), time.astimezone(), number, uuid)
            for key, stamp, number, uuid in found
            if (time := parse_known_time(stamp))
        ]

    def list_lines(self, name: str) -> list[tuple[LineRow, str | None]]:
        """Return the branches and agents of a session, each with its first record."""
        key = catalogue_key(self.session(name).path)
        with self._catalogue() as catalogue:
            return load_session_lines(catalogue, key) if catalogue else []

    def draw_graphs(self, rows: Iterable[ListedSession]) -> dict[str, str]:
        """Return the thumbnails of some sessions by name; none for what is not indexed."""
        found = [session.name for session in rows if session.name in self.names]
        chosen = {catalogue_key(self.names[name].path): name for name in found}
        with self._catalogue() as catalogue:
            turns = load_turns_by_time(catalogue, chosen) if catalogue else {}
        graphs = {}
        for key, started in turns.items():
            sides = (
                (turn.dag, get_side(turn.kind, is_abandoned=turn.state == "abandoned"))
                for turn in started
            )
            small_turns = (SmallTurn(line, side) for line, side in sides if side)
            graphs[chosen[key]] = render_small_graph(small_turns)
        return graphs

    def touched_files(self) -> list[TouchedPath]:
        """Return all paths that sessions touched."""
        with self.archive as archive:
            return archive.touched_files()

    def touches(self, path: str) -> list[TouchRow]:
        """Return what sessions did to one path."""
        with self.archive as archive:
            return archive.touches(path)

    def billing(self) -> Billing:
        """Return all usage and cost."""
        with self.archive as archive:
            counted = archive.responses()
            found = assign_projects(counted.responses, archive.folding)
            counted = counted._replace(responses=found)
            beyond = (
                find_unlogged_costs(found, counted.own_costs, Prices()) if counted.own_costs else ()
            )
            return Billing(counted, archive.sessions, archive.abandoned(found), beyond)

    def backup_status(self) -> KeepStatus | None:
        """Return what is backed up and what will be lost; None if nothing can be backed up."""
        archive = self.archive
        if archive.store is None:
            return None
        archive.add_facts(self.facts)
        return archive.keep.status()

    def find_parents(self) -> Mapping[str, str]:
        """Return the session that each continues, by id."""
        if not self.archive.sessions:
            return {}
        tree = self.archive.tree(way="few")
        owners = {item.id: item.session for item in tree.items}
        found = {
            item.session: owners.get(item.parent, "")
            for item in tree.items
            if item.kind == "trunk" and item.parent
        }
        return {item: parent for item, parent in found.items() if parent not in ("", item)}

    def statistics(
        self, project: str | None, since: datetime | None, until: datetime | None
    ) -> SessionStatistics:
        """Return statistics: of all sessions, of a project, in a period."""
        chosen = [
            session
            for session in self.archive.sessions
            if self.is_in_project(session, project) and self._is_within(session, since, until)
        ]
        return self.archive.stats_by_session(chosen, since=since, until=until)

    def waste(
        self,
        owned: ResponsesByFile,
        prices: Prices,
        project: str | None,
        since: datetime | None,
        until: datetime | None,
    ) -> CountedWaste:
        """Return avoidable spending: of all sessions, of a project, in a period."""
        chosen = [
            session
            for session in self.archive.sessions
            if self.is_in_project(session, project)
            and (since is None or any(file.modified >= since.timestamp() for file in session.files))
        ]
        with self.archive as archive:
            from plait.insights.waste import CountedWaste, find_session_waste, sum_waste

            each = find_session_waste(archive, chosen, prices, since, until, owned)
            return CountedWaste(sum_waste(each), tuple(zip(chosen, each, strict=True)))

    def _is_within(self, session: Session, since: datetime | None, until: datetime | None) -> bool:
        if since is None and until is None:
            return True
        facts = self.facts.get(session.path)
        began, ended = (
            (parse_time(facts.started), parse_time(facts.ended)) if facts else (None, None)
        )
        is_early = since is not None and not (ended and ended >= since)
        is_late = until is not None and not (began and began < until)
        return not (is_early or is_late)

    def list_rows(
        self, money: Billing | None, parents: Mapping[str, str], prices: Prices
    ) -> list[ListedSession]:
        """Return all sessions for lists, newest first."""
        spent = None if money is None else sum_by_session(money.responses, prices)
        return [self._row(name, facts, spent, parents) for name, facts in self.iter_listed()]

    def _row(
        self,
        name: str,
        facts: Facts,
        spent: Mapping[str, SpendingSum] | None,
        parents: Mapping[str, str],
    ) -> ListedSession:
        shape = self._shapes.get(catalogue_key(facts.path))
        total = (spent or {}).get(name)
        return ListedSession(
            name=name,
            title=facts.title,
            prompt=facts.first_prompt,
            project=(project := self.folding.project(facts.project)),
            folder=facts.project,
            place=facts.cwd or facts.project,
            root=self.folding.directory(project) or facts.cwd or facts.project,
            branch=facts.git_branch,
            started=facts.started,
            ended=facts.ended,
            bytes=facts.bytes,
            all_bytes=sum(file.size for file in self.names[name].files),
            is_live=facts.session in self.archive.running,  # facts may be a moment old
            deleted_at=facts.deleted_at,
            mark=facts.mark,
            turns=shape.turns if shape else None,
            branches=(shape or NO_SIZE).branches,
            agents=(shape or NO_SIZE).agents,
            tokens=None if spent is None else total.tokens.total if total else 0,
            cost=total.known_cost if total else None,
            is_partly_priced=bool(total and total.unpriced),
            parent=parents.get(facts.session),
        )
