"""The Timeline tab of a session: a strip of the whole conversation, and a waterfall for each turn."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.model import SUCCESSFUL
from plait.record.time import parse_time
from plait.view.agents import AgentCost, format_agent_usage
from plait.view.formats import (
    format_count,
    format_count_if_any,
    format_duration,
    format_model,
    format_tokens,
    format_utc,
    join_dotted,
)
from plait.view.page.charts import render_drawing, render_legend, render_stacked_bar
from plait.view.page.entries import render_time
from plait.view.page.frame import SessionHeader, paginate, render_choice
from plait.view.page.markup import attribute, esc, icon, quote_url, tool_icon
from plait.view.page.session_rows import join_facts
from plait.view.summaries import LABEL_LENGTH
from plait.view.text import shorten
from plait.view.timeline import Bar, Lane, Timeline, TurnBar, build_waterfall
from plait.web.responses import SessionRequest, read_number, tab_response

SQUEEZED = 0.2
"""The largest share of the strip for gaps."""
GAP = 0.008
"""The maximum width of a gap."""
WIDE = 1000
THINNEST = 1.5
MOST_LANES = 10
MOST_ROWS = 400
SECOND, TEN_SECONDS = 1000, 10_000
WARNING = '<span class="warn">{}</span>'
KINDS = (
    ("model", "model"),
    ("tool", "tools"),
    ("person", "waiting for you"),
    ("agent", "agents"),
    ("bad", "failed"),
    ("other", "idle"),
)


class Scale(Struct, frozen=True):
    """Positions of times, as shares of the strip."""

    times: tuple[float, ...]
    places: tuple[float, ...]

    def get_position(self, time: float) -> float:
        """Return the position of a time, from 0 to 1."""
        index = bisect_right(self.times, time) - 1
        if index < 0:
            return 0.0
        if index >= len(self.times) - 1:
            return self.places[-1] if self.places else 0.0
        first, last = self.times[index], self.times[index + 1]
        share = (time - first) / (last - first) if last > first else 0.0
        return self.places[index] + share * (self.places[index + 1] - self.places[index])


def linear_scale(start: float, end: float) -> Scale:
    """Return a scale on which all time counts."""
    return Scale((start, max(end, start + 1)), (0.0, 1.0))


def compressed_scale(spans: Iterable[tuple[float, float]], end: float) -> Scale:
    """Return a scale on which time outside of all spans takes little space.

    |--turn 1--|            |-2-|   in time
    |------turn 1------|-|--2---|   on the strip
    """
    merged: list[tuple[float, float]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    if not merged:
        return linear_scale(0.0, end)
    edges = [merged[0][0]]
    is_gap: list[bool] = []
    for first, last in merged:
        if first > edges[-1]:
            edges.append(first)
            is_gap.append(True)
        edges.append(max(last, first + 1))
        is_gap.append(False)
    if end > edges[-1]:
        edges.append(end)
        is_gap.append(True)
    lengths = [after - before for before, after in pairwise(edges)]
    working = sum(length for length, gap in zip(lengths, is_gap, strict=True) if not gap)
    gap_width = min(GAP, SQUEEZED / sum(is_gap)) if any(is_gap) else 0.0
    widths = [
        gap_width if gap else length / working for length, gap in zip(lengths, is_gap, strict=True)
    ]
    total = sum(widths) or 1.0
    position, positions = 0.0, [0.0]
    for width in widths:
        position += width / total
        positions.append(min(position, 1.0))
    return Scale(tuple(edges), tuple(positions))


def _format_time(milliseconds: float) -> str:
    if milliseconds < SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < TEN_SECONDS:
        return f"{milliseconds / SECOND:.1f} s"
    return format_duration(milliseconds)


def render_timeline_body(
    head: SessionHeader,
    timeline: Timeline,
    branches: Sequence[tuple[str, str]],
    costs: Mapping[str, AgentCost],
) -> str:
    """Render the whole conversation: the strip, and a row for each turn."""
    choice = ""
    if len(branches) > 1:
        options = ((name, _build_url(head, line), line == timeline.line) for line, name in branches)
        choice = render_choice("Conversations", options)
    if not timeline.turns:
        return f'{choice}<p class="empty">This conversation has no timestamps.</p>'
    longest = max(turn.length for turn in timeline.turns) or 1.0
    rows = "".join(_render_turn_row(head, timeline, turn, longest) for turn in timeline.turns)
    longest_lane = max((lane.end - lane.start for lane in timeline.lanes), default=0) or 1.0

    def render_lanes(lanes: Iterable[Lane]) -> str:
        items = (_render_lane(head, lane, longest_lane, costs.get(lane.line)) for lane in lanes)
        return f'<ol class="falls sent">{"".join(items)}</ol>'

    agents = ""
    if launched := [lane for lane in timeline.lanes if lane.kind != "service"]:
        agents = f"<h3>{format_count(len(launched), 'agent')}</h3>{render_lanes(launched)}"
    if background := [lane for lane in timeline.lanes if lane.kind == "service"]:
        words = f"{format_count(len(background), 'background request')} by Claude Code"
        agents += (
            f'<details class="background-requests"><summary>{words}</summary>'
            f"{render_lanes(background)}</details>"
        )
    return (
        f"{choice}{_render_strip(head, timeline)}"
        f"{render_legend((kind, name, '') for kind, name in KINDS)}"
        '<p class="hint">Idle time is compressed. Click a turn for details.</p>'
        f'<ol class="falls">{rows}</ol>{agents}'
    )


def _build_url(head: SessionHeader, line: str, turn: int | None = None) -> str:
    turn_field = f"&turn={turn}" if turn is not None else ""
    return f"{head.tab_url('timeline')}?line={quote_url(line, safe='')}{turn_field}"


def _render_strip(head: SessionHeader, timeline: Timeline) -> str:
    spans = [(turn.start, turn.end) for turn in timeline.turns]
    spans += [(lane.start, lane.end) for lane in timeline.lanes]
    scale = compressed_scale(spans, timeline.length)
    shapes = []
    for turn in timeline.turns:
        position = _format_position(turn.start, turn.end, scale)
        css = " odd" if turn.number % 2 else ""
        rect = f'<rect class="turn{css}" {position} y="0" height="20"/>'
        if turn.failed or turn.is_interrupted:
            state = "bad" if turn.failed else "stopped"
            rect += f'<rect class="{state}" {position} y="17" height="3"/>'
        tooltip = f"{turn.number}. {shorten(turn.words, 80)} — {_format_time(turn.length)}"
        url = _build_url(head, timeline.line, turn.number)
        shapes.append(_render_link(url, rect, tooltip))
    shown = [lane for lane in timeline.lanes if lane.lane <= MOST_LANES]
    for lane in shown:
        kind, top = "bad" if lane.is_failed else "agent", 24 + 10 * (lane.lane - 1)
        position = _format_position(lane.start, lane.end, scale)
        rect = f'<rect class="{kind}" {position} y="{top}" height="7"/>'
        tooltip = f"{shorten(lane.words, 80)} — {_format_time(lane.end - lane.start)}"
        shapes.append(_render_link(_build_url(head, lane.line), rect, tooltip))
    note = ""
    if hidden := len(timeline.lanes) - len(shown):
        note = f'<p class="hint">{format_count(hidden, "more agent")} ran in parallel.</p>'
    lanes = max((min(lane.lane, MOST_LANES) for lane in timeline.lanes), default=0)
    size = "small" if lanes < 3 else "large" if lanes > 6 else "middle"
    return (
        f'{_render_time_axis(timeline, scale)}<div class="overall {size}">'
        f"{render_drawing(''.join(shapes), 24 + 10 * lanes, WIDE)}</div>{note}"
    )


def _render_time_axis(timeline: Timeline, scale: Scale) -> str:
    """Render the times at five places above the strip; idle time moves them together."""
    origin = parse_time(timeline.turns[0].started)
    if origin is None:
        return ""
    times_by_place = Scale(scale.places, scale.times)
    marks, last = "", ""
    for place in (0.0, 0.25, 0.5, 0.75, 1.0):
        elapsed = times_by_place.get_position(place) - timeline.turns[0].start
        label = render_time(format_utc(origin + timedelta(milliseconds=elapsed)))
        marks += f"<span>{label if label[-20:] != last else ''}</span>"
        last = label[-20:]
    return f'<div class="time-axis">{marks}</div>'


def _format_position(start: float, end: float, scale: Scale) -> str:
    first = scale.get_position(start) * WIDE
    width = max(scale.get_position(end) * WIDE - first, THINNEST)
    return f'x="{min(first, WIDE - width):.1f}" width="{width:.1f}"'


def _render_link(href: str, shape: str, tooltip: str) -> str:
    return f'<a href="{esc(href)}" tabindex="-1"><title>{esc(tooltip)}</title>{shape}</a>'


def _render_turn_row(head: SessionHeader, timeline: Timeline, turn: TurnBar, longest: float) -> str:
    other = max(turn.length - turn.model_ms - turn.tools_ms - turn.asking_ms, 0)
    parts = [
        ("model", turn.model_ms / longest),
        ("tool", turn.tools_ms / longest),
        ("person", turn.asking_ms / longest),
        ("other", other / longest),
    ]
    title = esc(shorten(turn.words, 120)) or "<i>before the first prompt</i>"
    facts = (
        format_count_if_any(turn.calls, "call"),
        format_count_if_any(len(turn.agents), "agent"),
        _format_waiting(turn),
        WARNING.format(f"{turn.failed} failed") if turn.failed else "",
        WARNING.format("interrupted") if turn.is_interrupted else "",
    )
    return _render_row(
        _build_url(head, timeline.line, turn.number),
        f"<b>{turn.number}</b><span>{title}</span>",
        render_stacked_bar(parts),
        _format_time(turn.length),
        join_facts(facts),
    )


def _render_row(
    href: str,
    label: str,
    bar: str,
    duration: str,
    counts: str = "",
    kind: str = "",
    title: str = "",
) -> str:
    """Render one row: title, bar, duration, counts."""
    counts_html = f'<span class="counts">{counts}</span>' if counts else ""
    return (
        f'<li class="fall{kind}"><a class="what" href="{esc(href)}"{attribute("title", title)}>'
        f'{label}</a>{bar}<span class="took">{duration}</span>'
        f"{counts_html}</li>"
    )


def _render_lane(head: SessionHeader, lane: Lane, longest: float, cost: AgentCost | None) -> str:
    kind, length = "bad" if lane.is_failed else "agent", lane.end - lane.start
    failed = "failed" if lane.is_failed else f"{lane.failed} failed" if lane.failed else ""
    usage = format_agent_usage(cost, has_time=False) if cost else format_count(lane.calls, "call")
    facts = (
        f"turn {lane.turn}" if lane.turn is not None else "",
        *usage.split(" · "),
        WARNING.format(failed) if failed else "",
    )
    return _render_row(
        _build_url(head, lane.line),
        f"{icon('agent')}<span>{esc(shorten(lane.words, LABEL_LENGTH))}</span>",
        render_stacked_bar([(kind, length / longest)]),
        _format_time(length),
        join_facts(facts),
    )


def _format_waiting(turn: TurnBar) -> str:
    waiting = format_duration(turn.asking_ms)
    return f"{waiting} waiting for you" if waiting else ""


def _iter_bar_rows(
    head: SessionHeader,
    bar: Bar,
    agents: Mapping[str, tuple[Lane, Sequence[Bar]]],
    costs: Mapping[str, AgentCost],
    scale: Scale,
) -> Iterator[str]:
    kind = bar.kind if bar.outcome in SUCCESSFUL else "bad"
    failed = f" {WARNING.format(bar.outcome)}" if kind == "bad" else ""
    sign = icon("plait") if bar.kind == "model" else tool_icon(bar.name)
    tokens = f"{format_tokens(bar.output_tokens)} out" if bar.output_tokens else ""
    lead_ms = bar.start - bar.asked if bar.asked is not None else 0
    lead = f"first output after {_format_time(lead_ms)}" if lead_ms else ""
    label = bar.words or join_dotted(tokens, lead)
    duration = _format_time(bar.length) if bar.length else ""
    rect = f'<rect class="{kind}" {_format_position(bar.start, bar.end, scale)} height="8"/>'
    if bar.asked is not None and bar.asked < bar.start:
        wait = _format_position(bar.asked, bar.start, scale)
        rect = f'<rect class="{kind} whole" {wait} height="8"/>{rect}'
    yield _render_row(
        head.record_url(bar.uuid),
        f"{sign}<em>{esc(format_model(bar.name))}</em><span>{esc(label)}</span>",
        render_drawing(rect, width=WIDE),
        f"{duration}{failed}",
        kind=f" {bar.kind}",
        title=", ".join(filter(None, (f"{bar.name} {label}", duration, bar.outcome))),
    )
    for name in bar.agents:
        if name in agents:
            yield _render_agent_lane(head, *agents[name], scale, costs.get(name))


def _render_agent_lane(
    head: SessionHeader, lane: Lane, bars: Sequence[Bar], scale: Scale, cost: AgentCost | None
) -> str:
    kind = "bad" if lane.is_failed else "agent"
    frame = _format_position(lane.start, lane.end, scale)
    shapes = [f'<rect class="{kind} whole" {frame} height="8"/>']
    until = -1.0
    for bar in sorted(bars, key=lambda bar: bar.start):
        is_bad = bar.outcome not in SUCCESSFUL
        end = scale.get_position(bar.end) * WIDE
        if bar.kind == "model" or (end - until < THINNEST and not is_bad):
            continue
        until = end
        position = _format_position(bar.start, bar.end, scale)
        shapes.append(
            f'<rect class="{"bad" if is_bad else bar.kind}" {position} y="2" height="4"/>'
        )
    failed = f" {WARNING.format('failed')}" if lane.is_failed else ""
    return _render_row(
        _build_url(head, lane.line),
        f"{icon('agent')}<em>agent</em><span>{esc(shorten(lane.words, LABEL_LENGTH))}</span>",
        render_drawing("".join(shapes), width=WIDE),
        f"{_format_time(lane.end - lane.start)}{failed}",
        format_agent_usage(cost, has_time=False) if cost else format_count(lane.calls, "call"),
        kind=" lane",
    )


def serve_timeline(request: Request) -> Response:
    """Serve the tab: a conversation in time, or one turn of it."""
    session = SessionRequest(request)
    opened, header = session.live, session.header
    line = opened.line(request.query_params.get("line"))
    timeline, number = opened.timeline(line.id), read_number(request, "turn")
    if number is None:
        branches = {**opened.branch_names}
        branches.setdefault(line.id, "This agent")
        body = render_timeline_body(header, timeline, list(branches.items()), opened.agents)
        return tab_response(request, session, "timeline", body)
    turn = next((turn for turn in timeline.turns if turn.number == number), None)
    if turn is None:
        raise HTTPException(404, "no such turn")
    bars, agents = build_waterfall(opened.conversations, timeline, number, opened.directory)
    start = read_number(request, "from") or 1
    end = max([turn.end, *(lane.end for lane, _ in agents.values())], default=turn.end)
    scale = linear_scale(turn.start, end)
    base = _build_url(header, timeline.line, turn.number)
    shown, pages = paginate("rows", bars, start, f"{base}&", MOST_ROWS)
    rows = "".join(
        row for bar in shown for row in _iter_bar_rows(header, bar, agents, opened.agents, scale)
    )
    title = esc(shorten(turn.words, 300)) or "Before the first prompt"
    turn_times = join_dotted(
        _format_time(turn.length),
        f"model {_format_time(turn.model_ms)}" if turn.model_ms else "",
        f"tools {_format_time(turn.tools_ms)}" if turn.tools_ms else "",
        _format_waiting(turn),
        format_count(turn.responses, "response"),
        format_count(turn.calls, "call"),
        f"{turn.failed} failed" if turn.failed else "",
    )
    marks = "".join(
        f"<span>{_format_time((end - turn.start) * part / 4)}</span>" for part in range(5)
    )
    ruler = f'<div class="ruler" aria-hidden="true"><div>{marks}</div></div>'
    numbers = [turn_bar.number for turn_bar in timeline.turns]
    index = numbers.index(turn.number)
    neighbours = [("Previous", index - 1), ("Next", index + 1)]
    links = "".join(
        f'<a href="{esc(_build_url(header, timeline.line, numbers[neighbour]))}">{label}: '
        f"turn {numbers[neighbour]}</a>"
        for label, neighbour in neighbours
        if 0 <= neighbour < len(numbers)
    )
    turn_links = (
        '<nav class="pager" aria-label="Turns">'
        f'<a href="{esc(_build_url(header, timeline.line))}">All turns</a>{links}</nav>'
    )
    body = (
        f"{turn_links}"
        f'<h3 class="turn-words"><a href="{esc(header.record_url(turn.uuid))}">{turn.number}</a> {title}</h3>'
        f'<p class="hint">{esc(turn_times)}</p>{pages}{ruler}'
        f'<ol class="falls waterfall">{rows}</ol>{pages}'
        f"{render_legend((kind, name, '') for kind, name in KINDS)}"
    )
    return tab_response(request, session, "timeline", body)
