"""What was done to its page: tools, how turns went, files, hours, models, agents."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from plait.conversation.stats.model import Figures, LongTurn, ToolFigures
from plait.view.amounts import (
    hours_in_words,
    many,
    moments_in_words,
    time_in_words,
    tokens_in_words,
)
from plait.view.page.figures.charts import bar_cell, folded_table, row, section, strip, table
from plait.view.page.figures.heat import hours_map
from plait.view.page.figures.period import nothing_in, uncounted
from plait.view.page.lists.rows import ListedSession, short_place
from plait.view.page.markup import esc, session_address, tool_icon, with_breaks
from plait.view.text import shortened
from plait.view.usage import told_apart

MOST_ROWS = 15
TOOL_HEADS = ("Tool", "Calls", "Failed", "Rejected", "Time", "Median")


class Insights(NamedTuple):
    """What the page is made of."""

    figures: Figures
    hours: Mapping[tuple[int, int], int]
    """Turns that were begun, by weekday and hour; Monday is 0."""
    known: Mapping[str, ListedSession]
    is_counting: bool = False


def insights_figures(insights: Insights | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if insights is None:
        return uncounted(is_counting=is_counting)
    figures = insights.figures
    if not figures.sessions:
        return nothing_in("insights", "Nothing was done in this time.")
    return (
        f"{_totals(figures, insights.is_counting)}{_tools(figures)}"
        f'<div class="columns2"><div>{_course(figures)}{_agents(figures)}</div>'
        f"{_models(figures)}</div>"
        f"{_when(insights)}{_files(figures)}{_longest(insights)}"
    )


def _totals(figures: Figures, is_counting: bool) -> str:
    asked = hours_in_words(figures.asking_ms)
    waiting = f"{asked} waiting for you" if asked else ""
    cells = (
        ("Sessions", number(figures.sessions), _where(figures)),
        ("Turns", number(figures.turns), many(figures.prompts, "prompt")),
        ("Responses", number(figures.responses), f"{tokens_in_words(figures.tokens.total)} tokens"),
        ("Tool calls", number(figures.calls), f"{number(figures.failed)} failed"),
        ("Agents", number(figures.agents), f"{number(figures.service_agents)} of the client"),
        ("Work time", hours_in_words(figures.working_ms) or "0 s", waiting),
    )
    return strip(cells, is_counting=is_counting)


def _where(figures: Figures) -> str:
    rest = figures.all_sessions - figures.sessions
    of = f"of {number(figures.all_sessions)}, {number(rest)} without anything of their own; "
    return (of if rest else "") + many(figures.projects, "project")


def number(count: int) -> str:
    """Writes a number with gaps between thousands."""
    return f"{count:,}".replace(",", " ")


def _course(figures: Figures) -> str:
    cells = (
        ("Rewinds", figures.rewinds, "conversations taken back to an earlier prompt"),
        ("Prompts taken back", figures.retracted, "before anything answered them"),
        ("Interruptions", figures.interruptions, "of a model at work"),
        ("Compactions", figures.compactions, "of a context that had grown too long"),
        ("Rejected calls", figures.rejected, "that a person did not allow"),
        ("Queued prompts", figures.queued, "typed while a model worked"),
        ("Commands", figures.commands, "typed with a slash"),
        ("API errors", figures.api_errors, f"and {many(figures.api_retries, 'retry', 'retries')}"),
    )
    rows = (row(name, number(count), ("words", esc(words))) for name, count, words in cells)
    heads = ("What", "How often", "Meaning")
    return section("How it went", table(heads, rows, "figures wordy", is_silent=True))


def _tools(figures: Figures) -> str:
    found = figures.tools
    if not found:
        return ""
    most = max(one.calls for one in found)
    rows = [_tool_row(one, most) for one in found]
    return section(
        "Tools", folded_table(TOOL_HEADS, rows, "Tool"), "time from the call to its result"
    )


def _tool_row(one: ToolFigures, most: int) -> str:
    return row(
        f'<span class="tool">{tool_icon(one.name)}{esc(one.name)}</span>',
        bar_cell(one.calls, most),
        number(one.calls),
        _failures(one),
        number(one.rejected) if one.rejected else "",
        hours_in_words(one.total_ms),
        moments_in_words(one.median_ms),
    )


def _failures(one: ToolFigures) -> str:
    if not one.failed:
        return ""
    share = one.failed / one.calls * 100
    told = "&lt;1 %" if share < 1 else f"{share:.0f} %"
    return f'<span class="bad">{number(one.failed)}</span> <small>{told}</small>'


def _when(insights: Insights) -> str:
    if not insights.hours:
        return ""
    return section("When", hours_map(insights.hours), "turns begun, in all projects and all time")


def _models(figures: Figures) -> str:
    names = told_apart(one.model for one in figures.models)
    most = max((one.responses for one in figures.models), default=0)
    rows = [
        row(
            esc(names[one.model]),
            bar_cell(one.responses, most),
            number(one.responses),
            tokens_in_words(one.tokens.output),
        )
        for one in figures.models
    ]
    return section("Models", folded_table(("Model", "Responses", "Written"), rows, "Model"))


def _agents(figures: Figures) -> str:
    if not figures.agent_types:
        return ""
    rows = (
        row(esc(one.type), number(one.agents), number(one.calls), tokens_in_words(one.tokens.total))
        for one in figures.agent_types[:MOST_ROWS]
    )
    return section("Agents", table(("Kind", "Sent out", "Calls", "Tokens"), rows))


def _files(figures: Figures) -> str:
    found = [one for one in figures.files if one.changes]
    if not found:
        return ""
    most = max(one.changes for one in found)
    rows = [
        row(
            f"<code>{with_breaks(one.path)}</code>",
            bar_cell(one.changes, most),
            number(one.changes),
            ("good", f"+{number(one.added)}"),
            ("bad", f"−{number(one.removed)}"),
            number(one.reads),
        )
        for one in found
    ]
    heads = ("File", "Changes", "Added", "Removed", "Reads")
    return section("Files changed most", folded_table(heads, rows, "File"))


def _longest(insights: Insights) -> str:
    found = insights.figures.longest_turns
    if not found:
        return ""
    rows = (_turn_row(one, insights.known.get(one.session)) for one in found)
    return section("Longest turns", table(("Prompt", "Session", "Time"), rows, is_silent=True))


def _turn_row(one: LongTurn, session: ListedSession | None) -> str:
    words = esc(shortened(one.words, 140) or "No words")
    if session is None:
        name, where = words, ""
    else:
        href = f"{session_address(session.name)}?turn={one.turn}"
        if one.conversation != one.session:
            href += f"#line-{quote(one.conversation)}"
        name, where = f'<a href="{esc(href)}">{words}</a>', esc(short_place(session.place))
    return row(name, where, time_in_words(one.working_ms))
