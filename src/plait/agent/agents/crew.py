"""The agents of a session: what kinds there are, who is at work, how many and how deep."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from plait.agent.agents.kinds import BUILT_IN, Kind
from plait.agent.agents.models import model_named
from plait.agent.agents.reports import Tally
from plait.agent.agents.work import Errand, Work, place_of
from plait.agent.answering import Sleep
from plait.agent.compaction import SessionCompactor
from plait.agent.context import LiveContext
from plait.agent.events import Event
from plait.agent.memory import SessionMemory
from plait.agent.meter import Meter
from plait.agent.parts import Alone, Emit, Limits, Parts
from plait.agent.streaming import Block
from plait.agent.system_prompt import Surroundings
from plait.agent.tools.background import scratch
from plait.agent.tools.model import Arguments, Outcome, ToolError
from plait.conversation.prices import Prices
from plait.write import AgentWriter

AT_ONCE = 20
"""How many agents of a session work at the same time at most."""
LONGEST = 1_000
"""How often the model is asked for one agent at most."""
UNKNOWN = "Agent type '{}' not found. Available agents: {}"
TOO_MANY = (
    "{} agents are at work already, and no more may be at once. Wait until some have come back."
)


def _no_one(event: Event) -> None:
    """Shows an event to nobody."""


@dataclass(slots=True)
class Crew:
    """The agents of a session."""

    kinds: Mapping[str, Kind] = field(default_factory=lambda: {one.name: one for one in BUILT_IN})
    around: Surroundings | None = None
    """What agents are told of where they work."""
    at_once: int = AT_ONCE
    longest: int = LONGEST
    emit: Emit = _no_one
    meter: Meter = field(default_factory=lambda: Meter(Prices()))
    """What the session took, agents included."""
    sleep: Sleep = asyncio.sleep
    random: Random | None = None
    at_work: dict[str, Work] = field(default_factory=dict)

    def join(self, emit: Emit, meter: Meter, sleep: Sleep, random: Random | None) -> None:
        """Has it belong to a session that goes on: who is shown what happens, what is counted."""
        self.emit, self.meter, self.sleep, self.random = emit, meter, sleep, random

    async def send_out(self, given: Arguments, call: str, sender: Parts) -> Outcome:
        """Has an agent do an errand, and returns what it reports."""
        work = self._begun(self._errand(given, call, sender), sender)
        task = work.begin()
        try:
            ended = await task
        finally:
            self.at_work.pop(work.id, None)
        waiting = asyncio.current_task()
        if waiting and waiting.cancelling():  # the turn took the stop for its own
            raise asyncio.CancelledError
        self._join(work, sender)
        return work.report(ended).outcome(is_older=sender.writer.setting.is_older)

    def _errand(self, given: Arguments, call: str, sender: Parts) -> Errand:
        kind = self._kind(str(given["subagent_type"]))
        named = given.get("model") or kind.model
        model = model_named(named, sender.writer.setting.model) if named else _model(sender)
        return Errand(call, kind, str(given["description"]), str(given["prompt"]), model)

    def _kind(self, name: str) -> Kind:
        kind = self.kinds.get(name)
        if kind is None:
            raise ToolError(UNKNOWN.format(name, ", ".join(self.kinds)))
        return kind

    def _begun(self, errand: Errand, sender: Parts) -> Work:
        if len(self.at_work) >= self.at_once:
            raise ToolError(TOO_MANY.format(len(self.at_work)))
        writer = sender.writer.agent(
            errand.call, kind=errand.kind.name, description=errand.description, **_beside(errand)
        )
        writer.setting.model = errand.model
        parts = self._parts(writer, errand, sender)
        work = Work(self, errand, writer, parts, sender, Tally(frozenset(parts.tools)))
        self.at_work[work.id] = work
        return work

    def _parts(self, writer: AgentWriter, errand: Errand, sender: Parts) -> Parts:
        kind = errand.kind
        scratch(sender.place)
        place = place_of(sender)
        tools = kind.toolbox(sender.tools, writer.errand.depth)
        memory = SessionMemory(LiveContext(writer), errand.model, self._system(kind))
        definitions = [tool.definition for tool in tools.values()]
        limits = Limits(
            min(kind.max_turns or self.longest, self.longest),
            sender.limits.dollars,
            sender.limits.retries,
        )
        return replace(
            sender,
            writer=writer,
            memory=memory,
            place=place,
            tools=tools,
            compactor=SessionCompactor(writer, memory, sender.model, tools=definitions),
            limits=limits,
            along=Alone(),
            recall=lambda: None,
        )

    def _system(self, kind: Kind) -> Sequence[Block]:
        texts = (kind.prompt, self.around.text if self.around else "")
        return [{"type": "text", "text": text} for text in texts if text.strip()]

    def _join(self, work: Work, sender: Parts) -> None:
        """Counts the tools of an agent with those of the agent that sent it out."""
        if isinstance(sender.writer, AgentWriter) and sender.writer.id in self.at_work:
            self.at_work[sender.writer.id].tally.used |= work.tally.used


def _model(sender: Parts) -> str:
    return sender.writer.setting.model


def _beside(errand: Errand) -> dict[str, Any]:
    is_background = errand.is_background
    return {
        "is_built_in": errand.kind.is_built_in,
        **({"launched_with_defaults": True} if is_background else {}),
        "request_shape": "background" if is_background else "foreground",
    }
