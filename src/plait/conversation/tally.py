"""Conversations, session after session, to figures in which every record counts once.

What is kept of a session is numbers, and a mark for each record, so that an archive of any
size can be counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, tzinfo
from heapq import nlargest

from plait.conversation.counters import (
    UNNAMED,
    AgentCount,
    Answers,
    Calendar,
    FileCount,
    ToolCount,
    by_size,
)
from plait.conversation.figures import AgentFigures, Figures, LongSession, LongTurn
from plait.conversation.files import of_call
from plait.conversation.model import (
    Called,
    Compacted,
    Conversation,
    Conversations,
    Folded,
    Item,
    Noted,
    Said,
    Told,
    Turn,
)
from plait.conversation.ownership import Ownership
from plait.conversation.totals import TYPED
from plait.conversation.values import mapping, said
from plait.conversation.walk import calls_of, opened
from plait.record.time import moment

LONGEST = 5
WORDS = 200
SERVICE = "service"
UNKNOWN = "unknown"
SENDING = {"Agent": "general-purpose", "Task": "general-purpose"}
"""What a call sends out that names no kind."""
AGENTS = frozenset({"agent", "service"})


class Tally:
    """Counts sessions one by one; only what lies between two moments, where they are given."""

    def __init__(
        self,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> None:
        self._ownership = Ownership(since, until)
        self._counts: Counter[str] = Counter()
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._projects: set[str] = set()
        self._calendar = Calendar(zone)
        self._tools: defaultdict[str, ToolCount] = defaultdict(ToolCount)
        self._agents: defaultdict[str, AgentCount] = defaultdict(AgentCount)
        self._files: defaultdict[str, FileCount] = defaultdict(FileCount)
        self._answers = Answers()
        self._turns: list[LongTurn] = []
        self._sessions: list[LongSession] = []

    def add(self, conversations: Conversations) -> None:
        """Counts all conversations of a session; what an earlier one had is left out."""
        self._ownership.begin()
        types = agent_types(conversations)
        turns: list[Turn] = []
        for conversation in conversations.by_line.values():
            agents = types.get(conversation.id)
            self._add_items(conversation, agents)
            self._add_responses(conversation, agents)
            if agents is None:
                turns += self._own_turns(conversation)
        if self._ownership.is_any:
            self._add_session(conversations, turns)

    def figures(self) -> Figures:
        """Returns what has been counted so far."""
        answers = self._answers.total()
        return Figures(
            **self._counts,
            working_ms=self._spent["working_ms"],
            asking_ms=self._spent["asking_ms"],
            waiting_ms=self._spent["waiting_ms"],
            projects=len(self._projects),
            first=self._ownership.first,
            last=self._ownership.last,
            responses=answers.responses,
            tokens=answers.tokens,
            tools=by_size((n.figures(name) for name, n in self._tools.items()), "calls"),
            models=by_size(self._answers.by_model(), "responses"),
            agent_types=self._agent_figures(),
            files=by_size((n.figures(path) for path, n in self._files.items()), "changes", "reads"),
            hours=tuple(self._calendar.hours),
            weekdays=tuple(self._calendar.weekdays),
            days=self._calendar.days(),
            longest_turns=tuple(self._turns),
            longest_sessions=tuple(self._sessions),
        )

    def _agent_figures(self) -> tuple[AgentFigures, ...]:
        answers = self._answers.by_agents()
        found = (n.figures(name, answers.get(name)) for name, n in self._agents.items())
        return tuple(sorted(by_size(found, "agents"), key=lambda one: one.type == SERVICE))

    def _add_items(self, conversation: Conversation, agents: str | None) -> None:
        """Counts what stands in a conversation."""
        is_first = True
        for item in items_in(conversation):
            if not self._ownership.owns(item):
                continue
            if is_first:
                is_first = False
                self._add_conversation(conversation, agents)
            if isinstance(item, Called):
                self._add_call(item, agents)
            elif isinstance(item, Told):
                self._add_told(item, is_of_person=agents is None)
            elif isinstance(item, Said):
                is_heard = not conversation.responses[item.response].is_synthetic
                self._counts["words_said"] += word_count(item) if is_heard else 0
            else:
                self._counts.update(counted_of(item))

    def _add_conversation(self, conversation: Conversation, agents: str | None) -> None:
        if agents:
            self._agents[agents].agents += 1
        self._counts["agents"] += conversation.kind == "agent"
        self._counts["service_agents"] += conversation.kind == "service"
        self._counts["rewinds"] += conversation.kind == "branch"

    def _add_call(self, called: Called, agents: str | None) -> None:
        if called.is_intermediate:
            return
        self._tools[called.name or UNNAMED].add(called)
        self._counts["calls"] += 1
        self._counts["failed"] += called.outcome == "failed"
        self._counts["rejected"] += called.outcome == "rejected"
        self._calendar.add("call", moment(called.time))
        if agents:
            self._agents[agents].calls += 1
        touch = of_call(called, 0) if called.outcome == "ok" else None
        if touch:
            self._files[touch.path].add(touch)

    def _add_told(self, told: Told, *, is_of_person: bool) -> None:
        self._counts["interruptions"] += told.kind == "interruption"
        if not is_of_person:
            return
        self._counts["commands"] += told.kind == "command"
        self._counts["shell_lines"] += told.kind == "bash"
        if told.is_typed and told.kind in TYPED:
            self._counts["prompts"] += 1
            self._counts["queued"] += told.kind == "queued"
            self._counts["words_typed"] += len(told.text.split())
            self._calendar.add("prompt", moment(told.time))

    def _add_responses(self, conversation: Conversation, agents: str | None) -> None:
        """Counts the responses of a model, and the errors that stand in their place."""
        for response in conversation.responses:
            self._counts["api_errors"] += response.is_error and self._ownership.has(response)
            if response.is_synthetic or not self._ownership.is_in_time(response.started):
                continue
            if self._answers.add(response, agents):
                self._calendar.add("response", moment(response.started))

    def _own_turns(self, conversation: Conversation) -> Iterator[Turn]:
        """Yields the turns whose prompt is the session's own, counted."""
        for turn in conversation.turns:
            if turn.opener and self._ownership.owns(turn.opener):
                self._counts["turns"] += 1
                self._spent["working_ms"] += turn.working_ms or 0
                self._spent["asking_ms"] += turn.asking_ms
                self._spent["waiting_ms"] += turn.waited_ms or 0
                self._keep_longest(conversation, turn, turn.opener)
                yield turn

    def _keep_longest(self, conversation: Conversation, turn: Turn, opener: Told) -> None:
        working = turn.working_ms or 0
        if len(self._turns) < LONGEST or working > self._turns[-1].working_ms:
            words = opener.text[:WORDS].strip()
            long = LongTurn(
                conversation.session, conversation.id, turn.number, turn.started, working, words
            )
            self._turns = nlargest(LONGEST, (*self._turns, long), lambda one: one.working_ms)

    def _add_session(self, conversations: Conversations, turns: list[Turn]) -> None:
        """Counts a session that owns something."""
        active = conversations.active
        self._counts["sessions"] += 1
        self._projects.add(active.project)
        working = sum(turn.working_ms or 0 for turn in turns)
        long = LongSession(active.session, active.project, active.title, len(turns), working)
        self._sessions = nlargest(LONGEST, (*self._sessions, long), lambda one: one.working_ms)


def items_in(conversation: Conversation) -> Iterator[Item]:
    """Yields every item; a fold before what it holds, what was written twice once."""
    for turn in conversation.turns:
        for item in turn.items:
            if isinstance(item, Folded):
                yield item
                yield from opened((item,))
            else:
                yield item


def word_count(said_: Said) -> int:
    """Returns the words of the model, none where it says them again in full."""
    return 0 if said_.is_intermediate else len(said_.text.split())


def counted_of(item: Item) -> dict[str, int]:
    """Returns what counts of a note, a fold or a compaction."""
    match item:
        case Compacted():
            return {"compactions": 1}
        case Folded(reason="retracted" | "resent"):
            return {"retracted": 1}
        case Noted(subtype="api_error"):
            return {"api_retries": 1}
        case _:
            return {}


def agent_types(conversations: Conversations) -> dict[str, str]:
    """Returns the kind of each agent, by the call that sent it out."""
    known = {
        name: agent_type(call)
        for conversation in conversations.by_line.values()
        for _, call in calls_of(conversation)
        for name in call.agents
    }
    return {
        one.id: SERVICE if one.kind == "service" else known.get(one.id, UNKNOWN)
        for one in conversations.by_line.values()
        if one.kind in AGENTS
    }


def agent_type(called: Called) -> str:
    """Returns the kind of agent that a call sends out."""
    view = mapping(called.result.detail if called.result else None)
    asked = said(mapping(called.input), "subagent_type") or said(view, "agentType")
    return asked or SENDING.get(called.name, called.name)
