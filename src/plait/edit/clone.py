"""A session to a copy of it that can go on by itself: other ids, the same conversation.

clone  every line, and all that lies beside the log
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from plait.edit.copying import LogCopy, Tally, joined, tally_of
from plait.edit.held import gone, stamp_now
from plait.edit.ids import Ids
from plait.edit.measure import measures_of
from plait.edit.model import Content, CopyOf, Measures, Operation, Plan, Subject, Write
from plait.edit.rename import title_for
from plait.edit.side_files import SideFile, side_files
from plait.graph.client.load import WHOLE_FILE
from plait.line import FileStamp, Line, lines, mode_of, read_small, times_of
from plait.line.discover import SUFFIX
from plait.write.lines import custom_title

TITLE = "its title"
BOUNDARY = b"compact_boundary"


def clone(subject: Subject, *, title: str | None = None, is_clean: bool = False) -> Plan:
    """Returns the plan of a copy of a session, with all that lies beside it."""
    session = str(uuid4())
    ids = ids_of(subject, session)
    stamp = stamp_now(subject.log.path)
    added = title_lines(session, title)
    copy = LogCopy(subject.log, stamp.size, ids, is_clean=is_clean, added=added)
    before = measures_of(subject.log, stamp.size)
    beside = side_files(subject, session)
    return copy_plan("clone", subject, copy, stamp, beside, before, before)


def title_lines(session: str, title: str | None) -> tuple[tuple[bytes, str], ...]:
    """Returns the line that names a copy, none where it keeps its title."""
    return () if title is None else ((custom_title(session, title_for(title)), TITLE),)


def copy_plan(
    operation: Operation,
    subject: Subject,
    copy: LogCopy,
    stamp: FileStamp,
    beside: Sequence[SideFile],
    before: Measures,
    says: Measures,
) -> Plan:
    """Returns the plan of a new session from a log's copy, whose turns and tokens are known."""
    log, session = subject.log, copy.ids.session
    copy, found = _within_reach(copy, stamp.size)
    path = log.path.with_name(session + SUFFIX)
    return Plan(
        operation=operation,
        source=subject,
        session=session,
        path=path,
        steps=(Write(path, copy.pieces, mode=mode_of(log.path)), *writes_of(beside, copy.ids)),
        before=before,
        after=replace(says, lines=found.lines, bytes=found.bytes),
        changes=found.changes,
        differences=tuple(found.differences),
        read=((log.path, stamp), *read_of(beside)),
    )


def _within_reach(copy: LogCopy, size: int) -> tuple[LogCopy, Tally]:
    """Returns a copy that the client reads as it reads its source, and what becomes of the lines.

    Of a log that has grown beyond a size it reads only what stands behind the last compaction:
    where saying of each line where it is from would make it so, the first says it, or none.
    """
    found = tally_of(copy)
    if not size <= WHOLE_FILE < found.bytes or not _is_compacted(copy):
        return copy, found
    linked = (one.line.number for one in copy.lines() if one.uuid and one.data is not None)
    for last in (next(linked, 0), 0):
        shorter = replace(copy, origins=last)
        found = tally_of(shorter)
        if found.bytes <= WHOLE_FILE:
            break
    return shorter, found


def _is_compacted(copy: LogCopy) -> bool:
    return any(one.data is not None and BOUNDARY in one.data for one in copy.lines())


def ids_of(subject: Subject, session: str) -> Ids:
    """Returns the ids of a session and its agents, and what they are in a copy."""
    ids = Ids(subject, session)
    for log in (subject.log, *subject.others):
        ids.learn_all(lines(log.path))
    return ids


def writes_of(beside: Iterable[SideFile], ids: Ids) -> Iterator[Write]:
    """Yields the files beside the log of a copy."""
    for one in beside:
        mode, times = mode_of(one.source), times_of(one.source)
        yield Write(one.target, content_of(one, ids), mode=mode, times=times)


def content_of(one: SideFile, ids: Ids) -> Content:
    """Returns what a file beside the log holds in the copy."""
    if one.is_log:
        return partial(_log_beside, one.source, ids)
    if one.is_named:
        return partial(_text_beside, one.source, ids)
    return CopyOf(one.source)


def _log_beside(path: Path, ids: Ids) -> Iterator[bytes]:
    return joined(part for line in lines(path) for part in _renamed(line, ids))


def _renamed(line: Line, ids: Ids) -> tuple[bytes, ...]:
    data = ids.line(line)
    return (data, b"\n") if line.is_ended else (data,)


def _text_beside(path: Path, ids: Ids) -> Iterator[bytes]:
    data = read_small(path)
    if data is None:
        raise gone(path)
    yield ids.paths(ids.text(data))


def read_of(beside: Iterable[SideFile]) -> Iterator[tuple[Path, FileStamp]]:
    """Yields what the files beside the log were when the plan was made."""
    for one in beside:
        yield one.source, stamp_now(one.source)
