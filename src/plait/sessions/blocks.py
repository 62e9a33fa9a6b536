"""Events of a growing session: blocks of its conversation that are added, updated or cleared.

For programs that show a session while it is written: they keep a list of blocks and apply each
event to it. The blocks are those of the active conversation since its last compaction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from threading import Event
from typing import TypeAlias, TypeGuard

from msgspec import Struct

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    ClientNote,
    CompactionItem,
    Conversation,
    Item,
    LateResult,
    OtherBlock,
    ToolCall,
    UserMessage,
)
from plait.errors import SourceError
from plait.sessions.library import SessionLibrary
from plait.sessions.model import Session
from plait.sessions.watch import POLL, watch_changes

BlockItem: TypeAlias = (
    UserMessage
    | AssistantText
    | AssistantThinking
    | ToolCall
    | LateResult
    | OtherBlock
    | CompactionItem
    | ClientNote
)


class Block(Struct, frozen=True):
    """A part of a conversation: a prompt, text of the model, a call with its result, a note."""

    id: str
    """Stays the same while the session grows: the id of a call, else of its record."""
    turn: int
    item: BlockItem


class BlockAdded(Struct, frozen=True):
    """A block was added at the end."""

    block: Block


class BlockUpdated(Struct, frozen=True):
    """A block has changed: the result of a call arrived, or the summary of a compaction."""

    block: Block


class Cleared(Struct, frozen=True):
    """All blocks so far are gone: the session was compacted or rewound. What remains is added
    again.
    """


BlockEvent: TypeAlias = BlockAdded | BlockUpdated | Cleared


def list_blocks(conversation: Conversation) -> list[Block]:
    """Return the blocks of a conversation since its last compaction."""
    blocks: list[Block] = []
    counts: Counter[str] = Counter()
    for turn in conversation.turns:
        for item in turn.items:
            if not _is_block(item):
                continue
            if isinstance(item, CompactionItem):
                blocks.clear()
            name = item.call if isinstance(item, ToolCall) else item.uuid
            name = name or f"{item.file}:{item.line}"
            counts[name] += 1
            number = f"#{counts[name]}" if counts[name] > 1 else ""
            blocks.append(Block(f"{name}{number}", turn.number, item))
    return blocks


def _is_block(item: Item) -> TypeGuard[BlockItem]:
    if isinstance(item, AssistantText | AssistantThinking | ToolCall):
        return not item.is_intermediate
    if isinstance(item, LateResult):  # a call holds its own result
        return item.origin in ("foreign", "orphan")
    if isinstance(item, ClientNote):
        return item.kind == "system"
    return isinstance(item, UserMessage | OtherBlock | CompactionItem)


def compare_blocks(before: Iterable[Block], after: Iterable[Block]) -> Iterator[BlockEvent]:
    """Yield the events that lead from some blocks to others."""
    known: Mapping[str, Block] = {block.id: block for block in before}
    now = list(after)
    if [block.id for block in now[: len(known)]] != list(known):
        yield Cleared()
        known = {}
    for block in now:
        if block.id not in known:
            yield BlockAdded(block)
        elif block != known[block.id]:
            yield BlockUpdated(block)


def follow_session(
    library: SessionLibrary, session: Session, *, poll: float = POLL, stop: Event | None = None
) -> Iterator[BlockEvent]:
    """Yield the blocks of a session, then the changes while it is written."""
    path, files = session.path, session.files
    blocks = list_blocks(session.conversations.active)
    yield from compare_blocks((), blocks)
    for _ in watch_changes([root.logs for root in library.roots], poll_seconds=poll, stop=stop):
        library = library.reopen()
        found = next((item for item in library.sessions if item.path == path), None)
        if found is None or found.files == files:
            continue
        try:
            now = list_blocks(found.conversations.active)
        except SourceError:  # it was removed or replaced just now: the next change brings it
            continue
        files = found.files
        yield from compare_blocks(blocks, now)
        blocks = now
