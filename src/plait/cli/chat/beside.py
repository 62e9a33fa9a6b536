"""Events to what goes on beside the words: things to do, agents, what runs in the background."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plait.agent.events import Answered, Called, Event, Prompted, Resulted, TurnEnded, Within
from plait.view.amounts import dotted, many, time_in_words, tokens_in_words
from plait.view.passages.bodies import todo_items

NOTIFICATION = "<task-notification>"
TASK = re.compile(r"<task-id>([^<]*)</task-id>")
WRITTEN_TO = re.compile(r"written to: (.+?)\. You will be notified")
DONE = "completed"
SIGNS = {DONE: "✓", "in_progress": "▸", "pending": "○"}
LAUNCHED = "async_launched"
COUNTED = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
"""What an answer read and said, in all."""
MOST_SHOWN = 5
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """A command that goes on in the background."""

    name: str
    what: str
    since: float
    output: Path | None = None
    """Where its output goes."""


@dataclass
class AgentAtWork:
    """An agent that was sent out and has not come back."""

    call: str
    what: str
    since: float
    doing: str = ""
    calls: int = 0
    tokens: int = 0

    def take(self, event: Event) -> None:
        """Takes what happened in its conversation."""
        match event:
            case Called(proposal=proposal):
                self.doing, self.calls = f"{proposal.tool} {proposal.title}", self.calls + 1
            case Answered(usage=usage):
                counts = (usage.get(name) for name in COUNTED)
                self.tokens = sum(one for one in counts if isinstance(one, int))
            case _:
                pass


@dataclass
class Beside:
    """Knows what is to be done and what goes on, by what happens."""

    clock: Callable[[], float] = time.monotonic
    todos: tuple[tuple[str, str], ...] = ()
    """Pairs of status and words, as they were written last."""
    planned: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The same of the list of tasks, by their numbers."""
    jobs: dict[str, Job] = field(default_factory=dict)
    agents: dict[str, AgentAtWork] = field(default_factory=dict)
    _given: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _background: set[str] = field(default_factory=set)
    """Calls whose agents nobody waits for."""

    def take(self, event: Event) -> None:
        """Takes what an event changes."""
        match event:
            case Called():
                self._given[event.call] = event.proposal.arguments
            case Resulted(is_denied=False):
                self._result(event, self._given.pop(event.call, {}))
            case Within():
                self._within(event)
            case Prompted(text=text) if text.startswith(NOTIFICATION):
                self._end(text)
            case TurnEnded():
                self._given.clear()
                self._forget(lambda agent: agent.call not in self._background)
            case _:
                pass

    def _within(self, event: Within) -> None:
        agent = self.agents.get(event.agent)
        if agent is None:
            given = self._given.get(event.call, {})
            what = str(given.get("description") or "agent")
            agent = self.agents[event.agent] = AgentAtWork(event.call, what, self.clock())
        agent.take(event.event)

    def _forget(self, is_over: Callable[[AgentAtWork], bool]) -> None:
        self.agents = {name: one for name, one in self.agents.items() if not is_over(one)}

    def _result(self, event: Resulted, given: Mapping[str, Any]) -> None:
        output = event.outcome.output
        known = output if isinstance(output, Mapping) else {}
        match event.tool:
            case "Agent" | "Task":
                self._reported(event.call, known, given)
            case "TodoWrite" if isinstance(given.get("todos"), list):
                self.todos = todo_items(given["todos"])
            case "TaskCreate" | "TaskUpdate":
                self._plan(known, given)
            case "TaskStop" | "KillShell":
                self.jobs.pop(str(given.get("task_id") or given.get("shell_id")), None)
            case "Bash" if name := known.get("backgroundTaskId"):
                self._begin(str(name), event, given)
            case _:
                pass

    def _reported(self, call: str, output: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """Forgets an agent that is back; one in the background goes on."""
        if output.get("status") != LAUNCHED:
            self._forget(lambda agent: agent.call == call)
            return
        self._background.add(call)
        what = str(given.get("description") or "agent")
        self.agents.setdefault(str(output.get("agentId")), AgentAtWork(call, what, self.clock()))

    def _plan(self, output: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        made = output.get("task")
        number = str(made.get("id") if isinstance(made, Mapping) else given.get("taskId"))
        status, words = self.planned.get(number, ("pending", ""))
        status = str(given.get("status") or status)
        if status == "deleted" or output.get("success") is False:
            self.planned.pop(number, None)
        else:
            self.planned[number] = status, str(given.get("subject") or words)

    def _begin(self, name: str, event: Resulted, given: Mapping[str, Any]) -> None:
        what = str(given.get("description") or given.get("command") or event.tool)
        told = event.outcome.content
        found = WRITTEN_TO.search(told) if isinstance(told, str) else None
        self.jobs[name] = Job(name, what, self.clock(), Path(found[1]) if found else None)

    def _end(self, text: str) -> None:
        if found := TASK.search(text):
            self.jobs.pop(found[1], None)
            self.agents.pop(found[1], None)

    @property
    def plan(self) -> tuple[tuple[str, str], ...]:
        """All things to do, pairs of status and words."""
        return (*self.todos, *self.planned.values())

    def lines(self) -> list[str]:
        """Returns what is shown while something goes on."""
        return [*self._plan_lines(), *(f"  ◐ {one}" for one in self.running())]

    def _plan_lines(self) -> Iterator[str]:
        open_ones = [one for one in self.plan if one[0] != DONE]
        if not open_ones:
            return
        done = len(self.plan) - len(open_ones)
        if done:
            yield f"  {SIGNS[DONE]} {done} of {len(self.plan)} done"
        for status, words in open_ones[:MOST_SHOWN]:
            yield f"  {SIGNS.get(status, '○')} {words}"
        if more := len(open_ones) - MOST_SHOWN:
            yield from [f"  … and {more} more"] if more > 0 else ()

    def running(self) -> list[str]:
        """Returns a line for all that runs: agents, then commands in the background."""
        agents = [
            dotted(f"agent: {one.what}", one.doing, _count(one), self._time(one.since))
            for one in self.agents.values()
        ]
        return agents + [
            dotted(job.name, job.what, self._time(job.since)) for job in self.jobs.values()
        ]

    def _time(self, since: float) -> str:
        return time_in_words((self.clock() - since) * THOUSAND)

    @property
    def in_words(self) -> str:
        """How much runs, nothing where nothing does."""
        agents, jobs = len(self.agents), len(self.jobs)
        return dotted(
            many(agents, "agent") if agents else "", f"{many(jobs, 'task')} running" if jobs else ""
        )


def _count(agent: AgentAtWork) -> str:
    tokens = f"{tokens_in_words(agent.tokens)} tokens" if agent.tokens else ""
    return dotted(many(agent.calls, "call") if agent.calls else "", tokens)
