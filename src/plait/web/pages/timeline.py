"""The tab that shows a session in time."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.model import Conversation
from plait.view.page.tabs import tab_page
from plait.view.page.timeline import timeline_body, waterfall_body
from plait.view.timeline import Bar, Lane, Timeline, bars_of, began
from plait.web.answers import html
from plait.web.looks import Look, look_at, number_in


def serve(request: Request) -> Response:
    """Returns a conversation in time, or one turn of it."""
    look = look_at(request)
    line = look.line(request.query_params.get("line"))
    timeline, number = look.timeline(line.id), number_in(request, "turn")
    if number is None:
        ways = look.ways
        if line.id not in dict(ways):
            ways = [*ways, (line.id, "this agent")]
        body = timeline_body(look.head, timeline, ways)
    else:
        start = number_in(request, "from") or 1
        body = one_turn(look, line, timeline, number, start)
    return html(request, tab_page(look.head, "timeline", body))


def one_turn(look: Look, line: Conversation, timeline: Timeline, number: int, start: int) -> str:
    """Returns one turn as a waterfall."""
    turn = next((one for one in timeline.turns if one.number == number), None)
    if turn is None:
        raise HTTPException(404, "there is no such turn")
    bars = turn_bars(line, number, look.directory)
    wanted = {name for bar in bars for name in bar.agents}
    lanes = {lane.line: lane for lane in timeline.lanes if lane.line in wanted}
    agents = agent_bars(look, lanes, began(line))
    return waterfall_body(look.head, timeline, turn, bars, agents, start)


def turn_bars(line: Conversation, number: int, directory: str | None) -> list[Bar]:
    """Returns what took time in one turn, in the order of time."""
    turns = [turn for turn in line.turns if turn.number == number]
    bars = [bar for turn in turns for bar in bars_of(line, turn, began(line), directory)]
    return sorted(bars, key=lambda bar: bar.start)


def agent_bars(
    look: Look, lanes: dict[str, Lane], zero: float
) -> dict[str, tuple[Lane, Sequence[Bar]]]:
    """Returns agents with all that took time in them, on the scale of who sent them out."""
    found: dict[str, tuple[Lane, Sequence[Bar]]] = {}
    for name, lane in lanes.items():
        one = look.told.by_line[name]
        found[name] = lane, [bar for turn in one.turns for bar in bars_of(one, turn, zero)]
    return found
