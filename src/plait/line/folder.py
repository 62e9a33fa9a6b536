"""Names and bytes to files of one folder: private, each whole or not there, never outside it.

What is written by a name that a log may have had a hand in is written here. A name is made
harmless by `file_name`; a folder refuses one that is not, and any that a link leads elsewhere.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from plait.errors import SourceError

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700
BINARY = getattr(os, "O_BINARY", 0)
"""Without it one system writes two bytes for a newline."""
LONGEST, MOST_BYTES = 120, 200
"""Letters and bytes that a made name has at most: endings are added to it."""
MOST_ENTRY_BYTES = 240
"""Of any part of a path: file systems take 255, and a draft's name is longer."""
UNSAFE = re.compile(r"[^\w.~-]+")
# On one system these are devices in every folder, whatever ending they have.
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(\..*)?")
FORBIDDEN = re.compile('[\x00-\x1f\x7f\\\\:*?"<>|\ud800-\udfff]')


def file_name(text: str) -> str:
    """Returns a text as the name of a file that is harmless on any system; it has no ending yet."""
    kept = UNSAFE.sub("_", unicodedata.normalize("NFC", text[: LONGEST * 4]))[:LONGEST]
    kept = kept.encode()[:MOST_BYTES].decode("utf-8", "ignore").rstrip(".")
    if kept.startswith(".") or not kept or RESERVED.fullmatch(kept):
        kept = f"_{kept.lstrip('.')}"
    return kept


class OutputFolder:
    """A folder that files are written into, by names with `/` between their parts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Makes the folder where there is none."""
        _make(self.path)

    def write(self, name: str, data: bytes) -> None:
        """Writes a file under another name first, so that it is whole once it is there."""
        place = self.place(name)
        draft = _draft_of(place)
        try:
            _make(place.parent)
            draft.unlink(missing_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            draft.replace(place)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise unwritable(place, error) from error

    def remove(self, name: str) -> None:
        """Takes away a file and its draft, if they are within the folder and there."""
        with suppress(SourceError, OSError):
            place = self.place(name)
            _draft_of(place).unlink(missing_ok=True)
            place.unlink(missing_ok=True)

    def place(self, name: str) -> Path:
        """Returns where a file lies, or raises where that would not be within the folder."""
        parts = PurePosixPath(name).parts
        if not parts or name.endswith("/") or not all(map(is_plain_name, parts)):
            raise SourceError(f"refusing to write '{_shown(name)}': no name of a file")
        for folder in self._folders(parts[:-1]):
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise SourceError(f"refusing to write '{name}': '{folder}' is no folder of its own")
        return self.path.joinpath(*parts)

    def _folders(self, parts: tuple[str, ...]) -> Iterator[Path]:
        folder = self.path
        for part in parts:
            folder = folder / part
            yield folder


def is_plain_name(part: str) -> bool:
    """Tells whether a part of a path is the name of a file or folder on any system."""
    if part in ("", ".", "..", "/") or part[-1] in ". " or FORBIDDEN.search(part):
        return False
    return len(part.encode()) <= MOST_ENTRY_BYTES and RESERVED.fullmatch(part) is None


def _shown(name: str) -> str:
    return FORBIDDEN.sub("\ufffd", name[:80])


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(path: Path, error: OSError) -> SourceError:
    """Returns the error that says which file could not be written, and why."""
    return SourceError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}")
