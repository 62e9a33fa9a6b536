"""The DAG-lines of a graph, and which call started each agent.

An agent is joined to its call by the most reliable link available:

    meta      the file beside the agent's log names the call
    context   a forked agent names the last record that it shares
    workflow  its run's journal or folder, started by a call that names the run
    result    the result of a call names the agent
    text      only the text of the result names it
    prompt    a call has the same prompt (and name, if several do)
    name      a call or its result gave the agent its name

No agent is joined to itself. One without any link is shown, with a finding.

DAG-lines are named, put in reading order, and attached to the line that they leave:

    {session}                      a session's own line, with its active branch
    {session}@{12 of the uuid}     a branch; more of the uuid if two would be the same
    {session}#agent-{id}           an agent

Parents come before children and calls before results; the file decides the rest. Timestamps never
do: they step back in real files in which the graph is right.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

from plait.graph.forks import LineDraft, LineDrafts
from plait.graph.index import Index
from plait.graph.model import (
    AgentLink,
    Call,
    DagLine,
    Finding,
    LinkKind,
    Node,
    PlacedLine,
    Trait,
    WorkflowRun,
)
from plait.graph.parents import NO_NODE, Parents, Walk, Walks, find_cycles

SERVICE_IDS = ("acompact", "aprompt_suggestion", "aside_question")
SERVICE_PROMPT = "Warmup"
STARTED = "started"
CONTEXT = "fork-context-ref"


@dataclass(frozen=True, slots=True)
class Spawn:
    """A call that may have started an agent."""

    node: int
    call: Call


@dataclass(slots=True)
class Spawns:
    """What calls and results say about agents; by session where ids can repeat."""

    by_call: dict[tuple[str, str], Spawn] = field(default_factory=dict)
    """By session and call; under the session "", the first call of any session."""
    by_agent: dict[str, list[tuple[Spawn, bool]]] = field(default_factory=dict)
    """With whether only the text of the result names the agent."""
    by_run: dict[str, Spawn] = field(default_factory=dict)
    by_prompt: dict[tuple[str, int], deque[Spawn]] = field(default_factory=dict)
    by_brief: dict[tuple[str, int, str], deque[Spawn]] = field(default_factory=dict)
    """By prompt and name."""
    by_name: dict[tuple[str, str], deque[Spawn]] = field(default_factory=dict)
    answers: dict[tuple[str, str], int] = field(default_factory=dict)
    """The record with the result of each call, likewise."""

    @classmethod
    def collect(cls, index: Index) -> "Spawns":
        """Collect what all records of an index say."""
        spawns = cls()
        for number, node in enumerate(index.nodes):
            for call in node.calls:
                spawn = Spawn(number, call)
                spawns.by_call.setdefault((node.session, call.id), spawn)
                spawns.by_call.setdefault(("", call.id), spawn)
                if call.prompt is None:
                    continue
                key = (node.session, call.prompt)
                spawns.by_prompt.setdefault(key, deque()).append(spawn)
                if call.label:
                    spawns.by_brief.setdefault((*key, call.label), deque()).append(spawn)
                    name = (node.session, call.label)
                    spawns.by_name.setdefault(name, deque()).append(spawn)
            for result in node.results:
                spawns.answers.setdefault((node.session, result), number)
                spawns.answers.setdefault(("", result), number)
        for node in index.nodes:
            if node.spawned and node.results:
                spawns._add_result(index, node)
        return spawns

    def _add_result(self, index: Index, node: Node) -> None:
        facts = node.spawned
        spawn = self.find_call(node.session, node.results[0])
        if facts is None or spawn is None:
            return
        is_spawner = spawn.call.prompt is not None
        if facts.agent and (is_spawner or not facts.in_text):  # any output can contain such text
            self.by_agent.setdefault(facts.agent, []).append((spawn, facts.in_text))
        if facts.run:
            self.by_run.setdefault(facts.run, spawn)
        if facts.name and is_spawner:
            session = index.nodes[spawn.node].session
            self.by_name.setdefault((session, facts.name), deque()).append(spawn)

    def find_call(self, session: str, call: str | None) -> Spawn | None:
        """Return a call of a session, else of any session."""
        if not call:
            return None
        return self.by_call.get((session, call)) or self.by_call.get(("", call))


@dataclass(frozen=True, slots=True)
class Anchor:
    """The record that an agent is attached to, and the call that is the reason."""

    by: LinkKind
    node: int
    call: str | None = None


def join_agents(index: Index, parents: Parents, walks: Walks) -> tuple[dict[int, Anchor], Spawns]:
    """Return the anchors of the agents' walks, by walk, and what is known about agents."""
    agents = [walk for walk in walks.walks if walk.agent is not None]
    spawns = Spawns.collect(index) if agents else Spawns()
    used_calls: set[str] = set()
    anchors: dict[int, Anchor] = {}
    for find_links in (_iter_sure_links, _iter_guesses):  # certain links claim their calls first
        for walk in agents:
            if walk.number in anchors or is_service(index, walk):
                continue
            links = find_links(index, spawns, walk, used_calls)
            anchor = next((link for link in links if walks.of[link.node] != walk.number), None)
            if anchor:
                anchors[walk.number] = anchor
                used_calls.add(anchor.call or "")
    first_nodes = {walks.walks[number].nodes[0]: number for number in anchors}
    if first_nodes:
        up = list(parents.up)
        for node, number in first_nodes.items():
            up[node] = anchors[number].node
        for node in chain.from_iterable(
            find_cycles(up)
        ):  # agents that would have started each other
            if node in first_nodes:
                del anchors[first_nodes[node]]
    return anchors, spawns


def is_service(index: Index, walk: Walk) -> bool:
    """Return whether an agent is a background request of the client, which no call started."""
    if (walk.agent or "").startswith(SERVICE_IDS):
        return True
    first = _find_first_prompt(index, walk)
    return first is not None and first.preview == SERVICE_PROMPT


def _find_first_prompt(index: Index, walk: Walk) -> Node | None:
    for number in walk.nodes[:16]:
        node = index.nodes[number]
        if node.kind == "user" and not node.results:
            return node
    return None


def _iter_sure_links(
    index: Index, spawns: Spawns, walk: Walk, used_calls: set[str]
) -> Iterator[Anchor]:
    facts = index.facts[walk.file]
    if facts.file.kind == "agent":
        spawn = spawns.find_call(walk.session, facts.meta.call_id if facts.meta else None)
        if spawn:
            yield Anchor("meta", spawn.node, spawn.call.id)
        run = spawns.by_run.get(facts.file.run or "")
        if run:
            yield Anchor("workflow", run.node, run.call.id)
        for line in facts.asides[:4]:
            shared = index.at.get(line.leaf or "", NO_NODE) if line.kind == CONTEXT else NO_NODE
            if shared >= 0:
                yield Anchor("context", shared)

    # The call that started an agent comes before those that continued it; starting tools first.
    def rank(item: tuple[Spawn, bool]) -> tuple[bool | int, ...]:
        spawn, is_in_text = item
        is_foreign = index.nodes[spawn.node].session != walk.session
        return is_foreign, is_in_text, spawn.call.prompt is None, spawn.node

    for spawn, is_in_text in sorted(spawns.by_agent.get(walk.agent or "", []), key=rank):
        yield Anchor("text" if is_in_text else "result", spawn.node, spawn.call.id)


def _iter_guesses(
    index: Index, spawns: Spawns, walk: Walk, used_calls: set[str]
) -> Iterator[Anchor]:
    first = _find_first_prompt(index, walk)
    prompt = first.digest if first else None
    facts = index.facts[walk.file]
    meta = facts.meta if facts.file.kind == "agent" else None
    # format: named agents have the id a<name>-<hex>
    name_in_id = (walk.agent or "")[1:].rpartition("-")[0]
    names = [*((meta.name, meta.description) if meta else ()), name_in_id]
    names = [name for name in names if name]
    session = walk.session
    if prompt:
        named = [
            _iter_unused(spawns.by_brief.get((session, prompt, name)), used_calls) for name in names
        ]
        any_name = _iter_unused(spawns.by_prompt.get((session, prompt)), used_calls)
        for spawn in chain(merge(*named, key=attrgetter("node")), any_name):
            yield Anchor("prompt", spawn.node, spawn.call.id)
    for name in names:
        for spawn in _iter_unused(spawns.by_name.get((session, name)), used_calls):
            yield Anchor("name", spawn.node, spawn.call.id)


def _iter_unused(spawns: deque[Spawn] | None, used_calls: set[str]) -> Iterator[Spawn]:
    """Yield the calls that are not used yet; used ones at the front are dropped for good."""
    while spawns and spawns[0].call.id in used_calls:
        spawns.popleft()
    yield from (spawn for spawn in spawns or () if spawn.call.id not in used_calls)


def build_agent_links(
    index: Index,
    spawns: Spawns,
    drafts: LineDrafts,
    anchors: dict[int, Anchor],
    names: Sequence[str],
) -> dict[str, AgentLink]:
    """Return how each agent was joined, by its line."""
    links: dict[str, AgentLink] = {}
    for draft, name in zip(drafts.lines, names, strict=True):
        if draft.kind != "agent":
            continue
        walk, anchor = draft.walk, anchors.get(draft.walk.number)
        if anchor is None:
            links[name] = AgentLink(name, walk.agent or "", None)
            continue
        call = anchor.call or ""
        answer = spawns.answers.get((walk.session, call), spawns.answers.get(("", call), NO_NODE))
        links[name] = AgentLink(
            name,
            walk.agent or "",
            anchor.by,
            anchor.call,
            index.nodes[anchor.node].uuid,
            index.nodes[answer].uuid if answer >= 0 else None,
        )
    return links


def find_unnamed_agents(
    index: Index, drafts: LineDrafts, anchors: dict[int, Anchor]
) -> Iterable[Finding]:
    """Yield a finding for each agent that nothing names; background requests are expected to have
    no call.
    """
    for draft in drafts.lines:
        walk = draft.walk
        if draft.kind != "agent" or walk.number in anchors or is_service(index, walk):
            continue
        node = index.nodes[walk.nodes[0]]
        sentence = f"unclear which call started agent {walk.agent}"
        yield Finding("unnamed-agent", sentence, node.file, node.line, node.uuid)


def build_workflow_runs(
    index: Index, spawns: Spawns, drafts: LineDrafts, lines: Sequence[DagLine]
) -> dict[str, WorkflowRun]:
    """Return the workflow runs by their ids, the agents of each in the order they were started."""
    journals = {
        file.run: n for n, file in enumerate(index.files) if file.kind == "journal" and file.run
    }
    agents_of_runs: dict[str, list[DagLine]] = {run: [] for run in (*journals, *spawns.by_run)}
    for draft, line in zip(drafts.lines, lines, strict=True):
        run = index.files[draft.walk.file].run
        if run and draft.kind == "agent":
            agents_of_runs.setdefault(run, []).append(line)
    runs: dict[str, WorkflowRun] = {}
    for run, agents in agents_of_runs.items():
        journal = journals.get(run)
        entries = index.facts[journal].asides if journal is not None else []
        started = [entry.agent or "" for entry in entries if entry.kind == STARTED]
        place = {agent: at for at, agent in reversed(list(enumerate(started)))}
        agents.sort(
            key=lambda line: (place.get(line.agent or "", len(started)), line.started or "")
        )
        spawn = spawns.by_run.get(run)
        node = index.nodes[spawn.node] if spawn else None
        if agents:
            session = agents[0].session
        elif journal is not None:
            session = index.sessions[journal]
        else:
            session = node.session if node else ""
        runs[run] = WorkflowRun(
            run,
            session,
            journal,
            node.uuid if node else None,
            tuple(line.id for line in agents),
        )
    return runs


FIRST = 8
"""The number of records by which a copy is recognised: all of them must be copies."""


@dataclass(frozen=True, slots=True)
class BuiltLines:
    """The DAG-lines, in the order of their drafts, and findings about them."""

    lines: list[DagLine]
    copied: list[DagLine]
    """Lines of files that hold only copies."""
    findings: list[Finding]


def build_lines(
    index: Index, parents: Parents, walks: Walks, drafts: LineDrafts, anchors: dict[int, Anchor]
) -> BuiltLines:
    """Build the DAG-lines of all drafts."""
    own_names = _name_lines(index, drafts)
    copy_files = _find_files_of_copies(index, own_names)
    names = [*own_names, *(index.sessions[file] for file in copy_files)]
    attached = [_find_attachment(index, parents, walks, draft, anchors) for draft in drafts.lines]
    trunks = {draft.walk.number: n for n, draft in enumerate(drafts.lines) if draft.root < 0}
    above: list[int] = []
    """The number of the line that each line leaves."""
    for draft, node in zip(drafts.lines, attached, strict=True):
        if node >= 0:
            above.append(drafts.of[node])
        else:
            above.append(trunks[draft.walk.number] if draft.root >= 0 else NO_NODE)
    above += [drafts.of[index.at[index.facts[file].nodes[-1].uuid]] for file in copy_files]
    findings: list[Finding] = []
    for circle in find_cycles(above):
        first = min(circle)
        attached[first] = above[first] = NO_NODE
        start = index.nodes[drafts.lines[first].walk.nodes[0]]
        sentence = "sessions or agents are recorded as starting in each other"
        findings.append(Finding("tangled-lines", sentence, start.file, start.line, start.uuid))
    _adopt_agents(index, drafts, above, copy_files)
    reader = Reader(index, walks, drafts, findings)
    lines: list[DagLine] = []
    for number, draft in enumerate(drafts.lines):
        is_service_run = draft.kind == "agent" and is_service(index, draft.walk)
        stamps = [stamp for node in draft.nodes if (stamp := index.nodes[node].timestamp)]
        lines.append(
            DagLine(
                names[number],
                "service" if is_service_run else draft.kind,
                draft.walk.session,
                reader.read(draft.nodes),
                {
                    index.nodes[host].uuid: reader.read(folded)
                    for host, folded in draft.folded.items()
                },
                names[above[number]] if above[number] >= 0 else None,
                index.nodes[attached[number]].uuid if attached[number] >= 0 else None,
                True,
                min(stamps) if stamps else None,
                max(stamps) if stamps else None,
                _find_label(index, draft),
                None,
                draft.walk.agent,
                (draft.walk.file,),
            )
        )
    copied: list[DagLine] = []
    for number, file in enumerate(copy_files, len(own_names)):
        nodes = index.facts[file].nodes
        copied.append(
            DagLine(
                index.sessions[file],
                "trunk",
                index.sessions[file],
                (),
                parent=names[above[number]],
                attachment=nodes[-1].uuid,
                started=nodes[-1].timestamp,
                ended=nodes[-1].timestamp,
                label=next((node.preview for node in nodes if node.is_human_prompt), None),
                files=(file,),
            )
        )
    return BuiltLines(lines, copied, findings)


def _find_attachment(
    index: Index, parents: Parents, walks: Walks, draft: LineDraft, anchors: dict[int, Anchor]
) -> int:
    """Return the record of another line where a line leaves it."""
    walk = draft.walk
    if draft.root >= 0:
        return parents.up[draft.root]
    anchor = anchors.get(walk.number)
    if anchor:
        return anchor.node
    for number in walk.nodes:
        parent = parents.up[number]
        if parent >= 0 and walks.up[number] < 0:
            return parent
    is_copy = any(index.nodes[number].copy_of for number in walk.nodes[:FIRST])
    if draft.kind != "trunk" or not is_copy:
        return NO_NODE
    # the last record that was copied from another session under a new id
    for number in reversed(walk.nodes):
        copied = index.at.get(index.nodes[number].copy_of or "", NO_NODE)
        if copied >= 0 and index.nodes[copied].session != walk.session:
            return copied
    return NO_NODE


class Reader:
    """Puts the nodes of a line in reading order."""

    __slots__ = ("calls", "findings", "index", "of", "up")

    def __init__(
        self, index: Index, walks: Walks, drafts: LineDrafts, findings: list[Finding]
    ) -> None:
        self.index = index
        self.up = walks.up
        self.of = drafts.of
        self.findings = findings
        self.calls: dict[tuple[int, str], int] = {}
        for number, node in enumerate(index.nodes):
            for call in node.calls:
                self.calls.setdefault((drafts.of[number], call.id), number)

    def read(self, members: Sequence[int]) -> tuple[str, ...]:
        """Return the uuids of nodes in reading order."""
        up, nodes = self.up, self.index.nodes
        # Nearly all lines are in order already: most nodes need only their parent.
        answering = [number for number in members if nodes[number].results]
        is_in_order = all(up[number] < number for number in members) and all(
            call < number for number in answering for call in self.before(number)
        )
        order = list(members) if is_in_order else sort_for_reading(members, self.before)
        if order is None:  # a call that comes below its own result
            node = nodes[members[0]]
            sentence = "from here on, some results come before their calls"
            self.findings.append(Finding("order", sentence, node.file, node.line, node.uuid))
            order = sort_for_reading(members, lambda number: (up[number],)) or list(members)
        return tuple([nodes[number].uuid for number in order])

    def before(self, number: int) -> Sequence[int]:
        """Return the parent and the calls of a node."""
        node = self.index.nodes[number]
        if not node.results:
            return (self.up[number],)
        line = self.of[number]
        calls = (self.calls.get((line, result), NO_NODE) for result in node.results)
        return (self.up[number], *(call for call in calls if call != number))


def _find_label(index: Index, draft: LineDraft) -> str | None:
    meta = index.facts[draft.walk.file].meta
    if draft.kind == "agent" and meta and (meta.description or meta.name):
        return meta.description or meta.name
    fallback: str | None = None
    for number in draft.nodes:
        node = index.nodes[number]
        if node.preview and (node.traits & Trait.HUMAN or draft.kind == "agent"):
            return node.preview
        fallback = fallback or node.preview
    return fallback


def place_loose(index: Index, names: Sequence[str], of: Sequence[int]) -> tuple[PlacedLine, ...]:
    """Return the lines without uuid, each on the DAG-line of the last uuid before it."""
    placed: list[PlacedLine] = []
    for number, facts in enumerate(index.facts):
        for loose in facts.asides:
            near = facts.nodes[max(loose.after - 1, 0)].uuid if facts.nodes else None
            line = names[of[index.at[near]]] if near else None
            after = near if loose.after else None
            placed.append(PlacedLine(loose.kind, facts.place(loose, number), line, after))
    return tuple(placed)


SHORT = 12
LONGER = 4


def _name_lines(index: Index, drafts: LineDrafts) -> list[str]:
    """Return a unique name for each line; trunks choose first."""
    names = [""] * len(drafts.lines)
    used: set[str] = set()
    ranks = {"trunk": 0, "foreign": 1}
    for number in sorted(
        range(len(names)), key=lambda number: (ranks.get(drafts.lines[number].kind, 2), number)
    ):
        candidates = _iter_candidate_names(index, drafts.lines[number])
        name = next(name for name in candidates if name not in used)
        used.add(name)
        names[number] = name
    return names


def _iter_candidate_names(index: Index, draft: LineDraft) -> Iterator[str]:
    """Yield names for a line without end, the best first."""
    session = draft.walk.session
    uuid = index.nodes[draft.root if draft.root >= 0 else draft.walk.nodes[0]].uuid
    if draft.walk.agent is not None:
        yield f"{session}#agent-{draft.walk.agent}"
        stem = f"{session}#agent-{draft.walk.agent}@"
    else:
        stem = f"{session}@"
        if draft.kind != "branch":
            yield session
    for length in range(SHORT, max(len(uuid), SHORT) + LONGER, LONGER):
        yield stem + uuid[:length]
    number = 2
    while True:
        yield f"{stem}{uuid}~{number}"
        number += 1


def _find_files_of_copies(index: Index, names: Iterable[str]) -> list[int]:
    """Return the files of sessions that own no record because other files own all of theirs."""
    owners = {node.file for node in index.nodes}
    known = set(names)
    found: list[int] = []
    for number, facts in enumerate(index.facts):
        session = index.sessions[number]
        owns_nothing = facts.file.kind == "session" and facts.nodes and number not in owners
        if owns_nothing and session not in known:
            known.add(session)
            found.append(number)
    return found


def _adopt_agents(
    index: Index, drafts: LineDrafts, above: list[int], copy_files: Sequence[int]
) -> None:
    """Attach agents without an anchor to the agent that their file names, else to the session."""
    lines = drafts.lines
    sessions = {index.sessions[file]: n for n, file in enumerate(copy_files, len(lines))}
    for kind in ("foreign", "trunk"):
        sessions.update((line.walk.session, n) for n, line in enumerate(lines) if line.kind == kind)
    numbers = [number for number, line in enumerate(lines) if line.kind == "agent"]
    agents = {(lines[n].walk.session, lines[n].walk.agent): n for n in numbers}
    adopted = [number for number in numbers if above[number] < 0]
    for number in adopted:
        walk = lines[number].walk
        meta = index.facts[walk.file].meta
        sender = agents.get((walk.session, meta.parent_agent_id), number) if meta else number
        above[number] = sender if sender != number else sessions.get(walk.session, NO_NODE)
    for circle in find_cycles(above):
        for number in set(circle).intersection(adopted):
            above[number] = NO_NODE


Before: TypeAlias = Callable[[int], Sequence[int]]
"""Returns the nodes that must come before a node; only those of the same line count."""


def sort_for_reading(members: Sequence[int], before: Before) -> list[int] | None:
    """Return the members, given in file order, with what each needs right before it."""
    if all(earlier < member for member in members for earlier in before(member)):
        return list(members)
    inside = set(members)
    open_nodes, done = set[int](), set[int]()
    order: list[int] = []
    for member in members:
        stack = [member]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            needed = [other for other in before(node) if other in inside and other not in done]
            if not needed:
                stack.pop()
                open_nodes.discard(node)
                done.add(node)
                order.append(node)
            elif node in open_nodes:
                return None
            else:
                open_nodes.add(node)
                stack.extend(reversed(needed))
    return order
