"""A conversation to its compactions: what was there before, what is left, why and how long."""

from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Compacted, Conversation, Noted, Told
from plait.conversation.values import count_in, mapping, said
from plait.conversation.walk import walk

CompactionKind: TypeAlias = Literal[
    "whole",  # a summary took the place of the conversation
    "results",  # results of old calls were left out, nothing else
]
MICRO = "microcompact_boundary"


class Compaction(Struct, frozen=True, kw_only=True):
    """A place where the context became smaller."""

    turn: int
    """The turn that it stands in."""
    kind: CompactionKind = "whole"
    uuid: str | None = None
    time: str | None = None
    trigger: str | None = None
    """By hand (`manual`) or by the client (`auto`)."""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved: tuple[str, ...] = ()
    """The records that stay in the context word by word."""
    summary: str | None = None
    """What took the place of the rest; None where none followed."""
    summary_uuid: str | None = None


def compactions_of(conversation: Conversation) -> tuple[Compaction, ...]:
    """Returns the compactions of a conversation, in order."""
    found: list[Compaction] = []
    waiting: tuple[int, Compacted] | None = None
    for turn, item in walk(conversation):
        match item:
            case Compacted():
                if waiting:
                    found.append(whole(*waiting, None))
                waiting = (turn, item)
            case Told(kind="summary") if waiting:
                found.append(whole(*waiting, item))
                waiting = None
            case Noted(subtype=subtype) if subtype == MICRO:
                found.append(partial(turn, item))
            case _:
                pass
    return (*found, whole(*waiting, None)) if waiting else tuple(found)


def whole(turn: int, point: Compacted, summary: Told | None) -> Compaction:
    """Returns a compaction with the summary that followed it."""
    return Compaction(
        turn=turn,
        uuid=point.uuid,
        time=point.time,
        trigger=point.trigger,
        pre_tokens=point.pre_tokens,
        post_tokens=point.post_tokens,
        duration_ms=point.duration_ms,
        preserved=point.preserved,
        summary=summary.text if summary else None,
        summary_uuid=summary.uuid if summary else None,
    )


def partial(turn: int, note: Noted) -> Compaction:
    """Returns a compaction that left results out."""
    facts = mapping(mapping(note.value).get("microcompactMetadata"))
    before, saved = count_in(facts, "preTokens"), count_in(facts, "tokensSaved")
    return Compaction(
        turn=turn,
        kind="results",
        uuid=note.uuid,
        time=note.time,
        trigger=said(facts, "trigger"),
        pre_tokens=before,
        post_tokens=None if before is None or saved is None else max(before - saved, 0),
    )
