"""A trace while its spans are told: ids, calls and compactions that later spans hang on."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plait.conversation.model import Conversation, Item
from plait.trace.ids import span_id
from plait.trace.model import Span, SpanKind


class Where(NamedTuple):
    """The conversation that a span stands in."""

    conversation: str
    is_abandoned: bool = False


@dataclass(slots=True)
class Draft:
    """The spans of one trace so far, parents before their children."""

    trace: str
    session: str
    project: str
    turn: int
    spans: list[Span] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """The span of each call, for the hooks that ran beside it."""
    compactions: list[Span] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def add(self, where: Where, kind: SpanKind, key: str, **facts: Any) -> Span:
        """Takes in a span; where a key comes twice, the later ones are numbered."""
        name = f"{kind} {key}"
        count = self.used[name] = self.used.get(name, 0) + 1
        span = Span(
            trace=self.trace,
            id=span_id(self.trace, name if count == 1 else f"{name} {count}"),
            kind=kind,
            session=self.session,
            conversation=where.conversation,
            project=self.project,
            turn=self.turn,
            is_abandoned=facts.pop("is_abandoned", False) or where.is_abandoned,
            **facts,
        )
        self.spans.append(span)
        return span


def key_of(item: Item) -> str:
    """Returns what a record is known by: its uuid, else its place."""
    return item.uuid or f"line {item.file}:{item.line}"


def first_key(conversation: Conversation, items: tuple[Item, ...]) -> str:
    """Returns what a stretch of a conversation is known by: the first record with a uuid."""
    named = next((item.uuid for item in items if item.uuid), None)
    if named:
        return named
    return f"{conversation.id} {key_of(items[0])}" if items else conversation.id
