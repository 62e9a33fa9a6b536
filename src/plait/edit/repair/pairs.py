"""Calls and results that lost each other to pairs, or to words that stand alone."""

from typing import Any

from plait.edit.check.facts import LogFacts
from plait.edit.check.log_rules import passed_over_call
from plait.edit.check.model import Log
from plait.edit.draft import Draft, DraftLine, made_uuid, time_near
from plait.graph.client.load import call_ids, result_ids
from plait.graph.client.speech import INTERRUPTED
from plait.record import Record
from plait.record.codec import encode, mapping
from plait.record.record import content_blocks

ANSWERED = "a call that was passed over has a result, which says that nobody knows its outcome"
ALONE = "a result whose call is lost is told in words: without its call the client leaves it out"
LOST_CALL = "[Result of a tool call that is not in this session any more]"
FRAME = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
"""What a result has in common with its call."""
FRAMED = {"isSidechain": False, "userType": "external", "cwd": "", "version": ""}
AGENT = ("agentId", "slug")


def passed_over_calls(draft: Draft) -> None:
    """Gives calls a result behind which the conversation goes on; the client drops them else.

    U1 ── T1 ── U2      U1 ── T1 ── U2
                               └─── R1
    A call at the end stays as it is: the client says there itself that it was interrupted.
    """
    facts = LogFacts()
    for number, record in enumerate(draft.records, 1):
        facts.take(record, number)
    lost = {str(found.keys[0]) for found in passed_over_call(Log(facts))}
    for line, record in list(draft.spoken) if lost else ():
        calls = [call for call in call_ids(record) if call in lost]
        if record.type == "assistant" and calls:
            time = record.timestamp if record.time else time_near(draft, record)
            made = [encode(_result(record, call, time)) for call in calls]
            draft.insert(_end_of_response(draft, line, record), made, ANSWERED)
            lost.difference_update(calls)


def _end_of_response(draft: Draft, line: DraftLine, call: Record) -> DraftLine:
    """Returns the last of the lines of a response that follow each other."""
    place = next(place for place, one in enumerate(draft.lines) if one is line)
    end = line
    for one in draft.lines[place + 1 :]:
        if not one.record or not call.message_id or one.record.message_id != call.message_id:
            break
        end = one
    return end


def _result(call: Record, identity: str, time: str | None) -> dict[str, Any]:
    fields = call.fields
    frame = {**FRAMED, **{key: fields[key] for key in (*FRAME, *AGENT) if key in fields}}
    block = {
        "tool_use_id": identity,
        "type": "tool_result",
        "content": INTERRUPTED,
        "is_error": True,
    }
    return {
        "parentUuid": call.uuid,
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "uuid": made_uuid(f"{call.uuid} {identity}".encode("utf-8", "surrogatepass")),
        "timestamp": time,
        "toolUseResult": f"Error: {INTERRUPTED}",
        "sourceToolAssistantUUID": call.uuid,
        **frame,
    }


def results_without_calls(draft: Draft) -> None:
    """Tells the results in words whose call is nowhere."""
    calls = {call for record in draft.records for call in call_ids(record)}
    for line, record in list(draft.spoken):
        lost = [call for call in result_ids(record) if call not in calls]
        if record.type == "user" and lost:
            _tell(draft, line, record, lost)


def _tell(draft: Draft, line: DraftLine, record: Record, lost: list[str]) -> None:
    blocks: list[dict[str, Any]] = []
    for block in content_blocks(record):
        is_lost = block["type"] == "tool_result" and block.get("tool_use_id") in lost
        blocks += _words_of(block) if is_lost else [block]
    message = {**mapping(record.fields.get("message")), "content": blocks}
    draft.rewrite(line, encode({**record.fields, "message": message, "isMeta": True}), ALONE)


def _words_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    content = result.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": f"{LOST_CALL}\n{content}".strip()}]
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    told = [one for one in blocks if one.get("type") in ("text", "image")]
    kept = [one for one in told if one["type"] == "image" or str(one.get("text", "")).strip()]
    return [{"type": "text", "text": LOST_CALL}, *kept]
