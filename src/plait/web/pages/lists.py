"""The addresses of the pages about all sessions."""

from starlette.routing import Route

from plait.web.pages import home, insights, search, sessions, side, usage


def routes() -> list[Route]:
    """Returns them."""
    return [
        Route("/", home.serve),
        Route("/sessions", sessions.serve),
        Route("/sessions/{name}/parts", sessions.serve_parts),
        Route("/search", search.serve),
        Route("/usage", usage.serve),
        Route("/insights", insights.serve),
        Route("/side", side.serve),
        Route("/palette", side.serve_palette),
    ]
