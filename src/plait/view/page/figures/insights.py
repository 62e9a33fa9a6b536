"""What was done to its page: tools, how turns went, files, hours, models, agents."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from plait.conversation.insights.model import Insights as StandingOut
from plait.conversation.stats.model import Figures, LongTurn, SessionPart, ToolFigures
from plait.view.amounts import (
    hours_in_words,
    many,
    moments_in_words,
    time_in_words,
    tokens_in_words,
)
from plait.view.forms import told_apart
from plait.view.page.figures.charts import (
    STACKED,
    bar_cell,
    folded_table,
    row,
    section,
    strip,
    table,
)
from plait.view.page.figures.heat import hours_map
from plait.view.page.figures.period import nothing_in, uncounted
from plait.view.page.figures.slices import Slice, hour_of
from plait.view.page.figures.standing_out import standing_out
from plait.view.page.lists.rows import ListedSession, short_place
from plait.view.page.markup import esc, session_address, tool_icon, with_breaks
from plait.view.text import shortened

MOST_ROWS = 15
TOOL_HEADS = ("Tool", "Calls", "Failed", "Rejected", "Time", "Median")


class Insights(NamedTuple):
    """What the page is made of."""

    figures: Figures
    hours: Mapping[tuple[int, int], int]
    """Prompts that were typed, by weekday and hour; Monday is 0."""
    known: Mapping[str, ListedSession]
    base: Slice
    """What the page counts."""
    is_counting: bool = False
    found: StandingOut | None = None
    """What stands out; None where nobody has looked yet."""

    def to(self, of: str, name: str = "", part: str = "") -> Slice:
        """Returns what one figure counts."""
        return replace(self.base, of=of, name=name, part=part)

    def link(self, count: int, of: str, name: str = "", part: str = "") -> str:
        """Returns a number that leads to what it counts."""
        return self.to(of, name, part).link(number(count), count=count)


def hours_of(parts: Iterable[SessionPart]) -> Counter[tuple[int, int]]:
    """Returns how many prompts were typed in each hour of each day of the week, here."""
    found: Counter[tuple[int, int]] = Counter()
    for part in parts:
        for quarter, count in part.prompts.items():
            if here := hour_of(quarter):
                found[here] += count
    return found


def insights_figures(insights: Insights | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if insights is None:
        return uncounted(is_counting=is_counting)
    figures = insights.figures
    if not figures.sessions:
        is_all = insights.base.is_everything
        return nothing_in("insights", "Nothing was done in this time.", is_all=is_all)
    return (
        f"{_totals(insights)}{_found(insights)}{_tools(insights)}"
        f'<div class="columns2"><div>{_course(insights)}{_agents(insights)}</div>'
        f"{_models(insights)}</div>"
        f"{_when(insights)}{_files(insights)}{_longest(insights)}"
    )


def _found(insights: Insights) -> str:
    found = insights.found
    return standing_out(found, insights.base, insights.known) if found else ""


def _totals(insights: Insights) -> str:
    figures, link = insights.figures, insights.link
    asked = hours_in_words(figures.asking_ms)
    waiting = insights.to("asking_ms").link(f"{asked} waiting for you", count=figures.asking_ms)
    worked = hours_in_words(figures.working_ms) or "0 s"
    working = insights.to("working_ms").link(worked, count=figures.working_ms)
    total = figures.tokens.total
    tokens = insights.to("tokens").link(f"{tokens_in_words(total)} tokens", count=total)
    prompts = insights.to("prompts").link(many(figures.prompts, "prompt"), count=figures.prompts)
    cells = (
        ("Sessions", link(figures.sessions, "sessions"), _where(figures)),
        ("Turns", link(figures.turns, "turns"), prompts),
        ("Responses", link(figures.responses, "models"), tokens),
        ("Tool calls", link(figures.calls, "calls"), f"{link(figures.failed, 'failed')} failed"),
        (
            "Agents",
            link(figures.agents, "agents"),
            _errands(insights),
        ),
        ("Work time", working, waiting if asked else ""),
    )
    return strip(cells, is_counting=insights.is_counting)


def _errands(insights: Insights) -> str:
    count = insights.figures.service_agents
    told = insights.to("service_agents").link(many(count, "errand"), count=count)
    return f"{told} of the client" if count else ""


def _where(figures: Figures) -> str:
    rest = figures.all_sessions - figures.sessions
    of = f"of {number(figures.all_sessions)}, {number(rest)} without anything of their own; "
    return (of if rest else "") + many(figures.projects, "project")


def number(count: int) -> str:
    """Writes a number with gaps between thousands."""
    return f"{count:,}".replace(",", " ")


COURSE = (
    ("Rewinds", "rewinds", "conversations taken back to an earlier prompt"),
    ("Prompts taken back", "retracted", "before anything answered them"),
    ("Interruptions", "interruptions", "of a model at work"),
    ("Compactions", "compactions", "of a context that had grown too long"),
    ("Rejected calls", "rejected", "that a person did not allow"),
    ("Queued prompts", "queued", "typed while a model worked"),
    ("Commands", "commands", "typed with a slash"),
    ("API errors", "api_errors", "in the place of an answer"),
    ("API retries", "api_retries", "of requests that came to nothing"),
)


def _course(insights: Insights) -> str:
    rows = (
        row(name, insights.link(getattr(insights.figures, of), of), ("words", esc(words)))
        for name, of, words in COURSE
    )
    heads = ("What", "How often", "Meaning")
    return section("How it went", table(heads, rows, "figures wordy", is_silent=True))


def _tools(insights: Insights) -> str:
    found = insights.figures.tools
    if not found:
        return ""
    most = max(one.calls for one in found)
    rows = [_tool_row(insights, one, most) for one in found]
    return section(
        "Tools",
        folded_table(TOOL_HEADS, rows, "Tool", kind=STACKED),
        "time from the call to its result",
    )


def _tool_row(insights: Insights, one: ToolFigures, most: int) -> str:
    to = insights.to("tools", one.name)
    times = (hours_in_words(one.total_ms), moments_in_words(one.median_ms))
    return row(
        f'<span class="tool">{tool_icon(one.name)}{esc(one.name)}</span>',
        bar_cell(one.calls, most, to),
        to.link(number(one.calls), count=one.calls),
        _failures(insights, one),
        insights.link(one.rejected, "tools", one.name, "rejected") if one.rejected else "",
        *(to.link(words) if words else "" for words in times),
    )


def _failures(insights: Insights, one: ToolFigures) -> str:
    if not one.failed:
        return ""
    share = one.failed / one.calls * 100
    told = "&lt;1 %" if share < 1 else f"{share:.0f} %"
    failed = insights.link(one.failed, "tools", one.name, "failed")
    return f'<span class="bad">{failed}</span> <small>{told}</small>'


def _when(insights: Insights) -> str:
    if not insights.hours:
        return ""
    drawn = hours_map(insights.hours, lambda weekday, hour: _hour(insights, weekday, hour))
    return section("When", drawn, "prompts, by the clock of this machine")


def _hour(insights: Insights, weekday: int, hour: int) -> Slice:
    return replace(insights.base, of="prompts", weekday=str(weekday), hour=str(hour))


def _models(insights: Insights) -> str:
    found = insights.figures.models
    names = told_apart(one.model for one in found)
    most = max((one.responses for one in found), default=0)
    rows = [
        row(
            esc(names[one.model]),
            bar_cell(one.responses, most, insights.to("models", one.model)),
            insights.link(one.responses, "models", one.model),
            insights.to("models", one.model, "output").link(
                tokens_in_words(one.tokens.output), count=one.tokens.output
            ),
        )
        for one in found
    ]
    return section("Models", folded_table(("Model", "Responses", "Written"), rows, "Model"))


def _agents(insights: Insights) -> str:
    found = insights.figures.agent_types
    if not found:
        return ""
    rows = (
        row(
            esc(one.type),
            insights.link(one.agents, "agents", one.type),
            insights.link(one.calls, "agents", one.type, "calls"),
            insights.to("agents", one.type, "tokens").link(
                tokens_in_words(one.tokens.total), count=one.tokens.total
            ),
        )
        for one in found[:MOST_ROWS]
    )
    return section("Agents", table(("Kind", "Sent out", "Calls", "Tokens"), rows))


def _files(insights: Insights) -> str:
    found = [one for one in insights.figures.files if one.changes]
    if not found:
        return ""
    most, link = max(one.changes for one in found), insights.link
    rows = [
        row(
            f"<code>{with_breaks(one.path)}</code>",
            bar_cell(one.changes, most, insights.to("files", one.path)),
            link(one.changes, "files", one.path),
            ("plus", f"+{link(one.added, 'files', one.path, 'added')}"),
            ("minus", f"−{link(one.removed, 'files', one.path, 'removed')}"),
            link(one.reads, "files", one.path, "reads"),
        )
        for one in found
    ]
    heads = ("File", "Changes", "Added", "Removed", "Reads")
    return section("Files changed most", folded_table(heads, rows, "File", kind=STACKED))


def _longest(insights: Insights) -> str:
    found = insights.figures.longest_turns
    if not found:
        return ""
    rows = (_turn_row(one, insights.known.get(one.session)) for one in found)
    drawn = table(("Prompt", "Session", "Time"), rows, STACKED, is_silent=True)
    return section("Longest turns", drawn)


def _turn_row(one: LongTurn, session: ListedSession | None) -> str:
    words = esc(shortened(one.words, 140) or "No words")
    took = time_in_words(one.working_ms)
    if session is None:
        name, where = words, ""
    else:
        href = f"{session_address(session.name)}?turn={one.turn}"
        if one.conversation != one.session:
            href += f"#line-{quote(one.conversation)}"
        name, where = f'<a href="{esc(href)}">{words}</a>', esc(short_place(session.place))
        took = f'<a class="fig" href="{esc(href)}">{took}</a>'
    return row(name, where, took)
