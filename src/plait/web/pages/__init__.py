"""The pages: one table of addresses. A page's module is imported on its first request.

This makes the server start faster: the pages of figures alone need a third of all modules.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGES = {
    "/": "home:serve_home",
    "/sessions": "session_list:serve_sessions",
    "/sessions/{name}/parts": "session_list:serve_branches",
    "/search": "search:serve_search",
    "/side": "session_list:serve_sidebar",
    "/palette": "search:serve_palette",
    "/usage": "figures:serve_usage",
    "/insights": "figures:serve_insights",
    "/usage.csv": "figures:serve_csv",
    "/waste": "figures:serve_waste",
    "/counted": "counted:serve_counted",
    "/files": "files:serve_files",
    "/files/story": "files:serve_history",
    "/edits": "edits:serve_edits",
    "/s/{name}": "session:serve_session",
    "/s/{name}/part/{part}": "session:serve_part",
    "/s/{name}/line/{place}": "session:serve_line",
    "/s/{name}/where": "session:serve_where",
    "/s/{name}/find": "session:serve_find",
    "/s/{name}/since": "session:serve_growth",
    "/s/{name}/context": "session_context:serve_context",
    "/s/{name}/context/{number:int}": "session_context:serve_message",
    "/s/{name}/timeline": "session_timeline:serve_timeline",
    "/s/{name}/files": "session_files:serve_files",
    "/s/{name}/files/changes": "session_files:serve_changes",
    "/s/{name}/usage": "session_usage:serve_usage",
    "/s/{name}/raw": "session_raw:serve_raw",
    "/s/{name}/raw/{file:int}/file": "session_raw:serve_file",
    "/s/{name}/raw/{file:int}/{line:int}": "session_raw:serve_line",
    "/s/{name}/compare": "session_compare:serve_comparison",
}
"""Addresses with their function, `module:function`; run in a thread of the pool."""
STREAMING_PAGES = {
    ("/s/{name}/markdown", "GET"): "share:serve_markdown",
    ("/s/{name}/output", "GET"): "share:serve_output",
    ("/s/{name}/export", "POST"): "share:serve_export",
}
"""The same for functions that are coroutines."""


@cache
def _load(target: str) -> Callable[[Request], Any]:
    module, _, function = target.partition(":")
    loaded: Callable[[Request], Any] = getattr(import_module(f"{__name__}.{module}"), function)
    return loaded


def _create_endpoint(target: str) -> Callable[[Request], Response]:
    def serve(request: Request) -> Response:
        response: Response = _load(target)(request)
        return response

    return serve


def _create_async_endpoint(target: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        response: Response = await _load(target)(request)
        return response

    return serve


ROUTES = (
    *(Route(path, _create_endpoint(target)) for path, target in PAGES.items()),
    *(
        Route(path, _create_async_endpoint(target), methods=[method])
        for (path, method), target in STREAMING_PAGES.items()
    ),
)
