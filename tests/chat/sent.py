"""Messages to what the API would refuse about them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plait.graph.client import build_context
from plait.record import read

Json = dict[str, Any]


def complaints(messages: Sequence[Any]) -> list[str]:
    """Return what is wrong with messages: their order, what is empty, calls and results."""
    found = [] if messages and messages[0]["role"] == "user" else ["does not begin with a user"]
    open_calls: list[str] = []
    last = ""
    for number, message in enumerate(messages):
        role, blocks = message["role"], message["content"]
        if role == last == "user":
            found.append(f"{number}: two users in a row")
        if not blocks or any(one.get("text") == "" for one in blocks):
            found.append(f"{number}: empty")
        results = [one["tool_use_id"] for one in blocks if one.get("type") == "tool_result"]
        if role == "user" and sorted(results) != sorted(open_calls):
            found.append(f"{number}: results {results} for calls {open_calls}")
        if role == "assistant":
            kept = open_calls if last == "assistant" else []
            calls = [one["id"] for one in blocks if one.get("type") == "tool_use"]
            open_calls = [*kept, *calls]
        else:
            open_calls = []
        last = role
    return found + ([f"calls {open_calls} have no result"] if open_calls else [])


def resumed(log: Path) -> list[Json]:
    """Return what the client would send when it resumes a log."""
    found = build_context(read(log), size=log.stat().st_size)
    return [{"role": role, "content": blocks} for role, blocks in found.messages]


def texts(messages: Sequence[Json]) -> Iterator[str]:
    """Yield the words of messages."""
    for message in messages:
        for block in message["content"]:
            if block.get("type") == "text":
                yield str(block["text"])
