"""An index to what was paid for in vain in sessions; what it does not know yet is read and kept."""

from collections.abc import Iterator, Sequence

from plait.archive.index.fresh import FreshIndex
from plait.archive.losing import FileLosses, ReadLosses, file_losses
from plait.archive.model import Session
from plait.index.rows import keeping_losses, kept_losses


def indexed_losses(
    warm: FreshIndex, sessions: Sequence[Session], read: ReadLosses
) -> Iterator[FileLosses]:
    """Yields what was lost in each file of some sessions, in their order."""
    known = kept_losses(warm.catalogue)
    missing = [one for one in sessions if warm.number(one) not in known]
    new = {warm.number(one): data for one, data in zip(missing, read(missing), strict=True)}
    if new:
        warm.keep([keeping_losses(new)])
    for one in sessions:
        number = warm.number(one)
        yield from file_losses(one, new.get(number) or known[number])
