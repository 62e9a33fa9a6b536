"""A lake, its policy and its questions to the application that serves them."""

import socket
from http import HTTPStatus

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import PlaitError
from plait.lake.asking import Unanswerable
from plait.view.page.lake.frame import lake_trouble
from plait.web.answers import ALWAYS_ASK, PLAIN, hung_up, log, serve_asset
from plait.web.bounds import Bounds
from plait.web.events import Hub
from plait.web.guard import PERSON, App, Commands, Door, Guard, Keys
from plait.web.lake import api, pages
from plait.web.lake.asked import LakeState
from plait.web.place import Place
from plait.web.server import Server, bounded

UNREADABLE = "the lake cannot be read at the moment"
UNANSWERED = "this question cannot be answered"
WRONG = "something went wrong in Plait"


def lake_application(state: LakeState, keys: Keys, place: Place) -> Guard:
    """Returns the application: the guard, and behind it the pages of a lake."""
    door = Door(keys, f"plait{place.port}", place.commands)
    app = Starlette(
        routes=[
            Route("/enter", door.enter, methods=["GET", "POST"]),
            Route("/alive", door.alive),
            *pages.ROUTES,
            *api.ROUTES,
            Route("/assets/{name}", serve_asset),
        ],
        exception_handlers={
            PlaitError: _refused,
            HTTPException: _unanswered,
            ClientDisconnect: hung_up,
            Exception: _failed,
        },
    )
    app.state.lake = state
    guarded: App = app
    if place.is_remote:
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    remote = place.is_remote
    return Guard(guarded, keys, place.port, place.names, is_remote=remote, commands=place.commands)


def run_lake(
    state: LakeState,
    listener: socket.socket,
    keys: Keys,
    names: frozenset[str],
    idle: float | None,
    commands: Commands,
) -> None:
    """Serves until a signal ends it, or until it is forgotten."""
    host, port = listener.getsockname()[:2]
    place = Place(host, port, names | {"localhost"}, commands)
    guard = lake_application(state, keys, place)
    Server(bounded(Bounds(guard)), guard, Hub(), idle).run(listener)


async def _refused(request: Request, error: Exception) -> Response:
    """Says that something is wrong with the lake, or with a question.

    What an engine or a store says can hold names, places and words of sessions that whoever
    asks does not see: it goes to the log.
    """
    assert isinstance(error, PlaitError)
    log.error("%s %r failed: %s", request.method, request.url.path, error.message)
    if isinstance(error, Unanswerable):
        return _troubled(request, 400, UNANSWERED)
    return _troubled(request, 503, UNREADABLE)


async def _unanswered(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    words = PLAIN.get(error.status_code, error.detail) if is_plain else error.detail
    response = _troubled(request, error.status_code, words)
    response.headers.update(error.headers or {})
    return response


async def _failed(request: Request, error: Exception) -> Response:
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    return _troubled(request, 500, WRONG)


def _troubled(request: Request, status: int, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        value = {"error": message, "hints": []}
        return Response(msgspec.json.encode(value), status, ALWAYS_ASK, "application/json")
    page = lake_trouble(message, request.scope.get(PERSON) or "")
    data = page.encode("utf-8", "replace")
    return Response(data, status, ALWAYS_ASK, "text/html; charset=utf-8")
