"""Agents that no call names to the turns that they ran in, and agents to their names."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from plait.conversation.model import Called, Conversation
from plait.conversation.values import mapping, said
from plait.conversation.walk import opened
from plait.graph.paths import SPOKEN
from plait.trace.spans.builder import nanoseconds

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
        for name, known in self._starts.items():
            if time is None or self.by_line[name].session != agent.session:
                continue
            place = bisect_right(known, (time, len(self.by_line[name].turns)))
            if place and (found is None or known[place - 1][0] > found[0]):
                found = (known[place - 1][0], (name, known[place - 1][1]))
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
