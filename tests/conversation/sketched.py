"""Drawings and generated logs to conversations, and conversations back to letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from examples.drawing import Drawing, draw
from plait.conversation.build import build_conversations
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    LateResult,
    OtherBlock,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.graph import SessionGraph, Source, build
from plait.graph.model import Place
from plait.record import Record
from tests.graph.sketch import names_of, sources_of


@dataclass(frozen=True)
class Talk:
    """Conversations with the letters of their drawing."""

    drawing: Drawing
    graph: SessionGraph
    all: Conversations
    names: dict[str, str]

    @property
    def main(self) -> Conversation:
        return self.all.active

    @property
    def picture(self) -> str:
        """Return the active conversation, one line a turn."""
        return self.turns(self.main)

    def turns(self, conversation: Conversation) -> str:
        """Return a conversation, one line a turn."""
        return "\n".join(self.turn(turn) for turn in conversation.turns)

    def turn(self, turn: Turn) -> str:
        """Return a turn in letters: its number, its opener, what stands in it."""
        opener = turn.opener.kind if turn.opener else "-"
        return f"{turn.number} {opener}: {' '.join(map(self.item, turn.items))}"

    def item(self, item: Item) -> str:
        """Return an item as the letter of its record and what it is."""
        name = self.names.get(item.uuid or "", "·")
        match item:
            case UserMessage():
                return f"{name}={item.kind}"
            case AssistantText() | AssistantThinking():
                word = "said" if isinstance(item, AssistantText) else "thought"
                return f"{name}={word}{'?' * item.is_intermediate}"
            case ToolCall():
                by = f"({self.names[item.answered_by]})" if item.answered_by else ""
                sent = "".join(f"#{self.names.get(a.split('#agent-')[1], a)}" for a in item.agents)
                return f"{name}={item.name}:{item.outcome}{by}{sent}"
            case LateResult():
                return f"{name}={item.origin}"
            case OtherBlock():
                return f"{name}=shown:{item.enclosure.kind}"
            case CompactionItem():
                return f"{name}=compacted"
            case ClientNote():
                return f"{name}={item.subtype or item.kind}"
            case BranchPoint():
                return f"→{item.kind}"
            case FoldedItems():
                return f"[{item.reason}: {' '.join(map(self.item, item.items))}]"


def talk(text: str) -> Talk:
    """Build the conversations of a drawing's first session."""
    drawing = draw(text)
    given = sources_of(drawing)
    graph = build(given)
    return Talk(drawing, graph, tell(graph, given), names_of(drawing))


def tell(graph: SessionGraph, given: Iterable[Source]) -> Conversations:
    """Return the conversations of a graph whose records are at hand."""
    shelf = {source.file.path: list(source.records) for source in given}
    at = {
        (path, record.line or number): record
        for path, records in shelf.items()
        for number, record in enumerate(records, 1)
    }

    def record_at(place: Place) -> Record | None:
        return at.get((graph.files[place.file].path, place.line))

    return build_conversations(graph, next(iter(graph.sessions)), record_at)


def uuids_in(items: Iterable[Item]) -> Iterator[str]:
    """Yield the records of items, each once, folded ones too."""
    seen: set[str] = set()
    waiting = list(items)
    for item in waiting:
        if isinstance(item, FoldedItems):
            waiting.extend(item.items)
        elif item.uuid and item.uuid not in seen:
            seen.add(item.uuid)
            yield item.uuid
