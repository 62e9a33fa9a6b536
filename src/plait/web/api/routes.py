"""The table of the API to addresses: a question is checked, asked, and answered."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import UserError
from plait.web import events
from plait.web.answers import json
from plait.web.api.document import document
from plait.web.api.table import BASE, TABLE, Entry


def routes() -> list[Route]:
    """Returns the addresses of the API."""
    return [
        Route(f"{BASE}/openapi.json", serve_document),
        Route(f"{BASE}/events", events.serve),
        *(Route(f"{BASE}{entry.path}", answering(entry)) for entry in TABLE),
    ]


def serve_document(request: Request) -> Response:
    """Returns the document of the API."""
    return json(request, document())


def answering(entry: Entry) -> Callable[[Request], Response]:
    """Returns what answers at one address."""

    def serve(request: Request) -> Response:
        asked = question(entry, request)
        return json(request, entry.answers(request, asked))

    return serve


def question(entry: Entry, request: Request) -> msgspec.Struct:
    """Returns what is asked, or says what is wrong with it."""
    try:
        return msgspec.convert(dict(request.query_params), entry.question, strict=False)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$.")
        where = f"'{place.rstrip('`')}': " if place else ""
        known = ", ".join(entry.question.__struct_fields__) or "nothing"
        raise UserError(
            f"{where}{words[:1].lower()}{words[1:]}", f"this address takes: {known}"
        ) from None
