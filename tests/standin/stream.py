"""A message to the events that stream it, and events to bytes in pieces."""

import json
from collections.abc import Iterable, Iterator

from tests.standin.answers import error_of
from tests.standin.model import Answer, Json

PIECE = 24
STREAMED = {
    "text": ("text", "text_delta", "text"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
}


def events(message: Json, answer: Answer) -> Iterator[Json]:
    """Yield the events of a message, up to where the answer breaks off."""
    full = list(whole_stream(message))
    if "error_after" in answer:
        yield from full[: answer["error_after"]]
        yield error_of(answer)
        return
    yield from full[: answer.get("drop_after")]


def whole_stream(message: Json) -> Iterator[Json]:
    """Yield all events of a message."""
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    spent = {"output_tokens": usage["output_tokens"]}
    yield {"type": "message_delta", "delta": ending, "usage": spent}
    yield {"type": "message_stop"}


def block_events(index: int, block: Json) -> Iterator[Json]:
    """Yield the events of one block."""
    yield {"type": "content_block_start", "index": index, "content_block": opened(block)}
    for delta in deltas(block):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def opened(block: Json) -> Json:
    """Return a block as it is before anything of it was streamed."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}
        case "thinking":
            return {**block, "thinking": "", "signature": ""}
        case "tool_use":
            return {**block, "input": {}} if "json" not in block else _without_json(block)
        case _:
            return block


def deltas(block: Json) -> Iterator[Json]:
    """Yield what fills a block."""
    if block["type"] in STREAMED:
        source, kind, target = STREAMED[block["type"]]
        for piece in pieces(block[source]):
            yield {"type": kind, target: piece}
    if block["type"] == "thinking":
        yield {"type": "signature_delta", "signature": block.get("signature", "")}
    if block["type"] == "tool_use":
        for piece in pieces(block.get("json") or json.dumps(block["input"])):
            yield {"type": "input_json_delta", "partial_json": piece}


def _without_json(block: Json) -> Json:
    return {name: value for name, value in block.items() if name != "json"} | {"input": {}}


def pieces(text: str) -> Iterator[str]:
    """Yield a text in short pieces."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def encoded(stream: Iterable[Json], chunk: int | None) -> Iterator[bytes]:
    """Yield events as bytes: one at a time, or all cut anywhere into chunks of one size."""
    lines = (
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in stream
    )
    if chunk is None:
        yield from lines
        return
    full = b"".join(lines)
    for start in range(0, len(full), chunk):
        yield full[start : start + chunk]
