"""Sessions to the rows of lists: what the index knows of them, what they took."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date, datetime
from threading import Lock
from time import monotonic
from typing import NamedTuple, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from plait.archive.archive import Archive
from plait.archive.model import Facts
from plait.conversation.spending import Tally, spending
from plait.conversation.usage import known_time
from plait.index.shapes import Shape
from plait.view.page.listing import Listed
from plait.web.library import Library, State
from plait.web.sums import Money, Sums, begun_in, shapes_in

T = TypeVar("T")
NO_SHAPE = Shape(0, 0, 0)
MOST_REMEMBERED = 8
OFTEN = 1.0
"""Seconds between two looks for clients that run."""
Made: TypeAlias = tuple[Money | None, Mapping[str, str] | None, Sequence[Listed]]


class Rows(NamedTuple):
    """All sessions, the newest first, with what they took."""

    sessions: Sequence[Listed]
    money: Money | None
    """None where nobody has counted yet."""
    is_counting: bool

    @property
    def places(self) -> Mapping[str, str]:
        """The directory of each project, that of its newest session."""
        return {one.project: one.place for one in reversed(self.sessions)}


class Shelf:
    """Makes the rows of an archive once, and again when something has changed."""

    def __init__(self, library: Library, sums: Sums) -> None:
        self._library = library
        self.sums = sums
        self.prices = library.prices
        self._made: WeakKeyDictionary[State, Made] = WeakKeyDictionary()
        self._looked = 0.0
        self._lock = Lock()
        self._remembered: OrderedDict[Hashable, tuple[tuple[object, ...], object]] = OrderedDict()
        self._times: WeakKeyDictionary[State, Sequence[datetime]] = WeakKeyDictionary()

    def rows(self) -> Rows:
        """Returns all sessions."""
        state = self._now()
        money, is_counting = self.sums.money.ask()
        parents = self.sums.parents.ask(patience=0).value
        known = self._made.get(state)
        if known is None or known[0] is not money or known[1] is not parents:
            known = money, parents, listed(state, money, parents or {}, self._library)
            self._made[state] = known
        return Rows(known[2], money, is_counting)

    def _now(self) -> State:
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


def listed(
    state: State, money: Money | None, parents: Mapping[str, str], library: Library
) -> list[Listed]:
    """Returns all sessions of an archive."""
    spent = tallies(money, library) if money else None
    known = shapes_in(state)
    live = state.archive.live  # what is known of a log may be a moment old
    return [
        row_of(
            name,
            facts,
            known.get(str(facts.path.absolute())),
            spent,
            parents,
            is_live=facts.session in live,
        )
        for name, facts in state.listed()
    ]


def tallies(money: Money, library: Library) -> dict[str | None, Tally]:
    """Returns what each session took, by its id."""
    return {row.key: row.total for row in spending(money.responses, "session", library.prices).rows}


def row_of(
    name: str,
    facts: Facts,
    shape: Shape | None,
    spent: Mapping[str | None, Tally] | None,
    parents: Mapping[str, str],
    *,
    is_live: bool,
) -> Listed:
    """Returns one session; of several with one id the first has the figures of all."""
    tally = (spent or {}).get(name)
    return Listed(
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
        tokens=None if spent is None else tally.tokens if tally else 0,
        cost=cost_of(tally),
        is_partly_priced=bool(tally and tally.unpriced),
        parent=parents.get(facts.session),
    )


def cost_of(tally: Tally | None) -> float | None:
    """Returns what a session cost, None where nothing of it has a price."""
    if tally is None or (tally.unpriced and sum(tally.unpriced.values()) == tally.responses):
        return None
    return tally.cost
