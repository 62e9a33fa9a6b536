"""The tab that shows what a session took."""

from starlette.requests import Request
from starlette.responses import Response

from plait.view.page.spent import spent_body
from plait.view.page.tabs import tab_page
from plait.web.answers import html
from plait.web.looks import look_at, number_in


def serve(request: Request) -> Response:
    """Returns the tab."""
    look = look_at(request)
    by, start = request.query_params.get("by", "time"), number_in(request, "from") or 1
    body = spent_body(look.head, look.spent, by=by, start=start)
    return html(request, tab_page(look.head, "usage", body))
