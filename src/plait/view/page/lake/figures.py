"""Sums and answers of a lake to tables: what was spent on what, the rest, saved questions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from plait.view.amounts import many, money_in_words, tokens_in_words
from plait.view.forms import model_name, stamp_of
from plait.view.page.figures.charts import bar_cell, row, scrolled, section, strip, table
from plait.view.page.lake.frame import lake_address
from plait.view.page.lists.rows import priced, short_place
from plait.view.page.markup import esc, options, switch

HEADINGS = {
    "project": "Projects",
    "person": "People",
    "team": "Teams",
    "model": "Models",
    "month": "Months",
}
MOST_SHOWN = 500


class RestMonth(Protocol):
    """What the sessions that somebody does not see came to in a month."""

    @property
    def month(self) -> str: ...
    @property
    def people(self) -> int: ...
    @property
    def sessions(self) -> int: ...
    @property
    def responses(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float: ...


def rest_table(rest: Iterable[RestMonth]) -> str:
    """Returns what others came to, month by month."""
    rows = (
        row(
            esc(one.month),
            str(one.people),
            str(one.sessions),
            tokens_in_words(one.tokens),
            money_in_words(one.cost_usd) if one.cost_usd else "$0",
        )
        for one in rest
    )
    return table(("Month", "People", "Sessions", "Tokens", "Cost"), rows)


def usage_main(
    total: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    asked: Mapping[str, Any],
    form: str,
    rest: Sequence[RestMonth],
) -> str:
    """Returns what the sessions that are seen came to, by a heading, and the rest."""
    by = str(asked["by"])
    ways = switch(
        "By",
        (
            (lake_address("/usage", asked, by=way), words, way == by)
            for way, words in HEADINGS.items()
        ),
    )
    spent = table((HEADINGS[by][:-1], "", "Tokens", "Cost"), _spent_rows(rows, by))
    note = "sessions that you do not see, whole months of several people together"
    others = section("The rest", rest_table(rest), note) if rest else ""
    return (
        f'<div class="heading"><h1>Usage</h1></div>{form}{_totals(total)}'
        f"{section(HEADINGS[by], f'<div class=told>{ways}</div>{spent}')}{others}"
    )


def _totals(total: Mapping[str, Any]) -> str:
    star = "*" if total["unpriced"] else ""
    figures = (
        ("Cost", f"{money_in_words(total['cost_usd']) if total['cost_usd'] else '$0'}{star}", ""),
        ("Tokens", tokens_in_words(total["tokens"]), many(total["responses"], "response")),
        ("Output", tokens_in_words(total["output"]), "by models"),
        ("Sessions", str(total["sessions"]), "with a response"),
    )
    return strip(figures)


def _spent_rows(rows: Sequence[Mapping[str, Any]], by: str) -> Iterable[str]:
    most = max((one["cost_usd"] for one in rows), default=0.0)
    for one in rows:
        name = str(one["heading"] or "unknown")
        words = short_place(name) if by == "project" else name
        told = model_name(words) if by == "model" else words
        tokens = sum(one[part] for part in ("input", "output", "cache_write", "cache_read"))
        cost = priced(one["cost_usd"], is_partly=bool(one["unpriced"]))
        yield row(esc(told), bar_cell(one["cost_usd"], most), tokens_in_words(tokens), cost)


class Asked(Protocol):
    """A parameter of a question."""

    @property
    def says(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def default(self) -> object: ...
    @property
    def one_of(self) -> tuple[str, ...]: ...


def questions_main(known: Iterable[tuple[str, str]]) -> str:
    """Returns the saved questions, by their names and what they ask."""
    rows = "".join(
        f'<li><div class="naming"><a href="/questions/{esc(name)}">{esc(_told(asks))}</a>'
        f'<div class="sub">{esc(name)}</div></div></li>'
        for name, asks in known
    )
    note = '<p class="note-line">Asked of the sessions that you may see.</p>'
    head = '<div class="heading"><h1>Questions</h1></div>'
    return f'{head}{note}<ol class="recent lake-rows">{rows}</ol>'


def question_main(
    name: str,
    asks: str,
    parameters: Mapping[str, Asked],
    given: Mapping[str, str],
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> str:
    """Returns a question, what it can be told, and its answer."""
    fields = "".join(_field(one, about, given.get(one)) for one, about in parameters.items())
    form = f'<form class="filters">{fields}<button class="quiet">Ask</button></form>'
    shown = [_answer_row(one) for one in rows[:MOST_SHOWN]]
    body = table([one.replace("_", " ") for one in columns], shown) if rows else _NO_ROWS
    more = f"First {MOST_SHOWN} rows." if len(rows) > MOST_SHOWN else many(len(rows), "row")
    told = f'<div class="told"><span role="status">{more}</span></div>'
    head = f'<div class="heading"><h1>{esc(_told(asks))}</h1></div>'
    return f"{head}{form}{told}{scrolled(body, 'The answer')}"


_NO_ROWS = '<div class="empty"><p>Nothing answers that.</p></div>'


def _told(asks: str) -> str:
    return asks[:1].upper() + asks[1:]


def _field(name: str, about: Asked, given: str | None) -> str:
    title = f'title="{esc(about.says)}" aria-label="{esc(about.says or name)}"'
    if about.one_of:
        chosen = given or str(about.default or "")
        listed = options(((one, one) for one in about.one_of), chosen)
        return f'<select name="{esc(name)}" {title}>{listed}</select>'
    usual = "" if about.default is None else str(about.default)
    hint = f"{name} {usual}".strip()
    return (
        f'<input type="search" name="{esc(name)}" {title} placeholder="{esc(hint)}" '
        f'value="{esc(given or "")}">'
    )


def _answer_row(values: Sequence[object]) -> str:
    first, *others = values or ("",)
    cells = ((("words", _cell(one)) if isinstance(one, str) else _cell(one)) for one in others)
    return row(_cell(first), *cells)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}".replace(",", " ")
        case float():
            return f"{value:,.4f}".rstrip("0").rstrip(".").replace(",", " ")
        case datetime():
            return stamp_of(value)
        case date():
            return value.isoformat()
        case _:
            return esc(str(value)[:400])
