"""Spans that wait to files on disk, and back: bounded, each batch whole or not there.

    <folder>/waiting/<order>.<spans>.batch      to be sent, in the order of their names
    <folder>/refused/<order>.<spans>.batch      what the target does not want, with its reason
    <folder>/tries.json                         how often it has failed in a row

When the spool is full it takes no more: what is there first is sent first, and whoever brings
more is told so.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.line.atomic import replace_file, settle
from plait.trace.hook.jobs import AsideJob, jobs_aside
from plait.trace.model import Span
from plait.trace.sent import SessionState, states

SUFFIX = ".batch"
TRIES = "tries.json"
NAME = re.compile(r"[0-9][0-9a-z-]*\.[0-9]+\.batch")
MOST = 256 << 20
"""Bytes that may wait."""
MOST_SPANS = 512
MOST_BYTES = 1_500_000
"""Of one batch; servers take a few megabytes at once."""
LARGE = 1 << 63
SERIAL = count()


class Batch(Struct, frozen=True):
    """Spans that are sent together."""

    spans: list[Span]
    made: float
    """Seconds since 1970."""
    reason: str = ""
    """Why the target refused it."""

    @property
    def sessions(self) -> set[str]:
        """The sessions that they are of."""
        return {span.session for span in self.spans}


class Tries(Struct, frozen=True):
    """How often the target has failed in a row, and when it is asked again."""

    count: int = 0
    next: float = 0.0
    """Seconds since 1970."""
    reason: str = ""


class Spool:
    """A folder of batches."""

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self.folder = folder
        self.waiting = folder / "waiting"
        self.refused = folder / "refused"
        self.most = most

    def put(self, spans: Iterable[Span]) -> bool:
        """Keeps spans until they are sent: all, or none where there is no room for them."""
        parts = list(in_batches(spans))
        size = self.size()
        if size and size + sum(len(data) for _, data in parts) > self.most:
            return False
        for part, data in parts:
            replace_file(self.waiting / _name_of(_new_order(), part), data)
        return True

    def batches(self) -> Iterator[tuple[Path, Batch]]:
        """Yields what waits, the oldest first."""
        return _read_from(self.waiting)

    def refusals(self) -> Iterator[tuple[Path, Batch]]:
        """Yields what was refused, the oldest first."""
        return _read_from(self.refused)

    def size(self) -> int:
        """Returns how many bytes wait or were refused."""
        return sum(_sizes(self.waiting)) + sum(_sizes(self.refused))

    def count(self) -> int:
        """Returns how many spans wait."""
        return sum(int(name.split(".")[1]) for name in _names_in(self.waiting))

    def drop(self, path: Path) -> None:
        """Forgets a batch that was sent."""
        with suppress(FileNotFoundError):
            path.unlink()

    def split(self, path: Path, batch: Batch) -> None:
        """Puts two halves in the place of a batch; they keep its turn."""
        middle = len(batch.spans) // 2
        order = path.name.split(".")[0]
        for mark, half in (("a", batch.spans[:middle]), ("b", batch.spans[middle:])):
            data = _encoded(replace(batch, spans=half))
            replace_file(path.with_name(_name_of(order + mark, half)), data)
        self.drop(path)

    def refuse(self, path: Path, batch: Batch, reason: str) -> None:
        """Sets a batch aside with the reason; it is not sent again unless somebody asks."""
        replace_file(self.refused / path.name, _encoded(replace(batch, reason=reason)))
        self.drop(path)

    def tries(self) -> Tries:
        """Returns how often the target has failed in a row."""
        try:
            return msgspec.json.decode((self.folder / TRIES).read_bytes(), type=Tries)
        except (OSError, msgspec.MsgspecError):
            return Tries()

    def note_tries(self, tries: Tries) -> None:
        """Keeps how often the target has failed in a row."""
        if tries != self.tries():
            replace_file(self.folder / TRIES, msgspec.json.encode(tries))

    def reconsider(self) -> int:
        """Lets everything that was refused wait again; returns how many batches."""
        found = _names_in(self.refused)
        self.waiting.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in found:
            (self.refused / name).replace(self.waiting / name)
        settle(self.waiting)
        return len(found)


def in_batches(spans: Iterable[Span]) -> Iterator[tuple[list[Span], bytes]]:
    """Yields spans in batches that a server takes, with their bytes."""
    part: list[Span] = []
    size = 0
    for span in map(_encodable, spans):
        length = len(msgspec.msgpack.encode(span))
        if part and (len(part) >= MOST_SPANS or size + length > MOST_BYTES):
            yield part, _encoded(Batch(part, time.time()))
            part, size = [], 0
        part.append(span)
        size += length
    if part:
        yield part, _encoded(Batch(part, time.time()))


def _encoded(batch: Batch) -> bytes:
    return msgspec.msgpack.encode(batch)


def _encodable(span: Span) -> Span:
    try:
        msgspec.msgpack.encode(span)
    except (UnicodeEncodeError, OverflowError):
        return msgspec.convert(_writable(msgspec.to_builtins(span)), Span)
    return span


def _writable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_writable(key): _writable(one) for key, one in value.items()}
        case list() | tuple():
            return [_writable(one) for one in value]
        case int() if not -LARGE <= value < LARGE:
            return str(value)
        case _:
            return value


def _new_order() -> str:
    return f"{time.time_ns():020}-{os.getpid()}-{next(SERIAL):04}"


def _name_of(order: str, spans: Sequence[Span]) -> str:
    return f"{order}.{len(spans)}{SUFFIX}"


def _read_from(folder: Path) -> Iterator[tuple[Path, Batch]]:
    for name in _names_in(folder):
        path = folder / name
        try:
            yield path, msgspec.msgpack.decode(path.read_bytes(), type=Batch)
        except FileNotFoundError:  # sent by somebody else meanwhile
            continue
        except (msgspec.MsgspecError, OSError):
            with suppress(OSError):
                path.rename(path.with_suffix(".broken"))


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if _is_batch(path.name))
    except FileNotFoundError:
        return []


def _is_batch(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def _sizes(folder: Path) -> Iterator[int]:
    for name in _names_in(folder):
        with suppress(FileNotFoundError):
            yield (folder / name).stat().st_size


class SessionStatus(Struct, frozen=True):
    """How one session stands."""

    session: str
    turns: int
    last_line: int
    updated: str
    path: str
    waiting: int
    refused: int
    is_open: bool
    error: str


class SendingStatus(Struct, frozen=True):
    """How all that was or will be sent stands."""

    sessions: list[SessionStatus]
    """The one that was looked at last comes last."""
    waiting: int
    refused: int
    bytes: int
    """On disk, of what waits or was refused."""
    reasons: dict[str, int]
    """Why spans were refused, with how many each."""
    tries: int
    """How often the target has failed in a row."""
    next_try: float | None
    """Seconds since 1970."""
    last_error: str
    aside: list[AsideJob] = []
    """Jobs that could not be done."""


def sending_status(folder: Path) -> SendingStatus:
    """Returns how everything stands."""
    spool = Spool(folder)
    waiting, refused, reasons = Counter[str](), Counter[str](), Counter[str]()
    for _, batch in spool.batches():
        waiting.update(span.session for span in batch.spans)
    for _, batch in spool.refusals():
        refused.update(span.session for span in batch.spans)
        reasons[batch.reason] += len(batch.spans)
    known = {session: SessionState() for session in (*waiting, *refused)} | states(folder)
    found = [
        SessionStatus(
            session=session,
            turns=state.turn_count,
            last_line=state.last_line,
            updated=state.updated,
            path=state.path,
            waiting=waiting[session],
            refused=refused[session],
            is_open=state.is_open,
            error=state.error,
        )
        for session, state in known.items()
    ]
    tries = spool.tries()
    return SendingStatus(
        sessions=sorted(found, key=lambda one: (one.updated, one.session)),
        waiting=waiting.total(),
        refused=refused.total(),
        bytes=spool.size(),
        reasons=dict(reasons),
        tries=tries.count,
        next_try=tries.next or None,
        last_error=tries.reason,
        aside=jobs_aside(folder),
    )
