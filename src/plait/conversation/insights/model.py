"""What stands out in figures, as plain values."""

from typing import Literal, TypeAlias

from msgspec import Struct

Measure: TypeAlias = Literal["cost", "tokens", "sessions", "prompts", "calls", "failed"]
HabitKind: TypeAlias = Literal[
    "pause",
    "retry",
    "reread",
    "abandoned",
    "oversized",
    "rejects",
    "fails",
    "interrupts",
    "takes back",
    "night",
    "weekend",
    "dear model",
    "compacts",
]


class Trend(Struct, frozen=True, kw_only=True):
    """How much of something there was in a period, in the one before, and week by week."""

    measure: Measure
    now: float
    before: float
    weeks: tuple[float, ...]
    """The last weeks up to the end of the period, the oldest first."""

    @property
    def change(self) -> float | None:
        """How much more there was, as a share of before; None where there was nothing."""
        return (self.now - self.before) / self.before if self.before else None


class Trends(Struct, frozen=True, kw_only=True):
    """A period beside the one before it, which is as long."""

    since: str
    until: str
    before_since: str
    before_until: str
    """Days, the last ones among them."""
    weeks: tuple[str, ...]
    """The Mondays of the weeks, the oldest first."""
    measures: tuple[Trend, ...]


class Outlier(Struct, frozen=True, kw_only=True):
    """A session or a day that is far off from what is usual."""

    of: Literal["session", "day"]
    name: str
    measure: Literal["cost", "time", "failed", "prompts"]
    value: float
    median: float
    """Of all that have any of it."""
    count: int
    """How many the median is of."""

    @property
    def times(self) -> float:
        """How many times the median it is."""
        return self.value / self.median


class HabitEvidence(Struct, frozen=True, kw_only=True):
    """One place where a habit shows."""

    session: str
    uuid: str | None = None
    about: str = ""
    count: int = 1
    cost_usd: float | None = None


class Habit(Struct, frozen=True, kw_only=True):
    """Something that happens again and again."""

    kind: HabitKind
    subject: str = ""
    """A tool or a model."""
    count: int
    whole: int
    """Of how many."""
    cost_usd: float | None = None
    """What it cost, where that is known."""
    evidence: tuple[HabitEvidence, ...] = ()
    """Where it shows most."""


class Insights(Struct, frozen=True, kw_only=True):
    """All that stands out."""

    trends: Trends | None = None
    """None where there is too little to compare."""
    outliers: tuple[Outlier, ...] = ()
    habits: tuple[Habit, ...] = ()
