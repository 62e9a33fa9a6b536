"""Records of session after session to whether they are counted: once, and in time."""

from datetime import datetime

from plait.conversation.model import Item, Response, Told
from plait.record.time import sortable, stamp_of

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
        self.begin()

    def begin(self) -> None:
        """Begins another session."""
        self._own.clear()
        self.first: str | None = None
        """Of what the session at hand owns."""
        self.last: str | None = None
        self.earliest: str | None = None
        """Of all that stands in it."""
        self.latest: str | None = None

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
        stamp = sortable(time)
        if stamp is None:
            return True
        self.earliest = min(self.earliest or stamp, stamp)
        self.latest = max(self.latest or stamp, stamp)
        return self._since <= stamp < self._until

    def _is_first(self, key: str, time: str | None) -> bool:
        """Tells whether something lies in time and was not met before; from now on it was."""
        if not self.is_in_time(time):
            return False
        mark = hash(key)  # takes a third of the room, and two that clash are not to be met
        if mark in self._met:
            return False
        self._met.add(mark)
        if stamp := sortable(time):
            self.first = min(self.first or stamp, stamp)
            self.last = max(self.last or stamp, stamp)
        return True


def loose_key(item: Item) -> str | None:
    """Returns what a prompt outside the chain is known by; other such lines are not counted."""
    return f"{item.time} {item.text}" if isinstance(item, Told) else None
