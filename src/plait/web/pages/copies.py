"""A session to the texts that are copied of it: it or a turn as Markdown, an output, whole."""

from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from plait.archive import session_markdown, turn_markdown, whole_output
from plait.web.answers import ALWAYS_ASK, SessionRequest

MARKDOWN = "text/markdown; charset=utf-8"


async def _serve_markdown(request: Request) -> Response:
    """Returns a way through a session, or the turn that a record opens, as an export has it."""
    text = await run_in_threadpool(_markdown, SessionRequest(request), request.query_params)
    return _answered(text, MARKDOWN)


def _markdown(look: SessionRequest, asked: Mapping[str, str]) -> str | None:
    opened = look.opened.opened
    if uuid := asked.get("turn"):
        return turn_markdown(opened, uuid)
    line = look.opened.line(asked.get("line")).id
    return session_markdown(opened, line, look.opened.prices)


async def _serve_output(request: Request) -> Response:
    """Returns all that a tool answered, as it is."""
    look, call = SessionRequest(request), request.query_params.get("call", "")
    text = await run_in_threadpool(lambda: whole_output(look.opened.opened, call))
    return _answered(text, "text/plain; charset=utf-8")


def _answered(text: str | None, kind: str) -> Response:
    if text is None:
        raise HTTPException(404, "this is no longer in the session")
    return PlainTextResponse(text.encode("utf-8", "replace"), 200, ALWAYS_ASK, kind)


ROUTES = (
    Route("/s/{name}/markdown", _serve_markdown),
    Route("/s/{name}/output", _serve_output),
)
