"""Messages that a client sent, and those that Plait says it sends, to the first that differ."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, TypeAlias

Block: TypeAlias = dict[str, Any]
Message: TypeAlias = tuple[str, list[Block]]
REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")
LOADED = ("Tool loaded.", "[Tool references removed - tools no longer available]")
"""What a client says of tools, as many as it has itself."""


def bare_messages(messages: Iterable[tuple[str, object]], probe: str = "") -> list[Message]:
    """Returns messages without what varies from run to run, and without the probe."""
    found = ((role, list(_blocks(content, probe))) for role, content in messages)
    return [(role, blocks) for role, blocks in found if role != "system" and blocks]


def _blocks(content: object, probe: str) -> Iterator[Block]:
    for block in _listed(content):
        kept = _bare(block)
        if kept.get("type") != "text" or (kept["text"] and not (probe and probe in kept["text"])):
            yield kept


def _listed(content: object) -> Iterator[Block]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and (
            block.get("type") != "text" or isinstance(block.get("text"), str)
        ):
            yield block


def _bare(block: Block) -> Block:
    kept = {key: value for key, value in block.items() if key not in VARYING}
    if kept.get("type") == "text":
        kept["text"] = _words(kept["text"])
    if kept.get("type") == "tool_result":
        kept["content"] = _result(kept.get("content"))
    return kept


def _result(content: object) -> object:
    parts = [_bare(part) for part in _listed(content) if part.get("type") != "tool_reference"]
    return [part for part in parts if part.get("type") != "text" or part["text"]]


def _words(text: str) -> str:
    words = REMINDER.sub("", text).strip()
    return "" if words in LOADED else words


def first_difference(ours: list[Message], theirs: list[Message]) -> tuple[int, str] | None:
    """Returns the number of the first message that differs, and how; None where none does."""
    for number, (one, other) in enumerate(zip_longest(ours, theirs), 1):
        if one is None:
            return number, "the client sends one more"
        if other is None:
            return number, "the client does not send it"
        if _same(one) != _same(other):
            return number, _how(one, other)
    return None


def _same(message: Message) -> str:
    return json.dumps(message, sort_keys=True)


def _how(ours: Message, theirs: Message) -> str:
    if ours[0] != theirs[0]:
        return f"it is the {theirs[0]}'s, not the {ours[0]}'s"
    mine, its = (", ".join(str(one.get("type")) for one in found[1]) for found in (ours, theirs))
    if mine != its:
        return f"it has {its}, not {mine}"
    return "its words are others"
