"""Turns, responses and agents to what their spans say: names, words, times, how they ended."""

from typing import Any

from plait.conversation.model import Called, Noted, Turn
from plait.conversation.values import mapping, said
from plait.trace.model import Level
from plait.trace.spans_agents import agent_name
from plait.trace.spans_parts import Parts, message
from plait.trace.spans_times import latest, nanoseconds, not_before
from plait.trace.spans_tools import first_line

SOURCE = "claude-code"
UNNAMED = "generation"


def turn_facts(parts: Parts, turn: Turn, limit: int | None, number: int) -> dict[str, Any]:
    """Returns what the root of a trace says."""
    conversation = parts.conversation
    numbers = parts.numbers(turn)
    start = nanoseconds(turn.opener.time if turn.opener else turn.started)
    level, status = ending(parts, turn, numbers)
    metadata = {"source": SOURCE, "turn_number": number, "session_id": conversation.session}
    if not conversation.is_active:
        metadata["branch"] = conversation.id
    return {
        "name": f"Turn {number}",
        "input": opening(turn),
        "output": parts.message(numbers),
        "start": start,
        "end": not_before(turn_end(parts, turn, numbers, limit), start),
        "level": level,
        "status": status,
        "metadata": metadata,
        "record": turn.opener.uuid if turn.opener else None,
    }


def opening(turn: Turn) -> dict[str, Any] | None:
    """Returns what a turn answers, as a message."""
    return message("user", turn.opener.text) if turn.opener else None


def ending(parts: Parts, turn: Turn, numbers: list[int]) -> tuple[Level, str]:
    """Returns how a turn ended, in case it did not end well."""
    last = numbers[-1]
    if parts.response(last).is_error:
        return "ERROR", first_line(parts.text(last)) or "the API gave an error"
    return ("WARNING", "interrupted by the user") if turn.is_interrupted else ("DEFAULT", "")


def turn_end(parts: Parts, turn: Turn, numbers: list[int], limit: int | None) -> int | None:
    """Returns when the last response or result of a turn came."""
    stamps = [parts.response(number).ended for number in numbers]
    stamps += [call.answered_at for number in numbers for call in parts.calls(number)]
    found = latest(stamps, limit)
    return client_end(turn) if found is None else found


def client_end(turn: Turn) -> int | None:
    """Returns when the client noted that a turn was over."""
    notes = (item for item in turn.items if isinstance(item, Noted))
    return latest(note.time for note in notes if note.subtype == "turn_duration")


def generation_end(parts: Parts, turn: Turn, number: int, following: int | None) -> int | None:
    """Returns when a response gave way to the next; the last ends with its blocks and results."""
    response = parts.response(number)
    start = nanoseconds(response.started)
    if following is not None:
        end = nanoseconds(parts.response(following).started)
        if end is not None:
            return not_before(end, start)
    end = latest([response.ended, *(call.answered_at for call in parts.calls(number))])
    return not_before(client_end(turn) if end is None else end, start)


def generation_facts(parts: Parts, number: int) -> dict[str, Any]:
    """Returns what a span says of a response, but for its place, its times and its cost."""
    response, reason = parts.response(number), parts.folded.get(number)
    text = parts.text(number)
    metadata: dict[str, Any] = {"tool_count": len(parts.calls(number))}
    if response.effort:
        metadata["effort"] = response.effort
    if reason:
        metadata["folded"] = reason
    is_error = response.is_error
    return {
        "name": response.model or UNNAMED,
        "output": message("assistant", text),
        "thinking": parts.thinking(number),
        "level": "ERROR" if is_error else "DEFAULT",
        "status": first_line(text) or "the API gave an error" if is_error else "",
        "metadata": metadata,
        "model": response.model,
        "response": response.id,
        "stop_reason": response.stop_reason,
        "record": next(iter(response.uuids), None),
        "is_abandoned": reason is not None,
    }


def agent_facts(parts: Parts, call: Called | None) -> dict[str, Any]:
    """Returns what a span says of an agent."""
    agent = parts.conversation
    numbers = [number for turn in agent.turns for number in parts.numbers(turn)]
    first = next((turn for turn in agent.turns if turn.opener), None)
    start = nanoseconds(agent.started)
    given = mapping(call.input) if call else {}
    metadata = {
        "source": SOURCE,
        "session_id": agent.session,
        "agent_id": agent.agent,
        "description": said(given, "description"),
    }
    return {
        "name": agent_name(agent, call),
        "input": opening(first) if first else None,
        "output": parts.message(numbers),
        "start": start,
        "end": not_before(nanoseconds(agent.ended), start),
        "metadata": {name: value for name, value in metadata.items() if value is not None},
        "record": first.opener.uuid if first and first.opener else None,
    }
