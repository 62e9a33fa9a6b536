"""Addresses of a session's tabs to what answers them."""

from starlette.routing import Route

from plait.web.pages import context, files, raw, spent, timeline


def routes() -> list[Route]:
    """Returns the addresses of all tabs but the conversation itself."""
    return [
        Route("/s/{name}/context", context.serve),
        Route("/s/{name}/context/{number:int}", context.serve_message),
        Route("/s/{name}/timeline", timeline.serve),
        Route("/s/{name}/files", files.serve),
        Route("/s/{name}/files/changes", files.serve_changes),
        Route("/s/{name}/usage", spent.serve),
        Route("/s/{name}/raw", raw.serve),
        Route("/s/{name}/raw/{file:int}/file", raw.serve_file),
        Route("/s/{name}/raw/{file:int}/{line:int}", raw.serve_line),
    ]
