"""Sessions to the rows of lists: what the index knows of them, what they took, how they look."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from threading import Lock
from time import monotonic
from typing import NamedTuple, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from plait.archive.archive import Archive
from plait.archive.live.library import LiveArchive, Snapshot, catalogue_of
from plait.archive.live.sums import Money, Sums, begun_in, shapes_in
from plait.archive.model import Facts
from plait.conversation.spending import SpendingSum, spending
from plait.conversation.usage import known_time
from plait.graph.rows import Mark, RowShape
from plait.index.lists import ListedTurn, SessionShape, turns_in_order
from plait.view.page.graph_svg import MOST_MINI, mini
from plait.view.page.lists.rows import ListedSession

T = TypeVar("T")
NO_SHAPE = SessionShape(0, 0, 0)
MOST_REMEMBERED = 8
OFTEN = 1.0
"""Seconds between two looks for clients that run."""
Made: TypeAlias = tuple[Money | None, Mapping[str, str] | None, Sequence[ListedSession]]


class ListedSessions(NamedTuple):
    """All sessions, the newest first, with what they took."""

    sessions: Sequence[ListedSession]
    money: Money | None
    """None where nobody has counted yet."""
    is_counting: bool

    @property
    def places(self) -> Mapping[str, str]:
        """The directory of each project, that of its newest session."""
        return {one.project: one.place for one in reversed(self.sessions)}


class SessionRows:
    """Makes the rows of an archive once, and again when something has changed."""

    def __init__(self, library: LiveArchive, sums: Sums) -> None:
        self._library = library
        self.sums = sums
        self.prices = library.prices
        self._made: WeakKeyDictionary[Snapshot, Made] = WeakKeyDictionary()
        self._looked = 0.0
        self._lock = Lock()
        self._remembered: OrderedDict[Hashable, tuple[tuple[object, ...], object]] = OrderedDict()
        self._times: WeakKeyDictionary[Snapshot, Sequence[datetime]] = WeakKeyDictionary()

    def rows(self) -> ListedSessions:
        """Returns all sessions."""
        state = self._now()
        money, is_counting = self.sums.money.ask()
        parents = self.sums.parents.ask(patience=0).value
        known = self._made.get(state)
        if known is None or known[0] is not money or known[1] is not parents:
            known = money, parents, _listed(state, money, parents or {}, self._library)
            self._made[state] = known
        return ListedSessions(known[2], money, is_counting)

    def _now(self) -> Snapshot:
        """Returns the archive as it is; it is looked at anew where a client has come or gone.

        No log tells of that.
        """
        state = self._library.now
        if monotonic() >= self._looked + OFTEN:
            self._looked = monotonic()
            if Archive(self._library.roots).live != state.archive.live:
                self._library.renew()
        return self._library.now

    def remembered(self, of: tuple[object, ...], key: Hashable, make: Callable[[], T]) -> T:
        """Returns what was made under a key of these very things before, or makes it now."""
        known = self._remembered.get(key)
        if known is None or any(one is not other for one, other in zip(known[0], of, strict=True)):
            known = of, make()
        with self._lock:
            self._remembered[key] = known
            self._remembered.move_to_end(key)
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return cast(T, known[1])

    def days(self) -> Mapping[date, int]:
        """Returns how many turns were begun on each day, here."""
        return Counter(time.date() for time in self._begun())

    def hours(self) -> Mapping[tuple[int, int], int]:
        """Returns how many turns were begun in each hour of each day of the week, here."""
        return Counter((time.weekday(), time.hour) for time in self._begun())

    def _begun(self) -> Sequence[datetime]:
        """Returns when turns were begun, by the clock of this machine."""
        state = self._library.now
        known = self._times.get(state)
        if known is None:
            times = map(known_time, begun_in(state))
            known = self._times[state] = [time.astimezone() for time in times if time]
        return known


def _listed(
    state: Snapshot, money: Money | None, parents: Mapping[str, str], library: LiveArchive
) -> list[ListedSession]:
    spent = _tallies(money, library) if money else None
    known = shapes_in(state)
    live = state.archive.live  # what is known of a log may be a moment old
    return [
        _row_of(
            name,
            facts,
            known.get(str(facts.path.absolute())),
            spent,
            parents,
            is_live=facts.session in live,
        )
        for name, facts in state.listed()
    ]


def _tallies(money: Money, library: LiveArchive) -> dict[str | None, SpendingSum]:
    return {row.key: row.total for row in spending(money.responses, "session", library.prices).rows}


def _row_of(
    name: str,
    facts: Facts,
    shape: SessionShape | None,
    spent: Mapping[str | None, SpendingSum] | None,
    parents: Mapping[str, str],
    *,
    is_live: bool,
) -> ListedSession:
    tally = (spent or {}).get(name)
    return ListedSession(
        name=name,
        title=facts.title,
        prompt=facts.first_prompt,
        project=facts.project,
        place=facts.cwd or facts.project,
        branch=facts.git_branch,
        started=facts.started,
        ended=facts.ended,
        bytes=facts.bytes,
        is_live=is_live,
        deleted_at=facts.deleted_at,
        turns=shape.turns if shape else None,
        branches=(shape or NO_SHAPE).branches,
        agents=(shape or NO_SHAPE).agents,
        tokens=None if spent is None else tally.tokens.total if tally else 0,
        cost=cost_of(tally),
        is_partly_priced=bool(tally and tally.unpriced),
        parent=parents.get(facts.session),
    )


def cost_of(tally: SpendingSum | None) -> float | None:
    """Returns what a session cost, None where nothing of it has a price."""
    if tally is None or (tally.unpriced and sum(tally.unpriced.values()) == tally.responses):
        return None
    return tally.cost


LEAST = 2
"""Turns from which on a drawing says something."""


def drawings(state: Snapshot, rows: Iterable[ListedSession]) -> dict[str, str]:
    """Returns the drawings of some sessions by name; there is none of what is not indexed."""
    found = [one.name for one in rows if one.name in state.names]
    chosen = {str(state.names[name].path.absolute()): name for name in found}
    with catalogue_of(state) as catalogue:
        turns = turns_in_order(catalogue, chosen) if catalogue else {}
    return {chosen[key]: _drawing_of(begun) for key, begun in turns.items()}


def _drawing_of(turns: Sequence[ListedTurn]) -> str:
    shown = [one for one in turns if one.kind != "service"]
    return mini([_shape_of(one) for one in fewer_turns(shown)]) if len(shown) >= LEAST else ""


def fewer_turns(turns: Sequence[ListedTurn]) -> Sequence[ListedTurn]:
    """Returns as many turns as a small drawing has room for, with where others leave the line."""
    if len(turns) <= MOST_MINI:
        return turns
    begun = {one.dag: place for place, one in reversed(list(enumerate(turns)))}
    leaving = [place for place in begun.values() if _is_aside(turns[place])]
    aside = _spread(leaving, MOST_MINI // 3)
    main = [place for place, one in enumerate(turns) if not _is_aside(one)]
    kept = _spread(main, MOST_MINI - len(aside))
    return [turns[place] for place in sorted({*aside, *kept})]


def _spread(places: Sequence[int], most: int) -> Sequence[int]:
    if len(places) <= most:
        return places
    return [places[number * len(places) // most] for number in range(most)]


def _is_aside(one: ListedTurn) -> bool:
    return one.kind == "agent" or one.state == "abandoned"


def _shape_of(one: ListedTurn) -> RowShape:
    marks: tuple[Mark, ...] = ("active",)
    column = 0
    if one.kind == "agent":
        marks, column = ("agent",), 2
    elif one.state == "abandoned":
        marks, column = ("abandoned",), 1
    return RowShape("", "", (), "", column, (), (), marks)
