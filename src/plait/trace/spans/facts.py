"""Agents that no call names to the turns that they ran in, and agents to their names."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from plait.conversation.model import (
    Called,
    Conversation,
    Enclosure,
    Result,
    Turn,
)
from plait.conversation.spoken import SpokenResponse, SpokenResponses
from plait.conversation.walk import opened
from plait.graph.paths import SPOKEN
from plait.record.codec import mapping, said
from plait.trace.model import Level
from plait.trace.spans.builder import known, nanoseconds, not_before, span_times

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


def message(role: str, content: str) -> dict[str, Any]:
    """Returns words as a message."""
    return {"role": role, "content": content}


def turn_facts(
    conversation: Conversation, turn: Turn, spoken: Sequence[SpokenResponse], number: int
) -> dict[str, Any]:
    """Returns what the root of a trace says."""
    start = nanoseconds(turn.opener.time if turn.opener else turn.started)
    level, status = _ending(turn, spoken[-1])
    metadata = {"source": SOURCE, "turn_number": number, "session_id": conversation.session}
    if not conversation.is_active:
        metadata["branch"] = conversation.id
    return {
        "name": f"Turn {number}",
        "input": opening(turn),
        "output": message("assistant", spoken[-1].text),
        "start": start,
        "end": not_before(nanoseconds(turn.ended), start),
        "level": level,
        "status": status,
        "metadata": metadata,
        "record": turn.opener.uuid if turn.opener else None,
    }


def opening(turn: Turn) -> dict[str, Any] | None:
    """Returns what a turn answers, as a message."""
    return message("user", turn.opener.text) if turn.opener else None


def _ending(turn: Turn, last: SpokenResponse) -> tuple[Level, str]:
    """Returns how a turn ended, in case it did not end well."""
    if last.is_error:
        return "ERROR", first_line(last.text) or "the API gave an error"
    return ("WARNING", "interrupted by the user") if turn.is_interrupted else ("DEFAULT", "")


def generation_facts(one: SpokenResponse) -> dict[str, Any]:
    """Returns what a span says of a response, but for its place and its cost."""
    response, text = one.response, one.text
    metadata: dict[str, Any] = {"tool_count": len(one.calls)}
    if response.effort:
        metadata["effort"] = response.effort
    if one.folded:
        metadata["folded"] = one.folded
    return {
        "name": response.model or UNNAMED,
        "output": message("assistant", text),
        "thinking": one.thinking,
        "level": "ERROR" if one.is_error else "DEFAULT",
        "status": first_line(text) or "the API gave an error" if one.is_error else "",
        "metadata": metadata,
        "model": response.model,
        "response": response.id,
        "stop_reason": one.parts[-1].stop_reason,
        "record": next(iter(response.uuids), None),
        "is_abandoned": one.folded is not None,
        **span_times(one.interval),
    }


def agent_facts(parts: SpokenResponses, call: Called | None) -> dict[str, Any]:
    """Returns what a span says of an agent."""
    agent = parts.conversation
    last = parts.last(agent.turns)
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
        "output": message("assistant", last.text) if last else None,
        **span_times(agent.interval),
        "metadata": known(metadata),
        "record": first.opener.uuid if first and first.opener else None,
    }
