"""Messages that lead to where a session stands to the prompts that one can go back to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from plait.errors import UserError
from plait.record import Record
from plait.record.prompt import is_human_prompt


@dataclass(frozen=True, slots=True)
class Point:
    """A prompt that one can go back to: it is asked again, or something else in its place."""

    uuid: str
    text: str
    time: str
    before: str | None
    """The message that it followed; None where it was the first."""


def points_of(chain: Iterable[Record]) -> list[Point]:
    """Returns the prompts of a conversation, the oldest first."""
    found: list[Point] = []
    known: set[str | None] = {None}
    for record in chain:
        # what a summary preserved begins with a message that one cannot go back behind
        if is_human_prompt(record) and record.parent_uuid in known and record.message:
            told = record.message.text, record.timestamp or "", record.parent_uuid
            found.append(Point(record.uuid or "", *told))
        known.add(record.uuid)
    return found


def chain_before(chain: Sequence[Record], point: Point) -> list[Record]:
    """Returns the messages that came before a prompt."""
    return list(takewhile(lambda record: record.uuid != point.uuid, chain))


def point_named(points: Sequence[Point], name: str) -> Point:
    """Returns the prompt of a number, the newest being 1, or of the beginning of its id."""
    if not points:
        raise UserError("nothing was asked yet that one could go back to")
    if name.isdecimal() and 1 <= int(name) <= len(points):
        return points[-int(name)]
    alike = [point for point in points if len(name) >= 4 and point.uuid.startswith(name)]
    if len(alike) == 1:
        return alike[0]
    raise UserError(f"no prompt is called '{name}'", f"1 to {len(points)} are there, 1 the newest")
