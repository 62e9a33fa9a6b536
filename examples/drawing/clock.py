"""Parse times: `+5s`, `-2m`, `=`, or a full timestamp."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from .model import DrawingError
from .names import number

_STEP = re.compile(r"([+-])(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# Least and spread in milliseconds, and milliseconds for each letter.
_LIFELIKE = {
    "prompt": (14_000, 40_000, 45),
    "response": (1_600, 2_400, 9),
    "result": (60, 900, 0),
}


class Clock:
    """The clock of a file: one second per record, or lifelike, unless the drawing sets times."""

    def __init__(self, start: str, pace: str, line: int) -> None:
        self.now = moment(start, line)
        self.pace = pace
        self.is_fresh = True

    def tick(self, spec: str, line: int, family: str = "", length: int = 0, key: str = "") -> str:
        """Move on to the next record and return its timestamp."""
        if spec:
            self.now = self._at(spec, line)
        elif not self.is_fresh:
            self.now += self._pause(family, length, key)
        self.is_fresh = False
        return stamp(self.now)

    def _at(self, spec: str, line: int) -> datetime:
        if spec == "=":
            return self.now
        step = _STEP.fullmatch(spec)
        if step is None:
            return moment(spec, line)
        seconds = float(step[2]) * _UNITS[step[3]]
        return self.now + timedelta(seconds=-seconds if step[1] == "-" else seconds)

    def _pause(self, family: str, length: int, key: str) -> timedelta:
        if self.pace != "lifelike":
            return timedelta(seconds=1)
        least, spread, letter = _LIFELIKE.get(family, (4, 40, 0))
        return timedelta(milliseconds=least + number(key, spread) + letter * length)


def moment(text: str, line: int) -> datetime:
    """Parse a full timestamp (ISO 8601)."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise DrawingError(line, f"'{text}' is not a time") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def stamp(when: datetime) -> str:
    """Format a timestamp as the client does."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
