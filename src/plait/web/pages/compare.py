"""Two branches of a session side by side."""

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from plait.archive import with_own_responses
from plait.archive.live import LiveArchive, Opened
from plait.conversation.files import CHANGING, files_of
from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.paths import path_to
from plait.conversation.totals import agents_below, totals_over
from plait.errors import UserError
from plait.graph.paths import SPOKEN
from plait.view.costs import agents_called
from plait.view.page.frame import framed
from plait.view.page.tabs.compare import Comparison, Side, compare_page
from plait.web.answers import html


def serve_comparison(request: Request) -> Response:
    """Returns the page."""
    library: LiveArchive = request.app.state.library
    name = request.path_params["name"]
    one = library.opened(name)
    told, reading, heading = one.told, one.reading, one.headed(name)
    if told is None or reading is None or heading is None:
        raise UserError("there is nothing to compare in this session")
    first, second = _chosen(told, request.query_params.get("a"), request.query_params.get("b"))
    found = _compared(one, told, first, second)
    body = compare_page(name, heading.title, told, found, reading.setting, reading.agents)
    return html(request, framed(f"Two branches of {heading.title}", body, side=name))


def _chosen(told: Conversations, first: str | None, second: str | None) -> tuple[str, str]:
    ways = [line for line, one in told.by_line.items() if one.kind in SPOKEN and one.turns]
    if len(ways) < 2:
        raise UserError("this session has one way only", "it never forked: read it")
    one = first or told.main
    two = second or next(line for line in reversed(ways) if line != one)
    for line in (one, two):
        if line not in ways:
            raise UserError(f"this session has no branch '{line[:80]}'", "choose one in its header")
    return one, two


def _compared(opened: Opened, told: Conversations, first: str, second: str) -> Comparison:
    paths = [path_to(told.by_line[line], told.by_line.get) for line in (first, second)]
    shared = _shared_turns(*paths)
    one, two = (
        side(opened, told, line, path, shared)
        for line, path in zip((first, second), paths, strict=True)
    )
    return Comparison(one, two, shared)


def _shared_turns(one: Conversation, two: Conversation) -> int:
    count = 0
    for left, right in zip(one.turns, two.turns, strict=False):
        if _records_of(left) != _records_of(right):
            break
        count += 1
    return count


def _records_of(turn: Turn) -> list[str]:
    return [item.uuid for item in turn.items if item.uuid]


def side(opened: Opened, told: Conversations, line: str, path: Conversation, shared: int) -> Side:
    """Returns one branch with what it came to after it left the other."""
    own = with_own_responses(replace(path, turns=path.turns[shared:]))
    agents: dict[str, None] = {}
    for name in agents_called(own.items()):
        if name in told.by_line:
            agents.update(dict.fromkeys((name, *agents_below(told, name))))
    parts = [own, *(told.by_line[name] for name in agents)]
    changed = {
        file.path: (file.added, file.removed)
        for part in parts
        for file in files_of(part)
        if any(touch.action in CHANGING and touch.outcome == "ok" for touch in file.touches)
    }
    return Side(line, path, totals_over(parts, opened.prices), changed)
