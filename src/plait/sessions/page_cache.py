"""The disk cache of rendered session pages, kept with the index.

Pages hold what the logs hold. When the index is updated, pages are deleted whose logs are gone or
have changed.
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

from plait.sessions.model import Session

MIN_BYTES = 4_000_000
"""Size of logs from which reading takes noticeable time."""
MAX_PAGES = 64
LONGEST_HEAD = 256
LEVEL = 1


def open_page_cache(index: Path) -> "PageCache":
    """Return the page cache next to an index."""
    return PageCache(index.with_name(f"{index.name}-pages"))


class PageCache:
    """A folder of rendered pages by session; it can be deleted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, name: str, mark: str) -> str | None:
        """Return a page if it was rendered from the same files by the same version."""
        try:
            data = self.path_of(name).read_bytes()
            head, _, packed = data.partition(b"\n")
            if head.decode("ascii", "replace") != self.head(mark):
                return None
            return zlib.decompress(packed).decode()
        except (OSError, zlib.error, UnicodeError):
            return None

    def save(self, name: str, mark: str, page: str) -> None:
        """Save a page; if that fails, it is rendered again next time."""
        packed = zlib.compress(page.encode("utf-8", "replace"), LEVEL)
        draft = self.folder / f".{secrets.token_hex(6)}"
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(self.head(mark).encode() + b"\n" + packed)
            draft.replace(self.path_of(name))
            # Delete the oldest.
            pages = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for path in pages[:-MAX_PAGES]:
                path.unlink(missing_ok=True)

    def prune(self, marks: Callable[[], Container[str]]) -> None:
        """Delete pages whose files are gone or have changed."""
        pages = list(self.folder.glob("*.page"))
        kept = marks() if pages else ()
        for path in pages:
            with suppress(OSError):
                if self._mark_of(path) not in kept:
                    path.unlink()

    def _mark_of(self, path: Path) -> str:
        with path.open("rb") as file:
            return file.readline(LONGEST_HEAD).decode("ascii", "replace").strip().rpartition(" ")[2]

    def path_of(self, name: str) -> Path:
        """Return the path of a session's page."""
        short = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return self.folder / f"{short}.page"

    def head(self, mark: str) -> str:
        """Return the header by which a valid page is recognised."""
        return f"{_program()} {mark}"


@lru_cache
def _program() -> str:
    from plait.view.page.frame import bundle_script

    digest = blake2b(bundle_script("app.js").encode(), digest_size=8).hexdigest()
    return f"{version('plait')} {digest}"


def fingerprint_session(session: Session) -> str:
    """Return a short text that changes when the files of a session do."""
    files = tuple((str(file.path), file.size, file.modified) for file in session.files)
    return blake2b(repr(files).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
