"""The tab that shows what Claude will see of a session, and each message of it."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.view.page.context import context_body, message_html
from plait.view.page.tabs import tab_page
from plait.web.answers import html
from plait.web.looks import look_at, number_in
from plait.web.pages.fragment import fragment


def serve(request: Request) -> Response:
    """Returns the tab."""
    look = look_at(request)
    body = context_body(look.head, look.weighed, number_in(request, "from") or 1)
    return html(request, tab_page(look.head, "context", body))


def serve_message(request: Request) -> Response:
    """Returns one message with all its blocks."""
    look = look_at(request)
    number, messages = request.path_params["number"], look.resumption.context.request
    if not 0 < number <= len(messages):
        raise HTTPException(404, "there is no such message")
    role, blocks = messages[number - 1]
    return fragment(request, look.head, "context", message_html(role, blocks))
