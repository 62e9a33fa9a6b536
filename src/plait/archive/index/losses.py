"""An index to what was paid for in vain in sessions; what it does not know yet is read and kept."""

from collections.abc import Iterator, Sequence

from plait.archive.index.fresh import FreshIndex
from plait.archive.losing import FileLosses, ReadLosses
from plait.archive.model import Session
from plait.archive.usage import counted_files
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.losses import losses
from plait.index.rows import keeping_losses, kept_losses


def indexed_losses(
    warm: FreshIndex, sessions: Sequence[Session], read: ReadLosses
) -> Iterator[FileLosses]:
    """Yields what was lost in each file of some sessions, in their order."""
    known = kept_losses(warm.catalogue)
    missing = [one for one in sessions if warm.number(one) not in known]
    found = read([file for one in missing for file in counted_files(one)])
    new = {warm.number(one): to_bytes([next(found) for _ in counted_files(one)]) for one in missing}
    if new:
        warm.keep([keeping_losses(new)])
    for one in sessions:
        number = warm.number(one)
        held = from_bytes(new.get(number) or known[number], list[bytes])
        for file, data in zip(counted_files(one), held, strict=True):
            yield FileLosses(file, losses(data))
