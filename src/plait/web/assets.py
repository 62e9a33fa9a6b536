"""Files that pages are drawn and moved with."""

from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.archive.site import asset, style
from plait.web.answers import tagged

SCRIPTS = ("plait.js", "highlight.js", "app.js", "tabs.js")


def serve(request: Request) -> Response:
    """Returns one of them."""
    name = request.path_params["name"]
    if name == "plait.css":
        return tagged(request, sheet(), "text/css; charset=utf-8")
    if name in SCRIPTS:
        return tagged(request, text_of(name), "text/javascript; charset=utf-8")
    raise HTTPException(404, "there is no such file")


@lru_cache
def sheet() -> bytes:
    """Returns the style sheet of all pages."""
    return (style() + asset("app.css") + asset("tabs.css")).encode()


@lru_cache
def text_of(name: str) -> bytes:
    """Returns a script."""
    return asset(name).encode()
