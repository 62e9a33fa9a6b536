"""A session that is being written to what its page lacks."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.model import Conversation
from plait.view.page.conversation.column import ReadingColumn, is_number, prompts_of
from plait.view.page.conversation.page import facts
from plait.view.page.rail import rail
from plait.web.answers import json
from plait.web.library import Library, marks_of
from plait.web.opened import Opened
from plait.web.pages.session import shape_of

SMALL = 1_000_000
"""Bytes of logs that are read anew in no time."""
REST, OFTEN = 3000, 10
"""Milliseconds until all of a large session is read anew; how much longer than that takes."""


class News(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page lacks."""

    mark: str = ""
    is_gone: bool = False
    first: int = 0
    """The place of the first turn that is given."""
    count: int = 0
    """How many turns the active line has."""
    turns: tuple[str, ...] = ()
    """The sections of the turns from there on."""
    prompts: tuple[tuple[str, str], ...] = ()
    is_redrawn: bool = False
    """The page must be drawn anew: more has changed than its end."""
    wait: int = 0
    """Milliseconds after which the page should ask for the rest of what has changed."""
    facts: str | None = None
    rail: str | None = None
    title: str | None = None


def serve(request: Request) -> Response:
    """Returns what was added since a page was drawn."""
    library: Library = request.app.state.library
    name, asked = request.path_params["name"], request.query_params
    known = int(asked["turns"]) if is_number(asked.get("turns", "")) else 0
    mark, _, shape = asked.get("mark", "").partition(".")
    session = library.now.names.get(name)
    if session is None:
        return json(request, News(is_gone=True))
    held = library.held(name)
    is_grown = held and held.marks != marks_of(session) and shape == shape_of(held)
    if held and is_grown and "whole" not in asked and (news := quickly(held, known)):
        return json(request, news)
    one = library.opened(name)
    if one.mark == mark and shape == shape_of(one):
        return json(request, News(mark=f"{one.mark}.{shape}", count=known))
    return json(request, wholly(one, name, known, shape))


def quickly(held: Opened, known: int) -> News | None:
    """Returns the new turns of a session that goes on straight, without reading it anew."""
    if held.reading is None or held.bytes <= SMALL:
        return None
    grown = held.growing.conversation()
    first = held.growing.first
    if grown is None or known <= first:
        return None
    start = known - 1 - first
    return News(
        mark=f"grown.{shape_of(held)}",
        first=known - 1,
        count=first + len(grown.turns),
        turns=drawn(held.reading, grown, start),
        prompts=prompts_of(grown.turns[start:]),
        wait=max(REST, int(held.took * 1000 * OFTEN)),
    )


def wholly(one: Opened, name: str, known: int, shape: str) -> News:
    """Returns all that is new in a session that was read anew."""
    told, heading = one.told, one.headed(name)
    mark = f"{one.mark}.{shape_of(one)}"
    if one.reading is None or told is None or heading is None or shape != shape_of(one):
        return News(mark=mark, is_redrawn=True)
    start = max(min(known, len(told.active.turns)) - 1, 0)
    return News(
        mark=mark,
        first=start,
        count=len(told.active.turns),
        turns=drawn(one.reading, told.active, start),
        prompts=prompts_of(told.active.turns[start:]),
        facts=facts(heading),
        rail=rail(one.rows),
        title=heading.title,
    )


def drawn(reading: ReadingColumn, one: Conversation, first: int) -> tuple[str, ...]:
    """Returns the turns of a conversation from one on."""
    return tuple(reading.drawn(one, first, len(one.turns)))
