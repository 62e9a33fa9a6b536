"""A graph to what it cannot show: records without uuid, records saved from broken lines."""

from collections.abc import Iterator
from shlex import quote

from plait.archive import Session
from plait.archive.tree import Unlinked
from plait.cli.text import counted
from plait.errors import SourceError
from plait.graph.model import SessionGraph
from plait.line import LogFile, lines
from plait.line.split import count_lines
from plait.record.read import Broken, entries


def unlinked(found: Unlinked) -> Iterator[str]:
    """Yields a sentence about the records that no graph can hold."""
    if found.records:
        where = f" in {found.files} files" if found.files > 1 else ""
        form = "it forms" if found.records == 1 else "they form"
        shows = "shows it" if found.records == 1 else "shows them"
        records = counted(found.records, "record")
        yield f"{records} without uuid{where}: {form} no graph; `plait cat` {shows}"


def recovered(graph: SessionGraph, session: Session) -> Iterator[str]:
    """Yields a sentence for each file of a session that has records on broken lines."""
    held = lines_held(graph)
    for file in session.files:
        count = recovered_in(file, held.get(str(file.path), 0))
        if count:
            are, them = ("is", "it") if count == 1 else ("are", "them")
            records = f"{counted(count, 'record')} recovered from broken lines {are} not drawn"
            yield f"{records}: `plait doctor {quote(str(file.path))}` lists {them}"


def lines_held(graph: SessionGraph) -> dict[str, int]:
    """Returns how many lines of each file are records."""
    found = dict.fromkeys((file.path for file in graph.files), 0)
    paths = [file.path for file in graph.files]
    for node in graph.nodes.values():
        for place in (node.place, *node.copies):
            found[paths[place.file]] += 1
    for one in graph.loose:
        found[paths[one.place.file]] += 1
    return found


def recovered_in(file: LogFile, held: int) -> int:
    """Counts the records on broken lines; a file that is all records is not read again."""
    try:
        if count_lines(file.path)[0] == held:
            return 0
        found = entries(lines(file.path))
        return sum(len(one.recovered) for one in found if isinstance(one, Broken))
    except SourceError:  # gone since it was read
        return 0
