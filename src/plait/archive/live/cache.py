"""What was made of sessions lately, kept in memory and on disk until their files change."""

import os
import secrets
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from plait.view.page.script import script

T = TypeVar("T")
MOST_VALUES = 48


class Cache:
    """Values by what they were made from; those not asked for lately are let go."""

    def __init__(self, most: int = MOST_VALUES) -> None:
        self.most = most
        self._lock = Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def of(self, kind: str, name: str, marks: Hashable, make: Callable[[], T]) -> T:
        """Returns a value, made anew where what it is made from has changed."""
        with self._lock:
            known = self._known.get((kind, name))
            if known is not None and known[0] == marks:
                self._known.move_to_end((kind, name))
                found: T = known[1]
                return found
        made = make()
        with self._lock:
            self._known[kind, name] = (marks, made)
            self._known.move_to_end((kind, name))
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        return made


LARGE = 4_000_000
"""Bytes of logs from which on reading takes long enough to be noticed."""
MOST_PAGES = 64
LEVEL = 1


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
    digest = blake2b(script("app.js").encode(), digest_size=8).hexdigest()
    return f"{version('plait')} {digest}"
