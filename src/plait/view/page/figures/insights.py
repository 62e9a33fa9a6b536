"""What was done to its page: tools, how turns went, files, hours, models, agents."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from plait.conversation.stats.model import Figures, LongTurn, ToolFigures
from plait.view.amounts import many, time_in_words, tokens_in_words
from plait.view.page.figures.charts import bar_of, folded_table
from plait.view.page.figures.heat import hours_map
from plait.view.page.figures.period import Period, chooser, uncounted
from plait.view.page.lists.rows import ListedSession, session_address, short_place
from plait.view.page.markup import esc, tool_icon, with_breaks
from plait.view.text import shortened
from plait.view.usage import told_apart

PATH = "/insights"
USUAL = "all"
MOST_ROWS = 15
TOOL_HEADS = ("Tool", "Calls", "Failed", "Rejected", "Time", "Median")


class Insights(NamedTuple):
    """What the page is made of."""

    figures: Figures
    hours: Mapping[tuple[int, int], int]
    """Turns that were begun, by weekday and hour; Monday is 0."""
    known: Mapping[str, ListedSession]
    is_counting: bool = False


def insights_page(span: Period, figures: str, projects: Mapping[str, str]) -> str:
    """Returns the page with its figures."""
    return (
        '<main class="page" id="main" data-live="insights"><div class="heading"><h1>Insights</h1>'
        f"{chooser(PATH, span, USUAL, projects)}</div><div data-results>{figures}</div></main>"
    )


def insights_figures(insights: Insights | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if insights is None:
        return uncounted(is_counting=is_counting)
    return _panels(insights) if insights.figures.sessions else _nothing()


def _nothing() -> str:
    return (
        '<div class="empty" role="status"><p>Nothing was done in this time.</p>'
        f'<p><a href="{PATH}">Show all time</a></p></div>'
    )


def _panels(insights: Insights) -> str:
    figures = insights.figures
    return (
        f"{_strip(figures, insights.is_counting)}{_tools(figures)}"
        f'<div class="columns2"><div>{_course(figures)}{_agents(figures)}</div>'
        f"{_models(figures)}</div>"
        f"{_when(insights)}{_files(figures)}{_longest(insights)}"
    )


def _strip(figures: Figures, is_counting: bool) -> str:
    counting = ' data-counting="1"' if is_counting else ""
    cells = (
        ("Sessions", number(figures.sessions), many(figures.projects, "project")),
        ("Turns", number(figures.turns), many(figures.prompts, "prompt")),
        ("Responses", number(figures.responses), f"{tokens_in_words(figures.tokens.total)} tokens"),
        ("Tool calls", number(figures.calls), f"{number(figures.failed)} failed"),
        ("Agents", number(figures.agents), f"{number(figures.service_agents)} of the client"),
        ("Models at work", time_in_words(figures.working_ms) or "0 s", _waiting(figures)),
    )
    return (
        f'<dl class="strip"{counting}>'
        + "".join(
            f"<div><dt>{name}</dt><dd>{esc(value)}<small>{esc(more)}</small></dd></div>"
            for name, value, more in cells
        )
        + "</dl>"
    )


def number(count: int) -> str:
    """Writes a number with gaps between thousands."""
    return f"{count:,}".replace(",", " ")


def _waiting(figures: Figures) -> str:
    asked = time_in_words(figures.asking_ms)
    return f"{asked} waiting for you" if asked else ""


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
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{number(count)}</td>'
        f'<td class="words">{esc(words)}</td></tr>'
        for name, count, words in cells
    )
    return (
        '<section><h2>How it went</h2><table class="figures wordy"><thead class="state"><tr>'
        '<th scope="col">What</th><th scope="col">How often</th><th scope="col">Meaning</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def _tools(figures: Figures) -> str:
    found = figures.tools
    if not found:
        return ""
    most = max(one.calls for one in found)
    table = folded_table(TOOL_HEADS, [_tool_row(one, most) for one in found], "Tool")
    return (
        f"<section><h2>Tools <small>time from the call to its result</small></h2>{table}</section>"
    )


def _tool_row(one: ToolFigures, most: int) -> str:
    return (
        f'<tr><th scope="row"><span class="tool">{tool_icon(one.name)}{esc(one.name)}</span></th>'
        f'<td class="bar-cell">{bar_of(one.calls, most)}</td><td>{number(one.calls)}</td>'
        f"<td>{_failures(one)}</td><td>{number(one.rejected) if one.rejected else ''}</td>"
        f"<td>{time_in_words(one.total_ms)}</td><td>{_quick_time(one.median_ms)}</td></tr>"
    )


def _failures(one: ToolFigures) -> str:
    if not one.failed:
        return ""
    share = one.failed / one.calls * 100
    told = "&lt;1 %" if share < 1 else f"{share:.0f} %"
    return f'<span class="bad">{number(one.failed)}</span> <small>{told}</small>'


def _quick_time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else time_in_words(milliseconds)


def _when(insights: Insights) -> str:
    if not insights.hours:
        return ""
    return (
        "<section><h2>When <small>turns begun, in all projects and all time</small></h2>"
        f"{hours_map(insights.hours)}</section>"
    )


def _models(figures: Figures) -> str:
    names = told_apart(one.model for one in figures.models)
    most = max((one.responses for one in figures.models), default=0)
    rows = [
        f'<tr><th scope="row">{esc(names[one.model])}</th>'
        f'<td class="bar-cell">{bar_of(one.responses, most)}</td><td>{number(one.responses)}</td>'
        f"<td>{tokens_in_words(one.tokens.output)}</td></tr>"
        for one in figures.models
    ]
    table = folded_table(("Model", "Responses", "Written"), rows, "Model")
    return f"<section><h2>Models</h2>{table}</section>"


def _agents(figures: Figures) -> str:
    if not figures.agent_types:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{esc(one.type)}</th><td>{number(one.agents)}</td>'
        f"<td>{number(one.calls)}</td><td>{tokens_in_words(one.tokens.total)}</td></tr>"
        for one in figures.agent_types[:MOST_ROWS]
    )
    return (
        '<section><h2>Agents</h2><table class="figures"><thead><tr><th scope="col">Kind</th>'
        '<th scope="col">Sent out</th><th scope="col">Calls</th><th scope="col">Tokens</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def _files(figures: Figures) -> str:
    found = [one for one in figures.files if one.changes]
    if not found:
        return ""
    most = max(one.changes for one in found)
    rows = [
        f'<tr><th scope="row"><code>{with_breaks(one.path)}</code></th>'
        f'<td class="bar-cell">{bar_of(one.changes, most)}</td><td>{number(one.changes)}</td>'
        f'<td class="good">+{number(one.added)}</td><td class="bad">−{number(one.removed)}</td>'
        f"<td>{number(one.reads)}</td></tr>"
        for one in found
    ]
    table = folded_table(("File", "Changes", "Added", "Removed", "Reads"), rows, "File")
    return f"<section><h2>Files changed most</h2>{table}</section>"


def _longest(insights: Insights) -> str:
    found = insights.figures.longest_turns
    if not found:
        return ""
    rows = "".join(_turn_row(one, insights.known.get(one.session)) for one in found)
    return (
        '<section><h2>Longest turns</h2><table class="figures"><thead class="state"><tr>'
        '<th scope="col">Prompt</th><th scope="col">Session</th><th scope="col">Time</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def _turn_row(one: LongTurn, session: ListedSession | None) -> str:
    words = esc(shortened(one.words, 140) or "No words")
    if session is None:
        name, where = words, ""
    else:
        href = f"{session_address(session.name)}?turn={one.turn}"
        if one.conversation != one.session:
            href += f"#line-{quote(one.conversation)}"
        name, where = f'<a href="{esc(href)}">{words}</a>', esc(short_place(session.place))
    return (
        f'<tr><th scope="row">{name}</th><td>{where}</td>'
        f"<td>{time_in_words(one.working_ms)}</td></tr>"
    )
