"""What the worker does to lines in a log file that stays small. Contents and keys never go in."""

from datetime import UTC, datetime
from pathlib import Path

from plait.trace.hook import LOG

MOST = 1 << 20
"""Bytes after which the log begins anew; the old one is kept beside it."""


class Log:
    """Writes lines with their time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG

    def note(self, text: str) -> None:
        """Writes a line; a log that cannot be written is no reason to stop."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {text}\n"
        try:
            self._turn_over()
            with self.path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(line)
        except OSError:
            return

    def _turn_over(self) -> None:
        if self.path.exists() and self.path.stat().st_size > MOST:
            self.path.replace(self.path.with_suffix(".log.1"))
