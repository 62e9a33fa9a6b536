"""A log to what was paid for in vain in it, in few bytes, and back."""

from pathlib import Path

from plait.conversation.waste import Loss
from plait.conversation.waste.losses import losses_in
from plait.index.catalogue import from_bytes, to_bytes
from plait.record.lineage import sent_lines


def losses_of(path: Path, *, is_agent: bool) -> bytes:
    """Returns what was paid for in vain in a file; nothing where it has gone."""
    return to_bytes(losses_in(sent_lines(path), is_agent=is_agent))


def packed_losses(file: tuple[str, bool]) -> bytes:
    """Returns the same for a path as text, which a worker is given."""
    return losses_of(Path(file[0]), is_agent=file[1])


def losses(data: bytes) -> list[Loss]:
    """Returns what was kept of a file."""
    return from_bytes(data, list[Loss])
