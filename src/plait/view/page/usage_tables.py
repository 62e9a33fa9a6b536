"""Figures of usage to tables: by model, project, session and block, bars beside the numbers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from plait.conversation.spending import Row, Spending, Tally
from plait.conversation.windows import Block
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.page.escape import esc
from plait.view.page.listing import Listed, address, short_place
from plait.view.page.plots import MOST_ROWS, bar_of, folded_table
from plait.view.page.span import Span
from plait.view.text import shortened


class Saved(NamedTuple):
    """What the cache was good for."""

    paid: float
    """Of what could be priced both ways."""
    without: float
    """What the same tokens would have cost without a cache."""


class Usage(NamedTuple):
    """What the page is made of."""

    span: Span
    now: datetime
    step: str
    periods: Spending
    projects: Spending
    sessions: Spending
    blocks: Sequence[Block]
    saved: Saved
    known: Mapping[str, Listed]
    """The sessions that there are, by id."""
    places: Mapping[str, str]
    is_counting: bool = False

    @property
    def total(self) -> Row:
        """Everything in this span."""
        return self.periods.totals

    def amount(self, tally: Tally) -> float:
        """Returns what is measured: money or tokens."""
        return tally.cost if self.span.of == "cost" else float(tally.tokens)

    def write(self, value: float) -> str:
        """Writes what is measured."""
        return dollars(value) if self.span.of == "cost" else tokens_in_words(round(value))


def dollars(value: float) -> str:
    """Writes a sum of money; nothing is nothing."""
    return money_in_words(value) if value else "$0"


def session_name(one: Listed | None, key: str | None) -> str:
    """Returns a session by its title, with the way to what it took."""
    if one is None:
        return esc(key or "unknown")
    place = f"<small> {esc(short_place(one.place))}</small>"
    return f'<a href="{address(one.name)}/usage">{esc(shortened(one.words, 100))}</a>{place}'


def largest(spent: Spending, usage: Usage) -> list[Row]:
    """Returns rows, those that took most first."""
    return sorted(spent.rows, key=lambda row: (-usage.amount(row.total), row.key or ""))


def tallies(name: str, rows: Sequence[tuple[str, Tally]], usage: Usage) -> str:
    """Returns figures as a table with bars, the lesser ones folded; names are markup already."""
    most = max((usage.amount(tally) for _, tally in rows), default=0)
    cells = [
        f'<tr><th scope="row">{words}</th><td class="bar-cell">'
        f"{bar_of(usage.amount(tally), most)}</td><td>{tokens_in_words(tally.tokens)}</td>"
        f"<td>{cost_of(tally)}</td></tr>"
        for words, tally in rows
    ]
    return folded_table((name, "Tokens", "Cost"), cells, name)


def cost_of(tally: Tally) -> str:
    """Returns what something cost; a star where a part of it has no price."""
    if not tally.unpriced:
        return dollars(tally.cost)
    star = '<abbr title="some of it has no price">*</abbr>'
    has_none = sum(tally.unpriced.values()) == tally.responses
    return '<abbr title="has no price">*</abbr>' if has_none else dollars(tally.cost) + star


def windows(usage: Usage) -> str:
    """Returns the last five-hour blocks, the one that goes on now first."""
    found = [block for block in usage.blocks if not block.is_gap][::-1]
    most = max((usage.amount(block.total) for block in found[:MOST_ROWS]), default=0)
    rows = [block_row(block, most, usage) for block in found]
    table = folded_table(("Begun", "Tokens", "Cost", "Per hour"), rows, "Five-hour block")
    return f"<section><h2>Five-hour blocks <small>as plans count them</small></h2>{table}</section>"


def block_row(block: Block, most: float, usage: Usage) -> str:
    """Returns one block."""
    here, rate = block.start.astimezone(), block.rate
    pace = dollars(rate.cost_per_hour) if rate and rate.cost_per_hour else ""
    return (
        f'<tr><th scope="row">{here.day} {here:%b %H:%M}{going_on(block, usage.now)}</th>'
        f'<td class="bar-cell">{bar_of(usage.amount(block.total), most)}</td>'
        f"<td>{tokens_in_words(block.total.tokens)}</td><td>{cost_of(block.total)}</td>"
        f"<td>{pace}</td></tr>"
    )


def going_on(block: Block, now: datetime) -> str:
    """Says of the block that goes on how long it lasts, and what it will come to."""
    if not block.is_active:
        return ""
    left = time_in_words(block.left(now).total_seconds() * 1000)
    projected = block.projected(now)
    come = f", comes to {dollars(projected[1])}" if projected else ""
    return f' <small><span class="live"></span>{left} left{come}</small>'


def unpriced(usage: Usage) -> str:
    """Returns what has no price."""
    found = usage.total.total.unpriced
    if not found:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td>{many(count, "response")}</td></tr>'
        for name, count in sorted(found.items(), key=lambda one: -one[1])
    )
    return (
        "<section><h2>Without a price <small>left out of all sums of money</small></h2>"
        f'<table class="figures"><tbody>{rows}</tbody></table>'
        '<p class="note-line">A file of your own prices helps: <code>prices = "prices.toml"</code> '
        "in the configuration.</p></section>"
    )
