"""Something that was paid for and need not have been."""

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from plait.conversation.account.requests import Asked

WasteKind: TypeAlias = Literal[
    "pause",
    "process",
    "model",
    "changed",
    "rewind",
    "unexplained",
    "reread",
    "giant",
    "unused",
    "startup",
    "retry",
    "abandoned",
    "oversized",
]
"""Causes of what was written again though no less is sent since, and:

    reread      a file that was read before, and stood in the context
    giant       a large output that is sent with every request
    unused      a large output that nothing later names
    startup     an agent whose first request cost more than all that it answered
    retry       a call that had failed, in the same words
    abandoned   answers on a branch that was left
    oversized   a short prompt, answered shortly and without a call, of a dear model
"""


class Loss(Struct, frozen=True, gc=False, array_like=True):
    """Tokens that were paid for, by the way they were, of one request.

    What would have been paid for instead is taken off, so that a figure may be negative.
    """

    kind: WasteKind
    response: str
    """The request that paid, or the first of those that did."""
    line: int
    model: str | None
    time: float | None
    entrypoint: str | None
    input: float = 0
    output: float = 0
    write_5m: float = 0
    write_1h: float = 0
    read: float = 0
    total_input: int = 0
    """Of the request: a long one is dearer."""
    certain: float = 1.0
    """The share that was surely in vain."""
    subject: str = ""
    """What it was about: a file, a command, an agent."""
    uuid: str | None = None
    before: str | None = None
    """The response that the request goes on from."""


def loss_of(kind: WasteKind, asked: "Asked", **figures: Any) -> Loss:
    """Returns what was lost with a request."""
    return Loss(
        kind,
        asked.key,
        asked.line,
        asked.model,
        asked.sent.timestamp() if asked.sent else None,
        asked.first.entrypoint,
        total_input=asked.tokens.total_input,
        uuid=asked.first.uuid,
        before=asked.before.key if asked.before else None,
        **figures,
    )
