"""What was changed to its page."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import LiveArchive
from plait.view.page.lists.edits import ListedEdit, edits_page, edits_table
from plait.web.answers import library_in, page_or_part
from plait.web.api import edits, model


def _serve_edits(request: Request) -> Response:
    given = list(_listed(library_in(request))), datetime.now(UTC)
    return page_or_part(request, "Edits", partial(edits_table, *given), partial(edits_page, *given))


def _listed(library: LiveArchive) -> Iterator[ListedEdit]:
    state = library.now
    for entry in edits.edits(library, model.Nothing()).edits:
        name = state.name_of.get(entry.path)
        facts = state.facts_of(state.names[name]) if name else None
        title = (facts.title or facts.first_prompt) if facts else None
        yield ListedEdit(entry, name, title)


ROUTES = (Route("/edits", _serve_edits),)
