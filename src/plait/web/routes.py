"""Addresses to what answers them."""

from starlette.routing import Route

from plait.web import answers, events
from plait.web.api import routes as api
from plait.web.pages import compare, home, search, session, session_tabs, sessions, share, usage


def _list_routes() -> list[Route]:
    return [
        Route("/", home.serve_home),
        Route("/sessions", sessions.serve_sessions),
        Route("/sessions/{name}/parts", sessions.serve_parts),
        Route("/search", search.serve_search),
        Route("/usage", usage.serve_usage),
        Route("/insights", usage.serve_insights),
        Route("/side", sessions.serve_side),
        Route("/palette", sessions.serve_palette),
    ]


def _tab_routes() -> list[Route]:
    return [
        Route("/s/{name}/context", session_tabs.serve_context),
        Route("/s/{name}/context/{number:int}", session_tabs.serve_message),
        Route("/s/{name}/timeline", session_tabs.serve_timeline),
        Route("/s/{name}/files", session_tabs.serve_files),
        Route("/s/{name}/files/changes", session_tabs.serve_changes),
        Route("/s/{name}/usage", session_tabs.serve_spent),
        Route("/s/{name}/raw", session_tabs.serve_raw),
        Route("/s/{name}/raw/{file:int}/file", session_tabs.serve_file),
        Route("/s/{name}/raw/{file:int}/{line:int}", session_tabs.serve_line),
    ]


def routes() -> list[Route]:
    """Returns all addresses behind the door."""
    return [
        *_list_routes(),
        Route("/s/{name}", session.serve_session),
        Route("/s/{name}/part/{part}", session.serve_part),
        Route("/s/{name}/line/{place}", session.serve_line),
        Route("/s/{name}/where", session.serve_where),
        Route("/s/{name}/find", session.serve_find),
        Route("/s/{name}/since", session.serve_growth),
        Route("/s/{name}/compare", compare.serve_comparison),
        Route("/s/{name}/export", share.serve_export, methods=["POST"]),
        *_tab_routes(),
        *api.routes(),
        Route("/events", events.serve_events),
        Route("/assets/{name}", answers.serve_asset),
    ]
