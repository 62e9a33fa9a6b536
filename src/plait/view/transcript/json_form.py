"""A transcript to JSON: the documented, versioned form for programs.

A call carries its result, unless the model went on before it arrived: then `answered` stands at
its own place and the call names it. What a depth does not show is left out.
"""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import Answered, Called, Conversation, Folded, Item, Response, Turn
from plait.conversation.pair import story
from plait.view.transcript.model import Heading, Manner, Transcript, seen_items

FORMAT = "plait-conversation/1"


class TurnForm(Struct, frozen=True):
    """A turn as it is written."""

    number: int
    opener: str | None
    """The record that opens it."""
    started: str | None
    ended: str | None
    duration_ms: float | None
    working_ms: float | None
    asking_ms: float
    waited_ms: float | None
    is_interrupted: bool
    responses: tuple[int, ...]
    items: list[Item]


class ConversationForm(Struct, frozen=True):
    """A conversation as it is written."""

    id: str
    kind: str
    label: str | None
    agent: str | None
    call: str | None
    parent: str | None
    attachment: str | None
    started: str | None
    ended: str | None
    files: list[str]
    turns: list[TurnForm]
    responses: tuple[Response, ...]


class TranscriptForm(Struct, frozen=True):
    """A transcript as it is written."""

    format: str
    name: str
    heading: Heading
    conversation: ConversationForm
    agents: list[ConversationForm]


def json_of(transcript: Transcript, manner: Manner) -> bytes:
    """Returns a transcript as one line of JSON."""
    found = TranscriptForm(
        FORMAT,
        transcript.name,
        transcript.heading,
        _conversation_form(transcript.conversation, manner),
        [_conversation_form(one, manner) for one in _agents_of(transcript, manner)],
    )
    try:
        return msgspec.json.encode(found)
    except UnicodeEncodeError:  # a lone surrogate stands as its escape
        return json.dumps(msgspec.to_builtins(found), separators=(",", ":")).encode()


def _conversation_form(told: Conversation, manner: Manner) -> ConversationForm:
    return ConversationForm(
        told.id,
        told.kind,
        told.label,
        told.agent,
        told.call,
        told.parent,
        told.attachment,
        told.started,
        told.ended,
        [PurePath(file).name for file in told.files],
        [_turn_form(turn, manner) for turn in told.turns],
        told.responses,
    )


def _turn_form(turn: Turn, manner: Manner) -> TurnForm:
    return TurnForm(
        turn.number,
        turn.opener.uuid if turn.opener else None,
        turn.started,
        turn.ended,
        turn.duration_ms,
        turn.working_ms,
        turn.asking_ms,
        turn.waited_ms,
        turn.is_interrupted,
        turn.responses,
        _items_form(seen_items(turn.items, manner), manner),
    )


def _items_form(items: list[Item], manner: Manner) -> list[Item]:
    has_detail = manner.depth == "all"
    found: list[Item] = []
    for item, has_result in story(items):
        match item:
            case Called(result=result) if result is not None:
                kept = result if has_detail else replace(result, detail=None)
                found.append(replace(item, result=kept if has_result else None))
            case Answered(result=result) if not has_detail:
                found.append(replace(item, result=replace(result, detail=None)))
            case Folded():
                inner = _items_form(seen_items(item.items, manner), manner)
                found.append(replace(item, items=tuple(inner)))
            case _:
                found.append(item)
    return found


def _agents_of(transcript: Transcript, manner: Manner) -> list[Conversation]:
    if manner.agents == "files" or not manner.has_tools:
        return []
    found: dict[str, Conversation] = {}
    waiting: list[Any] = [transcript.conversation]
    while waiting:
        told = waiting.pop()
        for item in told.items():
            for name in item.agents if isinstance(item, Called) else ():
                if name not in found and name in transcript.by_line:
                    found[name] = transcript.by_line[name]
                    waiting.append(found[name])
        if not waiting:
            rest = [name for name in transcript.unnamed if name not in found]
            found.update((name, transcript.by_line[name]) for name in rest)
            waiting += [found[name] for name in rest]
    return list(found.values())


LONG = 200
BASE64_KEYS = frozenset({"data", "base64"})


def builtins(value: object) -> dict[str, Any]:
    """Returns a value as plain objects and lists."""
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def without_data(value: dict[str, Any]) -> dict[str, Any]:
    """Returns an object in which the data of pictures is left out; what is around it stays."""
    holder: dict[str, Any] = {"": value}
    waiting: list[Any] = [holder]
    while waiting:
        one = waiting.pop()
        for key, inner in one.items() if isinstance(one, dict) else enumerate(one):
            if isinstance(inner, Mapping):
                one[key] = {k: v for k, v in inner.items() if not _is_data(inner, k, v)}
                waiting.append(one[key])
            elif isinstance(inner, list | tuple):
                one[key] = list(inner)
                waiting.append(one[key])
    found: dict[str, Any] = holder[""]
    return found


def _is_data(around: Mapping[str, Any], key: str, value: object) -> bool:
    if key not in BASE64_KEYS or not isinstance(value, str) or len(value) < LONG:
        return False
    return key == "base64" or around.get("type") == "base64"
