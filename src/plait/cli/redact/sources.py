"""What a user names to the files that are looked at, and files to what is in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.cli.options import Request
from plait.cli.selection import named
from plait.errors import SourceError
from plait.line import lines, read_small
from plait.line.discover import SUFFIX
from plait.record import Blank, Broken, entry_of
from plait.redact import Place

HEAD = 8192


@dataclass(frozen=True, slots=True)
class Source:
    """One file to look at."""

    path: Path
    size: int

    def entries(self) -> Iterator[tuple[Any, Place]]:
        """Yields records, and texts where there are none, with their places."""
        found = self._records() if self.path.suffix == SUFFIX else self._texts()
        try:
            yield from found
        except SourceError:  # gone since it was found
            return

    def _records(self) -> Iterator[tuple[Any, Place]]:
        for line in lines(self.path):
            entry = entry_of(line)
            if isinstance(entry, Broken):
                yield line.data.decode("utf-8", "surrogateescape"), self._at(line.number)
            elif not isinstance(entry, Blank):
                yield entry, self._at(line.number)

    def _texts(self) -> Iterator[tuple[Any, Place]]:
        data = read_small(self.path) or b""
        if b"\0" not in data[:HEAD]:
            yield data.decode("utf-8", "surrogateescape"), Place(str(self.path))

    def _at(self, line: int) -> Place:
        return Place(str(self.path), line)


def read_all(source: Source) -> Iterator[Any]:
    """Yields the records and texts of a source."""
    for entry, _ in source.entries():
        yield entry


def sources_of(request: Request, names: tuple[str, ...]) -> list[Source]:
    """Returns the files that are meant, each once."""
    if not names:
        return _unique(file.path for file in request.archive.files)
    return _unique(path for name in names for path in _paths_of(request, name))


def _paths_of(request: Request, name: str) -> Iterator[Path]:
    path = Path(name)
    if path.is_dir():
        yield from _files_below(path)
    elif path.is_file():
        yield path
    else:
        for session in named(request, name):
            yield session.path
            yield from (file.path for file in session.agents)
            yield from _files_below(session.path.with_suffix(""))


def _files_below(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def _unique(paths: Iterator[Path]) -> list[Source]:
    found: list[Source] = []
    for path in dict.fromkeys(paths):
        try:
            found.append(Source(path, path.stat().st_size))
        except OSError:  # gone since it was listed
            continue
    return found
