"""A timestamp to milliseconds, as a JavaScript `Date` reads it.

The client leans on that reader: it decides which leaf can be resumed and which entry is
near enough to stand in for a missing parent.
"""

import re
from datetime import UTC, datetime

from plait.record import Record

NO_TIME = float("-inf")
NONSENSE = float("nan")

ISO = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?")
LOOSE = re.compile(r"(?:[^\W\d_]+[\W_]+)*\d+(?!\d*:)[\s\d:/,.+-]*(?:[AaPp][Mm])?\s*(?:Z|UTC|GMT)?")
"""Words, then numbers: what the engine still takes for a date."""


def milliseconds(record: Record) -> float:
    """Returns the time of an entry, NO_TIME where it has none, NONSENSE where it is no time."""
    stamp = record.envelope.timestamp
    if isinstance(stamp, str):
        return of_text(stamp)
    return NO_TIME if stamp is None else float(stamp)


def of_text(stamp: str) -> float:
    """Returns the time that a text names; a loose date counts as the oldest."""
    if ISO.fullmatch(stamp):
        return of_iso(stamp)
    if not LOOSE.fullmatch(stamp):
        return NONSENSE
    exact = of_iso(stamp)
    return 0.0 if exact != exact else exact


def of_iso(stamp: str) -> float:
    """Returns the time of a text in the form of the standard, whole or cut short."""
    try:
        parsed = datetime.fromisoformat(stamp + {4: "-01-01", 7: "-01"}.get(len(stamp), ""))
    except ValueError:
        return NONSENSE
    known = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(known.timestamp() * 1000.0)
