"""A library to the application that serves it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import LiveArchive
from plait.errors import NoSuchSession, PlaitError
from plait.web.access import Door, Keys
from plait.web.answers import failed, missing, refused, serve_asset
from plait.web.api.routes import ROUTES as API_ROUTES
from plait.web.events import Hub, serve_events
from plait.web.guard import App, Guard
from plait.web.pages import lists, search, session, session_tabs, share, usage
from plait.web.watcher import Watcher

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  what they mean, nothing is bound


ROUTES = (
    *lists.ROUTES,
    *search.ROUTES,
    *usage.ROUTES,
    *session.ROUTES,
    *session_tabs.ROUTES,
    *share.ROUTES,
    *API_ROUTES,
    Route("/events", serve_events),
    Route("/assets/{name}", serve_asset),
)
"""All addresses behind the door."""
PLAIN = {404: "there is nothing here", 405: "this address cannot be asked so"}


@dataclass(frozen=True)
class Place:
    """Where a server answers, and to which names."""

    host: str
    port: int
    names: frozenset[str] = frozenset({"localhost"})

    @property
    def is_remote(self) -> bool:
        """Tells whether other machines can reach it."""
        return not is_local(self.host)

    @property
    def address(self) -> str:
        """What a browser on this machine is given."""
        host = EVERYWHERE.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def is_local(host: str) -> bool:
    """Tells whether only this machine can reach a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def application(
    library: LiveArchive, keys: Keys, place: Place, hub: Hub, *, is_live: bool = True
) -> Guard:
    """Returns the application: the guard, and behind it the pages.

    Whoever ends it closes the hub first: its streams go on as long as it is open.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watcher = Watcher(library, hub) if is_live else None
        if watcher:
            watcher.start()
        yield
        if watcher:
            watcher.stop()

    door = Door(keys, f"plait{place.port}")
    app = Starlette(
        routes=[
            Route("/enter", door.enter, methods=["GET", "POST"]),
            Route("/alive", door.alive),
            *ROUTES,
        ],
        lifespan=lifespan,
        exception_handlers={
            NoSuchSession: _answered_missing,
            PlaitError: _answered_refused,
            HTTPException: _answered_http,
            Exception: _answered_failed,
        },
    )
    app.state.library, app.state.hub = library, hub
    guarded: App = app
    if place.is_remote:  # on one machine it would only cost time
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    return Guard(guarded, keys, place.port, place.names, is_remote=place.is_remote)


async def _answered_missing(request: Request, error: Exception) -> Response:
    return missing(request, str(error))


async def _answered_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, PlaitError)
    return refused(request, error)


async def _answered_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    words = PLAIN.get(error.status_code, error.detail) if is_plain else error.detail
    return missing(request, words, error.status_code, error.headers)


async def _answered_failed(request: Request, error: Exception) -> Response:
    return failed(request, error)
