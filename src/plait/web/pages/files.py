"""Pages of files over all sessions: paths to look for, and the whole story of one.

What draws them is loaded when one is asked for.
"""

from datetime import UTC, datetime
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.web.answers import html, library_in, page_or_part

LONGEST = 300
LONGEST_PATH = 4096


def _serve_files(request: Request) -> Response:
    from plait.view.page.lists.files import FileList, files_page, found_files

    found, is_counting = library_in(request).touched.ask()
    asked = request.query_params
    page = FileList(
        found,
        asked.get("q", "")[:LONGEST],
        bool(asked.get("read")),
        datetime.now(UTC),
        is_counting,
    )
    part, whole = partial(found_files, page), partial(files_page, page)
    return page_or_part(request, "Files", part, whole, here="files")


def _serve_story(request: Request) -> Response:
    from plait.view.page.frame import framed
    from plait.view.page.lists.files import FileStoryPage, story_page

    path = request.query_params.get("path", "")[:LONGEST_PATH]
    if not path:
        raise HTTPException(400, "say which file: path=…")
    library = library_in(request)
    state = library.now
    rows = library.made.of(("touches", path), state, lambda: state.touches(path))
    known = {one.name: one for one in library.rows().sessions}
    touches = [(state.name_of.get(row.session, row.session), row) for row in rows]
    page = FileStoryPage(path, touches, known)
    title = path.rpartition("/")[2]
    return html(request, framed(title, story_page(page), here="files"))


ROUTES = (
    Route("/files", _serve_files),
    Route("/files/story", _serve_story),
)
