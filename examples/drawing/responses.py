"""Responses of the model: one line per block, all with the same message id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from .cache import asked
from .meter import output_weight, usage_fields, weight
from .model import Call, DrawingError, Field, Json, Statement, Text, Word
from .names import call_id, message_id, request_id, signature, uuid_of
from .prompts import prompt_id
from .sheet import DrawnCall
from .stroke import Stroke

_OPTIONS: Final = frozenset(("json", "cut", "model", "stop", "status", "as"))


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a response, and its name if it is a call."""

    value: Json
    call: str = ""


def response(stroke: Stroke) -> None:
    """Draw a response: each block on its own line, or all `together` on one.

    The last line has the name of the record, those before it `NAME.1`, `NAME.2`…
    """
    found = _blocks(stroke)
    groups = [found] if "together" in stroke.flags else [[block] for block in found]
    parent, time = stroke.parent, stroke.time
    for index, group in enumerate(groups, 1):
        is_last = index == len(groups)
        name = stroke.name if is_last else f"{stroke.name}.{index}"
        uuid = stroke.sheet.own_uuid(name)
        message = _message(stroke, group, found, is_last=is_last)
        _note_calls(stroke, uuid, group)
        stroke.put(_body(stroke, message, index - 1, uuid, time), name, parent)
        parent = uuid
        if not is_last:
            key = f"{stroke.sheet.name}/{name}"
            time = stroke.sheet.clock.tick("", stroke.line, "block", key=key)


def api_error(stroke: Stroke) -> None:
    """Build the line of an API error instead of an answer."""
    text = stroke.text("API Error: 529 Overloaded. Try again in a moment.")
    status = stroke.statement.fields().get("status", 529)
    message = {
        "diagnostics": None,
        "id": uuid_of(f"message {stroke.name}", stroke.sheet.name),
        "container": None,
        "model": "<synthetic>",
        "role": "assistant",
        "stop_details": None,
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": _no_usage(),
        "content": [{"type": "text", "text": text}],
        "context_management": None,
    }
    stroke.put(
        {
            "type": "assistant",
            "uuid": stroke.uuid,
            "timestamp": stroke.time,
            "message": message,
            "requestId": request_id(f"{stroke.sheet.name}/{stroke.name}"),
            "error": "server_error" if status >= 500 else "unknown",
            "isApiErrorMessage": True,
            "apiErrorStatus": status,
        }
    )


def message_key(statement: Statement, file: str) -> str:
    """Return the key of the response that a statement is part of."""
    return f"{file}/{statement.same or statement.name}"


def _blocks(stroke: Stroke) -> list[_Block]:
    found: list[Json] = []
    for token in stroke.statement.tokens:
        match token:
            case Text(value) | Field("text", value):
                found.append({"type": "text", "text": value})
            case Field("think", value):
                found.append(_thinking(stroke, value, len(found)))
            case Word("redacted"):
                data = signature(f"{stroke.name}/{len(found)}", 240)
                found.append({"type": "redacted_thinking", "data": data})
            case Call(tool, given):
                found.append(_tool_use(stroke, tool, given))
            case Field("block", value):
                found.append(value)
            case Field(key, value) if key not in _OPTIONS:
                _add_input(stroke, found, key, value)
            case _:
                pass
    return _named(stroke, found or [_default_block(stroke)])


def _default_block(stroke: Stroke) -> Json:
    if stroke.kind.subtype == "call":
        return _tool_use(stroke, "Bash", {"command": f"echo {stroke.name}"})
    return {"type": "text", "text": f"answer {stroke.name}"}


def _thinking(stroke: Stroke, text: str, index: int) -> Json:
    sign = signature(f"{stroke.sheet.name}/{stroke.name}/{index}", 120 + len(text) // 2)
    return {"type": "thinking", "thinking": text, "signature": sign}


def _tool_use(stroke: Stroke, tool: str, given: Json) -> Json:
    block: Json = {"type": "tool_use", "id": "", "name": tool, "input": dict(given)}
    if stroke.is_before(2, 1, 300):
        block["caller"] = {"type": "direct"}
    return block


def _add_input(stroke: Stroke, found: list[Json], key: str, value: Any) -> None:
    if not found or found[-1]["type"] != "tool_use":
        raise DrawingError(stroke.line, f"'{key}' has no call to belong to")
    found[-1]["input"][key] = value


def _named(stroke: Stroke, found: list[Json]) -> list[_Block]:
    """Give each call its name and id: its `as` name, or else that of its line."""
    aliases = [t.value for t in stroke.statement.tokens if isinstance(t, Field) and t.key == "as"]
    calls = [block for block in found if block["type"] == "tool_use"]
    if aliases and len(aliases) != len(calls):
        raise DrawingError(stroke.line, "name all calls of a record with 'as', or none")
    matching = []
    for index, block in enumerate(found, 1):
        name = ""
        if block["type"] == "tool_use":
            place = stroke.name if len(calls) == 1 else f"{stroke.name}.{index}"
            name = aliases.pop(0) if aliases else place
            block["id"] = call_id(f"{stroke.sheet.name}/{name}")
        matching.append(_Block(block, name))
    return matching


def _note_calls(stroke: Stroke, uuid: str, group: list[_Block]) -> None:
    """Remember the calls on a line, for their results and for the agents they start."""
    sheet = stroke.sheet
    message = message_id(message_key(stroke.statement, sheet.name))
    sheet.message = message
    for block in group:
        if not block.call:
            continue
        if block.call in sheet.calls:
            raise DrawingError(stroke.line, f"a second call is named '{block.call}'")
        value = block.value
        call = DrawnCall(
            block.call,
            value["id"],
            value["name"],
            value["input"],
            uuid,
            message,
            prompt_id(stroke),
        )
        siblings = [other for other in sheet.latest_calls if other.message == message]
        sheet.calls[block.call] = sheet.calls_by_line[uuid] = call
        sheet.latest_calls = [*siblings, call]


def _message(stroke: Stroke, group: list[_Block], found: list[_Block], *, is_last: bool) -> Json:
    settings = stroke.sheet.settings
    key = message_key(stroke.statement, stroke.sheet.name)
    options = stroke.statement.fields()
    output = stroke.sheet.outputs.get(key) or output_weight(stroke.statement)
    figures = _figures(stroke, key, output)
    thoughts = [block.value["thinking"] for block in found if "thinking" in block.value]
    thinking = sum(map(weight, thoughts))
    reason = options.get("stop", "tool_use" if key in stroke.sheet.calling else "end_turn")
    is_known = is_last or not stroke.is_before(2, 1, 92)
    usage = usage_fields(figures, settings, is_last=is_last, thinking=thinking)
    matching = {"id": message_id(key), "type": "message", "role": "assistant"}
    model = {"model": options.get("model", settings.model)}
    message = {
        **({**model, **matching} if stroke.is_before(2, 1, 300) else {**matching, **model}),
        "content": [block.value for block in group],
        "stop_reason": reason if is_known else None,
        "stop_sequence": None,
        "usage": usage,
    }
    return message if stroke.is_before(2, 1, 92) else {**message, "stop_details": None}


def _figures(stroke: Stroke, key: str, output: int) -> Json:
    sheet = stroke.sheet
    if sheet.settings.cache and key not in sheet.meter.spent:
        model = str(stroke.statement.fields().get("model", sheet.settings.model))
        sheet.meter.sends(*asked(sheet, stroke.parent, model, stroke.line))
    return sheet.meter.usage(key, output)


def _body(stroke: Stroke, message: Json, index: int, uuid: str, time: str) -> Json:
    key, settings = message_key(stroke.statement, stroke.sheet.name), stroke.sheet.settings
    request = {"requestId": request_id(key)}
    matching = {"type": "assistant", "uuid": uuid, "timestamp": time}
    if stroke.is_before(2, 1, 300):
        return {"message": message, **request, **matching}
    attribution = {"attributionAgent": stroke.sheet.agent_type} if stroke.sheet.agent_type else {}
    return {
        "message": message,
        "apiBlockIndex": index,
        **request,
        "requestRef": uuid_of(f"request {key}", stroke.sheet.name),
        "requestedModel": message["model"],
        "promptCacheRequested": settings.cache or "5m",
        **attribution,
        **matching,
        "effort": settings.effort,
        "perTurnEffort": settings.effort,
        "madeBy": "model",
    }


def _no_usage() -> Json:
    return {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": None,
        "iterations": None,
        "speed": None,
    }
