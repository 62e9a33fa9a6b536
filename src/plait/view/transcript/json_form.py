"""A transcript to JSON: the documented, versioned form for programs.

A call carries its result, unless the model went on before it arrived: then `answered` stands at
its own place and the call names it. What a depth does not show is left out.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Conversation,
    Conversations,
    Folded,
    Item,
    Turn,
)
from plait.conversation.totals import Totals
from plait.view.costs import agents_sent
from plait.view.passages.call_view import without_surrogates
from plait.view.passages.stream import Ends, Entry, FoldBegins, Manner, Stream
from plait.view.transcript.heading import Heading, Transcript
from plait.view.usage import tokens_object

FORMAT = "plait-conversation/1"
LONG = 200
BASE64_KEYS = frozenset({"data", "base64"})
OF_CONVERSATION = "id kind label agent call parent attachment started ended".split()
OF_TURN = (
    "number opener started ended duration_ms working_ms asking_ms waited_ms is_interrupted "
    "unseen responses"
).split()


class TranscriptForm(Struct, frozen=True):
    """A transcript as it is written."""

    format: str
    name: str
    heading: Heading
    conversation: dict[str, Any]
    agents: list[dict[str, Any]]


def json_of(transcript: Transcript, manner: Manner) -> bytes:
    """Returns a transcript as one line of JSON."""
    stream = Stream(transcript.by_line, replace(manner, agents="apart"))
    found = TranscriptForm(
        FORMAT,
        transcript.name,
        transcript.heading,
        _conversation_form(transcript.conversation, stream),
        [_conversation_form(one, stream) for one in agents_of(transcript, manner)],
    )
    return encoded(found)


def encoded(value: object) -> bytes:
    """Returns a value as one line of JSON, lone surrogates as their escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
        return without_surrogates(text).encode()


def _conversation_form(told: Conversation, stream: Stream) -> dict[str, Any]:
    return {
        **{name: getattr(told, name) for name in OF_CONVERSATION},
        "files": [PurePath(file).name for file in told.files],
        "turns": [_turn_form(told, turn, stream) for turn in told.turns],
        "responses": told.responses,
    }


def _turn_form(told: Conversation, turn: Turn, stream: Stream) -> dict[str, Any]:
    return {
        **{name: getattr(turn, name) for name in OF_TURN},
        "opener": turn.opener.uuid if turn.opener else None,
        "items": _items_form(told, turn, stream),
    }


def _items_form(told: Conversation, turn: Turn, stream: Stream) -> list[Item]:
    """Returns items, each result once; the client's own view of it where all is wanted."""
    has_detail = stream.manner.depth == "all"
    folds: list[Folded] = []
    found: list[list[Item]] = [[]]
    for passage in stream.turn(told, turn):
        if isinstance(passage, Entry):
            found[-1].append(_item_form(passage, has_detail=has_detail))
        elif isinstance(passage, FoldBegins):
            folds.append(passage.fold)
            found.append([])
        elif isinstance(passage, Ends):
            inner = tuple(found.pop())
            found[-1].append(replace(folds.pop(), items=inner))
    return found[0]


def _item_form(entry: Entry, *, has_detail: bool) -> Item:
    match entry.item:
        case Called(result=result) as called if result is not None:
            kept = result if has_detail else replace(result, detail=None)
            return replace(called, result=kept if entry.has_result else None)
        case Answered(result=result) as answer if not has_detail:
            return replace(answer, result=replace(result, detail=None))
        case item:
            return item


def agents_of(transcript: Transcript, manner: Manner) -> list[Conversation]:
    """Returns the agents of a transcript, and theirs, those that no call names last."""
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


def show_object(
    found: Conversations,
    shown: Conversation,
    turns: Sequence[Turn],
    totals: Totals,
    *,
    has_data: bool,
) -> dict[str, Any]:
    """Returns a conversation, or some of its turns, with the agents that were sent out there."""
    items = (item for turn in turns for item in turn.items)
    agents = [found.by_line[name] for name in agents_sent(items, found.by_line)]
    recovered = found.recovered if shown.id == found.main else None
    value = {
        **_conversation_object(shown, turns),
        "totals": {**builtins(totals), "tokens": tokens_object(totals.tokens)},
        "agents": [_conversation_object(one, one.turns) for one in agents],
        "others": [
            _other_object(one)
            for one in found.by_line.values()
            if one is not shown and one not in agents
        ],
        "recovered": _conversation_object(recovered, recovered.turns) if recovered else None,
    }
    return value if has_data else without_data(value)


def _conversation_object(shown: Conversation, turns: Sequence[Turn]) -> dict[str, Any]:
    value = builtins(shown)
    wanted = {number for turn in turns for number in turn.responses}
    value["turns"] = [_turn_object(turn) for turn in turns]
    value["responses"] = [
        {"number": number, **builtins(response)}
        for number, response in enumerate(shown.responses)
        if number in wanted
    ]
    return value


def _turn_object(turn: Turn) -> dict[str, Any]:
    value = builtins(turn)
    value["opener"] = turn.opener.uuid if turn.opener else None
    value["asking_ms"] = turn.asking_ms
    return value


def _other_object(other: Conversation) -> dict[str, Any]:
    names = ("id", "kind", "title", "label", "is_active", "parent", "started", "ended")
    return {name: getattr(other, name) for name in names} | {"turns": len(other.turns)}


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
