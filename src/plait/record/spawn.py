"""Records and side files to what they say of the agents that a call sent out.

call      {"name":"Agent","input":{"prompt":…,"name":…}}      the prompt and the name
result    "toolUseResult":{"agentId":…} or {"runId":…}         the agent or the workflow run
words     "agentId: a1b2c3 (use SendMessage …)"                where the result says no more
meta      agent-<id>.meta.json {"toolUseId":…}                 the call itself
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import UNSET

from plait.record.message import ToolResult, blocks_of
from plait.record.read import Worded, WordedBlock
from plait.record.record import Record

IN_WORDS = re.compile(r"\bagentId: ([\w@-]+)")
HINT = "agentId: "


class Named(NamedTuple):
    """The agent, the workflow run or the teammate that a result names."""

    agent: str | None
    run: str | None
    name: str | None
    is_in_words: bool


def named_by(record: Record) -> Named | None:
    """Returns what a tool's result says that it started.

    Where the words are at hand already, a look at them is quicker than to decode.
    """
    if isinstance(record.envelope, Worded) and not _names_any(record.envelope):
        return None
    spoken = record.spoken
    view = spoken.tool_use_result if spoken else record.fields.get("toolUseResult")
    if isinstance(view, Mapping) and (found := _in_view(view)):
        return found
    words = _words_of(record)
    match = IN_WORDS.search(words) if HINT in words else None
    return Named(match[1], None, None, is_in_words=True) if match else None


def _names_any(envelope: Worded) -> bool:
    view = envelope.view_facts
    if view and (view.agent or view.agent_too or view.run or view.teammate is not UNSET):
        return True
    content = envelope.message.content if envelope.message else None
    return not isinstance(content, list) or any(HINT in text for text in _told_by(content))


def _told_by(blocks: list[WordedBlock]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block.content, str):
            yield block.content
        else:
            yield from (inner.text for inner in block.content or () if inner.text)


def _in_view(view: Mapping[str, Any]) -> Named | None:
    agent = _text_of(view, "agentId") or _text_of(view, "agent_id")
    run = _text_of(view, "runId")
    name = _text_of(view, "name") if "teammate_id" in view else None
    return Named(agent, run, name, is_in_words=False) if agent or run or name else None


def _text_of(view: Mapping[str, Any], key: str) -> str | None:
    value = view.get(key)
    return value if isinstance(value, str) and value else None


def _words_of(record: Record) -> str:
    message = record.message
    results = [one for one in message.content if isinstance(one, ToolResult)] if message else []
    inner = (block for one in results for block in blocks_of(one.content))
    return "\n".join(getattr(block, "text", "") for block in inner)
