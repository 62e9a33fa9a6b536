"""Agents that no call names to the turns that they ran in, and agents to their names."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.conversation.model import (
    Called,
    Conversation,
    Enclosure,
    Folded,
    Item,
    Noted,
    Response,
    Result,
    Said,
    Shown,
    Thought,
    Turn,
)
from plait.conversation.walk import opened
from plait.graph.paths import SPOKEN
from plait.record.codec import mapping, said
from plait.trace.model import Level
from plait.trace.spans.builder import known, latest, nanoseconds, not_before, span_times

TurnPlace: TypeAlias = tuple[str, int]
"""A conversation, and the number of a turn of it."""

NAME = re.compile(r"""\bname:\s*['"]([^'"\n]{1,80})['"]""")
SERVICES = {
    "acompact": "compaction agent",
    "aprompt_suggestion": "prompt suggestion",
    "aside_question": "side question",
}


class AgentPlaces:
    """Where records stand, and which agents belong where though no call names them."""

    def __init__(self, by_line: Mapping[str, Conversation]) -> None:
        self.by_line = by_line
        self.places = dict(_record_places(by_line))
        self.agents: dict[TurnPlace, list[str]] = {}
        """The agents that no call names, by the turn that they ran in."""
        self.uncalled: list[str] = []
        called = set(_called_agents(by_line))
        self._starts = {
            name: _turn_starts(one) for name, one in by_line.items() if one.kind in SPOKEN
        }
        for name, agent in by_line.items():
            if agent.kind not in SPOKEN and name not in called:
                self._settle(agent)

    def _settle(self, agent: Conversation) -> None:
        self.uncalled.append(agent.id)
        home = self.places.get(agent.attachment or "") or self._by_time(agent)
        if home is not None and home[0] != agent.id:
            self.agents.setdefault(home, []).append(agent.id)

    def _by_time(self, agent: Conversation) -> TurnPlace | None:
        """Returns the last turn of the agent's session that began before it did."""
        time = nanoseconds(agent.started)
        found: tuple[int, TurnPlace] | None = None
        for name, starts in self._starts.items():
            if time is None or self.by_line[name].session != agent.session:
                continue
            place = bisect_right(starts, (time, len(self.by_line[name].turns)))
            if place and (found is None or starts[place - 1][0] > found[0]):
                found = (starts[place - 1][0], (name, starts[place - 1][1]))
        return found[1] if found else None

    def offset(self, conversation: Conversation) -> int:
        """Returns how many turns a branch, or a session that goes on, has behind it."""
        offset, waiting = 0, conversation
        for _ in range(len(self.by_line)):
            home = self.places.get(waiting.attachment or "")
            if waiting.kind not in SPOKEN or home is None or home[0] == waiting.id:
                break
            offset += home[1]
            waiting = self.by_line[home[0]]
        return offset


def _record_places(by_line: Mapping[str, Conversation]) -> Iterator[tuple[str, TurnPlace]]:
    for name, conversation in by_line.items():
        for turn in conversation.turns:
            home = (name, turn.number)
            for item in opened(turn.items):
                if item.uuid:
                    yield item.uuid, home


def _called_agents(by_line: Mapping[str, Conversation]) -> Iterator[str]:
    for conversation in by_line.values():
        for item in conversation.items():
            for one in opened((item,)):
                if isinstance(one, Called) and not one.is_intermediate:
                    yield from one.agents


def _turn_starts(conversation: Conversation) -> list[tuple[int, int]]:
    found = [
        (time, turn.number)
        for turn in conversation.turns
        if turn.responses and (time := nanoseconds(turn.started)) is not None
    ]
    return sorted(found)


def agent_name(agent: Conversation, call: Called | None) -> str:
    """Returns what an agent is called: its type as the call says, or its task for the client."""
    if agent.kind == "service":
        known = (
            name for prefix, name in SERVICES.items() if (agent.agent or "").startswith(prefix)
        )
        return next(known, "warm-up")
    given = mapping(call.input) if call else {}
    return said(given, "subagent_type") or said(given, "name") or "agent"


def workflow_name(call: Called) -> str | None:
    """Returns what a workflow calls itself, in its input or at the head of its script."""
    given = mapping(call.input)
    found = NAME.search(said(given, "script") or "")
    return said(given, "name") or (found[1] if found else None)


STATUS_LENGTH = 300
CALL_LEVELS: dict[str, Level] = {
    "failed": "ERROR",
    "rejected": "WARNING",
    "interrupted": "WARNING",
    "missing": "WARNING",
}
CALL_WORDS = {
    "failed": "failed",
    "rejected": "rejected by the user",
    "interrupted": "interrupted",
    "missing": "no result is in the log",
}
SOURCE = "claude-code"
UNNAMED = "generation"


def tool_facts(call: Called) -> dict[str, Any]:
    """Returns what a span says of a call, but for its place and its times."""
    return {
        "name": call.name,
        "input": call.input,
        "output": _output_of(call.result),
        "level": CALL_LEVELS.get(call.outcome, "DEFAULT"),
        "status": _status_of(call),
        "metadata": _metadata_of(call),
        "record": call.uuid,
    }


def _output_of(result: Result | None) -> Any:
    if result is None:
        return None
    if not result.enclosures:
        return result.text
    words = [{"type": "text", "text": result.text}] if result.text else []
    return [*words, *map(_enclosed, result.enclosures)]


def _enclosed(enclosure: Enclosure) -> dict[str, Any]:
    facts = {
        "type": enclosure.kind,
        "media_type": enclosure.media_type,
        "title": enclosure.title,
        "bytes": enclosure.size or None,
    }
    return known(facts)


def _status_of(call: Called) -> str:
    words = CALL_WORDS.get(call.outcome, "")
    result = call.result
    if result is None or not words:
        return words
    said = result.feedback if call.outcome == "rejected" else result.text
    told = first_line(said or "")
    if call.outcome == "failed":
        return told or words
    return f"{words}: {told}" if told and result.feedback else words


def first_line(text: str) -> str:
    """Returns the first line that says something, cut."""
    return next(filter(None, map(str.strip, text.splitlines())), "")[:STATUS_LENGTH]


def _metadata_of(call: Called) -> dict[str, Any]:
    result = call.result
    facts = {
        "tool_name": call.name,
        "tool_id": call.call,
        "outcome": call.outcome if call.outcome not in ("ok", "missing") else None,
        "exit_code": result.exit_code if result else None,
        "is_server_side": call.is_server_side or None,
        "persisted": result.persisted.name if result and result.persisted else None,
    }
    return known(facts)


@dataclass(frozen=True, slots=True)
class ResponseBlocks:
    """What each response of a conversation said, thought and called, and what was retracted."""

    conversation: Conversation
    blocks: dict[int, list[Said | Thought | Called | Shown]]
    folded: dict[int, str]
    """Why a response is out of the reading order, for those that are."""

    def response(self, number: int) -> Response:
        """Returns a response."""
        return self.conversation.responses[number]

    def numbers(self, turn: Turn) -> list[int]:
        """Returns the responses that begin in a turn; what the client put in is none."""
        return [
            one for one in turn.responses if one in self.blocks and not self.response(one).is_meta
        ]

    def text(self, number: int) -> str:
        """Returns the words of a response, a line break between two blocks."""
        return "\n".join(one.text for one in self.blocks[number] if isinstance(one, Said))

    def thinking(self, number: int) -> str | None:
        """Returns the thoughts of a response, None where none were recorded."""
        texts = [one.text for one in self.blocks[number] if isinstance(one, Thought) and one.text]
        return "\n".join(texts) or None

    def calls(self, number: int) -> list[Called]:
        """Returns the calls of a response."""
        return [one for one in self.blocks[number] if isinstance(one, Called)]

    def message(self, numbers: list[int]) -> dict[str, Any] | None:
        """Returns the words of the last of some responses, as a message."""
        return message("assistant", self.text(numbers[-1])) if numbers else None


def response_blocks(conversation: Conversation) -> ResponseBlocks:
    """Returns the responses of a conversation with their blocks."""
    blocks: dict[int, list[Said | Thought | Called | Shown]] = {}
    folded: dict[int, str] = {}
    for item, reason in _items_with_folds(conversation):
        if not isinstance(item, Said | Thought | Called | Shown):
            continue
        if reason and item.response not in blocks:
            folded[item.response] = reason
        held = blocks.setdefault(item.response, [])
        if not (isinstance(item, Said | Thought | Called) and item.is_intermediate):
            held.append(item)
    return ResponseBlocks(conversation, blocks, folded)


def _items_with_folds(conversation: Conversation) -> Iterator[tuple[Item, str | None]]:
    for turn in conversation.turns:
        for item in turn.items:
            reason = item.reason if isinstance(item, Folded) else None
            for inner in opened((item,)):
                yield inner, reason


def message(role: str, content: str) -> dict[str, Any]:
    """Returns words as a message."""
    return {"role": role, "content": content}


def turn_facts(parts: ResponseBlocks, turn: Turn, limit: int | None, number: int) -> dict[str, Any]:
    """Returns what the root of a trace says."""
    conversation = parts.conversation
    numbers = parts.numbers(turn)
    start = nanoseconds(turn.opener.time if turn.opener else turn.started)
    level, status = _ending(parts, turn, numbers)
    metadata = {"source": SOURCE, "turn_number": number, "session_id": conversation.session}
    if not conversation.is_active:
        metadata["branch"] = conversation.id
    return {
        "name": f"Turn {number}",
        "input": opening(turn),
        "output": parts.message(numbers),
        "start": start,
        "end": not_before(_turn_end(parts, turn, numbers, limit), start),
        "level": level,
        "status": status,
        "metadata": metadata,
        "record": turn.opener.uuid if turn.opener else None,
    }


def opening(turn: Turn) -> dict[str, Any] | None:
    """Returns what a turn answers, as a message."""
    return message("user", turn.opener.text) if turn.opener else None


def _ending(parts: ResponseBlocks, turn: Turn, numbers: list[int]) -> tuple[Level, str]:
    """Returns how a turn ended, in case it did not end well."""
    last = numbers[-1]
    if parts.response(last).is_error:
        return "ERROR", first_line(parts.text(last)) or "the API gave an error"
    return ("WARNING", "interrupted by the user") if turn.is_interrupted else ("DEFAULT", "")


def _turn_end(
    parts: ResponseBlocks, turn: Turn, numbers: list[int], limit: int | None
) -> int | None:
    stamps = [parts.response(number).ended for number in numbers]
    stamps += [call.answered_at for number in numbers for call in parts.calls(number)]
    found = latest(stamps, limit)
    return _client_end(turn) if found is None else found


def _client_end(turn: Turn) -> int | None:
    notes = (item for item in turn.items if isinstance(item, Noted))
    return latest(note.time for note in notes if note.subtype == "turn_duration")


def generation_end(
    parts: ResponseBlocks, turn: Turn, number: int, following: int | None
) -> int | None:
    """Returns when a response gave way to the next; the last ends with its blocks and results."""
    response = parts.response(number)
    start = nanoseconds(response.started)
    if following is not None:
        end = nanoseconds(parts.response(following).started)
        if end is not None:
            return not_before(end, start)
    end = latest([response.ended, *(call.answered_at for call in parts.calls(number))])
    return not_before(_client_end(turn) if end is None else end, start)


def generation_facts(parts: ResponseBlocks, number: int) -> dict[str, Any]:
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


def agent_facts(parts: ResponseBlocks, call: Called | None) -> dict[str, Any]:
    """Returns what a span says of an agent."""
    agent = parts.conversation
    numbers = [number for turn in agent.turns for number in parts.numbers(turn)]
    first = next((turn for turn in agent.turns if turn.opener), None)
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
        **span_times(agent.interval),
        "metadata": known(metadata),
        "record": first.opener.uuid if first and first.opener else None,
    }
