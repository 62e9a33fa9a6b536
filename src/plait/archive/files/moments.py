"""What a user calls a moment to the moment: a turn of a session, or a time.

3f2a:4                 when turn 4 of that session had ended
4                      the same of the session that changed the file last
2026-11-15T10:00       a time, in whatever form the caller reads it
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from plait.archive.model import Session
from plait.conversation.model import Conversations, Turn
from plait.conversation.versions.model import FileEvent
from plait.errors import UserError
from plait.record.time import sortable

if TYPE_CHECKING:
    from plait.archive.archive import Archive

TURN = re.compile(r"(?:(?P<session>[^:]+):)?(?P<turn>\d{1,6})")
END = "9999"
"""After every time."""


def turn_in(text: str) -> tuple[str | None, int] | None:
    """Returns the session and the turn that a text names, None where it names none."""
    found = TURN.fullmatch(text)
    is_year = text.isdigit() and len(text) == 4
    return (found["session"], int(found["turn"])) if found and not is_year else None


def end_of_turn(told: Conversations, number: int, events: Sequence[FileEvent] = ()) -> str:
    """Returns the last moment of a turn: the next one has not begun, its agents have done theirs.

    Turns are those of the conversation that goes on.
    """
    turns = [turn for turn in told.active.turns if turn.number]
    turn = next((one for one in turns if one.number == number), None)
    if turn is None:
        last = turns[-1].number if turns else 0
        raise UserError(
            f"there is no turn {number} in this session",
            f"`plait show {told.session[:8]} --depth prompts` numbers them: 1 to {last}",
        )
    following = next((one for one in turns if one.number == number + 1), None)
    if following and (begun := _begun(following)):
        return before(begun)
    own = [event.time for event in events if event.origin.turn == number]
    return max([sortable(turn.ended) or "", *own], default="") or END


def _begun(turn: Turn) -> str | None:
    return sortable(turn.opener.time if turn.opener else turn.started)


def moment_named(
    archive: "Archive",
    text: str,
    events: Sequence[FileEvent],
    time_of: Callable[[str], str] | None = None,
) -> str:
    """Returns the moment that a user names, in the form that sorts as text."""
    named = turn_in(text)
    if named is None:
        found = sortable(text) if time_of is None else time_of(text)
        if not found:
            raise UserError(
                f"'{text}' is neither a turn nor a time",
                "say a turn (4), a session and its turn (3f2a:4) or a time (2026-11-15T10:00)",
            )
        return found
    name, number = named
    session = archive.session(name) if name else session_changing(archive, events)
    own = [event for event in events if event.origin.session == session.id]
    return end_of_turn(archive.open(session).conversations, number, own)


def first_begun(archive: "Archive", events: Sequence[FileEvent]) -> str:
    """Returns when the session began that is the first to tell of a file."""
    if not events:
        return ""
    told = archive.open(archive.session(events[0].origin.session)).conversations
    return min((sortable(one.started) or "" for one in told.by_line.values()), default="")


def before(time: str) -> str:
    """Returns what sorts right before a time and after all earlier ones."""
    return f"{time[:-1]}!" if time else time


def session_changing(archive: "Archive", events: Sequence[FileEvent]) -> Session:
    """Returns the session that changed a file last."""
    changed = [event for event in events if event.is_change]
    if not changed:
        raise UserError(
            "no session changed this file", "name the session before the turn: --at SESSION:TURN"
        )
    return archive.session(changed[-1].origin.session)
