"""What the API would reject in a request's messages."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plait.graph.client import build_context
from plait.record import read

Json = dict[str, Any]


def find_problems(messages: Sequence[Any]) -> list[str]:
    """Return the problems in messages: their order, empty ones, calls without results."""
    found = [] if messages and messages[0]["role"] == "user" else ["does not begin with a user"]
    open_calls: list[str] = []
    last = ""
    for number, message in enumerate(messages):
        role, blocks = message["role"], message["content"]
        if role == last == "user":
            found.append(f"{number}: two users in a row")
        if not blocks or any(block.get("text") == "" for block in blocks):
            found.append(f"{number}: empty")
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if role == "user" and sorted(results) != sorted(open_calls):
            found.append(f"{number}: results {results} for calls {open_calls}")
        if role == "assistant":
            kept = open_calls if last == "assistant" else []
            calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
            open_calls = [*kept, *calls]
        else:
            open_calls = []
        last = role
    return found + ([f"calls {open_calls} have no result"] if open_calls else [])


def resume_messages(log: Path) -> list[Json]:
    """Return what the client would send when it resumes a log."""
    found = build_context(read(log), size=log.stat().st_size)
    return [{"role": role, "content": blocks} for role, blocks in found.messages]


def texts(messages: Sequence[Json]) -> Iterator[str]:
    """Yield the texts of messages."""
    for message in messages:
        for block in message["content"]:
            if block.get("type") == "text":
                yield str(block["text"])
