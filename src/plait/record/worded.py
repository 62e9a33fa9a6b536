"""A log to its records with their words, each line decoded once.

An envelope skips the texts, so that whoever wants them decodes a line again. Here both come
from one typed pass; what the client keeps beside a message is skipped but for the few facts
that matter. A line of any other form becomes a plain record.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, field

from plait.errors import SourceError
from plait.line import lines
from plait.record.kinds import KINDS, kind_of
from plait.record.model import BlockHead, Envelope, MessageHead
from plait.record.read import entry_of
from plait.record.record import Record


class InnerBlock(Struct, frozen=True, gc=False):
    """One block of a result."""

    type: str | None = None
    text: str | None = None
    citations: list[Raw] | None = None


class WordedBlock(BlockHead, frozen=True, gc=False):
    """A block with its words; the fields are as strict as those of the typed blocks."""

    text: str | None = None
    thinking: str | None = None
    input: Any = None
    content: str | list[InnerBlock] | None = None
    is_error: bool | None = None
    signature: str | None = None
    data: str | None = None
    citations: list[Raw] | None = None


class WordedMessage(MessageHead, frozen=True, gc=False):
    """A message with its words."""

    content: str | list[WordedBlock] | None = None  # type: ignore[assignment]


class View(Struct, frozen=True, gc=False):
    """What matters of the client's own view of a result."""

    agent: Any = field(default=None, name="agentId")
    agent_too: Any = field(default=None, name="agent_id")
    run: Any = field(default=None, name="runId")
    teammate: Any = field(default=UNSET, name="teammate_id")
    name: Any = None
    output: Any = field(default=None, name="persistedOutputPath")


class Worded(Envelope, frozen=True, gc=False, rename="camel"):
    """An envelope that holds the words of its message too."""

    message: WordedMessage | None = None
    tool_use_result: View | str | float | bool | list[Raw] | None = None


_worded = msgspec.json.Decoder(Worded).decode


def worded(path: Path) -> tuple[list[Record], int]:
    """Returns the records of a file and how many lines it has; none where it has gone."""
    found: list[Record] = []
    count = 0
    try:
        for line in lines(path):
            count += 1
            try:
                envelope = _worded(line.data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                entry = entry_of(line)
                if isinstance(entry, Record):
                    found.append(entry)
                continue
            kind = KINDS.get(envelope.type or "") or kind_of(envelope)
            found.append(kind(envelope, line.data, line.number, line.offset))
    except SourceError:
        return [], 0
    return found, count
