"""The tab that shows which files a session touched, and the patches."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.view.changed_files import ChangedFiles, Handled
from plait.view.page.files import files_body, handled_html, whole_patch
from plait.view.page.tabs import Head, tab_page
from plait.web.answers import html
from plait.web.looks import look_at, number_in
from plait.web.pages.fragment import fragment


def serve(request: Request) -> Response:
    """Returns the tab."""
    look = look_at(request)
    by, start = request.query_params.get("by", "file"), number_in(request, "from") or 1
    body = files_body(look.head, look.files, by=by, start=start, directory=look.directory)
    return html(request, tab_page(look.head, "files", body))


def serve_changes(request: Request) -> Response:
    """Returns what happened to a file, in a turn, or one patch."""
    look = look_at(request)
    body = changes_html(request, look.head, look.files)
    return fragment(request, look.head, "files", body)


def changes_html(request: Request, head: Head, found: ChangedFiles) -> str:
    """Returns the changes that a request asks for."""
    file, turn = number_in(request, "file"), number_in(request, "turn")
    if file is not None:
        return handled_html(head, chosen(found, "files", file), has_path=False)
    if turn is not None:
        return handled_html(head, chosen(found, "turns", turn), has_path=True)
    wanted = number_in(request, "touch")
    every = (one for story in found.files for one in story.handled)
    touch = next((one for one in every if one.number == wanted), None)
    if touch is None:
        raise HTTPException(404, "there is no such change")
    return whole_patch(touch)


def chosen(found: ChangedFiles, part: str, number: int) -> tuple[Handled, ...]:
    """Returns what happened to one file or in one turn."""
    stories = found.files if part == "files" else found.turns
    for story in stories:
        if story.number == number:
            return story.handled
    raise HTTPException(404, "nothing was touched there")
