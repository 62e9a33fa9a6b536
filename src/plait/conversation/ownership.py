"""Records of session after session to whether they are counted: once, and in time."""

from datetime import UTC, datetime

from plait.conversation.model import Item, Response, Told
from plait.record.time import moment

LENGTH = len("2026-11-15T10:00:00.000Z")
FOR_EVER = "~"


class Ownership:
    """Knows which records were met before, and which lie between two moments.

    A session that was resumed or forked in another file carries copies of records of the
    earlier one: whoever comes first owns them.
    """

    def __init__(self, since: datetime | None = None, until: datetime | None = None) -> None:
        self._since, self._until = stamp_of(since), stamp_of(until) or FOR_EVER
        self._met: set[int] = set()
        self._own: set[str] = set()
        self.first: str | None = None
        self.last: str | None = None

    def begin(self) -> None:
        """Begins another session."""
        self._own.clear()

    @property
    def is_any(self) -> bool:
        """Tells whether the session at hand owns anything."""
        return bool(self._own)

    def owns(self, item: Item) -> bool:
        """Tells whether the session at hand is the first with the record of an item."""
        key = item.uuid or loose_key(item)
        if key is None or not (key in self._own or self._is_first(key, item.time)):
            return False
        self._own.add(key)
        return True

    def has(self, response: Response) -> bool:
        """Tells whether the session at hand owns the records of a response."""
        return any(uuid in self._own for uuid in response.uuids)

    def is_in_time(self, time: str | None) -> bool:
        """Tells whether something lies between the moments; what has no time does."""
        stamp = standard(time)
        return stamp is None or self._since <= stamp < self._until

    def _is_first(self, key: str, time: str | None) -> bool:
        """Tells whether something lies in time and was not met before; from now on it was."""
        if not self.is_in_time(time):
            return False
        mark = hash(key)  # takes a third of the room, and two that clash are not to be met
        if mark in self._met:
            return False
        self._met.add(mark)
        if stamp := standard(time):
            self.first = min(self.first or stamp, stamp)
            self.last = max(self.last or stamp, stamp)
        return True


def loose_key(item: Item) -> str | None:
    """Returns what a prompt outside the chain is known by; other such lines are not counted."""
    return f"{item.time} {item.text}" if isinstance(item, Told) else None


def standard(time: str | None) -> str | None:
    """Returns a time in the one form that sorts as text."""
    if time is None or (len(time) == LENGTH and time[-1] == "Z" and time[10] == "T"):
        return time
    return stamp_of(moment(time)) or None


def stamp_of(time: datetime | None) -> str:
    """Returns a moment in the form that the log has, and "" for none."""
    if time is None:
        return ""
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03}Z"
