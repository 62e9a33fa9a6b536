"""The insights report: trends, outliers and habits, with the texts that terminal and page share.

Callers with counted figures pass them (`compute_insights`), others have them read
(`read_insights`); the rules are the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from math import exp, log
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.conversation.prices import Prices
from plait.conversation.session_counts import QUARTER, ArchiveFigures, DayFigures, SessionPart
from plait.conversation.usage import BilledResponse
from plait.insights.waste import Waste
from plait.sessions.model import SessionRefs
from plait.usage.spending import GroupBy, filter_by_time, group_spending, sum_responses
from plait.view.formats import format_count, format_hours, format_money, format_tokens

if TYPE_CHECKING:
    from plait.archive.archive import Archive


Measure: TypeAlias = Literal["cost", "tokens", "sessions", "prompts", "calls", "failed"]
OutlierMeasure: TypeAlias = Literal["cost", "time", "failed", "prompts"]
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
WeekdayAndHour: TypeAlias = tuple[int, int]

# trends
DEFAULT_DAYS = 30
"""Length of the period if all time is requested."""
WEEKS = 12
LEAST_DAYS = 3
"""Active days in both periods together from which they are compared."""

# outliers: amounts of work differ by factors, so deviations are those of their logarithms, and
# neither a few giants nor many idle sessions move the bound
MOST_DEVIATIONS = 2.0
NORMAL_SCALE = 1.4826
"""Converts the median deviation of a normal distribution to its standard deviation."""
LEAST_FACTOR = 3.0
LEAST_AMOUNTS = 12
"""Amounts from which a median is meaningful."""
MOST_OUTLIERS = 5
"""Per measure."""

# habits: a rule needs a number of cases and a share of all, so that it is quiet on little data
LEAST_TURNS = 20
FEW, SEVERAL, MANY = 3, 5, 10
OFTEN, MOSTLY = 0.10, 0.20
WEEKEND_SHARE = 0.35
"""More than two days of seven."""
MODEL_COST_SHARE, MODEL_COST_FACTOR, MODEL_LEAST_RESPONSES = 0.3, 2.0, 20
NIGHT_HOURS = frozenset({23, 0, 1, 2, 3, 4})
SATURDAY = 5
WASTE_HABITS: tuple[HabitKind, ...] = ("pause", "retry", "reread", "abandoned", "oversized")
MOST_EVIDENCE = 5


class Trend(Struct, frozen=True, kw_only=True):
    """One measure in a period, in the previous period, and week by week."""

    measure: Measure
    now: float
    before: float
    weeks: tuple[float, ...]
    """The last weeks up to the end of the period, oldest first."""

    @property
    def change(self) -> float | None:
        """The change as a share of the previous period; None if that has nothing."""
        return (self.now - self.before) / self.before if self.before else None


class Trends(Struct, frozen=True, kw_only=True):
    """A period compared with the previous one of the same length; all days are inclusive."""

    since: str
    until: str
    before_since: str
    before_until: str
    weeks: tuple[str, ...]
    """The Mondays of the weeks, oldest first."""
    measures: tuple[Trend, ...]


class Outlier(Struct, frozen=True, kw_only=True):
    """A session or a day far above the median."""

    of: Literal["session", "day"]
    name: str
    measure: OutlierMeasure
    value: float
    median: float
    """Of all sessions or days that have any."""
    count: int
    """How many those are."""

    @property
    def times(self) -> float:
        """The value as a multiple of the median."""
        return self.value / self.median


class HabitEvidence(Struct, frozen=True, kw_only=True):
    """One place where a habit shows."""

    session: str
    uuid: str | None = None
    about: str = ""
    count: int = 1
    cost_usd: float | None = None


class Habit(Struct, frozen=True, kw_only=True):
    """Something that happens repeatedly."""

    kind: HabitKind
    subject: str = ""
    """A tool or a model."""
    count: int
    whole: int
    """The number of all cases."""
    cost_usd: float | None = None
    evidence: tuple[HabitEvidence, ...] = ()
    """Where it is most frequent."""


class Insights(Struct, frozen=True, kw_only=True):
    """Trends, outliers and habits."""

    trends: Trends | None = None
    """None if there is too little to compare."""
    outliers: tuple[Outlier, ...] = ()
    habits: tuple[Habit, ...] = ()


class Period(NamedTuple):
    """The time that a report is about."""

    since: datetime | None
    until: datetime | None
    now: datetime
    zone: tzinfo | None = None


class InsightsInput(NamedTuple):
    """The counted figures of an archive."""

    figures: ArchiveFigures
    """Of the period."""
    parts: Sequence[tuple[str, SessionPart]]
    """Of the period, by session."""
    days: Sequence[DayFigures]
    """Of all time."""
    responses: Sequence[BilledResponse]
    """Of all time."""
    waste: Waste | None


def read_insights(
    archive: "Archive", sessions: SessionRefs, period: Period, prices: Prices
) -> Insights:
    """Return the insights into some sessions of an archive, or into all."""
    chosen = archive.resolve_sessions(sessions)
    ids = {session.id for session in chosen}
    all_time = archive.stats_by_session(chosen, zone=period.zone)
    counted = all_time
    if period.since or period.until:
        counted = archive.stats_by_session(
            chosen, zone=period.zone, since=period.since, until=period.until
        )
    return compute_insights(
        InsightsInput(
            counted.figures,
            [(session.id, part) for session, part in counted.parts],
            all_time.figures.days,
            [response for response in archive.responses().responses if response.session in ids],
            archive.waste(chosen, prices, period.since, period.until),
        ),
        period,
        prices,
    )


def compute_insights(counted: InsightsInput, period: Period, prices: Prices) -> Insights:
    """Return the insights into counted figures."""
    in_period = filter_by_time(counted.responses, period.since, period.until)

    def sum_costs(by: GroupBy) -> Mapping[str, float]:
        rows = group_spending(in_period, by, prices, period.zone).rows
        return {row.key: row.total.cost for row in rows if row.key}

    def find_weekday_and_hour(quarter: int) -> WeekdayAndHour | None:
        try:
            time = datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone(period.zone)
        except (OverflowError, ValueError, OSError):  # a year beyond the calendar
            return None
        return time.weekday(), time.hour

    parts = counted.parts
    times = {name: float(part.spent.get("working_ms", 0)) for name, part in parts}
    failed = {name: float(part.counts.get("failed", 0)) for name, part in parts}
    prompts = {day.day: float(day.prompts) for day in counted.figures.days}
    return Insights(
        trends=compute_trends(counted.responses, counted.days, prices, period),
        outliers=(
            *find_outliers(sum_costs("session"), "session", "cost"),
            *find_outliers(times, "session", "time"),
            *find_outliers(failed, "session", "failed"),
            *find_outliers(sum_costs("daily"), "day", "cost"),
            *find_outliers(prompts, "day", "prompts"),
        ),
        habits=find_habits(
            HabitInput(
                counted.figures, parts, counted.waste, sum_costs("model"), find_weekday_and_hour
            )
        ),
    )


def compute_trends(
    responses: Iterable[BilledResponse],
    days: Sequence[DayFigures],
    prices: Prices,
    period: Period,
) -> Trends | None:
    """Return the trends of a period; None if too little happened to compare."""
    zone = period.zone
    by_day: dict[date, list[BilledResponse]] = {}
    for response in responses:
        if response.time is not None:
            by_day.setdefault(response.time.astimezone(zone).date(), []).append(response)
    spent = {day: sum_responses(found, prices) for day, found in by_day.items()}
    figures = {date.fromisoformat(day.day): day for day in days}
    active = spent.keys() | figures.keys()

    def measure(first: date, last: date) -> dict[Measure, float]:
        sums = [day_sum for day, day_sum in spent.items() if first <= day <= last]
        counts = [day_sum for day, day_sum in figures.items() if first <= day <= last]
        sessions = {
            response.session
            for day, found in by_day.items()
            if first <= day <= last
            for response in found
        }
        return {
            "cost": sum(day_sum.cost for day_sum in sums),
            "tokens": sum(day_sum.tokens.total for day_sum in sums),
            "sessions": len(sessions),
            "prompts": sum(day_sum.prompts for day_sum in counts),
            "calls": sum(day_sum.calls for day_sum in counts),
            "failed": sum(day_sum.failed for day_sum in counts),
        }

    last = period.now.astimezone(zone).date()
    if period.until is not None:
        end = (period.until - timedelta(microseconds=1)).astimezone(zone).date()
        last = min(end, last)
    elif period.since is None:
        last = max((day for day in active if day <= last), default=last)
    first = last - timedelta(days=DEFAULT_DAYS - 1)
    if period.since is not None:
        first = period.since.astimezone(zone).date()
    if last < first:
        return None
    before_first, before_last = first - ((last - first) + timedelta(1)), first - timedelta(1)
    if sum(before_first <= day <= last for day in active) < LEAST_DAYS:
        return None
    this_monday = last - timedelta(days=last.weekday())
    mondays = [this_monday - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    now, before = measure(first, last), measure(before_first, before_last)
    weeks = [measure(monday, min(monday + timedelta(days=6), last)) for monday in mondays]
    return Trends(
        since=first.isoformat(),
        until=last.isoformat(),
        before_since=before_first.isoformat(),
        before_until=before_last.isoformat(),
        weeks=tuple(monday.isoformat() for monday in mondays),
        measures=tuple(
            Trend(
                measure=name,
                now=now[name],
                before=before[name],
                weeks=tuple(week[name] for week in weeks),
            )
            for name in now
        ),
    )


def find_outliers(
    amounts: Mapping[str, float], of: Literal["session", "day"], measure: OutlierMeasure
) -> list[Outlier]:
    """Return what is far above the median of all amounts that are not zero, farthest first."""
    known = {name: value for name, value in amounts.items() if value > 0}
    if len(known) < LEAST_AMOUNTS:
        return []
    middle, bound = compute_outlier_bound(list(known.values()))
    outliers = [
        Outlier(of=of, name=name, measure=measure, value=value, median=middle, count=len(known))
        for name, value in known.items()
        if value >= bound
    ]
    return sorted(outliers, key=lambda one: (-one.value, one.name))[:MOST_OUTLIERS]


def compute_outlier_bound(values: list[float]) -> tuple[float, float]:
    """Return the median of amounts, and the least amount that is an outlier."""
    logs = [log(value) for value in values]
    centre = median(logs)
    spread = median(abs(value - centre) for value in logs) * NORMAL_SCALE
    middle = exp(centre)
    return middle, middle * max(exp(MOST_DEVIATIONS * spread), LEAST_FACTOR)


class HabitInput(NamedTuple):
    """The figures that habit rules look at."""

    figures: ArchiveFigures
    parts: Sequence[tuple[str, SessionPart]]
    """By session."""
    waste: Waste | None
    model_costs: Mapping[str, float]
    find_weekday_and_hour: Callable[[int], WeekdayAndHour | None]
    """For a quarter of an hour since 1970."""

    def list_evidence(self, count: Callable[[SessionPart], int]) -> tuple[HabitEvidence, ...]:
        """Return the sessions with the highest counts."""
        counts = [(name, count(part)) for name, part in self.parts]
        highest = sorted(
            (entry for entry in counts if entry[1]), key=lambda entry: (-entry[1], entry[0])
        )
        return tuple(
            HabitEvidence(session=name, count=number) for name, number in highest[:MOST_EVIDENCE]
        )


HabitRule: TypeAlias = Callable[[HabitInput], Iterator[Habit]]


def find_habits(given: HabitInput) -> tuple[Habit, ...]:
    """Return the habits that were found, the most expensive first, then the most frequent."""
    if given.figures.turns < LEAST_TURNS:
        return ()
    habits = [habit for rule in HABIT_RULES for habit in rule(given)]
    return tuple(sorted(habits, key=lambda one: (-(one.cost_usd or 0), -one.count, one.kind)))


def find_waste_habits(given: HabitInput) -> Iterator[Habit]:
    """Find kinds of avoidable spending that happen several times."""
    for finding in given.waste.findings if given.waste else ():
        for kind in WASTE_HABITS:
            if kind == finding.kind and finding.count >= SEVERAL:
                evidence = tuple(
                    HabitEvidence(
                        session=loss.session,
                        uuid=loss.uuid,
                        about=loss.about,
                        cost_usd=loss.cost_usd,
                    )
                    for loss in finding.evidence[:MOST_EVIDENCE]
                )
                yield Habit(
                    kind=kind,
                    count=finding.count,
                    whole=given.figures.responses,
                    cost_usd=finding.cost_usd,
                    evidence=evidence,
                )


def _make_outcome_rule(kind: HabitKind, outcome: str, least: int, share: float) -> HabitRule:
    """Return a rule that finds tools with many calls of one outcome."""

    def find(given: HabitInput) -> Iterator[Habit]:
        for tool in given.figures.tools:
            name, count = tool.name, int(getattr(tool, outcome))
            if count >= least and count >= share * tool.calls:
                evidence = given.list_evidence(
                    lambda part, name=name: part.tools.get(name, {}).get(outcome, 0)  # type: ignore[misc]
                )
                yield Habit(
                    kind=kind, subject=name, count=count, whole=tool.calls, evidence=evidence
                )

    return find


def _make_count_rule(kind: HabitKind, counted: str, of: str) -> HabitRule:
    """Return a rule that finds many of one thing, compared with all of another."""

    def find(given: HabitInput) -> Iterator[Habit]:
        count, total = int(getattr(given.figures, counted)), int(getattr(given.figures, of))
        if count >= SEVERAL and count >= OFTEN * total:
            evidence = given.list_evidence(lambda part: part.counts.get(counted, 0))
            yield Habit(kind=kind, count=count, whole=total, evidence=evidence)

    return find


def _make_time_rule(
    kind: HabitKind, is_then: Callable[[WeekdayAndHour], bool], share: float
) -> HabitRule:
    """Return a rule that finds many prompts at some hours or weekdays."""

    def find(given: HabitInput) -> Iterator[Habit]:
        def count(part: SessionPart) -> int:
            return sum(
                number
                for quarter, number in part.prompts.items()
                if (when := given.find_weekday_and_hour(quarter)) and is_then(when)
            )

        found, total = sum(count(part) for _, part in given.parts), given.figures.prompts
        if found >= MANY and found >= share * total:
            yield Habit(kind=kind, count=found, whole=total, evidence=given.list_evidence(count))

    return find


def find_expensive_models(given: HabitInput) -> Iterator[Habit]:
    """Find models with a far higher share of the cost than of the responses."""
    models = given.figures.models
    total, responses = sum(given.model_costs.values()), sum(model.responses for model in models)
    for model in models:
        name, cost = model.model, given.model_costs.get(model.model, 0.0)
        is_large = total > 0 and cost >= MODEL_COST_SHARE * total
        if not is_large or model.responses < MODEL_LEAST_RESPONSES:
            continue
        if cost / total >= MODEL_COST_FACTOR * model.responses / responses:
            evidence = given.list_evidence(
                lambda part, name=name: part.models[name][0] if name in part.models else 0  # type: ignore[misc]
            )
            yield Habit(
                kind="dear model",
                subject=name,
                count=model.responses,
                whole=responses,
                cost_usd=cost,
                evidence=evidence,
            )


def find_repeated_compactions(given: HabitInput) -> Iterator[Habit]:
    """Find several sessions that were compacted more than once."""

    def count(part: SessionPart) -> int:
        return part.counts.get("compactions", 0)

    repeated = {name: count(part) for name, part in given.parts if count(part) > 1}
    if len(repeated) >= FEW:
        yield Habit(
            kind="compacts",
            count=sum(repeated.values()),
            whole=given.figures.compactions,
            evidence=given.list_evidence(count),
        )


HABIT_RULES: tuple[HabitRule, ...] = (
    find_waste_habits,
    _make_outcome_rule("rejects", "rejected", SEVERAL, OFTEN),
    _make_outcome_rule("fails", "failed", MANY, MOSTLY),
    _make_count_rule("interrupts", "interruptions", "turns"),
    _make_count_rule("takes back", "retracted", "prompts"),
    _make_time_rule("night", lambda when: when[1] in NIGHT_HOURS, MOSTLY),
    _make_time_rule("weekend", lambda when: when[0] >= SATURDAY, WEEKEND_SHARE),
    find_expensive_models,
    find_repeated_compactions,
)


MEASURE_NAMES: dict[Measure, str] = {
    "cost": "Cost",
    "tokens": "Tokens",
    "sessions": "Sessions",
    "prompts": "Prompts",
    "calls": "Tool calls",
    "failed": "Failed calls",
}
OUTLIER_MEASURES = {
    "cost": "cost",
    "time": "work time",
    "failed": "failed calls",
    "prompts": "prompts",
}
OUTLIER_RULE = "At least 3 times your median, and outside your usual variation"


class HabitWords(NamedTuple):
    """The title of a habit, its threshold, and advice."""

    title: str
    rule: str
    advice: str


NO_SUGGESTION = "no suggestion"
HABIT_WORDS: dict[HabitKind, HabitWords] = {
    "pause": HabitWords(
        "You resume after the cache has expired",
        "5 times or more",
        "continue before the cache expires, or trim the session before you resume it",
    ),
    "retry": HabitWords(
        "Failed calls are retried unchanged",
        "5 times or more",
        "tell Claude what to try instead",
    ),
    "reread": HabitWords(
        "Files are re-read while still in context",
        "5 times or more",
        "ask only for what has changed",
    ),
    "abandoned": HabitWords(
        "Answers are discarded by rewinding",
        "5 answers or more",
        "rewind sooner, or fork before you try something out",
    ),
    "oversized": HabitWords(
        "Small questions are sent to an expensive model",
        "5 times or more",
        "use a smaller model in a separate session",
    ),
    "rejects": HabitWords(
        "You often reject {subject}",
        "at least 5 calls, and 10% of all calls of the tool",
        "use CLAUDE.md or a permission rule to tell Claude what not to do",
    ),
    "fails": HabitWords(
        "{subject} often fails",
        "at least 10 calls, and 20% of all calls of the tool",
        "find out what the failures have in common; a line in CLAUDE.md often helps",
    ),
    "interrupts": HabitWords(
        "You often interrupt Claude",
        "at least 5 times, and in 10% of turns",
        "ask for a plan first",
    ),
    "takes back": HabitWords(
        "You often retract prompts before they are answered",
        "at least 5 prompts, and 10% of all prompts",
        "no action needed: this costs little",
    ),
    "night": HabitWords(
        "You work at night",
        "at least 10 prompts between 23:00 and 5:00, and 20% of all prompts",
        NO_SUGGESTION,
    ),
    "weekend": HabitWords(
        "You work on weekends",
        "at least 10 prompts, and 35% of all prompts",
        NO_SUGGESTION,
    ),
    "dear model": HabitWords(
        "{subject} accounts for a larger share of cost than of responses",
        "at least 30% of the cost, and twice the model's share of responses",
        "use another model for simpler questions",
    ),
    "compacts": HabitWords(
        "Sessions are compacted repeatedly",
        "3 sessions or more, each compacted at least twice",
        "start a new session for a new task",
    ),
}
HABIT_NOUNS: dict[HabitKind, str] = {
    "rejects": "call",
    "fails": "call",
    "interrupts": "turn",
    "takes back": "prompt",
    "night": "prompt",
    "weekend": "prompt",
    "compacts": "compaction",
}


def format_habit_title(habit: Habit, subject: str = "") -> str:
    """Return the title of a habit, with the tool or model that it is about."""
    return HABIT_WORDS[habit.kind].title.format(subject=subject or habit.subject)


def format_habit_counts(habit: Habit) -> str:
    """Return how often a habit showed, of how many cases, and its cost."""
    of = format_count(habit.whole, HABIT_NOUNS.get(habit.kind, "response"))
    cost = f", {format_money(habit.cost_usd)}" if habit.cost_usd else ""
    return f"{_format_number(habit.count)} of {of}{cost}"


def _format_number(value: float) -> str:
    return f"{value:,.0f}"


def format_amount(measure: str, value: float) -> str:
    """Return the amount of a trend or an outlier with its unit."""
    if measure == "cost":
        return format_money(value) if value else "$0"
    if measure == "tokens":
        return format_tokens(round(value))
    if measure == "time":
        return format_hours(value) or "0 s"
    return _format_number(value)


def format_change(trend: Trend) -> str:
    """Return the change of a measure: in percent, or as a factor if it at least tripled."""
    if trend.change is None:
        return "new" if trend.now else "–"
    if trend.now >= 3 * trend.before:
        return f"{trend.now / trend.before:.1f} ×"
    return f"{trend.change * 100:+.0f}%".replace("-", "−")


def format_outlier(outlier: Outlier) -> str:
    """Return how far above the median an outlier is."""
    value = format_amount(outlier.measure, outlier.value)
    usual = format_amount(outlier.measure, outlier.median)
    measure = OUTLIER_MEASURES[outlier.measure]
    return f"{value} {measure}, {outlier.times:.1f} × the median of {usual}"


def group_by_session(habit: Habit) -> Iterator[tuple[str, str]]:
    """Yield the sessions of a habit's evidence with how often or what it cost, most first."""
    costs: dict[str, float] = {}
    counts: dict[str, int] = {}
    for evidence in habit.evidence:
        session = evidence.session
        costs[session] = costs.get(session, 0.0) + (evidence.cost_usd or 0.0)
        counts[session] = counts.get(session, 0) + evidence.count
    for session in sorted(costs, key=lambda session: (-costs[session], -counts[session])):
        cost, count = costs[session], counts[session]
        times = f"{count} ×" if count > 1 or not cost else ""
        yield session, "  ".join(filter(None, (times, format_money(cost) if cost else "")))
