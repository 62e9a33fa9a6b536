"""The Files tab of a session: files or turns with their changes, and single patches."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.files.page import (
    LARGE,
    render_file_history,
    render_files_body,
    render_full_patch,
    render_net_change,
    render_touches,
)
from plait.files.touched import ChangedFile, ChangedFiles, SessionTouch
from plait.web.responses import SessionRequest, read_number, tab_fragment, tab_response


def serve_files(request: Request) -> Response:
    """Serve the tab."""
    session = SessionRequest(request)
    body = render_files_body(
        session.header,
        session.live.files,
        by=request.query_params.get("by", "file"),
        start=read_number(request, "from") or 1,
        directory=session.live.directory,
    )
    return tab_response(request, session, "files", body)


def serve_changes(request: Request) -> Response:
    """Serve what happened to a file, in a turn, or one patch."""
    session = SessionRequest(request)
    header, changed = session.header, session.live.files
    if (file := read_number(request, "file")) is not None:
        body = render_file_history(header, _find_file(changed, file))
    elif (net := read_number(request, "net")) is not None:
        body = render_net_change(header, _find_file(changed, net), LARGE)
    elif (number := read_number(request, "turn")) is not None:
        turn = next((turn for turn in changed.turns if turn.number == number), None)
        if turn is None:
            raise HTTPException(404, "no files were touched here")
        body = render_touches(header, turn.touches, has_path=True)
    else:
        body = render_full_patch(_find_touch(request, changed))
    return tab_fragment(request, session, "files", body)


def _find_file(changed: ChangedFiles, number: int) -> ChangedFile:
    for file in changed.files:
        if file.number == number:
            return file
    raise HTTPException(404, "no files were touched here")


def _find_touch(request: Request, changed: ChangedFiles) -> SessionTouch:
    """Return a change by its number, or by its record and path."""
    number, uuid = read_number(request, "touch"), request.query_params.get("uuid")
    path = request.query_params.get("path")
    for file in changed.files:
        for touch in file.touches:
            is_named = uuid is not None and (touch.touch.uuid, file.path) == (uuid, path)
            if is_named or touch.number == number:
                return touch
    raise HTTPException(404, "no such change")
