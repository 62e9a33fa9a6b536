"""What a figure counts to its page: session by session, with sums that are the figure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple
from urllib.parse import quote

from plait.conversation.prices import Prices
from plait.conversation.spending import BeyondLog, SpendingRow, SpendingSum, spending, within
from plait.conversation.stats.model import SessionPart
from plait.conversation.usage import BilledResponse
from plait.conversation.waste.findings import SessionWaste
from plait.view.amounts import dotted, hours_in_words, many, tokens_in_words
from plait.view.forms import CACHE_READ, KINDS, day_of, minute_of, model_name
from plait.view.page.figures.charts import STACKED, bar_cell, row, scrolled, strip, table
from plait.view.page.figures.heat import BegunTurn
from plait.view.page.figures.period import uncounted
from plait.view.page.figures.slices import BRANCHES, DAYS, STEP, WHO, Slice, amount_in
from plait.view.page.lists.rows import ListedSession, priced, short_place
from plait.view.page.markup import esc, session_address
from plait.view.text import shortened

LONGEST = 100
NAMES = {
    "responses": "Responses",
    "begun": "Turns begun",
    "beyond": "Counted by Claude Code beyond the logs",
    "sessions": "Sessions",
    "turns": "Turns",
    "prompts": "Prompts",
    "calls": "Tool calls",
    "failed": "Failed calls",
    "rejected": "Rejected calls",
    "interruptions": "Interruptions",
    "rewinds": "Rewinds",
    "retracted": "Prompts taken back",
    "compactions": "Compactions",
    "queued": "Queued prompts",
    "commands": "Commands",
    "api_errors": "API errors",
    "api_retries": "API retries",
    "agents": "Agents",
    "service_agents": "Service agents",
    "tokens": "Tokens",
    "working_ms": "Work time",
    "asking_ms": "Time waiting for you",
    "tools": "Calls",
    "files": "Changes",
    "models": "Responses",
    "waste": "Paid for in vain",
}
PARTS = {
    "ok": "Calls that went well",
    "failed": "Failed calls",
    "rejected": "Rejected calls",
    "interrupted": "Interrupted calls",
    "missing": "Calls without a result",
    "calls": "Calls",
    "tokens": "Tokens",
    "output": "Tokens written",
    "reads": "Reads",
    "added": "Lines added",
    "removed": "Lines removed",
    "cost": "Could have been saved",
    "least": "Surely in vain",
    "sent": "Cost of what was sent",
    "night": "Prompts at night",
    "weekend": "Prompts on weekends",
}
HEADS = ("Responses", *(one.capitalize() for one in KINDS), "Tokens", "Cost")


class CountedPage(NamedTuple):
    """What the page is made of."""

    given: Slice
    known: Mapping[str, ListedSession]
    places: Mapping[str, str]
    is_counting: bool
    spent: Sequence[SpendingRow] | None = None
    """Of sessions, where responses are counted."""
    saved: float = 0.0
    amounts: Mapping[str, float] | None = None
    """By session, where anything else is."""
    turns: Mapping[str, BegunTurn] = {}
    """The first turn of each session that is counted."""
    models: Mapping[str, str] = {}
    """How the models of all that is counted are called."""


def begun_in(
    given: Slice, begun: Iterable[BegunTurn], known: Mapping[str, ListedSession]
) -> list[BegunTurn]:
    """Returns the turns of a slice that people began, in the order of time."""
    found = [
        one
        for one in begun
        if (not given.since or day_of(one.time) >= given.since)
        and (not given.until or day_of(one.time) <= given.until)
        and (not given.project or _project_of(known.get(one.name)) == given.project)
        and (not given.weekday or str(one.time.weekday()) == given.weekday)
        and (not given.hour or str(one.time.hour) == given.hour)
    ]
    return sorted(found, key=lambda one: one.time)


def _project_of(one: ListedSession | None) -> str | None:
    return one.project if one else None


def beyond_in(given: Slice, beyond: Sequence[BeyondLog]) -> dict[str, float]:
    """Returns what was counted beyond the logs, by session."""
    found = within(beyond, *given.bounds)
    return {one.session: one.cost for one in found if given.project in ("", one.project)}


def spent_in(responses: Iterable[BilledResponse], prices: Prices) -> Sequence[SpendingRow]:
    """Returns what the sessions of some responses took, the dearest first."""
    rows = spending(responses, "session", prices).rows
    return sorted(rows, key=lambda one: (-one.total.cost, -one.total.tokens.total, one.key or ""))


def parts_in(given: Slice, parts: Iterable[tuple[str, SessionPart]]) -> dict[str, float]:
    """Returns how much each session has of what a slice counts, by its name in addresses."""
    found = {name: amount_in(given, part) for name, part in parts if given.session in ("", name)}
    return {name: amount for name, amount in found.items() if amount}


def lost_in(given: Slice, lost: Iterable[tuple[str, SessionWaste]]) -> dict[str, float]:
    """Returns what each session lost for one reason or for all: how often, or dollars."""
    found = {name: _lost(given, one) for name, one in lost if given.session in ("", name)}
    return {name: amount for name, amount in found.items() if amount}


def _lost(given: Slice, one: SessionWaste) -> float:
    if given.part == "sent":
        return one.input_usd
    chosen = [each for each in one.findings if given.name in ("", each.kind)]
    if given.part == "least":
        return sum(each.least_usd for each in chosen)
    if given.part == "cost":
        return sum(each.cost_usd for each in chosen)
    return sum(each.count for each in chosen)


def counted_page(page: CountedPage) -> str:
    """Returns the page."""
    told = counted_list(page)
    return (
        '<main class="page" id="main" data-live="counted"><div class="heading">'
        f"<h1>{esc(_heading(page))}</h1></div>"
        f'<p class="told"><span>{esc(_where(page))}</span></p>'
        f"<div data-results>{told}</div></main>"
    )


def counted_list(page: CountedPage) -> str:
    """Returns the sums and the sessions."""
    if page.spent is None and page.amounts is None:
        return uncounted(is_counting=page.is_counting)
    if page.spent is not None:
        return _spent(page, page.spent)
    return _amounts(page, page.amounts or {})


def _heading(page: CountedPage) -> str:
    given = page.given
    words = PARTS.get(given.part, "") or NAMES.get(given.of, "Counted")
    if given.name:
        name = _model(page, given.name) if given.of == "models" else given.name
        return f"{words}: {name}"
    return words


def _where(page: CountedPage) -> str:
    given = page.given
    models = given.model.split(",") if given.model else ()
    return dotted(
        short_place(page.places.get(given.project, given.project)) if given.project else "",
        ", ".join(_model(page, one) for one in models),
        WHO.get(given.who, ""),
        BRANCHES.get(given.branch, ""),
        _when(given),
        DAYS[int(given.weekday)] if given.weekday in tuple("0123456") else "",
        f"{int(given.hour):02}:00 to {int(given.hour):02}:59" if given.hour.isdecimal() else "",
    )


def _model(page: CountedPage, name: str) -> str:
    return page.models.get(name) or model_name(name)


def _when(given: Slice) -> str:
    if given.after and given.before:
        return f"{_clock(given.after)} to {_clock(given.before)}"
    first, last = (_day_in_words(one) for one in (given.since, given.until))
    if given.since == given.until:
        return first or "All time"
    return f"{first} to {last}" if first and last else f"Since {first}" if first else f"To {last}"


def _clock(stamp: str) -> str:
    here = datetime.fromisoformat(stamp).astimezone()
    return minute_of(here)


def _day_in_words(day: str) -> str:
    found = date.fromisoformat(day) if day else None
    return day_of(found) if found else ""


def _spent(page: CountedPage, rows: Sequence[SpendingRow]) -> str:
    total = SpendingSum()
    for one in rows:
        total.take(one.total)
    tokens = total.tokens
    sums = {
        "cost": total.cost,
        "tokens": tokens.total,
        "responses": total.responses,
        "sessions": len(_names(page, [one.key or "" for one in rows])),
        "input": tokens.input,
        "cache_write": tokens.cache_write,
        "cache_read": tokens.cache_read,
        "output": tokens.output,
        "saved": page.saved,
    }
    read = tokens.cache_read
    figures = (
        ("Cost", priced(total.known_cost, is_partly=bool(total.unpriced)), ""),
        ("Tokens", tokens_in_words(tokens.total), many(total.responses, "response")),
        (CACHE_READ.capitalize(), tokens_in_words(read), _share(read, total)),
        ("Saved by the cache", priced(max(page.saved, 0)), "against no cache at all"),
        ("Sessions", str(sums["sessions"]), ""),
    )
    cells = [_spent_row(page, one) for one in rows[: page.given.n]]
    body = scrolled(table(("Session", *HEADS), cells, f"{STACKED} counted"), "Sessions")
    told = strip(figures, is_counting=page.is_counting)
    return f"{_with_sums(told, sums)}{body}{_more(page, len(rows))}"


def _share(value: int, total: SpendingSum) -> str:
    whole = total.tokens.total_input
    return f"{value / whole * 100:.1f} % of what was sent" if whole else ""


def _with_sums(told: str, sums: Mapping[str, float]) -> str:
    data = " ".join(f"{name}={value!r}" for name, value in sums.items())
    return f'<div data-sums="{data}">{told}</div>'


def _spent_row(page: CountedPage, one: SpendingRow) -> str:
    tokens = one.total.tokens
    place = f"{session_address(one.key or '', 'usage')}"
    counts = (tokens.input, tokens.cache_write, tokens.cache_read, tokens.output, tokens.total)
    cost = priced(one.total.known_cost, is_partly=bool(one.total.unpriced))
    figures = (str(one.total.responses), *map(tokens_in_words, counts), cost)
    linked = (f'<a class="fig" href="{esc(place)}">{words}</a>' for words in figures)
    return row(_title(page, one.key or "", place), *linked)


def _names(page: CountedPage, ids: Sequence[str]) -> list[str]:
    """Returns the names that sessions of some ids have; several may share an id."""
    wanted = set(ids)
    return [name for name in page.known if name.partition("~")[0] in wanted] or list(ids)


def _title(page: CountedPage, name: str, place: str) -> str:
    one = page.known.get(name)
    if one is None:
        return esc(name)
    words = esc(shortened(one.words, LONGEST))
    return f'<a href="{esc(place)}">{words}</a><small> {esc(short_place(one.place))}</small>'


def _amounts(page: CountedPage, amounts: Mapping[str, float]) -> str:
    rows = sorted(amounts.items(), key=lambda one: (-one[1], one[0]))
    whole, most = sum(amounts.values()), max(amounts.values(), default=0)
    words = _heading(page).partition(":")[0]
    figures = ((words, _written(page, whole), ""), ("Sessions", str(len(rows)), ""))
    cells = [
        row(
            _title(page, name, place),
            bar_cell(amount, most),
            f'<a class="fig" href="{esc(place)}">{_written(page, amount)}</a>',
        )
        for name, amount in rows[: page.given.n]
        for place in (_place(page, name),)
    ]
    body = scrolled(table(("Session", None, words), cells, STACKED), "Sessions")
    told = strip(figures, is_counting=page.is_counting)
    sums = {"count": whole, "sessions": len(rows)}
    return f"{_with_sums(told, sums)}{body}{_more(page, len(rows))}"


def _written(page: CountedPage, amount: float) -> str:
    given = page.given
    if given.of == "beyond" or given.part in ("cost", "least", "sent"):
        return priced(amount)
    if given.of in ("working_ms", "asking_ms"):
        return hours_in_words(amount) or "0 s"
    if given.of == "tokens" or given.part in ("tokens", "output"):
        return tokens_in_words(round(amount))
    return f"{amount:,.0f}".replace(",", " ")


def _place(page: CountedPage, name: str) -> str:
    """Returns where the first of what is counted in a session stands, as far as that is known."""
    first = page.turns.get(name)
    if first:
        return f"{session_address(name)}?turn={first.turn}#{quote(first.uuid)}"
    tabs = {
        "beyond": "usage",
        "waste": "usage",
        "models": "usage",
        "tokens": "usage",
        "files": "files",
    }
    return session_address(name, tabs.get(page.given.of, "read"))


def _more(page: CountedPage, count: int) -> str:
    if count <= page.given.n:
        return ""
    rest = many(min(STEP, count - page.given.n), "more session")
    href = esc(page.given.address(n=page.given.n + STEP))
    return f'<p class="more-rows"><a href="{href}">Show {rest}</a></p>'
