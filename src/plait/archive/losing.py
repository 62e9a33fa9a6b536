"""Sessions to what was paid for in vain in their files, by several processes where it pays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from plait.archive.model import Session
from plait.archive.usage import SERVICE_IDS, WORTH, counted_files
from plait.conversation.waste import Loss
from plait.line import LogFile

if TYPE_CHECKING:
    from plait.index.losses import LostIn

TASK = "plait.index.losses:packed_losses"


class FileLosses(NamedTuple):
    """What was lost in one file."""

    file: LogFile
    losses: Sequence[Loss]


ReadLosses: TypeAlias = Callable[[Sequence[Session]], Iterator[bytes]]
"""What gives the losses of each session, file by file in few bytes."""


def losses_by(jobs: int, lost: list[str]) -> ReadLosses:
    """Returns what reads losses; what is said of processes that died is added to a list."""

    def read(sessions: Sequence[Session]) -> Iterator[bytes]:
        items = [_lost_in(one) for one in sessions]
        sizes = [sum(file.size for file in counted_files(one)) for one in sessions]
        if jobs == 1 or sum(sizes) < WORTH:
            from plait.index.losses import packed_losses

            yield from map(packed_losses, items)
            return
        from plait.line.workers import Workers

        with Workers(jobs, lost) as workers:
            yield from workers.each(TASK, items, sizes)

    return read


def _lost_in(session: Session) -> "LostIn":
    main = str(session.file.path) if session.file else ""
    return main, [(str(file.path), is_agent(file)) for file in counted_files(session)]


def is_agent(file: LogFile) -> bool:
    """Tells whether a file is of an agent that was sent out, not of an errand of the client."""
    return file.kind == "agent" and not (file.agent or "").startswith(SERVICE_IDS)


def read_losses(sessions: Iterable[Session], read: ReadLosses) -> Iterator[FileLosses]:
    """Yields what was lost in each file of some sessions, in their order."""
    given = list(sessions)
    for one, data in zip(given, read(given), strict=True):
        yield from file_losses(one, data)


def file_losses(session: Session, data: bytes) -> Iterator[FileLosses]:
    """Yields what was lost in each file of a session, by what was read or kept of it."""
    from plait.index.losses import losses

    for file, found in zip(counted_files(session), losses(data), strict=True):
        yield FileLosses(file, found)
