"""A line of one of the usual forms to its blocks, in one typed pass.

Most lines of a log have one: blocks of the model, results of tools, a prompt. What the client
says of a result beside it is passed over.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from plait.record.message import Text, Thinking, ToolResult, ToolUse

UsualBlock: TypeAlias = Text | Thinking | ToolUse | ToolResult
OUTPUT = b"persisted"
"""Stands in every line that names an output beside the log."""
NOT_TYPED = (b'"isMeta"', b'"origin"', b'"isCompactSummary"', b'"isVisibleInTranscriptOnly"')
"""Stand in lines that the client wrote in the user's place."""


class UsualMessage(Struct, frozen=True, gc=False):
    """A message of a usual form."""

    content: str | tuple[UsualBlock, ...]


class UsualLine(Struct, frozen=True, gc=False):
    """A line with a message of a usual form."""

    type: str
    message: UsualMessage
    uuid: str
    timestamp: str


_decode = msgspec.json.Decoder(UsualLine).decode


def usual_line(data: bytes) -> UsualLine | None:
    """Returns a line of a usual form, None for any other."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def names_output(data: bytes) -> bool:
    """Tells whether a line may name an output that is kept beside the log."""
    return OUTPUT in data


def may_be_typed(data: bytes) -> bool:
    """Tells whether nothing on a line says that the client wrote it."""
    return not any(mark in data for mark in NOT_TYPED)
