"""A conversation in time to HTML: all of it as a strip, each turn as a waterfall."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote

from msgspec import Struct

from plait.conversation.model import WENT_WELL
from plait.view.agents import AgentCost, spent_in_words
from plait.view.amounts import dotted, many, some, time_in_words, tokens_in_words
from plait.view.forms import model_name
from plait.view.page.figures.charts import drawing, stack, swatches
from plait.view.page.markup import attribute, esc, icon, tool_icon
from plait.view.page.tabs.head import Head, choice, paged
from plait.view.text import shortened
from plait.view.timeline import Bar, Lane, Timeline, TurnBar

SQUEEZED = 0.2
"""So much of the line may go to the gaps at most."""
GAP = 0.008
"""A gap is drawn no wider than this."""
WIDE = 1000
THINNEST = 1.5
MOST_LANES = 10
MOST_ROWS = 400
SECOND, TEN_SECONDS = 1000, 10_000
KINDS = (
    ("model", "the model"),
    ("tool", "tools"),
    ("person", "a person's answer"),
    ("agent", "agents"),
    ("bad", "failed"),
    ("other", "neither"),
)


class Scale(Struct, frozen=True):
    """Places for times, as shares of the line."""

    times: tuple[float, ...]
    places: tuple[float, ...]

    def at(self, time: float) -> float:
        """Returns where a time lies, from 0 to 1."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return 0.0
        if place >= len(self.times) - 1:
            return self.places[-1] if self.places else 0.0
        first, last = self.times[place], self.times[place + 1]
        share = (time - first) / (last - first) if last > first else 0.0
        return self.places[place] + share * (self.places[place + 1] - self.places[place])


def plain_scale(start: float, end: float) -> Scale:
    """Returns the scale of a stretch in which all time counts."""
    return Scale((start, max(end, start + 1)), (0.0, 1.0))


def squeezed_scale(spans: Iterable[tuple[float, float]], end: float) -> Scale:
    """Returns a scale on which what lies in no span takes little room.

    |--turn 1--|            |-2-|   in time
    |------turn 1------|-|--2---|   on the line
    """
    merged = _merged_stretches(sorted(spans))
    if not merged:
        return plain_scale(0.0, end)
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
    return Scale(tuple(edges), tuple(_placed(edges, is_gap)))


def _merged_stretches(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for first, last in spans:
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _placed(edges: list[float], is_gap: list[bool]) -> Iterable[float]:
    lengths = [after - before for before, after in pairwise(edges)]
    working = sum(length for length, gap in zip(lengths, is_gap, strict=True) if not gap)
    gaps = sum(is_gap)
    width = min(GAP, SQUEEZED / gaps) if gaps else 0.0
    widths = [
        width if gap else length / working for length, gap in zip(lengths, is_gap, strict=True)
    ]
    total = sum(widths) or 1.0
    at = 0.0
    yield at
    for one in widths:
        at += one / total
        yield min(at, 1.0)


def _short_time(milliseconds: float) -> str:
    if milliseconds < SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < TEN_SECONDS:
        return f"{milliseconds / SECOND:.1f} s"
    return time_in_words(milliseconds)


def timeline_body(
    head: Head,
    timeline: Timeline,
    ways: Sequence[tuple[str, str]],
    costs: Mapping[str, AgentCost],
) -> str:
    """Returns the whole conversation: the strip, and a row for each turn."""
    if not timeline.turns:
        return f'{_way_choice(head, ways, timeline.line)}<p class="empty">No record has a time.</p>'
    longest = max(turn.length for turn in timeline.turns) or 1.0
    rows = "".join(_turn_row(head, timeline, turn, longest) for turn in timeline.turns)
    return (
        f"{_way_choice(head, ways, timeline.line)}{_overall_strip(head, timeline)}"
        f"{swatches((kind, name, '') for kind, name in KINDS)}"
        '<p class="hint">Time in which nobody worked is squeezed. A turn opens its waterfall.</p>'
        f'<ol class="falls">{rows}</ol>{_lane_list(head, timeline, costs)}'
    )


def _way_choice(head: Head, ways: Sequence[tuple[str, str]], here: str) -> str:
    if len(ways) < 2:
        return ""
    return choice(
        "Conversations", ((words, _address(head, line), line == here) for line, words in ways)
    )


def _address(head: Head, line: str, turn: int | None = None) -> str:
    at = f"&turn={turn}" if turn is not None else ""
    return f"{head.place('timeline')}?line={quote(line, safe='')}{at}"


def _overall_strip(head: Head, timeline: Timeline) -> str:
    spans = [(turn.start, turn.end) for turn in timeline.turns]
    spans += [(lane.start, lane.end) for lane in timeline.lanes]
    scale = squeezed_scale(spans, timeline.length)
    lanes = max((min(one.lane, MOST_LANES) for one in timeline.lanes), default=0)
    height = 24 + 10 * lanes
    turns = "".join(_strip_turn(head, timeline.line, turn, scale) for turn in timeline.turns)
    agents = "".join(_strip_lane(head, one, scale) for one in timeline.lanes)
    hidden = sum(one.lane > MOST_LANES for one in timeline.lanes)
    more = f'<p class="hint">{many(hidden, "agent")} more ran side by side.</p>' if hidden else ""
    size = "small" if lanes < 3 else "large" if lanes > 6 else "middle"
    return f'<div class="overall {size}">{drawing(turns + agents, height, WIDE)}</div>{more}'


def _strip_turn(head: Head, line: str, turn: TurnBar, scale: Scale) -> str:
    state = "bad" if turn.failed else "stopped" if turn.is_interrupted else ""
    where = _across(turn.start, turn.end, scale)
    words = f"{turn.number}. {shortened(turn.words, 80)} — {_short_time(turn.length)}"
    odd = " odd" if turn.number % 2 else ""
    rect = f'<rect class="turn{odd}" {where} y="0" height="20"/>'
    if state:
        rect += f'<rect class="{state}" {where} y="17" height="3"/>'
    return _linked(_address(head, line, turn.number), rect, words)


def _strip_lane(head: Head, one: Lane, scale: Scale) -> str:
    if one.lane > MOST_LANES:
        return ""
    kind = "bad" if one.is_failed else "agent"
    top = 24 + 10 * (one.lane - 1)
    rect = f'<rect class="{kind}" {_across(one.start, one.end, scale)} y="{top}" height="7"/>'
    words = f"{shortened(one.words, 80)} — {_short_time(one.end - one.start)}"
    return _linked(_address(head, one.line), rect, words)


def _across(start: float, end: float, scale: Scale) -> str:
    first = scale.at(start) * WIDE
    width = max(scale.at(end) * WIDE - first, THINNEST)
    return f'x="{min(first, WIDE - width):.1f}" width="{width:.1f}"'


def _linked(href: str, drawn: str, words: str) -> str:
    return f'<a href="{esc(href)}" tabindex="-1"><title>{esc(words)}</title>{drawn}</a>'


def _turn_row(head: Head, timeline: Timeline, turn: TurnBar, longest: float) -> str:
    other = max(turn.length - turn.model_ms - turn.tools_ms - turn.asking_ms, 0)
    parts = [
        ("model", turn.model_ms / longest),
        ("tool", turn.tools_ms / longest),
        ("person", turn.asking_ms / longest),
        ("other", other / longest),
    ]
    told = dotted(some(turn.calls, "call"), some(len(turn.agents), "agent"), _waiting(turn))
    failed = _warning(f"{turn.failed} failed" if turn.failed else "")
    stopped = _warning("interrupted" if turn.is_interrupted else "")
    words = esc(shortened(turn.words, 120)) or "<i>before the first prompt</i>"
    return _fall(
        _address(head, timeline.line, turn.number),
        f"<b>{turn.number}</b><span>{words}</span>",
        stack(parts),
        _short_time(turn.length),
        dotted(told, failed, stopped),
    )


def _fall(
    href: str, what: str, drawn: str, took: str, counts: str = "", kind: str = "", title: str = ""
) -> str:
    """Returns one row: what took time, drawn, how long it took, what there is to say of it."""
    told = f'<span class="counts">{counts}</span>' if counts else ""
    return (
        f'<li class="fall{kind}"><a class="what" href="{esc(href)}"{attribute("title", title)}>'
        f'{what}</a>{drawn}<span class="took">{took}</span>'
        f"{told}</li>"
    )


def _warning(words: str) -> str:
    return f'<span class="warn">{words}</span>' if words else ""


def _lane_list(head: Head, timeline: Timeline, costs: Mapping[str, AgentCost]) -> str:
    longest = max((one.end - one.start for one in timeline.lanes), default=0) or 1.0
    sent = [one for one in timeline.lanes if one.kind != "service"]
    own = [one for one in timeline.lanes if one.kind == "service"]
    agents = "".join(_lane_row(head, one, longest, costs.get(one.line)) for one in sent)
    errands = "".join(_lane_row(head, one, longest, costs.get(one.line)) for one in own)
    html = (
        f'<h3>{many(len(sent), "agent")}</h3><ol class="falls sent">{agents}</ol>' if sent else ""
    )
    if own:
        words = f"{many(len(own), 'errand')} of the client"
        html += (
            f'<details class="errands"><summary>{words}</summary>'
            f'<ol class="falls sent">{errands}</ol></details>'
        )
    return html


def _lane_row(head: Head, one: Lane, longest: float, cost: AgentCost | None) -> str:
    kind, length = "bad" if one.is_failed else "agent", one.end - one.start
    turn = f"turn {one.turn}" if one.turn is not None else ""
    failed = "failed" if one.is_failed else f"{one.failed} failed" if one.failed else ""
    return _fall(
        _address(head, one.line),
        f"{icon('agent')}<span>{esc(shortened(one.words, 120))}</span>",
        stack([(kind, length / longest)]),
        _short_time(length),
        dotted(turn, _taken(one, cost), _warning(failed)),
    )


def _taken(one: Lane, cost: AgentCost | None) -> str:
    if cost is None:
        return many(one.calls, "call")
    return spent_in_words(cost, has_time=False)


def waterfall_body(
    head: Head,
    timeline: Timeline,
    turn: TurnBar,
    bars: Sequence[Bar],
    agents: Mapping[str, tuple[Lane, Sequence[Bar]]],
    costs: Mapping[str, AgentCost],
    start: int = 1,
) -> str:
    """Returns one turn: a row for each response and call, agents as lanes of their own."""
    end = max([turn.end, *(lane.end for lane, _ in agents.values())], default=turn.end)
    scale = plain_scale(turn.start, end)
    base = _address(head, timeline.line, turn.number)
    shown, pages = paged("rows", bars, start, f"{base}&", MOST_ROWS)
    rows = "".join(row for bar in shown for row in _bar_rows(head, bar, agents, costs, scale))
    words = esc(shortened(turn.words, 300)) or "Before the first prompt"
    return (
        f"{_turn_links(head, timeline, turn)}"
        f'<h3 class="turn-words"><a href="{esc(head.at(turn.uuid))}">{turn.number}</a> {words}</h3>'
        f'<p class="hint">{esc(_turn_times(turn))}</p>{pages}{_ruler(end - turn.start)}'
        f'<ol class="falls waterfall">{rows}</ol>{pages}'
        f"{swatches((kind, name, '') for kind, name in KINDS)}"
    )


def _turn_times(turn: TurnBar) -> str:
    return dotted(
        _short_time(turn.length),
        f"{_short_time(turn.model_ms)} the model" if turn.model_ms else "",
        f"{_short_time(turn.tools_ms)} tools" if turn.tools_ms else "",
        _waiting(turn),
        many(turn.responses, "response"),
        many(turn.calls, "call"),
        f"{turn.failed} failed" if turn.failed else "",
    )


def _waiting(turn: TurnBar) -> str:
    waiting = time_in_words(turn.asking_ms)
    return f"{waiting} waiting for you" if waiting else ""


def _turn_links(head: Head, timeline: Timeline, turn: TurnBar) -> str:
    numbers = [one.number for one in timeline.turns]
    at = numbers.index(turn.number)
    near = [("Before", at - 1), ("After", at + 1)]
    links = "".join(
        f'<a href="{esc(_address(head, timeline.line, numbers[place]))}">{words}: '
        f"turn {numbers[place]}</a>"
        for words, place in near
        if 0 <= place < len(numbers)
    )
    return (
        '<nav class="pager" aria-label="Turns">'
        f'<a href="{esc(_address(head, timeline.line))}">All turns</a>{links}</nav>'
    )


def _ruler(length: float) -> str:
    marks = "".join(f"<span>{_short_time(length * part / 4)}</span>" for part in range(5))
    return f'<div class="ruler" aria-hidden="true"><div>{marks}</div></div>'


def _bar_rows(
    head: Head,
    bar: Bar,
    agents: Mapping[str, tuple[Lane, Sequence[Bar]]],
    costs: Mapping[str, AgentCost],
    scale: Scale,
) -> Iterator[str]:
    kind = bar.kind if bar.outcome in WENT_WELL else "bad"
    failed = f" {_warning(bar.outcome)}" if kind == "bad" else ""
    sign = icon("plait") if bar.kind == "model" else tool_icon(bar.name)
    said = f"{tokens_in_words(bar.output_tokens)} out" if bar.output_tokens else ""
    words = bar.words or dotted(said, _lead(bar))
    took = _short_time(bar.length) if bar.length else ""
    rect = f'<rect class="{kind}" {_across(bar.start, bar.end, scale)} height="8"/>'
    if bar.asked is not None and bar.asked < bar.start:
        lead = _across(bar.asked, bar.start, scale)
        rect = f'<rect class="{kind} whole" {lead} height="8"/>{rect}'
    yield _fall(
        head.at(bar.uuid),
        f"{sign}<em>{esc(model_name(bar.name))}</em><span>{esc(words)}</span>",
        drawing(rect, width=WIDE),
        f"{took}{failed}",
        kind=f" {bar.kind}",
        title=", ".join(filter(None, (f"{bar.name} {words}", took, bar.outcome))),
    )
    for name in bar.agents:
        if name in agents:
            yield _lane_of_bars(head, *agents[name], scale, costs.get(name))


def _lead(bar: Bar) -> str:
    """Says how long a response took to its first block: the log has no line before it."""
    lead = bar.start - bar.asked if bar.asked is not None else 0
    return f"first block after {_short_time(lead)}" if lead else ""


def _lane_of_bars(
    head: Head, lane: Lane, bars: Sequence[Bar], scale: Scale, cost: AgentCost | None
) -> str:
    kind = "bad" if lane.is_failed else "agent"
    frame = f'<rect class="{kind} whole" {_across(lane.start, lane.end, scale)} height="8"/>'
    failed = f" {_warning('failed')}" if lane.is_failed else ""
    words = esc(shortened(lane.words, 120))
    return _fall(
        _address(head, lane.line),
        f"{icon('agent')}<em>agent</em><span>{words}</span>",
        drawing(frame + "".join(_thinned(bars, scale)), width=WIDE),
        f"{_short_time(lane.end - lane.start)}{failed}",
        _taken(lane, cost),
        kind=" lane",
    )


def _thinned(bars: Iterable[Bar], scale: Scale) -> Iterator[str]:
    until = -1.0
    for bar in sorted(bars, key=lambda one: one.start):
        is_bad = bar.outcome not in WENT_WELL
        at = scale.at(bar.end) * WIDE
        if bar.kind == "model" or (at - until < THINNEST and not is_bad):
            continue
        until = at
        kind = "bad" if is_bad else bar.kind
        yield f'<rect class="{kind}" {_across(bar.start, bar.end, scale)} y="2" height="4"/>'
