"""A file to whether it can be a log at all."""

from pathlib import Path

from plait.line.split import lines

BLANK = b" \t\r\xef\xbb\xbf"
NAMES = (b'"type"', b'"uuid"', b'"sessionId"', b'"message"')
"""Of which every record has one, be it torn."""
FAR = 16_000_000


def is_log(path: Path) -> bool:
    """Tells whether a file may be a log: a line of it begins as a record does, or all are blank.

    Far down in a large file nobody looks for the first one.
    """
    is_blank = True
    for line in lines(path, end=FAR):
        start = line.data.lstrip(BLANK)
        if start.startswith(b"{") and any(name in start for name in NAMES):
            return True
        is_blank = is_blank and not start
    return is_blank
