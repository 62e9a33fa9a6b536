"""Hits in `summary` lines to the sessions that these lines are about.

A summary names the last record of what it sums up, mostly of another session: there a reader
wants to go. Where no session of the project holds that record, the hit stays with its file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.errors import SourceError
from plait.index.model import Hit, SearchResult
from plait.line import lines

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Session


def leading_to_sessions(archive: "Archive", found: SearchResult) -> SearchResult:
    """Returns an answer whose hits in summary lines lead to what they sum up."""
    if all(hit.kind != "summary" or hit.uuid for hit in found.hits):
        return found
    return replace(found, hits=tuple(_leading(archive, hit) for hit in found.hits))


def _leading(archive: "Archive", hit: Hit) -> Hit:
    leaf = _leaf_at(Path(hit.path), hit.line) if hit.kind == "summary" and not hit.uuid else None
    if leaf is None:
        return hit
    for session in _holding(archive, hit, leaf):
        for line, number in _turns_with(archive, session, leaf):
            return replace(
                hit,
                session=session.id,
                uuid=leaf,
                turn=number,
                title=archive.facts(session).title,
                project=archive.folding.project(session.project),
                folder=session.project,
                branch=line,
            )
    return hit


def _leaf_at(path: Path, number: int) -> str | None:
    from plait.record.read import entry_of
    from plait.record.types.kinds import Summary

    try:
        entry = next((entry_of(one) for one in lines(path) if one.number == number), None)
    except SourceError:
        return None
    return entry.leaf_uuid if isinstance(entry, Summary) else None


def _holding(archive: "Archive", hit: Hit, leaf: str) -> "Iterator[Session]":
    """Yields the sessions of the project that speak of a record, the one that was hit first."""
    near = [one for one in archive.sessions if one.project == hit.folder and one.file]
    sign = f'"{leaf}"'.encode()
    for session in sorted(near, key=lambda one: str(one.path) != hit.path):
        try:
            if any(sign in line.data for line in lines(session.path)):
                yield session
        except SourceError:
            continue


def _turns_with(archive: "Archive", session: "Session", leaf: str) -> Iterator[tuple[str, int]]:
    for conversation in archive.conversations(session).by_line.values():
        for turn in conversation.turns:
            if any(item.uuid == leaf for item in turn.items):
                yield conversation.id, turn.number
