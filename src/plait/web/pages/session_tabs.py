"""The tabs of a session: context, timeline, files, usage, raw lines, two branches side by side.

What draws the larger ones is loaded when one is asked for.
"""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from plait.errors import UserError
from plait.line import LogFile
from plait.view.changed_files import ChangedFiles, FileStory, Handled
from plait.view.page.frame import framed
from plait.view.page.tabs.files import (
    LARGE,
    files_body,
    handled_html,
    net_html,
    story_html,
    whole_patch,
)
from plait.view.page.tabs.head import Head, tab_page
from plait.view.page.tabs.raw import (
    MOST_PRETTY,
    SHOWN,
    STEP,
    FileChoice,
    RawView,
    line_html,
    raw_body,
)
from plait.web.answers import SessionRequest, html, number_in, tagged

if TYPE_CHECKING:
    from plait.view.timeline import Timeline

ASKED_BY_SCRIPT = "x-plait-part"
NOTHING = "nothing was touched there"

LONGEST = 300
"""Characters of one thing that is asked."""


def _fragment(request: Request, head: Head, tab: str, body: str) -> Response:
    if ASKED_BY_SCRIPT in request.headers:
        response = html(request, body)
        response.headers["Vary"] = ASKED_BY_SCRIPT
        return response
    return html(request, tab_page(head, tab, body))


def _serve_context(request: Request) -> Response:
    from plait.view.page.tabs.context import context_body

    look = SessionRequest(request)
    opened, start = look.opened, number_in(request, "from") or 1
    body = context_body(look.head, opened.weighed, start, opened.xray)
    return html(request, tab_page(look.head, "context", body))


def _serve_message(request: Request) -> Response:
    """Returns one message with all its blocks."""
    from plait.view.page.tabs.context import message_html

    look = SessionRequest(request)
    number, messages = request.path_params["number"], look.opened.resumption.context.request
    if not 0 < number <= len(messages):
        raise HTTPException(404, "there is no such message")
    role, blocks = messages[number - 1]
    return _fragment(request, look.head, "context", message_html(role, blocks))


def _serve_files(request: Request) -> Response:
    look = SessionRequest(request)
    by, start = request.query_params.get("by", "file"), number_in(request, "from") or 1
    body = files_body(
        look.head, look.opened.files, by=by, start=start, directory=look.opened.directory
    )
    return html(request, tab_page(look.head, "files", body))


def _serve_changes(request: Request) -> Response:
    """Returns what happened to a file, in a turn, or one patch."""
    look = SessionRequest(request)
    body = _changes_html(request, look.head, look.opened.files)
    return _fragment(request, look.head, "files", body)


def _changes_html(request: Request, head: Head, found: ChangedFiles) -> str:
    file, turn = number_in(request, "file"), number_in(request, "turn")
    if file is not None:
        return story_html(head, _story_of(found, file))
    if (net := number_in(request, "net")) is not None:
        return net_html(head, _story_of(found, net), LARGE)
    if turn is not None:
        for story in found.turns:
            if story.number == turn:
                return handled_html(head, story.handled, has_path=True)
        raise HTTPException(404, NOTHING)
    return whole_patch(_touch_of(request, found))


def _story_of(found: ChangedFiles, number: int) -> FileStory:
    for story in found.files:
        if story.number == number:
            return story
    raise HTTPException(404, NOTHING)


def _touch_of(request: Request, found: ChangedFiles) -> Handled:
    """Returns a change by its number, or by its record and path."""
    wanted, uuid = number_in(request, "touch"), request.query_params.get("uuid")
    path = request.query_params.get("path")
    for story in found.files:
        for one in story.handled:
            is_named = uuid is not None and (one.touch.uuid, story.path) == (uuid, path)
            if is_named or one.number == wanted:
                return one
    raise HTTPException(404, "there is no such change")


PLAIN = "text/plain; charset=utf-8"


def _serve_raw(request: Request) -> Response:
    """Returns a part of a file: from a line on, of one type or all."""
    look = SessionRequest(request)
    number = number_in(request, "file") or 0
    kind = request.query_params.get("type") or None
    line, start = number_in(request, "line"), number_in(request, "from")
    view = _view_of(look, number, kind, line, start)
    return html(request, tab_page(look.head, "raw", raw_body(look.head, view)))


def _view_of(
    look: SessionRequest, number: int, kind: str | None, line: int | None, start: int | None
) -> RawView:
    found = look.survey(number)
    numbers = found.numbers(kind)
    first = _first_of(numbers, line, start)
    findings = sorted(look.findings(number), key=lambda one: one[0] or 0)
    files = [_choice_of(at, file) for at, file in enumerate(look.session.files)]
    return RawView(
        files=files,
        file=number,
        total=len(found),
        counts=found.counts,
        kind=kind,
        first=first,
        matching=len(numbers),
        rows=list(found.lines(numbers[first - 1 : first - 1 + STEP], SHOWN)),
        line=line,
        findings=findings,
    )


def _first_of(numbers: Sequence[int], line: int | None, start: int | None) -> int:
    """Returns where a page begins, so that a line stands near its top."""
    if line is not None:
        return max(bisect_left(numbers, line) + 1 - 3, 1)
    return min(max(start or 1, 1), max(len(numbers), 1))


def _choice_of(number: int, file: LogFile) -> FileChoice:
    name = (
        "the session" if file.kind == "session" else f"{file.kind} {file.agent or file.run or ''}"
    )
    return FileChoice(number, f"{name.strip()}: {file.path.name}", file.size)


def _serve_line(request: Request) -> Response:
    """Returns one line, pretty or as it is."""
    look = SessionRequest(request)
    file, number = request.path_params["file"], request.path_params["line"]
    found = look.survey(file)
    if not 0 < number <= len(found):
        raise HTTPException(404, "there is no such line")
    is_raw = "raw" in request.query_params
    one = next(found.lines([number], None if is_raw else MOST_PRETTY))
    if is_raw:
        return tagged(request, one.text.encode("utf-8", "replace"), PLAIN)
    return _fragment(request, look.head, "raw", line_html(look.head, file, one))


def _serve_file(request: Request) -> Response:
    """Returns a file as it is, to be kept."""
    file = SessionRequest(request).file(request.path_params["file"])
    if not file.path.is_file():
        raise HTTPException(404, "the file is no longer there")
    return FileResponse(
        file.path, media_type="application/x-ndjson", filename=_safe_name(file.path)
    )


def _safe_name(path: Path) -> str:
    return "".join(one if one.isalnum() or one in "-_.~" else "_" for one in path.name)


def _serve_spent(request: Request) -> Response:
    from plait.view.page.tabs.paid_again import PaidRequests
    from plait.view.page.tabs.usage import OnlyThose, usage_body

    look = SessionRequest(request)
    by, start = request.query_params.get("by", "time"), number_in(request, "from") or 1
    found, is_counting = look.library.why(look.name)
    why = PaidRequests(is_counting=is_counting)
    if found is not None:
        why = PaidRequests(found.requests, found.totals, is_counting)
    asked = request.query_params
    only = OnlyThose(asked.get("model", "")[:LONGEST], asked.get("who", "")[:LONGEST])
    given = look.head, look.opened.spent, why, look.opened.agents
    body = usage_body(*given, by=by, start=start, only=only)
    return html(request, tab_page(look.head, "usage", body))


def _serve_timeline(request: Request) -> Response:
    """Returns a conversation in time, or one turn of it."""
    from plait.view.page.tabs.timeline import timeline_body

    look = SessionRequest(request)
    line = look.opened.line(request.query_params.get("line"))
    timeline, number = look.opened.timeline(line.id), number_in(request, "turn")
    if number is None:
        ways = {**look.opened.ways}
        ways.setdefault(line.id, "this agent")
        body = timeline_body(look.head, timeline, list(ways.items()), look.opened.agents)
    else:
        start = number_in(request, "from") or 1
        body = _one_turn(look, timeline, number, start)
    return html(request, tab_page(look.head, "timeline", body))


def _one_turn(look: SessionRequest, timeline: "Timeline", number: int, start: int) -> str:
    from plait.view.page.tabs.timeline import waterfall_body
    from plait.view.timeline import waterfall

    turn = next((one for one in timeline.turns if one.number == number), None)
    if turn is None:
        raise HTTPException(404, "there is no such turn")
    bars, agents = waterfall(look.opened.conversations, timeline, number, look.opened.directory)
    return waterfall_body(look.head, timeline, turn, bars, agents, look.opened.agents, start)


def _serve_comparison(request: Request) -> Response:
    from plait.view.comparison import compared
    from plait.view.page.tabs.compare import compare_page

    look = SessionRequest(request)
    one = look.opened
    told, reading, heading = one.told, one.reading, one.heading
    if told is None or reading is None or heading is None:
        raise UserError("there is nothing to compare in this session")
    asked = request.query_params
    found = compared(told, asked.get("a"), asked.get("b"), one.prices)
    body = compare_page(look.name, heading.title, told, found, reading.setting, reading.agents)
    return html(request, framed(f"Two branches of {heading.title}", body, side=look.name))


ROUTES = (
    Route("/s/{name}/context", _serve_context),
    Route("/s/{name}/context/{number:int}", _serve_message),
    Route("/s/{name}/timeline", _serve_timeline),
    Route("/s/{name}/files", _serve_files),
    Route("/s/{name}/files/changes", _serve_changes),
    Route("/s/{name}/usage", _serve_spent),
    Route("/s/{name}/raw", _serve_raw),
    Route("/s/{name}/raw/{file:int}/file", _serve_file),
    Route("/s/{name}/raw/{file:int}/{line:int}", _serve_line),
    Route("/s/{name}/compare", _serve_comparison),
)
