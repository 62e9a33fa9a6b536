"""An index to responses and abandoned branches: what `plait.archive.usage` reads, without logs."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from msgspec.structs import astuple

from plait.archive.index.fresh import FreshIndex, key_of
from plait.archive.model import Session
from plait.archive.usage import (
    Counted,
    FileBills,
    Watch,
    abandoned,
    count,
    counted_paths,
    left_in,
)
from plait.conversation.usage import BilledResponse, Key
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.charges import charges, charges_in
from plait.index.rows import (
    RowChange,
    abandoned_records,
    keeping_abandoned,
    keeping_bills,
    keeping_usage,
    kept_bills,
    noting,
    usage_digests,
)
from plait.line import LogFile

USAGE = "usage"
"""Under which it is noted how far the rows of usage have come."""


def indexed_count(warm: FreshIndex, sessions: Iterable[Session]) -> Counted:
    """Returns the responses of some sessions, each counted once."""
    chosen = list(sessions)
    read = IndexedBills(warm)
    found = count(chosen, read=read)
    is_whole = len(chosen) == len(warm.archive.sessions)
    if is_whole and warm.catalogue.meta(USAGE) != warm.generation:
        read.keep(*_rows_changed(warm, chosen, found))
    else:
        read.keep()
    return found


def _rows_changed(
    warm: FreshIndex, sessions: Iterable[Session], found: Counted
) -> Iterator[RowChange]:
    owners = warm.catalogue.owners()
    files = [owners[key_of(path)] for path in counted_paths(sessions)]
    rows: dict[int, list[tuple[Any, ...]]] = {sid: [] for sid in warm.sids.values()}
    for key, one in zip(found.keys, found.responses, strict=True):
        own = rows[files[one.file]]
        own.append((len(own), *_usage_row(key, one)))
    known = usage_digests(warm.catalogue)
    for sid, several in rows.items():
        mark = blake2b(to_bytes(several), digest_size=8).digest()
        if known.get(sid) != mark:
            yield keeping_usage(sid, several, mark)
    yield noting(USAGE, warm.generation)


def _usage_row(key: Key, one: BilledResponse) -> tuple[Any, ...]:
    time = one.time.isoformat() if one.time else None
    named = key if isinstance(key, str) else None
    return named, one.uuid, one.model, time, one.kind, one.agent, *astuple(one.tokens), one.logged


def indexed_abandoned(
    warm: FreshIndex, sessions: Iterable[Session], responses: Iterable[BilledResponse], watch: Watch
) -> frozenset[str]:
    """Returns the uuids of responses on branches that were left."""
    read = IndexedBranches(warm)
    found = abandoned(sessions, responses, watch, read)
    read.keep()
    return found


class IndexedBills:
    """Gives the bills of files; what a file has got since is read and kept."""

    def __init__(self, warm: FreshIndex) -> None:
        self._warm = warm
        self._known = kept_bills(warm.catalogue)
        self._new: dict[str, bytes] = {}

    def __call__(self, files: Sequence[LogFile]) -> Iterator[FileBills]:
        """Yields what files say of money."""
        for file in files:
            key = key_of(file.path)
            data = self._known.get(key)
            if data is None:
                data = self._new[key] = charges_in(file.path, file.kind)
            found = charges(data)
            yield FileBills(zip(found.lines, found.bills, strict=True), found.is_warmup)

    def keep(self, *others: RowChange) -> None:
        """Keeps what was read, and what was made of it."""
        own = [keeping_bills(self._new)] if self._new else []
        self._warm.keep([*own, *others])


class IndexedBranches:
    """Gives the records on abandoned branches; of sessions never asked about they are read."""

    def __init__(self, warm: FreshIndex) -> None:
        self._warm = warm
        self._known = abandoned_records(warm.catalogue)
        self._new: dict[int, bytes] = {}

    def __call__(self, session: Session) -> Iterable[str]:
        """Returns the records of a session that stand on a line that is not active."""
        sid = self._warm.number(session)
        data = self._known.get(sid)
        if data is not None:
            return from_bytes(data, list[str])
        found = list(left_in(session))
        self._new[sid] = to_bytes(found)
        return found

    def keep(self) -> None:
        """Keeps what was read."""
        self._warm.keep([keeping_abandoned(self._new)] if self._new else [])
