"""Addresses to what answers them."""

from starlette.routing import Route

from plait.web import assets, events
from plait.web.api import routes as api
from plait.web.pages import compare, lists, session, session_growth, share, tabs


def routes() -> list[Route]:
    """Returns all addresses behind the door."""
    return [
        *lists.routes(),
        Route("/s/{name}", session.serve),
        Route("/s/{name}/part/{part}", session.serve_part),
        Route("/s/{name}/line/{place}", session.serve_line),
        Route("/s/{name}/where", session.serve_where),
        Route("/s/{name}/find", session.serve_find),
        Route("/s/{name}/since", session_growth.serve),
        Route("/s/{name}/compare", compare.serve),
        Route("/s/{name}/export", share.serve, methods=["POST"]),
        *tabs.routes(),
        *api.routes(),
        Route("/events", events.serve),
        Route("/assets/{name}", assets.serve),
    ]
