"""Pages of large sessions on disk: what took a second to read once is there at once again."""

import os
import secrets
import zlib
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from plait.archive.site import asset

LARGE = 4_000_000
"""Bytes of logs from which on reading takes long enough to be noticed."""
MOST = 64
LEVEL = 1


class Drawn:
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

    def _forget(self) -> None:
        """Lets go of the oldest."""
        pages = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in pages[:-MOST]:
            path.unlink(missing_ok=True)

    def path_of(self, name: str) -> Path:
        """Returns where the page of a session lies."""
        short = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return self.folder / f"{short}.page"

    def head(self, mark: str) -> str:
        """Returns what a page must begin with to be the right one."""
        return f"{program()} {mark}"


@lru_cache
def program() -> str:
    """Returns what changes when pages are drawn differently."""
    script = blake2b(asset("plait.js").encode(), digest_size=8).hexdigest()
    return f"{version('plait')} {script}"
