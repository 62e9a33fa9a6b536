"""Transcripts as JSON: the documented, versioned form for programs.

A call contains its result, unless the model continued before it arrived: then the result is at its
own place and the call refers to it. What a depth does not show is left out.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec.structs import replace

from plait.conversation.costs import Totals, iter_agents_launched
from plait.conversation.model import (
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    LateResult,
    ToolCall,
    Turn,
)
from plait.conversation.usage import tokens_to_json
from plait.view.calls import escape_surrogates
from plait.view.passages import FoldStart, ItemPassage, PassageStream, RenderOptions, SectionEnd
from plait.view.transcript.heading import Transcript

FORMAT = "plait-conversation/1"
LONG = 200

SUMMARY = "id kind title label is_active parent started ended".split()
"""What is said of the other conversations of a session."""
OF_CONVERSATION = "id kind label agent call parent attachment started ended".split()
OF_TURN = (
    "number opener started ended duration_ms working_ms asking_ms waited_ms is_interrupted "
    "unseen responses"
).split()


def encode_transcript(transcript: Transcript, options: RenderOptions) -> bytes:
    """Encode a transcript as one line of JSON."""
    stream = PassageStream(transcript.by_line, replace(options, agents="apart"))
    return encode_json(
        {
            "format": FORMAT,
            "name": transcript.name,
            "heading": transcript.heading,
            "conversation": _build_conversation(transcript.conversation, stream),
            "agents": [
                _build_conversation(agent, stream) for agent in list_agents(transcript, options)
            ],
        }
    )


def encode_json(value: object) -> bytes:
    """Encode a value as one line of JSON, with lone surrogates as escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
        return escape_surrogates(text).encode()


def _build_conversation(conversation: Conversation, stream: PassageStream) -> dict[str, Any]:
    return {
        **{name: getattr(conversation, name) for name in OF_CONVERSATION},
        "files": [PurePath(file).name for file in conversation.files],
        "turns": [
            {
                **{name: getattr(turn, name) for name in OF_TURN},
                "opener": turn.opener.uuid if turn.opener else None,
                "items": _list_items(conversation, turn, stream),
            }
            for turn in conversation.turns
        ],
        "responses": conversation.responses,
    }


def _list_items(conversation: Conversation, turn: Turn, stream: PassageStream) -> list[Item]:
    """Return items, each result once; the client's own result record only at depth "all"."""
    has_detail = stream.options.depth == "all"
    folds: list[FoldedItems] = []
    stack: list[list[Item]] = [[]]
    for passage in stream.iter_turn(conversation, turn):
        if isinstance(passage, ItemPassage):
            item = passage.item
            if isinstance(item, ToolCall | LateResult) and item.result:
                result = item.result if has_detail else replace(item.result, detail=None)
                is_elsewhere = isinstance(item, ToolCall) and not passage.has_result
                item = replace(item, result=None if is_elsewhere else result)
            stack[-1].append(item)
        elif isinstance(passage, FoldStart):
            folds.append(passage.fold)
            stack.append([])
        elif isinstance(passage, SectionEnd):
            inner = tuple(stack.pop())
            stack[-1].append(replace(folds.pop(), items=inner))
    return stack[0]


def list_agents(transcript: Transcript, options: RenderOptions) -> list[Conversation]:
    """Return the agents of a transcript, nested ones included, those that no call names last."""
    if options.agents == "files" or not options.has_tools:
        return []
    agents: dict[str, Conversation] = {}
    waiting: list[Any] = [transcript.conversation]
    while waiting:
        conversation = waiting.pop()
        for item in conversation.items():
            for name in item.agents if isinstance(item, ToolCall) else ():
                if name not in agents and name in transcript.by_line:
                    agents[name] = transcript.by_line[name]
                    waiting.append(agents[name])
        if not waiting:
            unnamed = [name for name in transcript.unnamed if name not in agents]
            agents.update((name, transcript.by_line[name]) for name in unnamed)
            waiting += [agents[name] for name in unnamed]
    return list(agents.values())


def conversation_to_json(
    conversations: Conversations,
    conversation: Conversation,
    turns: Sequence[Turn],
    totals: Totals,
    *,
    has_data: bool,
) -> dict[str, Any]:
    """Return a conversation, or some of its turns, with the agents started there."""
    items = (item for turn in turns for item in turn.items)
    agents = [
        conversations.by_line[name] for name in iter_agents_launched(items, conversations.by_line)
    ]
    recovered = conversations.recovered if conversation.id == conversations.main else None
    value = {
        **_to_json(conversation, turns),
        "totals": {**to_plain(totals), "tokens": tokens_to_json(totals.tokens)},
        "agents": [_to_json(other, other.turns) for other in agents],
        "others": [
            {name: getattr(other, name) for name in SUMMARY} | {"turns": len(other.turns)}
            for other in conversations.by_line.values()
            if other is not conversation and other not in agents
        ],
        "recovered": _to_json(recovered, recovered.turns) if recovered else None,
    }
    return value if has_data else strip_data(value)


def _to_json(conversation: Conversation, turns: Sequence[Turn]) -> dict[str, Any]:
    value = to_plain(conversation)
    numbers = {number for turn in turns for number in turn.responses}
    value["turns"] = [
        {
            **to_plain(turn),
            "opener": turn.opener.uuid if turn.opener else None,
            "asking_ms": turn.asking_ms,
        }
        for turn in turns
    ]
    value["responses"] = [
        {"number": number, **to_plain(response)}
        for number, response in enumerate(conversation.responses)
        if number in numbers
    ]
    return value


def to_plain(value: object) -> dict[str, Any]:
    """Return a value as plain objects and lists."""
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def strip_data(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the data of images; the rest stays."""
    holder: dict[str, Any] = {"": value}
    waiting: list[Any] = [holder]
    while waiting:
        container = waiting.pop()
        for key, child in (
            container.items() if isinstance(container, dict) else enumerate(container)
        ):
            if isinstance(child, Mapping):
                data_keys = {"base64", "data"} if child.get("type") == "base64" else {"base64"}
                container[key] = {
                    name: item
                    for name, item in child.items()
                    if not (name in data_keys and isinstance(item, str) and len(item) >= LONG)
                }
                waiting.append(container[key])
            elif isinstance(child, list | tuple):
                container[key] = list(child)
                waiting.append(container[key])
    stripped: dict[str, Any] = holder[""]
    return stripped
