"""Prompts that were sent to a file of the data folder, and back to whoever presses the arrow up.

Those of one directory are brought back there; the file is private, and never grows for ever.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from prompt_toolkit.history import History

from plait.errors import SourceError
from plait.line.folder import OWNER_FILE, OWNER_FOLDER, OutputFolder

MOST_BYTES = 2_000_000
"""A file that is larger loses its older half."""
MOST_PROMPTS = 1_000
"""Prompts that are brought back."""
LONGEST = 100_000
"""Letters of a prompt that is worth keeping."""


class Sent(msgspec.Struct, frozen=True):
    """A prompt, and where and when it was sent."""

    time: float
    directory: str
    text: str


class KeptHistory(History):
    """The prompts of a directory; what cannot be kept is known as long as the session lasts."""

    def __init__(self, file: Path, directory: str) -> None:
        super().__init__()
        self._file = file
        self._directory = directory

    def load_history_strings(self) -> Iterable[str]:
        """Yields what was sent from this directory, the newest first."""
        _shorten(self._file)
        found = [one.text for one in _kept(self._file) if one.directory == self._directory]
        return found[::-1][:MOST_PROMPTS]

    def store_string(self, string: str) -> None:
        """Keeps a prompt."""
        if len(string) > LONGEST:
            return
        line = msgspec.json.encode(Sent(time.time(), self._directory, string)) + b"\n"
        with suppress(OSError):  # a folder that cannot be written must not keep one from asking
            self._file.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            handle = os.open(self._file, flags, OWNER_FILE)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)


def _kept(file: Path) -> Iterator[Sent]:
    """Yields what a file holds, the oldest first; a line that is none is passed over."""
    with suppress(OSError):
        for line in file.read_bytes().splitlines():
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                yield msgspec.json.decode(line, type=Sent)


def _shorten(file: Path) -> None:
    with suppress(OSError, SourceError):
        if file.stat().st_size > MOST_BYTES:
            _, _, newer = file.read_bytes()[-MOST_BYTES // 2 :].partition(b"\n")
            OutputFolder(file.parent).write(file.name, newer)
