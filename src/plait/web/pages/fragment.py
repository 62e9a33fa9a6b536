"""A part of a tab: alone where a script puts it into its page, as a page where a person asks."""

from starlette.requests import Request
from starlette.responses import Response

from plait.view.page.tabs import Head, tab_page
from plait.web.answers import html

ASKED_BY_SCRIPT = "x-plait-part"


def fragment(request: Request, head: Head, tab: str, body: str) -> Response:
    """Returns a part of a tab."""
    if ASKED_BY_SCRIPT in request.headers:
        response = html(request, body)
        response.headers["Vary"] = ASKED_BY_SCRIPT
        return response
    return html(request, tab_page(head, tab, body))
