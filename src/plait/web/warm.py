"""A server that nobody asks anything to one that has read what will be asked for next."""

from threading import Event as Flag
from time import monotonic

from plait.archive.model import Session
from plait.conversation.tokens import NOTHING
from plait.errors import PlaitError
from plait.web.drawn import LARGE
from plait.web.library import Library, marks_of
from plait.web.opened import mark_of
from plait.web.pages.session import body

REST = 2.0
"""Seconds without a request after which nobody is kept waiting."""
MOST, MOST_BYTES = 12, 200_000_000
"""Sessions that are read, the newest first, and the bytes of their logs together."""


def warm(library: Library, stop: Flag) -> None:
    """Reads the newest large sessions that have no page yet, one by one, while nobody asks."""
    if stop.wait(REST):
        return
    library.prices.cost("claude", NOTHING, None)  # the list of prices is large as well
    for name, session in chosen(library):
        while monotonic() - library.asked < REST:
            if stop.wait(REST):
                return
        if stop.wait(0.2):
            return
        draw(library, name, session)


def chosen(library: Library) -> list[tuple[str, Session]]:
    """Returns the sessions that are worth it, the newest first."""
    found: list[tuple[str, Session]] = []
    room = MOST_BYTES
    newest = sorted(library.now.names.items(), key=lambda one: -one[1].modified)
    for name, session in newest:
        size = sum(file.size for file in session.files)
        if len(found) < MOST and LARGE <= size <= room:
            room -= size
            found.append((name, session))
    return found


def draw(library: Library, name: str, session: Session) -> None:
    """Draws the page of a session, where it was not drawn before."""
    mark = mark_of(marks_of(session))
    if library.drawn.find(name, mark) is not None:
        return
    asked = library.asked
    try:
        one = library.opened(name)
        library.drawn.keep(name, one.mark, body(one, name))
    except PlaitError:  # gone since
        return
    finally:
        library.asked = asked
