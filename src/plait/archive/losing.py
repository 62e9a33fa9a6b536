"""Files of sessions to what was paid for in vain in them, by several processes where it pays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from plait.archive.model import Session
from plait.archive.usage import SERVICE_IDS, WORTH, counted_files
from plait.conversation.waste import Loss
from plait.line import LogFile

TASK = "plait.index.losses:packed_losses"


class FileLosses(NamedTuple):
    """What was lost in one file."""

    file: LogFile
    losses: Sequence[Loss]


ReadLosses: TypeAlias = Callable[[Sequence[LogFile]], Iterator[bytes]]


def losses_by(jobs: int, lost: list[str]) -> ReadLosses:
    """Returns what reads losses; what is said of processes that died is added to a list."""

    def read(files: Sequence[LogFile]) -> Iterator[bytes]:
        items = [(str(file.path), is_agent(file)) for file in files]
        sizes = [file.size for file in files]
        if jobs == 1 or sum(sizes) < WORTH:
            from plait.index.losses import packed_losses

            yield from map(packed_losses, items)
            return
        from plait.line.workers import Workers

        with Workers(jobs, lost) as workers:
            yield from workers.each(TASK, items, sizes)

    return read


def is_agent(file: LogFile) -> bool:
    """Tells whether a file is of an agent that was sent out, not of an errand of the client."""
    return file.kind == "agent" and not (file.agent or "").startswith(SERVICE_IDS)


def read_losses(sessions: Iterable[Session], read: ReadLosses) -> Iterator[FileLosses]:
    """Yields what was lost in each file of some sessions, in their order."""
    from plait.index.losses import losses

    files = [file for one in sessions for file in counted_files(one)]
    for file, data in zip(files, read(files), strict=True):
        yield FileLosses(file, losses(data))
