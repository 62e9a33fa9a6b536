"""Agents to the calls that sent them out, the surest link first.

    meta      the note beside the agent's log names the call
    context   a forked agent names the last record that it shares
    workflow  its run's journal or folder, begun by a call that names the run
    result    the result of a call names the agent
    text      only the words of the result name it
    prompt    a call handed on the same prompt (and name, where several did)
    name      a call or its result gave the agent its name

Nothing anchors an agent in itself. What no link explains is shown, with a finding.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from operator import attrgetter

from plait.graph.assign import LineDrafts
from plait.graph.index import Index
from plait.graph.model import AgentLink, Call, DagLine, Finding, LinkKind, Node, WorkflowRun
from plait.graph.repair import NOWHERE, Parents, cycles
from plait.graph.source import FileFacts
from plait.graph.walks import Walk, Walks

SERVICE_IDS = ("acompact", "aprompt_suggestion", "aside_question")
SERVICE_PROMPT = "Warmup"
STARTED = "started"
CONTEXT = "fork-context-ref"


@dataclass(frozen=True, slots=True)
class Spawn:
    """A call that may have sent out an agent."""

    node: int
    call: Call


@dataclass(slots=True)
class Spawns:
    """What calls and results say of agents, by session where ids can repeat."""

    by_call: dict[tuple[str, str], Spawn] = field(default_factory=dict)
    """By session and call; under no session, the first of all."""
    by_agent: dict[str, list[tuple[Spawn, bool]]] = field(default_factory=dict)
    """With whether only words say so."""
    by_run: dict[str, Spawn] = field(default_factory=dict)
    by_prompt: dict[tuple[str, int], deque[Spawn]] = field(default_factory=dict)
    by_brief: dict[tuple[str, int, str], deque[Spawn]] = field(default_factory=dict)
    """By prompt and name."""
    by_name: dict[tuple[str, str], deque[Spawn]] = field(default_factory=dict)
    answers: dict[tuple[str, str], int] = field(default_factory=dict)
    """The record with the result of each call, likewise."""

    def called(self, session: str, call: str | None) -> Spawn | None:
        """Returns a call of a session, else of any."""
        known = self.by_call
        return known.get((session, call)) or known.get(("", call)) if call else None

    def answered(self, session: str, call: str | None) -> int:
        """Returns the record with the result of a call."""
        first = self.answers.get(("", call or ""), NOWHERE)
        return self.answers.get((session, call or ""), first)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where an agent hangs: on which record, because of which call."""

    by: LinkKind
    node: int
    call: str | None = None


def join_agents(index: Index, parents: Parents, walks: Walks) -> tuple[dict[int, Anchor], Spawns]:
    """Returns the anchor of each agent's walk that has one, and what was said of agents."""
    agents = [walk for walk in walks.walks if walk.agent is not None]
    spawns = _spawns_of(index) if agents else Spawns()
    taken: set[str] = set()
    anchors: dict[int, Anchor] = {}
    for sure in (True, False):  # what is sure takes its call before anything is guessed
        for walk in agents:
            if walk.number in anchors or is_service(index, walk):
                continue
            links = (
                _sure_links(index, spawns, walk) if sure else _guesses(index, spawns, walk, taken)
            )
            anchor = _first_outside(links, walks, walk)
            if anchor:
                anchors[walk.number] = anchor
                taken.add(anchor.call or "")
    _drop_circles(parents, walks, anchors)
    return anchors, spawns


def _drop_circles(parents: Parents, walks: Walks, anchors: dict[int, Anchor]) -> None:
    """Takes away the anchors of agents that would have sent each other out."""
    firsts = {walks.walks[walk].nodes[0]: walk for walk in anchors}
    if not firsts:
        return
    up = list(parents.up)
    for first, walk in firsts.items():
        up[first] = anchors[walk].node
    for circle in cycles(up):
        for node in circle:
            if node in firsts:
                del anchors[firsts[node]]


def is_service(index: Index, walk: Walk) -> bool:
    """Tells an agent that nobody sent out: the client's own errands."""
    if (walk.agent or "").startswith(SERVICE_IDS):
        return True
    first = _first_prompt(index, walk)
    return first is not None and first.preview == SERVICE_PROMPT


def _first_prompt(index: Index, walk: Walk) -> Node | None:
    for number in walk.nodes[:16]:
        node = index.nodes[number]
        if node.kind == "user" and not node.results:
            return node
    return None


def _spawns_of(index: Index) -> Spawns:
    spawns = Spawns()
    for number, node in enumerate(index.nodes):
        for call in node.calls:
            spawn = Spawn(number, call)
            spawns.by_call.setdefault((node.session, call.id), spawn)
            spawns.by_call.setdefault(("", call.id), spawn)
            if call.prompt is not None:
                _note_prompt(spawns, spawn, node.session, call.prompt)
        for result in node.results:
            spawns.answers.setdefault((node.session, result), number)
            spawns.answers.setdefault(("", result), number)
    for node in index.nodes:
        if node.spawned and node.results:
            _named_in(index, spawns, node)
    return spawns


def _note_prompt(spawns: Spawns, spawn: Spawn, session: str, prompt: int) -> None:
    spawns.by_prompt.setdefault((session, prompt), deque()).append(spawn)
    if label := spawn.call.label:
        spawns.by_brief.setdefault((session, prompt, label), deque()).append(spawn)
        spawns.by_name.setdefault((session, label), deque()).append(spawn)


def _named_in(index: Index, spawns: Spawns, node: Node) -> None:
    said = node.spawned
    spawn = spawns.called(node.session, node.results[0])
    if said is None or spawn is None:
        return
    is_spawner = spawn.call.prompt is not None
    if said.agent and (is_spawner or not said.in_text):  # any output can hold such words
        spawns.by_agent.setdefault(said.agent, []).append((spawn, said.in_text))
    if said.run:
        spawns.by_run.setdefault(said.run, spawn)
    if said.name and is_spawner:
        session = index.nodes[spawn.node].session
        spawns.by_name.setdefault((session, said.name), deque()).append(spawn)


def _sure_links(index: Index, spawns: Spawns, walk: Walk) -> Iterator[Anchor]:
    facts = index.facts[walk.file]
    if facts.file.kind == "agent":
        yield from _file_links(index, spawns, facts, walk.session)
    named = spawns.by_agent.get(walk.agent or "", [])
    # The call that sent it out comes before those that went on with it; spawners first.
    for spawn, in_words in sorted(named, key=lambda one: _remoteness(index, walk, *one)):
        yield Anchor("text" if in_words else "result", spawn.node, spawn.call.id)


def _remoteness(index: Index, walk: Walk, spawn: Spawn, in_words: bool) -> tuple[bool | int, ...]:
    is_foreign = index.nodes[spawn.node].session != walk.session
    return is_foreign, in_words, spawn.call.prompt is None, spawn.node


def _file_links(index: Index, spawns: Spawns, facts: FileFacts, session: str) -> Iterator[Anchor]:
    spawn = spawns.called(session, facts.meta.call_id if facts.meta else None)
    if spawn:
        yield Anchor("meta", spawn.node, spawn.call.id)
    run = spawns.by_run.get(facts.file.run or "")
    if run:
        yield Anchor("workflow", run.node, run.call.id)
    for aside in facts.asides[:4]:
        shared = index.at.get(aside.leaf or "", NOWHERE) if aside.kind == CONTEXT else NOWHERE
        if shared >= 0:
            yield Anchor("context", shared)


def _guesses(index: Index, spawns: Spawns, walk: Walk, taken: set[str]) -> Iterator[Anchor]:
    first = _first_prompt(index, walk)
    prompt = first.digest if first else None
    session, names = walk.session, _names_of(index.facts[walk.file], walk)
    if prompt:
        named = (_free(spawns.by_brief.get((session, prompt, name)), taken) for name in names)
        same = _free(spawns.by_prompt.get((session, prompt)), taken)
        for spawn in chain(merge(*named, key=attrgetter("node")), same):
            yield Anchor("prompt", spawn.node, spawn.call.id)
    for name in names:
        for spawn in _free(spawns.by_name.get((session, name)), taken):
            yield Anchor("name", spawn.node, spawn.call.id)


def _free(waiting: deque[Spawn] | None, taken: set[str]) -> Iterator[Spawn]:
    """Yields the calls in order that nobody took; those taken in front are forgotten for good."""
    while waiting and waiting[0].call.id in taken:
        waiting.popleft()
    yield from (spawn for spawn in waiting or () if spawn.call.id not in taken)


def _names_of(facts: FileFacts, walk: Walk) -> list[str]:
    # format: named agents are a<name>-<hex>
    inner = (walk.agent or "")[1:].rpartition("-")[0]
    meta = facts.meta
    given = (meta.name, meta.description) if meta and facts.file.kind == "agent" else ()
    return [name for name in (*given, inner) if name]


def _first_outside(links: Iterable[Anchor], walks: Walks, walk: Walk) -> Anchor | None:
    return next((link for link in links if walks.of[link.node] != walk.number), None)


def _link_of(
    index: Index, spawns: Spawns, walk: Walk, line: str, anchor: Anchor | None
) -> AgentLink:
    if anchor is None:
        return AgentLink(line, walk.agent or "", None)
    answer = spawns.answered(walk.session, anchor.call)
    return AgentLink(
        line,
        walk.agent or "",
        anchor.by,
        anchor.call,
        index.nodes[anchor.node].uuid,
        index.nodes[answer].uuid if answer >= 0 else None,
    )


def _unnamed(index: Index, walk: Walk) -> Finding:
    node = index.nodes[walk.nodes[0]]
    sentence = f"nothing says which call sent out agent {walk.agent}"
    return Finding("unnamed-agent", sentence, node.file, node.line, node.uuid)


def agent_links(
    index: Index,
    spawns: Spawns,
    drafts: LineDrafts,
    anchors: dict[int, Anchor],
    names: Sequence[str],
) -> dict[str, AgentLink]:
    """Returns how each agent was joined, by its line."""
    return {
        name: _link_of(index, spawns, one.walk, name, anchors.get(one.walk.number))
        for one, name in zip(drafts.lines, names, strict=True)
        if one.kind == "agent"
    }


def unnamed_agents(
    index: Index, drafts: LineDrafts, anchors: dict[int, Anchor]
) -> Iterable[Finding]:
    """Yields a finding for each agent that nothing names; services are expected to have none."""
    for one in drafts.lines:
        is_lost = one.kind == "agent" and one.walk.number not in anchors
        if is_lost and not is_service(index, one.walk):
            yield _unnamed(index, one.walk)


def runs_of(
    index: Index, spawns: Spawns, drafts: LineDrafts, lines: Sequence[DagLine]
) -> dict[str, WorkflowRun]:
    """Returns the workflow runs by their ids."""
    journals = {
        file.run: n for n, file in enumerate(index.files) if file.kind == "journal" and file.run
    }
    agents: dict[str, list[DagLine]] = {run: [] for run in (*journals, *spawns.by_run)}
    for draft, line in zip(drafts.lines, lines, strict=True):
        run = index.files[draft.walk.file].run
        if run and draft.kind == "agent":
            agents.setdefault(run, []).append(line)
    return {
        run: _run_of(index, spawns, run, journals.get(run), found) for run, found in agents.items()
    }


def _run_of(
    index: Index, spawns: Spawns, run: str, journal: int | None, agents: list[DagLine]
) -> WorkflowRun:
    started: list[str] = []
    if journal is not None:
        asides = index.facts[journal].asides
        started = [aside.agent or "" for aside in asides if aside.kind == STARTED]
    place = {agent: at for at, agent in reversed(list(enumerate(started)))}
    spawn = spawns.by_run.get(run)
    ordered = sorted(
        agents, key=lambda line: (place.get(line.agent or "", len(started)), line.started or "")
    )
    node = index.nodes[spawn.node] if spawn else None
    session = index.sessions[journal] if journal is not None else node.session if node else ""
    return WorkflowRun(
        run,
        agents[0].session if agents else session,
        journal,
        node.uuid if node else None,
        tuple(line.id for line in ordered),
    )
