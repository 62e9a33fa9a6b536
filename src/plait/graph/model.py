"""The graph as plain values: nodes, edges, verdicts, DAG-lines and the tree of sessions.

A graph holds facts and places, never texts: a node says where its bytes are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.record.types import Preserved

PREVIEW = 120

SourceKind: TypeAlias = Literal["session", "agent", "journal"]


class Place(NamedTuple):
    """Where the bytes of a record are: a file of the graph, its line, its bytes."""

    file: int
    line: int
    offset: int
    length: int


class Trait:
    """What a record is, as far as the graph needs to know.

    Plain numbers: an enumeration would cost more than all the rest of a graph.
    """

    HUMAN = 1  # a prompt that the user typed
    QUEUED = 2  # a prompt typed while the model worked
    ANSWER = 4  # text or a call of the model, no error
    STRUCTURAL = 8  # bridged when forks are judged
    SIDECHAIN = 16
    META = 32
    SUMMARY = 64  # the summary of a compaction
    ERROR = 128  # the API's error in the place of an answer
    INTERRUPTION = 256
    BOUNDARY = 512  # a compaction
    CLEAR = 1024  # the command that clears the context
    ASKS = 2048  # a command, a notice or a meta record: begins a turn if it is answered
    TEAM = 4096
    MUTE = 8192  # a prompt or a response without a message that the client could read


class Call(Struct, frozen=True, gc=False):
    """A tool call, with what it says about the agent it may start."""

    id: str
    name: str
    prompt: int | None = None
    """A digest of the agent's prompt."""
    label: str | None = None
    """The agent's name, else its description."""


class SpawnFacts(Struct, frozen=True, gc=False):
    """What the result of a call says about the agent, teammate or workflow it started."""

    agent: str | None = None
    run: str | None = None
    name: str | None = None
    in_text: bool = False
    """True if only the text of the result names the agent."""


class Node(Struct, frozen=True, gc=False):
    """A record in the graph: its id, its references, its place."""

    uuid: str
    parent: str | None
    """As the record says; `SessionGraph.edge_of` gives its real parent."""
    file: int
    line: int
    offset: int
    length: int
    session: str
    """The session that owns it; an agent's is its parent's."""
    kind: str
    subtype: str | None = None
    """The subtype of a system record, an attachment or progress."""
    timestamp: str | None = None
    traits: int = 0
    message_id: str | None = None
    request_id: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[str, ...] = ()
    """The calls that it answers."""
    source: str | None = None
    """The record whose call it answers, if the client says so."""
    attends: str | None = None
    """The call that an attachment belongs to."""
    agent: str | None = None
    logical: str | None = None
    """The record that a compaction continues."""
    preserved: Preserved | None = None
    """What a compaction preserves."""
    spawned: SpawnFacts | None = None
    digest: int | None = None
    """A digest of a prompt's text, to recognise equal ones."""
    preview: str | None = None
    """The first words of a prompt."""
    forked_from: str | None = None
    """The session that it was copied from, if the client says so."""
    copy_of: str | None = None
    """The original record, if it has another uuid."""
    copies: tuple[Place, ...] = ()
    """The other lines that hold this uuid."""

    @property
    def place(self) -> Place:
        """Where its bytes are."""
        return Place(self.file, self.line, self.offset, self.length)

    @property
    def is_human_prompt(self) -> bool:
        return bool(self.traits & (Trait.HUMAN | Trait.QUEUED))

    @property
    def is_structural(self) -> bool:
        return bool(self.traits & Trait.STRUCTURAL)

    @property
    def is_sidechain(self) -> bool:
        return bool(self.traits & Trait.SIDECHAIN)

    @property
    def is_boundary(self) -> bool:
        return bool(self.traits & Trait.BOUNDARY)


class SourceFile(Struct, frozen=True, gc=False):
    """A file that records came from, named by its place."""

    path: str
    kind: SourceKind
    session: str | None
    agent: str | None = None
    run: str | None = None
    project: str = ""
    size: int = 0


LineKind: TypeAlias = Literal["trunk", "branch", "agent", "service", "foreign"]
EdgeKind: TypeAlias = Literal[
    "parent",  # as the record says
    "root",  # the record names no parent
    "repaired",  # its parent is missing: the record before it replaces it
    "lost",  # its parent is missing and nothing could replace it: a root
    "cut",  # its parent closed a cycle: the record before it replaces it
    "logical",  # a compaction continues from here
    "boundary",  # the record names no parent and follows the boundary of a compaction
    "restart",  # the context was cleared, the conversation goes on
    "spawn",  # the call that started the agent
    "fork",  # the record up to which a forked agent shares its parent's context
]
FoldReason: TypeAlias = Literal["replay", "retracted", "resent"]
RungName: TypeAlias = Literal[
    "replay", "note", "retry", "retracted", "resent", "parallel", "rewind", "restart", "compaction"
]
LinkKind: TypeAlias = Literal[
    "meta", "result", "text", "prompt", "name", "context", "workflow", "sidechain"
]


class Edge(Struct, frozen=True, gc=False):
    """The parent of a node, and why."""

    parent: str | None
    kind: EdgeKind
    named: str | None = None
    """The parent that the record names, if another replaces it."""


class Finding(Struct, frozen=True, gc=False):
    """Something odd in the data, in a sentence that gives its place."""

    code: str
    sentence: str
    file: int | None = None
    line: int | None = None
    uuid: str | None = None


class Verdict(Struct, frozen=True, gc=False):
    """What a rule of the ladder decided about two children of the same host."""

    rung: RungName
    session: str
    host: str | None
    """None if both are roots."""
    older: str | None
    newer: str


class Fold(Struct, frozen=True, gc=False):
    """Why a node is folded under another, out of the reading order."""

    reason: FoldReason
    under: str


class DagLine(Struct, frozen=True, gc=False):
    """The single chain that a session, a branch or an agent forms."""

    id: str
    kind: LineKind
    session: str
    nodes: tuple[str, ...]
    """Inline, in reading order."""
    folded: Mapping[str, tuple[str, ...]] = {}
    """Nodes folded under a node of this line or under a folded one, in reading order."""
    parent: str | None = None
    """The DAG-line that it leaves."""
    attachment: str | None = None
    """The node where it leaves its parent."""
    is_active: bool = True
    """Whether it, or the line it leaves, holds the leaf that the client would resume from."""
    started: str | None = None
    ended: str | None = None
    label: str | None = None
    summary: str | None = None
    agent: str | None = None
    files: tuple[int, ...] = ()


class AgentLink(Struct, frozen=True, gc=False):
    """How an agent was joined to the call that started it."""

    line: str
    agent: str
    by: LinkKind | None
    """None if nothing names the agent."""
    call: str | None = None
    node: str | None = None
    """The record that holds the call, or the last one that a forked agent shares."""
    answer: str | None = None
    """The record that holds the call's result."""


class WorkflowRun(Struct, frozen=True, gc=False):
    """A run of a workflow: the call that began it, its journal, its agents."""

    run: str
    session: str
    journal: int | None
    """The file of the journal."""
    node: str | None
    """The record that holds the call."""
    agents: tuple[str, ...]
    """DAG-lines, in the order of the journal, then of time."""


class PlacedLine(Struct, frozen=True, gc=False):
    """A line without uuid, on the DAG-line of the last uuid before it."""

    kind: str
    place: Place
    line: str | None
    """The DAG-line; None if the file has no record with a uuid."""
    after: str | None
    """The last uuid before it."""


class SummaryLink(Struct, frozen=True, gc=False):
    """A `summary` line and the message, the DAG-line and the session it describes."""

    text: str
    leaf: str
    place: Place
    line: str | None
    session: str | None


class OtherSummary(NamedTuple):
    """A `summary` line of a file that is not in the graph."""

    path: str
    line: int
    leaf: str
    text: str


class Session(Struct, frozen=True, gc=False):
    """A session with the DAG-lines it consists of."""

    id: str
    files: tuple[int, ...]
    trunk: str | None
    lines: tuple[str, ...]
    leaf: str | None
    """The record that the client would resume from."""
    started: str | None
    ended: str | None
    title: str | None
    project: str
    unseen: tuple[str, ...] = ()
    """Messages on its main line that are not on the client's chain: drawn, and not sent on resume."""


class Junction(Struct, frozen=True, gc=False):
    """A node that other DAG-lines leave from."""

    uuid: str
    line: str
    leaving: tuple[str, ...]
    """The DAG-lines that leave here, in time order; each has this node as attachment."""


class SessionTree(Struct, frozen=True, gc=False):
    """DAG-lines as a forest: sessions, their branches, their agents, and sessions that continue
    them.
    """

    roots: tuple[str, ...]
    children: Mapping[str, tuple[str, ...]]
    """In time order."""
    junctions: Mapping[str, Junction]
    lines: Mapping[str, DagLine] = {}
    """The lines by name."""


class GraphCounts(Struct, frozen=True, gc=False):
    """Where every node and every tool result went."""

    nodes: int = 0
    copies: int = 0
    inline: int = 0
    folded: Mapping[str, int] = {}
    dag_lines: int = 0
    branches: int = 0
    rungs: Mapping[str, int] = {}
    tool_results: int = 0
    tool_results_reachable: int = 0
    tool_results_orphaned: int = 0
    """Results whose call is not in any file that was read; each is a finding."""
    loose: int = 0
    findings: Mapping[str, int] = {}

    @property
    def balanced(self) -> bool:
        """Whether every node occurs once, and every result is with its call or is listed."""
        return (
            self.nodes == self.inline + sum(self.folded.values())
            and self.tool_results == self.tool_results_reachable + self.tool_results_orphaned
        )


@dataclass(frozen=True)
class SessionGraph:
    """The records of one file, one session, a project or an archive, joined by their references.

    No slots: the maps that every reader needs are computed on first use and kept.
    """

    files: tuple[SourceFile, ...]
    nodes: Mapping[str, Node]
    """By uuid, in the order of their files and lines."""
    edges: Mapping[str, Edge]
    """Only edges that are not simply what the record says."""
    lines: Mapping[str, DagLine]
    sessions: Mapping[str, Session]
    folds: Mapping[str, Fold]
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    agents: Mapping[str, AgentLink]
    """By DAG-line."""
    workflows: Mapping[str, WorkflowRun]
    loose: tuple[PlacedLine, ...]
    summaries: tuple[SummaryLink, ...]
    tree: SessionTree
    account: GraphCounts
    accounts: Mapping[str, GraphCounts] = field(default_factory=dict)
    """By session."""

    def edge_of(self, uuid: str) -> Edge:
        """Return the parent of a node, and why."""
        changed = self.edges.get(uuid)
        if changed:
            return changed
        parent = self.nodes[uuid].parent
        return Edge(parent, "parent" if parent else "root")

    @cached_property
    def line_of(self) -> Mapping[str, str]:
        """The DAG-line of each node, inline or folded."""
        found: dict[str, str] = {}
        for line in self.lines.values():
            for uuid in line.nodes:
                found[uuid] = line.id
            for folded in line.folded.values():
                for uuid in folded:
                    found[uuid] = line.id
        return found

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The children of each node, in file order; nodes without children are absent."""
        found: dict[str, list[str]] = {}
        for uuid in self.nodes:
            parent = self.edge_of(uuid).parent
            if parent is not None:
                found.setdefault(parent, []).append(uuid)
        return {uuid: tuple(below) for uuid, below in found.items()}
