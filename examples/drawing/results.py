"""Tool results: a user record that answers one call."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from .model import DrawingError, Json, Statement
from .prompts import prompt_id
from .replies import failure, outcome
from .reply import Outcome, Reply
from .sheet import DrawnCall, Sheet
from .stroke import Stroke

_REJECTED: Final = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). STOP what you are doing and wait "
    "for the user to tell you how to proceed."
)


def result(stroke: Stroke) -> None:
    """Build the result of a call: `of CALL`, or else its parent, or else the next open one."""
    sheet = stroke.sheet
    call = call_of(sheet, stroke.statement)
    sheet.answered.add(call.name)
    reply = _reply(stroke, call)
    found = _outcome(stroke, reply)
    sheet.meter.add(str(found.content))
    replace(stroke, parent=_parent(stroke, call)).put(_body(stroke, call, found))


def call_of(sheet: Sheet, statement: Statement) -> DrawnCall:
    """Return the call that a result answers."""
    matching = statement.fields().get("of")
    if matching:
        return sheet.call(str(matching), statement.line)
    uuid = sheet.parent_uuid(statement) if statement.parent else None
    hung_on = sheet.calls_by_line.get(uuid or "")
    return hung_on or _same_number(sheet, statement) or _next_open(sheet, statement)


def _same_number(sheet: Sheet, statement: Statement) -> DrawnCall | None:
    """`R3` on another parent answers `T3`."""
    if not statement.parent:
        return None
    return sheet.calls.get(re.sub(r"^[A-Z]+", "T", statement.name))


def _next_open(sheet: Sheet, statement: Statement) -> DrawnCall:
    for call in sheet.latest_calls:
        if call.name not in sheet.answered:
            return call
    raise DrawingError(statement.line, f"'{statement.name}' has no call to answer")


def _parent(stroke: Stroke, call: DrawnCall) -> str | None:
    return call.uuid if stroke.statement.parent == "" else stroke.parent


def _reply(stroke: Stroke, call: DrawnCall) -> Reply:
    sheet = stroke.sheet
    is_bare = call.tool == "Bash" and not stroke.statement.tokens
    default = f"result {stroke.name}" if is_bare else ""
    agent = sheet.world.agent_of(sheet.name, call.name)
    fields = stroke.statement.fields()
    text = "\n".join([stroke.text(default)] * int(fields.get("times", 1)))
    return Reply(sheet, call, text, fields, stroke.flags, agent, stroke.line)


def _outcome(stroke: Stroke, reply: Reply) -> Outcome:
    if "rejected" in stroke.flags:
        return Outcome(reply.text or _REJECTED, "User rejected tool use")
    return failure(reply) if "error" in stroke.flags else outcome(reply)


def _body(stroke: Stroke, call: DrawnCall, found: Outcome) -> Json:
    prompt = {} if stroke.is_before(2, 1, 92) else {"promptId": prompt_id(stroke)}
    # format: the results of sub-agents have no toolUseResult
    has_detail = found.detail is not None and not stroke.sheet.agent
    denial = {"toolDenialKind": "user-rejected"} if "rejected" in stroke.flags else {}
    return {
        **prompt,
        "type": "user",
        "message": {"role": "user", "content": [_block(stroke, call, found.content)]},
        "uuid": stroke.uuid,
        "timestamp": stroke.time,
        **({"toolUseResult": found.detail} if has_detail else {}),
        **(denial if not stroke.is_before(2, 1, 92) else {}),
        "sourceToolAssistantUUID": call.uuid,
        **_decision(stroke),
    }


def _block(stroke: Stroke, call: DrawnCall, content: Any) -> Json:
    if {"error", "rejected"} & stroke.flags:
        return {"type": "tool_result", "content": content, "is_error": True, "tool_use_id": call.id}
    block = {"tool_use_id": call.id, "type": "tool_result", "content": content}
    return {**block, "is_error": False} if call.tool == "Bash" else block


def _decision(stroke: Stroke) -> Json:
    if stroke.is_before(2, 1, 300) or "rejected" in stroke.flags:
        return {}
    decision = {"decision": "accept", "source": "config", "reasonType": "rule"}
    return {"permissionDecision": {**decision, "ruleSource": "userSettings"}}
