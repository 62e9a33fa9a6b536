"""The agents of a session: what kinds there are, who is at work, how many and how deep."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from plait.agent.agents.background import AgentTask, run_name
from plait.agent.agents.kinds import BUILT_IN, Kind
from plait.agent.agents.models import model_named
from plait.agent.agents.reports import Tally
from plait.agent.agents.seat import seat_of
from plait.agent.agents.work import Errand, Work
from plait.agent.answering import Sleep
from plait.agent.ending import ended
from plait.agent.events import Event, TurnEnded
from plait.agent.meter import Meter
from plait.agent.parts import Emit, Parts
from plait.agent.queue import Asked, PromptQueue
from plait.agent.system_prompt import Surroundings
from plait.agent.tools.background import scratch
from plait.agent.tools.model import Arguments, Outcome, ToolError, Workplace
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
    queue: PromptQueue | None = None
    """What waits for the session."""
    place: Workplace | None = None
    """Where the session works."""
    known: dict[str, Work] = field(default_factory=dict)
    """All agents that were sent out, by their ids."""
    tasks: dict[str, AgentTask] = field(default_factory=dict)
    """Those in the background."""
    is_closed: bool = False
    notices: list[str] = field(default_factory=list)
    """What a person should know of definitions: told with the first turn."""

    def join(
        self, session: Parts, queue: PromptQueue, emit: Emit, meter: Meter, sleep: Sleep
    ) -> None:
        """Has it belong to a session that goes on: who is told of what, what is counted."""
        self.place, self.queue = session.place, queue
        self.emit, self.meter, self.sleep = emit, meter, sleep

    @property
    def at_work(self) -> int:
        """How many agents are at work."""
        return sum(work.is_busy for work in self.known.values())

    @property
    def pending(self) -> int:
        """How many of them nobody waits for."""
        return sum(task.status == "running" for task in self.tasks.values())

    async def next_end(self) -> None:
        """Waits until one of those in the background has come to its end."""
        busy = [one.work.task for one in self.tasks.values() if one.work.task and one.work.is_busy]
        if busy:
            await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)

    async def send_out(self, given: Arguments, call: str, sender: Parts) -> Outcome:
        """Has an agent do an errand; returns what it reports, or that it works on meanwhile."""
        work = self._made(self._errand(given, call, sender), sender)
        if work.errand.is_background:
            return self.leave(work, call).launched()
        end = await _ended(work.begin())
        self._join(work)
        return work.report(end).outcome(is_older=sender.writer.setting.is_older)

    def leave(self, work: Work, call: str, *asked: Asked) -> AgentTask:
        """Has an agent work in the background; its end is told to whoever sent it out."""
        folder = scratch(self.place or work.sender.place)
        output = folder / f"{work.id}.output"
        if not output.is_symlink():
            output.symlink_to(work.writer.path)
        task = AgentTask(work, output, run_name(work.writer.ids), call)
        self.tasks[work.id] = work.sender.place.background[work.id] = task
        if self.place:
            self.place.background[work.id] = task
        work.begin(*asked).add_done_callback(lambda _: self._tell(task))
        return task

    def _tell(self, task: AgentTask) -> None:
        """Tells of an agent that has come to its end, unless a tool has told it."""
        if task.is_told or self.is_closed:
            return
        task.is_told = True
        writer = task.work.sender.writer
        sender = self.known.get(writer.id) if isinstance(writer, AgentWriter) else None
        queue = sender.queue if sender and sender.is_busy else self.queue
        if queue is not None:
            queue.put_news(task.news)

    def _errand(self, given: Arguments, call: str, sender: Parts) -> Errand:
        kind = self._kind(str(given["subagent_type"]))
        own = sender.writer.setting
        named = given.get("model") or kind.model
        model = model_named(str(named), own.model) if named else own.model
        usual = kind.is_background or not own.is_older
        is_background = bool(given.get("run_in_background", usual))
        words = str(given["description"]), str(given["prompt"])
        return Errand(call, kind, *words, model, is_background)

    def _kind(self, name: str) -> Kind:
        kind = self.kinds.get(name)
        if kind is None:
            raise ToolError(UNKNOWN.format(name, ", ".join(self.kinds)))
        return kind

    def _made(self, errand: Errand, sender: Parts) -> Work:
        if self.at_work >= self.at_once:
            raise ToolError(TOO_MANY.format(self.at_work))
        writer = sender.writer.agent(
            errand.call,
            kind=errand.kind.name,
            description=errand.description,
            **_beside(errand, sender),
        )
        writer.setting.model = errand.model
        scratch(sender.place)
        parts = seat_of(self, writer, errand, sender)
        tally = Tally(frozenset(parts.tools))
        work = Work(self, errand, writer, parts, sender, tally, PromptQueue(writer))
        work.listen()
        self.known[work.id] = work
        return work

    def _join(self, work: Work) -> None:
        """Counts the tools of an agent with those of the agent that sent it out."""
        writer = work.sender.writer
        if isinstance(writer, AgentWriter) and writer.id in self.known:
            self.known[writer.id].tally.used |= work.tally.used

    async def close(self) -> None:
        """Ends all that are at work: the session is over."""
        self.is_closed = True
        await ended([work.task for work in self.known.values() if work.task])


async def _ended(task: "asyncio.Task[TurnEnded]") -> TurnEnded:
    """Waits for an agent; where whoever waits is stopped, the agent is too."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await ended([task])
        raise


def _beside(errand: Errand, sender: Parts) -> dict[str, Any]:
    is_background, own = errand.is_background, sender.writer.setting
    return {
        "is_built_in": errand.kind.is_built_in,
        **({"launched_with_defaults": True} if is_background else {}),
        "request_shape": "background" if is_background else "foreground",
        **({} if own.entrypoint == "cli" else {"request_non_interactive": True}),
        "picked_effort_model": own.model,
    }
