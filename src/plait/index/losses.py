"""The logs of a session to what was paid for in vain in them, in few bytes, and back."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from plait.conversation.account.requests import Held, held_in
from plait.conversation.waste import Loss
from plait.conversation.waste.losses import losses_in
from plait.index.catalogue import from_bytes, to_bytes
from plait.record.lineage import sent_lines

LostIn: TypeAlias = tuple[str, Sequence[tuple[str, bool]]]
"""A session's own file, and all that are counted, each with whether it is of an agent."""


def packed_losses(session: LostIn) -> bytes:
    """Returns what was paid for in vain in each file of a session; nothing where it has gone."""
    own, files = session
    main = cache(lambda: held_in(sent_lines(Path(own))) if own else Held())
    found = [
        losses_in(sent_lines(Path(path)), is_agent=is_agent, main=Held if path == own else main)
        for path, is_agent in files
    ]
    return to_bytes(found)


def losses(data: bytes) -> list[list[Loss]]:
    """Returns what was kept of each file of a session."""
    return from_bytes(data, list[list[Loss]])
