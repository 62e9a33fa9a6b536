"""The Files page: paths that sessions touched, and the history of one file over all sessions."""

from datetime import UTC, datetime
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.files.page import (
    FileHistoryPage,
    FileList,
    render_file_history_page,
    render_files_page,
    render_found_files,
)
from plait.view.page.frame import render_framed_page
from plait.web.responses import get_library, html_response, page_or_fragment

MAX_QUERY = 300
MAX_PATH = 4096


def serve_files(request: Request) -> Response:
    """Serve the list of files."""
    query = request.query_params
    files, is_counting = get_library(request).touched_files.get()
    page = FileList(
        files,
        query.get("q", "")[:MAX_QUERY],
        bool(query.get("read")),
        datetime.now(UTC),
        is_counting,
    )
    return page_or_fragment(
        request,
        "Files",
        partial(render_found_files, page),
        partial(render_files_page, page),
        here="files",
    )


def serve_history(request: Request) -> Response:
    """Serve the history of one file."""
    path = request.query_params.get("path", "")[:MAX_PATH]
    if not path:
        raise HTTPException(400, "the path is missing: ?path=…")
    library = get_library(request)
    snapshot = library.snapshot
    touches = library.cache.get_or_make(("touches", path), snapshot, lambda: snapshot.touches(path))
    page = FileHistoryPage(
        path,
        [(snapshot.name_of.get(touch.session, touch.session), touch) for touch in touches],
        {session.name: session for session in library.rows().sessions},
    )
    title = path.rpartition("/")[2]
    return html_response(
        request, render_framed_page(title, render_file_history_page(page), here="files")
    )
