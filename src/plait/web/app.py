"""A library to the application that serves it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from plait.archive.live import LiveArchive
from plait.errors import PlaitError
from plait.web.access import Door, Keys
from plait.web.answers import failed, refused, serve_asset, unanswered
from plait.web.api.routes import ROUTES as API_ROUTES
from plait.web.events import Hub, serve_events
from plait.web.guard import App, Guard
from plait.web.pages import lists, session, session_tabs, share, usage
from plait.web.watcher import Watcher

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  what they mean, nothing is bound


ROUTES = (
    *lists.ROUTES,
    *usage.ROUTES,
    *session.ROUTES,
    *session_tabs.ROUTES,
    *share.ROUTES,
    *API_ROUTES,
    Route("/events", serve_events),
    Route("/assets/{name}", serve_asset),
)
"""All addresses behind the door."""


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
            PlaitError: refused,
            HTTPException: unanswered,
            Exception: failed,
        },
    )
    app.state.library, app.state.hub = library, hub
    guarded: App = app
    if place.is_remote:  # on one machine it would only cost time
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    return Guard(guarded, keys, place.port, place.names, is_remote=place.is_remote)
