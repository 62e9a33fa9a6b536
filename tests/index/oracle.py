"""A session to what the index must hold of it, by the conversations that `plait show` has."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plait.conversation.model import Conversation, Item, LateResult, ToolCall, UserMessage
from plait.conversation.results import read_persisted_output
from plait.conversation.walk import iter_items
from plait.index.passages import extract_words
from plait.sessions.model import Session
from plait.sessions.open_session import open_session

MOST_OUTPUT = 8 << 20
Row = tuple[Any, ...]


def told(session: Session) -> list[Conversation]:
    """Return all conversations of a session in the order of their numbers."""
    found = open_session(session).conversations
    return [*found.by_line.values(), *([found.recovered] if found.recovered else ())]


def passages(session: Session) -> Iterator[Row]:
    """Yield the passages of a session, the title left out."""
    folder = session.path.with_suffix("")
    for conversation in told(session):
        yield from passages_in(conversation, folder)


def passages_in(conversation: Conversation, folder: Path) -> Iterator[Row]:
    parts = Counter[tuple[int, int]]()
    paths: dict[str, str | None] = {}
    for turn, item in iter_items(conversation):
        place = item.file, item.line
        part = parts[place]
        parts[place] += 1
        found = extract_words(item) if item.line else None
        if found is None:
            continue
        text, path, tool = found.text, found.path, None
        if isinstance(item, ToolCall):
            paths[item.call], tool = path, item.name
        elif isinstance(item, LateResult):
            path, tool = paths.get(item.call), item.name
            beside = item.result.persisted
            text = (beside and read_persisted_output(folder, beside, MOST_OUTPUT)) or text
        response = getattr(item, "response", None)
        model = None if response is None else conversation.responses[response].model
        state = state_of(conversation)
        yield (
            *(found.kind, text, state, conversation.id, turn, *place, part),
            *(item.time, tool, model, path, *_outcome(item)),
        )


def _outcome(item: Item) -> tuple[str | None, bool]:
    """Return what the reading says became of a call, and whether it is told with its call."""
    if isinstance(item, ToolCall):
        outcome, is_with_call = item.outcome, False
    elif isinstance(item, LateResult):
        outcome, is_with_call = item.result.outcome, item.origin in ("own", "repeat")
    else:
        is_stop = isinstance(item, UserMessage) and item.kind == "interruption"
        return "interrupted" if is_stop else None, False
    return None if outcome in ("ok", "missing") else outcome, is_with_call


def state_of(conversation: Conversation) -> str:
    if conversation.id.endswith("~recovered"):
        return "recovered"
    if conversation.kind in ("agent", "service"):
        return conversation.kind
    return "active" if conversation.is_active else "abandoned"


def lines(session: Session) -> list[Row]:
    """Return the DAG-lines of a session."""
    return [
        (
            *(one.id, one.kind, state_of(one)),
            *(sum(turn.number > 0 for turn in one.turns), one.parent, one.label),
        )
        for one in told(session)
    ]


def turns(session: Session) -> list[Row]:
    """Return the turns of a session."""
    return [
        (dag, turn.number, turn.opener.kind, turn.opener.time, turn.opener.uuid)
        for dag, one in enumerate(told(session))
        for turn in one.turns
        if turn.number and turn.opener
    ]
