"""Pages that were drawn before, on disk beside the index, until what they were drawn from changes.

They hold what the logs hold. When the index is brought up to date, those go whose logs are no
longer there, or no longer as they were.
"""

import os
import secrets
import zlib
from collections.abc import Callable, Container
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from plait.archive.model import Session

LARGE = 4_000_000
"""Bytes of logs from which on reading takes long enough to be noticed."""
MOST_PAGES = 64
LONGEST_HEAD = 256
LEVEL = 1


def pages_beside(index: Path) -> "PageFolder":
    """Returns the pages that are kept beside an index."""
    return PageFolder(index.with_name(f"{index.name}-pages"))


class PageFolder:
    """A folder of pages, each under the name of its session; a disposable one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, name: str, mark: str) -> str | None:
        """Returns a page as it was drawn from these very files, by this very program."""
        try:
            data = self.path_of(name).read_bytes()
            head, _, packed = data.partition(b"\n")
            if head.decode("ascii", "replace") != self.head(mark):
                return None
            return zlib.decompress(packed).decode()
        except (OSError, zlib.error, UnicodeError):
            return None

    def keep(self, name: str, mark: str, page: str) -> None:
        """Keeps a page; where it cannot be written, it is drawn again next time."""
        packed = zlib.compress(page.encode("utf-8", "replace"), LEVEL)
        draft = self.folder / f".{secrets.token_hex(6)}"
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(self.head(mark).encode() + b"\n" + packed)
            draft.replace(self.path_of(name))
            self._forget()

    def keep_only(self, marks: Callable[[], Container[str]]) -> None:
        """Lets go of pages that were drawn from files that are gone, or no longer as they were."""
        pages = list(self.folder.glob("*.page"))
        kept = marks() if pages else ()
        for path in pages:
            with suppress(OSError):
                if self._mark_of(path) not in kept:
                    path.unlink()

    def _mark_of(self, path: Path) -> str:
        with path.open("rb") as file:
            return file.readline(LONGEST_HEAD).decode("ascii", "replace").strip().rpartition(" ")[2]

    def _forget(self) -> None:
        """Lets go of the oldest."""
        pages = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in pages[:-MOST_PAGES]:
            path.unlink(missing_ok=True)

    def path_of(self, name: str) -> Path:
        """Returns where the page of a session lies."""
        short = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return self.folder / f"{short}.page"

    def head(self, mark: str) -> str:
        """Returns what a page must begin with to be the right one."""
        return f"{_program()} {mark}"


@lru_cache
def _program() -> str:
    from plait.view.page.frame import script

    digest = blake2b(script("app.js").encode(), digest_size=8).hexdigest()
    return f"{version('plait')} {digest}"


def mark_of(session: Session) -> str:
    """Returns a short text that changes when the files of a session do."""
    files = tuple((str(file.path), file.size, file.modified) for file in session.files)
    return blake2b(repr(files).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
