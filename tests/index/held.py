"""An index to everything that it holds, in a form that can be compared."""

import os
import shutil
from pathlib import Path
from typing import Any

from tantivy import Query

from plait import Archive
from plait.index.model import SORTS
from plait.index.search import IndexReader
from plait.index.text_index import load_places as places_of
from plait.index.text_index import parse_seconds
from plait.indexing import IndexedSession

NAMED = ("tool", "model", "project")


def list_indexed(folder: Path) -> list[tuple[Any, ...]]:
    """Return every passage of an index, by names and places."""
    reader = IndexReader(folder)
    try:
        return sorted(passages(reader), key=repr)
    finally:
        reader.close()


def passages(reader: IndexReader) -> list[tuple[Any, ...]]:
    """Return every passage, those of unknown sessions too."""
    found = reader.searcher.search(Query.all_query(), 1_000_000, count=False).hits
    at = [address for _, address in found]
    sessions, catalogue = reader.catalogue.sessions(), reader.catalogue
    places = places_of(reader.searcher, found)
    columns = [reader.searcher.fast_field_values(name, at) for name in NAMED]
    sorts = reader.searcher.fast_field_values("kind", at)
    paths = catalogue.paths({one.file for one in places}) if at else {}
    names = {0: None} | {code: name for sort in NAMED for code, name in list_codes(reader, sort)}
    lines = {sid: [line.id for line in catalogue.lines(sid)] for sid in sessions}
    return [
        (
            sessions[one.sid].key if one.sid in sessions else f"unknown {one.sid}",
            paths.get(one.file) if one.line else None,
            *(one.line, one.offset, one.length, one.part, one.turn, one.time, one.state),
            lines[one.sid][one.dag] if one.sid in sessions and one.line else None,
            *(names.get(int(code or 0)) for code in codes),
            SORTS[int(sort or 0)],
        )
        for one, codes, sort in zip(places, zip(*columns, strict=True), sorts, strict=True)
    ]


def list_codes(reader: IndexReader, sort: str) -> list[tuple[int, str]]:
    return list(reader.catalogue.names(sort).items())


def list_expected(root: Path) -> list[tuple[Any, ...]]:
    """Return every passage that cold files give."""
    rows: list[tuple[Any, ...]] = []
    for session in Archive([root]).sessions:
        reading = IndexedSession(session)
        lines = [one.line.id for one in reading.lines]
        rows += [
            (
                str(session.path),
                reading.graph.files[one.file].path if one.line else None,
                *(one.line, one.offset, one.length, one.part, one.turn, parse_seconds(one.time)),
                *(one.state, lines[one.dag] if one.line else None),
                *(
                    replace_surrogates(one.tool),
                    replace_surrogates(one.model),
                    replace_surrogates(session.project),
                ),
                (one.kind, one.outcome, one.is_with_call),
            )
            for one in reading.passages()
        ]
    return sorted(rows, key=repr)


def replace_surrogates(name: str | None) -> str | None:
    return name.encode("utf-8", "replace").decode() if name else None


def tables(folder: Path) -> dict[str, list[Any]]:
    """Return the rows of the catalogue, numbers left out."""
    reader = IndexReader(folder)
    try:
        catalogue = reader.catalogue
        sessions = catalogue.sessions()
        marks = (catalogue.file_mark(path) for path in catalogue.stamps())
        return {
            "sessions": sorted(
                (one.key, one.id, one.project, one.title, one.started, one.ended)
                for one in sessions.values()
            ),
            "facts": sorted(catalogue.facts().items()),
            "lines": sorted((one.key, catalogue.lines(sid)) for sid, one in sessions.items()),
            "turns": sorted(
                ((one.key, catalogue.turns(sid)) for sid, one in sessions.items()), key=repr
            ),
            "files": sorted(
                (mark[2].path, mark[2].size, mark[2].offset, mark[2].mark) for mark in marks if mark
            ),
        }
    finally:
        reader.close()


def write_file(path: Path, data: bytes) -> None:
    """Write a file anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def append_to(path: Path, data: bytes) -> None:
    """Add to a file; a clock that stands still does not hide it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


def change_time(path: Path) -> None:
    """Make a file look as if it were written at another time."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000))


def change(root: Path, kind: str, name: str, data: bytes) -> None:
    """Do something to a file, where it is there."""
    path, other = root / name, root / "0q" / Path(name).name
    match kind:
        case "append":
            append_to(path, data)
        case "torn":
            append_to(path, data[: len(data) * 2 // 3])
        case "rewrite":
            write_file(path, data)
        case "truncate" if path.exists():
            path.write_bytes(path.read_bytes()[: len(data)])
        case "delete":
            path.unlink(missing_ok=True)
        case "touch" if path.exists():
            change_time(path)
        case "move" if path.exists():
            other.parent.mkdir(exist_ok=True)
            path.replace(other)
        case "copy" if path.exists():
            other.parent.mkdir(exist_ok=True)
            shutil.copy(path, other)
