"""An archive at one moment to what lists and figures say of it.

Its sessions have names there; the index says how large they are and how they look, and where
there is none yet, less is said.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from plait.archive.accounting import Owned
from plait.archive.archive import Archive
from plait.archive.folding import Folding, archive_folding, refolded
from plait.archive.index.fresh import key_of, known_facts, listed_facts
from plait.archive.model import Facts, Session
from plait.archive.usage import Counted
from plait.conversation.prices import Prices
from plait.conversation.spending import BeyondLog, SpendingSum, beyond_log, by_session
from plait.conversation.usage import BilledResponse, known_time
from plait.errors import NoSuchSession, SourceError
from plait.index.catalogue import CATALOGUE, Catalogue
from plait.index.model import LineRow
from plait.index.rows import (
    ListedTurn,
    SessionShape,
    begun_turns,
    lines_of_session,
    session_shapes,
    turns_in_order,
)
from plait.record.time import moment
from plait.view.page.figures.heat import BegunTurn
from plait.view.page.lists.rows import ListedSession
from plait.view.page.small_graph import SmallTurn, side_of, small_graph

if TYPE_CHECKING:
    from plait.archive.families import CountedSessions
    from plait.archive.files.touched import TouchedPath
    from plait.archive.keeping import KeepStatus
    from plait.archive.wasting import CountedWaste
    from plait.index.touches import TouchRow

NO_SHAPE = SessionShape(0, 0, 0)


@dataclass(frozen=True, eq=False)
class Money:
    """All responses, and which of them were answered on branches that were left."""

    counted: Counted
    sessions: Sequence[Session]
    left: frozenset[str]
    beyond: Sequence[BeyondLog] = ()
    """What the client counted beyond them."""

    @property
    def responses(self) -> Sequence[BilledResponse]:
        """All of them, each once."""
        return self.counted.responses

    @cached_property
    def owned(self) -> Owned:
        """The same by the file that each is counted to."""
        return Owned(self.counted, self.sessions)


class Snapshot:
    """An archive as it was at one moment."""

    def __init__(
        self,
        archive: Archive,
        known: dict[Path, Facts] | None = None,
        patience: float | None = None,
    ) -> None:
        self.archive = archive
        self._known = known or {}
        """What lists showed of sessions a moment ago."""
        self._patience = patience
        """Seconds for which logs are read before lists do without the rest; None for ever."""

    @cached_property
    def facts(self) -> dict[Path, Facts]:
        """What a list shows of every session, from the index where it is up to date.

        Where it is not, what was known a moment ago will do until it is; of others the log is
        read, of the newest first, as long as there is patience for it.
        """
        found, index = None, self.archive.index
        with suppress(SourceError):  # an index that is being made is none yet
            found = listed_facts(self.archive, index) if index else None
        if found is not None:
            return found
        sessions = self.archive.sessions
        found = {one.path: self._known[one.path] for one in sessions if one.path in self._known}
        if len(found) < len(sessions) and index:
            found = known_facts(self.archive, index) | found
        found.update(self._read([one for one in sessions if one.path not in found]))
        return found

    def _read(self, unread: Sequence[Session]) -> Iterator[tuple[Path, Facts]]:
        end = None if self._patience is None else monotonic() + self._patience
        for one in reversed(unread):
            yield one.path, self.archive.read_facts(one)
            if end is not None and monotonic() > end:
                return

    @property
    def unread(self) -> int:
        """How many sessions lists do not show yet."""
        return len(self.archive.sessions) - len(self.facts)

    def facts_of(self, session: Session) -> Facts:
        """Returns what a list shows of a session, whether one shows it yet or not."""
        return self.facts.get(session.path) or self.archive.read_facts(session)

    @cached_property
    def folding(self) -> Folding:
        """The projects that folders of sessions belong to, as far as is known."""
        return archive_folding(self.archive, self.facts)

    def is_of(self, session: Session, project: str | None) -> bool:
        """Tells whether a session is of a project, by its name or by that of its folder."""
        return project in (None, session.project, self.folding.project(session.project))

    @property
    def known_facts(self) -> dict[Path, Facts]:
        """What lists show, as far as anybody has asked."""
        asked: dict[Path, Facts] | None = self.__dict__.get("facts")
        return self._known if asked is None else asked

    @cached_property
    def names(self) -> dict[str, Session]:
        """All sessions by the names they have in addresses; equal ids get a number."""
        found: dict[str, Session] = {}
        counts: Counter[str] = Counter()
        for session in sorted(self.archive.sessions, key=lambda one: str(one.path)):
            counts[session.id] += 1
            number = counts[session.id]
            found[session.id if number == 1 else f"{session.id}~{number}"] = session
        return found

    @cached_property
    def name_of(self) -> dict[str, str]:
        """The name in addresses of the session that each file belongs to, by absolute path."""
        return {
            key_of(file.path): name
            for name, session in self.names.items()
            for file in session.files
        }

    def named(self, session: Session) -> str:
        """Returns the name of a session in addresses; its id where it is not here."""
        return self.name_of.get(key_of(session.path), session.id)

    def session(self, name: str) -> Session:
        """Returns the session of a name."""
        found = self.names.get(name)
        if found is None:
            raise NoSuchSession(f"no session is called '{name[:80]}'")
        return found

    def listed(self) -> Iterable[tuple[str, Facts]]:
        """Yields all sessions, the newest first."""
        for session in reversed(self.archive.sessions):
            facts = self.facts.get(session.path)
            if facts is not None:
                yield self.name_of[key_of(session.path)], facts

    def changed_since(self, before: "Snapshot") -> dict[str, int]:
        """Returns how large the sessions are that have changed since, 0 where one has gone."""
        known = {name: session.files for name, session in before.names.items()}
        sizes = {
            name: sum(file.size for file in session.files)
            for name, session in self.names.items()
            if known.get(name) != session.files
        }
        return sizes | dict.fromkeys(known.keys() - self.names.keys(), 0)

    @contextmanager
    def _catalogue(self) -> Iterator[Catalogue | None]:
        """Gives the catalogue; None without one, while it is first made, and of another version."""
        catalogue, index = None, self.archive.index
        with suppress(SourceError):
            catalogue = Catalogue(index) if index and (index / CATALOGUE).exists() else None
        if catalogue is None:
            yield None
            return
        with closing(catalogue):
            yield catalogue if catalogue.is_current() else None

    @cached_property
    def _shapes(self) -> dict[str, SessionShape]:
        with self._catalogue() as catalogue:
            return session_shapes(catalogue) if catalogue else {}

    @cached_property
    def begun(self) -> Sequence[BegunTurn]:
        """The turns that people began, by the clock of this machine; nothing without an index."""
        with self._catalogue() as catalogue:
            found = list(begun_turns(catalogue)) if catalogue else []
        return [
            BegunTurn(self.name_of.get(key, key), time.astimezone(), number, uuid)
            for key, stamp, number, uuid in found
            if (time := known_time(stamp))
        ]

    def lines(self, name: str) -> list[tuple[LineRow, str | None]]:
        """Returns the branches and agents of a session, each with the record it begins with."""
        key = key_of(self.session(name).path)
        with self._catalogue() as catalogue:
            return lines_of_session(catalogue, key) if catalogue else []

    def drawings(self, rows: Iterable[ListedSession]) -> dict[str, str]:
        """Returns the drawings of some sessions by name; there is none of what is not indexed."""
        found = [one.name for one in rows if one.name in self.names]
        chosen = {key_of(self.names[name].path): name for name in found}
        with self._catalogue() as catalogue:
            turns = turns_in_order(catalogue, chosen) if catalogue else {}
        return {chosen[key]: _drawing_of(begun) for key, begun in turns.items()}

    def touched(self) -> "list[TouchedPath]":
        """Returns all paths that sessions touched."""
        with self.archive as archive:
            return archive.touched_files()

    def touches(self, path: str) -> "list[TouchRow]":
        """Returns what sessions did to one path."""
        with self.archive as archive:
            return archive.touches(path)

    def money(self) -> Money:
        """Returns what was paid for."""
        with self.archive as archive:
            counted = archive.responses()
            found = refolded(counted.responses, archive.folding)
            counted = counted._replace(responses=found)
            beyond = beyond_log(found, counted.own_costs, Prices()) if counted.own_costs else ()
            return Money(counted, archive.sessions, archive.abandoned(found), beyond)

    def keeping(self) -> "KeepStatus | None":
        """Returns what is kept and what will be lost, None where nothing can be kept."""
        archive = self.archive
        if archive.store is None:
            return None
        archive.remember(self.facts)
        return archive.keep.status()

    def parents(self) -> Mapping[str, str]:
        """Returns the session that each goes on from, by id."""
        if not self.archive.sessions:
            return {}
        tree = self.archive.tree(way="few")
        owners = {item.id: item.session for item in tree.items}
        found = {
            item.session: owners.get(item.parent, "")
            for item in tree.items
            if item.kind == "trunk" and item.parent
        }
        return {one: parent for one, parent in found.items() if parent not in ("", one)}

    def figures(
        self, project: str | None, since: datetime | None, until: datetime | None
    ) -> "CountedSessions":
        """Returns what was done: in all sessions, in those of a project, in a span of time."""
        chosen = [
            one
            for one in self.archive.sessions
            if self.is_of(one, project) and self._is_within(one, since, until)
        ]
        return self.archive.stats_by_session(chosen, since=since, until=until)

    def waste(
        self,
        owned: Owned,
        prices: Prices,
        project: str | None,
        since: datetime | None,
        until: datetime | None,
    ) -> "CountedWaste":
        """Returns what was paid for in vain: in all sessions, of a project, in a span of time."""
        chosen = [
            one
            for one in self.archive.sessions
            if self.is_of(one, project) and (since is None or _written_since(one, since))
        ]
        with self.archive as archive:
            from plait.archive.wasting import CountedWaste, summed, wasted_in

            each = wasted_in(archive, chosen, prices, since, until, owned)
            return CountedWaste(summed(each), tuple(zip(chosen, each, strict=True)))

    def _is_within(self, session: Session, since: datetime | None, until: datetime | None) -> bool:
        if since is None and until is None:
            return True
        facts = self.facts.get(session.path)
        began, ended = (moment(facts.started), moment(facts.ended)) if facts else (None, None)
        is_early = since is not None and not (ended and ended >= since)
        is_late = until is not None and not (began and began < until)
        return not (is_early or is_late)

    def rows(
        self, money: Money | None, parents: Mapping[str, str], prices: Prices
    ) -> list[ListedSession]:
        """Returns all sessions as lists show them, the newest first."""
        spent = None if money is None else by_session(money.responses, prices)
        return [self._row(name, facts, spent, parents) for name, facts in self.listed()]

    def _row(
        self,
        name: str,
        facts: Facts,
        spent: Mapping[str, SpendingSum] | None,
        parents: Mapping[str, str],
    ) -> ListedSession:
        shape = self._shapes.get(key_of(facts.path))
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
            is_live=facts.session in self.archive.live,  # facts may be a moment old
            deleted_at=facts.deleted_at,
            mark=facts.mark,
            turns=shape.turns if shape else None,
            branches=(shape or NO_SHAPE).branches,
            agents=(shape or NO_SHAPE).agents,
            tokens=None if spent is None else total.tokens.total if total else 0,
            cost=total.known_cost if total else None,
            is_partly_priced=bool(total and total.unpriced),
            parent=parents.get(facts.session),
        )


def _written_since(session: Session, since: datetime) -> bool:
    return any(file.modified >= since.timestamp() for file in session.files)


def _drawing_of(turns: Iterable[ListedTurn]) -> str:
    sides = ((one.dag, side_of(one.kind, is_abandoned=one.state == "abandoned")) for one in turns)
    return small_graph(SmallTurn(line, side) for line, side in sides if side)
