"""What a figure counts, as an address says it, to the things themselves.

A figure in a page leads to its slice: the same responses, turns or parts of sessions that were
added up for it, so that the sum there is the figure.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.insights.habits import NIGHT, SATURDAY
from plait.conversation.insights.model import Habit
from plait.conversation.prices import Prices, name_of
from plait.conversation.spending import NO_MODEL, within
from plait.conversation.stats.model import QUARTER, SessionPart
from plait.conversation.usage import NOTHING, BilledResponse
from plait.record.time import moment
from plait.view.page.figures.period import Period, midnight
from plait.view.page.markup import address, asked_in, count_in, esc

LONGEST = 1000
"""Characters of one thing that is asked: a path may be long."""
STEP, MOST = 200, 10_000
"""Sessions that are listed at first, and at most."""
WHO = {
    "main": "main conversations",
    "agents": "agents",
    "service": "the client's service agents",
}
BRANCHES = {"kept": "kept", "abandoned": "on abandoned branches"}
FILE_PARTS = ("changes", "reads", "added", "removed")
AGENT_PARTS = ("agents", "calls")
UNTIMED = "untimed"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Slice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which of all that was counted is meant."""

    of: str = "responses"
    """What is counted: `responses`, `begun` turns, what is `beyond` the logs, or a figure."""
    since: str = ""
    until: str = ""
    project: str = ""
    model: str = ""
    """Names with commas between them."""
    who: str = ""
    branch: str = ""
    after: str = ""
    before: str = ""
    """Moments between which it was, both among it."""
    session: str = ""
    name: str = ""
    """Of a tool, a kind of agents or a file; among responses, of what has no price."""
    part: str = ""
    """An outcome, or one of several figures of the same thing."""
    weekday: str = ""
    hour: str = ""
    n: int = STEP

    def address(self, **changes: object) -> str:
        """Returns the address that lists this, with some things changed."""
        return address("/counted", self, **changes)

    def link(self, words: str, **figures: float) -> str:
        """Returns markup as a link to what it counts, with the figures that stand in it."""
        told = " ".join(f"{name}={value!r}" for name, value in figures.items())
        data = f' data-figure="{told}"' if told else ""
        return f'<a class="fig" href="{esc(self.address())}"{data}>{words}</a>'

    @property
    def is_everything(self) -> bool:
        """Neither days nor a project narrow it."""
        return not (self.since or self.until or self.project)

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """The moments between which it is, by its days."""
        return midnight(self.since, 0), midnight(self.until, 1)


def slice_in(query: Mapping[str, str]) -> Slice:
    """Returns what an address asks for; what makes no sense is as if it were not said."""
    names = set(Slice.__struct_fields__) - {"n"}
    told = asked_in(query, names, LONGEST)
    known = {"since": midnight_of, "until": midnight_of, "after": moment, "before": moment}
    told = {name: one for name, one in told.items() if name not in known or known[name](one)}
    return Slice(**told, n=count_in(query, STEP, MOST))


def midnight_of(day: str) -> datetime | None:
    """Returns the beginning of a day; None where there is no such day."""
    return midnight(day, 1)


def slice_of(span: Period, now: datetime, usual: str) -> Slice:
    """Returns what a page with figures of a period counts."""
    start, end = span.bounds(now, usual)
    last = end - timedelta(days=1) if end else None
    return Slice(since=_day(start), until=_day(last), project=span.project)


def _day(time: datetime | None) -> str:
    return f"{time.year:04}-{time.month:02}-{time.day:02}" if time else ""


def narrowed(given: Slice, key: str | None, step: str) -> dict[str, str]:
    """Returns the days of one step of time, as far as they lie in a slice."""
    if key is None:
        return {"part": UNTIMED}
    first, last = step_days(key, step)
    since = max(given.since, first) if given.since else first
    until = min(given.until, last) if given.until else last
    return {"since": since, "until": until}


def step_days(key: str, step: str) -> tuple[str, str]:
    """Returns the first and the last day of a day, a week or a month, by its name."""
    if step == "month":
        year, month = int(key[:4]), int(key[5:7])
        following = date(year + month // 12, month % 12 + 1, 1)
        return f"{key}-01", (following - timedelta(days=1)).isoformat()
    first = date.fromisoformat(key)
    return key, (first + timedelta(days=6 if step == "week" else 0)).isoformat()


def responses_in(
    given: Slice, responses: Sequence[BilledResponse], left: Collection[str], prices: Prices
) -> list[BilledResponse]:
    """Returns the responses of a slice; left are those on abandoned branches."""
    models = set(given.model.split(",")) if given.model else None
    after, before = _moments(given)
    return [
        one
        for one in within(responses, *given.bounds)
        if (not given.project or one.project == given.project)
        and (not given.session or one.session == given.session)
        and (not given.name or _has_no_price(one, given.name, prices))
        and (models is None or (one.model or NO_MODEL) in models)
        and (not given.who or _who(one) == given.who)
        and (not given.branch or (one.uuid in left) == (given.branch == "abandoned"))
        and (given.part != UNTIMED or one.time is None)
        and (after is None or (one.time is not None and one.time >= after))
        and (before is None or (one.time is not None and one.time <= before))
    ]


def _has_no_price(one: BilledResponse, name: str, prices: Prices) -> bool:
    is_named = name_of(one.model, one.tokens) == name
    return is_named and prices.cost(one.model, one.tokens, one.time) is None


def _moments(given: Slice) -> tuple[datetime | None, datetime | None]:
    return moment(given.after), moment(given.before)


def _who(one: BilledResponse) -> str:
    return {"main": "main", "service": "service"}.get(one.kind, "agents")


def moment_in_words(time: datetime) -> str:
    """Writes a moment as an address has it, to the microsecond."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def amount_in(given: Slice, part: SessionPart) -> float:
    """Returns how much of what a slice counts one session has."""
    match given.of:
        case "sessions":
            return part.session is not None
        case "tools":
            outcomes = part.tools.get(given.name, {})
            return outcomes.get(given.part, 0) if given.part else sum(outcomes.values())
        case "agents" if given.name:
            return _of_agents(given, part)
        case "files":
            touched = part.files.get(given.name)
            return getattr(touched, _one_of(FILE_PARTS, given.part)) if touched else 0
        case "models":
            return _of_models(given, part)
        case "prompts" if given.weekday or given.hour or given.part:
            return sum(count for at, count in part.prompts.items() if _is_at(given, at))
        case "tokens":
            return sum(tokens.total for _, tokens in part.models.values())
        case name if name in ("working_ms", "asking_ms"):
            return part.spent.get(name, 0)
        case name:
            return part.counts.get(name, 0)


def _of_agents(given: Slice, part: SessionPart) -> int:
    if given.part == "tokens":
        return part.agent_tokens.get(given.name, NOTHING).total
    found = part.agents.get(given.name)
    return getattr(found, _one_of(AGENT_PARTS, given.part)) if found else 0


def _one_of(names: Sequence[str], asked: str) -> str:
    return asked if asked in names else names[0]


def _of_models(given: Slice, part: SessionPart) -> int:
    chosen = [one for name, one in part.models.items() if given.name in ("", name)]
    if given.part == "output":
        return sum(tokens.output for _, tokens in chosen)
    return sum(responses for responses, _ in chosen)


def _is_at(given: Slice, quarter: int) -> bool:
    here = hour_of(quarter)
    if here is None:
        return False
    if given.part and not {"night": here[1] in NIGHT, "weekend": here[0] >= SATURDAY}.get(
        given.part, True
    ):
        return False
    is_day = not given.weekday or str(here[0]) == given.weekday
    return is_day and (not given.hour or str(here[1]) == given.hour)


def slice_at(habit: Habit, base: Slice) -> Slice:
    """Returns what a habit counts, or the nearest that there is of it."""
    match habit.kind:
        case "rejects":
            return replace(base, of="tools", name=habit.subject, part="rejected")
        case "fails":
            return replace(base, of="tools", name=habit.subject, part="failed")
        case "dear model":
            return replace(base, of="models", name=habit.subject)
        case "interrupts" | "takes back" | "compacts":
            return replace(base, of=COUNTS[habit.kind])
        case "night" | "weekend":
            return replace(base, of="prompts", part=habit.kind)
        case _:
            return replace(base, of="waste", name=habit.kind)


COUNTS = {"interrupts": "interruptions", "takes back": "retracted", "compacts": "compactions"}


def hour_of(quarter: int) -> tuple[int, int] | None:
    """Returns the weekday and the hour here of a quarter of an hour since 1970."""
    try:
        here = datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone()
    except (OverflowError, ValueError, OSError):  # a year that no clock knows
        return None
    return here.weekday(), here.hour
