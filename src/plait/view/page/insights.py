"""What was done to its page: tools, how turns went, files, hours, models, agents."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from plait.conversation.figures import Figures, LongTurn, ToolFigures
from plait.view.amounts import many, time_in_words, tokens_in_words
from plait.view.page.escape import esc, with_breaks
from plait.view.page.hours import hours_map
from plait.view.page.icons import tool_icon
from plait.view.page.listing import Listed, address, short_place
from plait.view.page.plots import bar_of, folded_table
from plait.view.page.span import Span, chooser, uncounted
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
    known: Mapping[str, Listed]
    is_counting: bool = False


def insights_page(span: Span, figures: str, projects: Mapping[str, str]) -> str:
    """Returns the page with its figures."""
    return (
        '<main class="page" id="main" data-live="insights"><div class="heading"><h1>Insights</h1>'
        f"{chooser(PATH, span, USUAL, projects)}</div><div data-results>{figures}</div></main>"
    )


def insights_figures(insights: Insights | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if insights is None:
        return uncounted(is_counting=is_counting)
    return panels(insights) if insights.figures.sessions else nothing()


def nothing() -> str:
    """Says that nothing was done, and what to do."""
    return (
        '<div class="empty" role="status"><p>Nothing was done in this time.</p>'
        f'<p><a href="{PATH}">Show all time</a></p></div>'
    )


def panels(insights: Insights) -> str:
    """Returns all figures."""
    figures = insights.figures
    return (
        f"{strip(figures, insights.is_counting)}{tools(figures)}"
        f'<div class="columns2"><div>{course(figures)}{agents(figures)}</div>'
        f"{models(figures)}</div>"
        f"{when(insights)}{files(figures)}{longest(insights)}"
    )


def strip(figures: Figures, is_counting: bool) -> str:
    """Returns the totals in one line; newer ones may be on their way."""
    counting = ' data-counting="1"' if is_counting else ""
    cells = (
        ("Sessions", number(figures.sessions), many(figures.projects, "project")),
        ("Turns", number(figures.turns), many(figures.prompts, "prompt")),
        ("Responses", number(figures.responses), f"{tokens_in_words(figures.tokens.total)} tokens"),
        ("Tool calls", number(figures.calls), f"{number(figures.failed)} failed"),
        ("Agents", number(figures.agents), f"{number(figures.service_agents)} of the client"),
        ("Models at work", time_in_words(figures.working_ms) or "0 s", waiting(figures)),
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


def waiting(figures: Figures) -> str:
    """Says how long tools waited for a person."""
    asked = time_in_words(figures.asking_ms)
    return f"{asked} waiting for you" if asked else ""


def course(figures: Figures) -> str:
    """Returns how conversations went: taken back, cut short, interrupted, tried again."""
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


def tools(figures: Figures) -> str:
    """Returns how often tools were called, how that went, how long it took."""
    found = figures.tools
    if not found:
        return ""
    most = max(one.calls for one in found)
    table = folded_table(TOOL_HEADS, [tool_row(one, most) for one in found], "Tool")
    return (
        f"<section><h2>Tools <small>time from the call to its result</small></h2>{table}</section>"
    )


def tool_row(one: ToolFigures, most: int) -> str:
    """Returns the row of one tool."""
    return (
        f'<tr><th scope="row"><span class="tool">{tool_icon(one.name)}{esc(one.name)}</span></th>'
        f'<td class="bar-cell">{bar_of(one.calls, most)}</td><td>{number(one.calls)}</td>'
        f"<td>{failures(one)}</td><td>{number(one.rejected) if one.rejected else ''}</td>"
        f"<td>{time_in_words(one.total_ms)}</td><td>{quick_time(one.median_ms)}</td></tr>"
    )


def failures(one: ToolFigures) -> str:
    """Returns how often a tool failed, with its share."""
    if not one.failed:
        return ""
    share = one.failed / one.calls * 100
    told = "&lt;1 %" if share < 1 else f"{share:.0f} %"
    return f'<span class="bad">{number(one.failed)}</span> <small>{told}</small>'


def quick_time(milliseconds: float | None) -> str:
    """Writes a time that may be short."""
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else time_in_words(milliseconds)


def when(insights: Insights) -> str:
    """Returns at which hours of which days people began turns."""
    if not insights.hours:
        return ""
    return (
        "<section><h2>When <small>turns begun, in all projects and all time</small></h2>"
        f"{hours_map(insights.hours)}</section>"
    )


def models(figures: Figures) -> str:
    """Returns what each model answered."""
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


def agents(figures: Figures) -> str:
    """Returns what agents were sent out, and what they took."""
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


def files(figures: Figures) -> str:
    """Returns the files that were changed most."""
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


def longest(insights: Insights) -> str:
    """Returns the turns that took longest."""
    found = insights.figures.longest_turns
    if not found:
        return ""
    rows = "".join(turn_row(one, insights.known.get(one.session)) for one in found)
    return (
        '<section><h2>Longest turns</h2><table class="figures"><thead class="state"><tr>'
        '<th scope="col">Prompt</th><th scope="col">Session</th><th scope="col">Time</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def turn_row(one: LongTurn, session: Listed | None) -> str:
    """Returns one turn, with the way to it."""
    words = esc(shortened(one.words, 140) or "No words")
    if session is None:
        name, where = words, ""
    else:
        href = f"{address(session.name)}?turn={one.turn}"
        if one.conversation != one.session:
            href += f"#line-{quote(one.conversation)}"
        name, where = f'<a href="{esc(href)}">{words}</a>', esc(short_place(session.place))
    return (
        f'<tr><th scope="row">{name}</th><td>{where}</td>'
        f"<td>{time_in_words(one.working_ms)}</td></tr>"
    )
