"""Words, thoughts and calls to answers of a script, and those to messages of the API."""

import json
from typing import Any
from uuid import uuid4

from tests.standin.model import Answer, Json

ERROR_NAMES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def said(text: str, **more: Any) -> Answer:
    """Return an answer of one text."""
    return {"text": text, **more}


def thought(thinking: str, *blocks: Json, **more: Any) -> Answer:
    """Return an answer that begins with signed thinking."""
    signed = {"type": "thinking", "thinking": thinking, "signature": f"sig-{len(thinking)}"}
    return {"blocks": [signed, *blocks], **more}


def call(name: str, **arguments: Any) -> Json:
    """Return the block of one tool call."""
    return {"type": "tool_use", "name": name, "input": arguments}


def calls(*blocks: Json, text: str = "", **more: Any) -> Answer:
    """Return an answer that calls tools, after some words."""
    words = [{"type": "text", "text": text}] if text else []
    return {"blocks": [*words, *blocks], **more}


def failed(status: int, message: str = "made up", **more: Any) -> Answer:
    """Return an error in place of an answer."""
    return {"error": status, "message": message, **more}


def error_of(answer: Answer) -> Json:
    """Return the body of an error."""
    name = ERROR_NAMES.get(answer.get("error", 529), "api_error")
    return {"type": "error", "error": {"type": name, "message": answer.get("message", name)}}


def message_of(answer: Answer, request: Json) -> Json:
    """Return the whole message of an answer."""
    blocks = [with_id(block) for block in blocks_of(answer)]
    return {
        "id": answer.get("id") or f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": answer.get("model") or request.get("model", "made-up"),
        "content": blocks,
        "stop_reason": answer.get("stop_reason") or stop_reason(blocks),
        "stop_sequence": None,
        "usage": answer.get("usage") or usage(request, blocks),
    }


def blocks_of(answer: Answer) -> list[Json]:
    """Return the blocks of an answer; a plain text is one."""
    if "blocks" in answer:
        return list(answer["blocks"])
    return [{"type": "text", "text": answer.get("text", "ok")}]


def with_id(block: Json) -> Json:
    """Return a call with an id of its own."""
    if block.get("type") != "tool_use" or "id" in block:
        return block
    return {"id": f"toolu_{uuid4().hex[:24]}", **block}


def stop_reason(blocks: list[Json]) -> str:
    """Return why a message ended, by its blocks."""
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"


def usage(request: Json, blocks: list[Json]) -> Json:
    """Return tokens, about four characters each."""
    return {
        "input_tokens": tokens(request),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": max(1, len(json.dumps(blocks)) // 4),
    }


def tokens(request: Json) -> int:
    """Return how many tokens a conversation has, about."""
    return max(1, len(json.dumps(request.get("messages", []))) // 4)
