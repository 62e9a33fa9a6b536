"""Paths through a graph, from root to leaf: one for each end of a conversation.

    s    a b c ─ g h          path 1   a b c d e f    ABANDONED, leaves at c
    s@d      ╰── d e f        path 2   a b c g h      ACTIVE

A path names the line it ends on; its uuids are computed on demand, since a thousand paths may share
one long beginning. `RawGraph` has every path by the recorded parents: nothing is folded and nothing
repaired, so parallel calls make dead ends.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.graph.model import DagLine, Node, SessionGraph
from plait.graph.tree import resolve_fold

Status: TypeAlias = Literal["ACTIVE", "ABANDONED"]
Place: TypeAlias = tuple[int, int]
Leaving: TypeAlias = dict[str, dict[int, list[DagLine]]]
"""By parent and by position in it: the lines that leave there; -1 is before its start."""

SPOKEN = frozenset({"trunk", "branch", "foreign"})
MESSAGES = frozenset({"user", "assistant"})
LATE: Place = (1 << 62, 0)
NEVER = "\uffff"


class Path(Struct, frozen=True, gc=False):
    """One path through a session, from its root to a leaf."""

    session: str
    path: int
    """Its number in the session, from 1."""
    of: int
    """How many paths the session has."""
    status: Status
    fork_point: str | None
    """Where an abandoned path leaves the active one; None also for one with a root of its own."""
    leaf: str
    line: str
    """The DAG-line that it ends on."""
    label: str | None = None
    """Its label: a summary, a title, or its first prompt."""
    messages: int = 0
    compactions: int = 0
    unseen: int = 0
    """Messages on it that the client would not send."""


class Prefix(NamedTuple):
    """What precedes a place on a path."""

    messages: int = 0
    compactions: int = 0
    fork_point: str | None = None


def list_paths(graph: SessionGraph) -> tuple[Path, ...]:
    """Return one path for each end of a conversation, session by session.

    Within a session they are in file order: of two, the one whose own records start first comes
    first. A path that another session continues is part of that one.
    """
    leaving = _find_leaving_lines(graph)
    prefixes = _build_prefixes(graph, leaving)
    continued: set[str] = set()
    """Lines whose end a line of another session continues."""
    for name, places in leaving.items():
        line = graph.lines[name]
        last = 0  # notes of the client after the last message (how long the turn took) do not count
        for at in range(len(line.nodes) - 1, -1, -1):
            if not graph.nodes[line.nodes[at]].is_structural:
                last = at
                break
        for at, lines in places.items():
            if at >= last and any(other.session != line.session for other in lines):
                continued.add(name)
    tops_of_sessions: dict[str, list[DagLine]] = {}
    spoken = [line for line in graph.lines.values() if _is_spoken(line)]
    for line in sorted(spoken, key=lambda line: (line.started or NEVER, line.id)):
        parent = (
            graph.lines[line.parent] if line.parent and _has_spoken_parent(graph, line) else None
        )
        if parent is None or parent.session != line.session:
            tops_of_sessions.setdefault(line.session, []).append(line)
    found: list[Path] = []
    for tops in tops_of_sessions.values():
        in_file_order = _iter_in_file_order(graph, tops, leaving)
        lines = [line for line in in_file_order if line.id not in continued]
        for number, line in enumerate(lines, 1):
            prefix, unseen = prefixes[line.id], graph.sessions[line.session].unseen
            found.append(
                Path(
                    session=line.session,
                    path=number,
                    of=len(lines),
                    status="ACTIVE" if line.is_active else "ABANDONED",
                    fork_point=prefix.fork_point,
                    leaf=line.nodes[-1],
                    line=line.id,
                    label=get_label(graph, line),
                    messages=prefix.messages,
                    compactions=prefix.compactions,
                    unseen=len(unseen) if line.id == line.session else 0,
                )
            )
    return tuple(found)


def list_path_uuids(graph: SessionGraph, path: Path) -> tuple[str, ...]:
    """Return the records of a path, root to leaf."""
    line = graph.lines[path.line]
    parts = [line.nodes]
    while line.parent is not None and _has_spoken_parent(graph, line):
        parent = graph.lines[line.parent]
        inline = resolve_fold(graph, line.attachment)
        end = (parent.nodes.index(inline) if inline in parent.nodes else -1) + 1
        if not end:
            break
        parts.append(parent.nodes[:end])
        line = parent
    return tuple(uuid for part in reversed(parts) for uuid in part)


def _is_spoken(line: DagLine) -> bool:
    return line.kind in SPOKEN and bool(line.nodes)


def _has_spoken_parent(graph: SessionGraph, line: DagLine) -> bool:
    parent = graph.lines.get(line.parent or "")
    return parent is not None and _is_spoken(parent)


def _get_place(node: Node) -> Place:
    """Return a sort key for the place of a record."""
    return node.file, node.line


def _find_leaving_lines(graph: SessionGraph) -> Leaving:
    """Return the lines that leave each line, by the position they leave from; -1 is before all."""
    by_attachment: dict[str, dict[str | None, list[DagLine]]] = {}
    for line in graph.lines.values():
        if _is_spoken(line) and line.parent is not None and _has_spoken_parent(graph, line):
            inline = resolve_fold(graph, line.attachment)
            by_attachment.setdefault(line.parent, {}).setdefault(inline, []).append(line)
    leaving: Leaving = {}
    for name, waiting in by_attachment.items():
        nodes = graph.lines[name].nodes
        inside = {at: waiting.pop(uuid) for at, uuid in enumerate(nodes) if uuid in waiting}
        rootless = [line for lines in waiting.values() for line in lines]
        leaving[name] = {-1: rootless, **inside} if rootless else inside
        for lines in leaving[name].values():
            lines.sort(key=lambda line: _get_place(graph.nodes[line.nodes[0]]))
    return leaving


def _iter_in_file_order(
    graph: SessionGraph, tops: Iterable[DagLine], leaving: Leaving
) -> Iterator[DagLine]:
    """Yield the lines of one session in the order in which their paths diverge.

    At each fork the sides come in the order of their first records: the line itself is one of them,
    so it comes last if it continued last.
    """

    def start(line: DagLine) -> tuple[Place, DagLine, Iterator[tuple[int, list[DagLine]]]]:
        partings: list[tuple[int, list[DagLine]]] = []
        for at, lines in leaving.get(line.id, {}).items():
            branches = [other for other in lines if other.session == line.session]
            if branches:
                partings.append((at, branches))
        return _get_place(graph.nodes[line.nodes[0]]), line, iter(partings)

    waiting = sorted(map(start, tops), key=lambda side: side[0], reverse=True)
    while waiting:
        _, line, partings = waiting.pop()
        parting = next(partings, None)
        if parting is None:
            yield line
            continue
        at, branches = parting
        is_last = at + 1 == len(line.nodes)
        following = LATE if is_last else _get_place(graph.nodes[line.nodes[at + 1]])
        sides = [*map(start, branches), (following, line, partings)]
        waiting.extend(sorted(sides, key=lambda side: side[0], reverse=True))


def _build_prefixes(graph: SessionGraph, leaving: Leaving) -> dict[str, Prefix]:
    """Return what precedes the end of each line."""
    prefixes: dict[str, Prefix] = {}
    lines = [line for line in graph.lines.values() if _is_spoken(line)]
    waiting = [(line, Prefix()) for line in lines if not _has_spoken_parent(graph, line)]
    while waiting:
        line, before = waiting.pop()
        nodes = [graph.nodes[uuid] for uuid in line.nodes]
        messages = list(accumulate((n.kind in MESSAGES for n in nodes), initial=before.messages))
        compactions = list(accumulate((n.is_boundary for n in nodes), initial=before.compactions))
        parent = graph.lines.get(line.parent or "")
        fork_point = line.attachment
        if line.is_active:
            fork_point = None
        elif parent is not None and not parent.is_active:  # a branch of an abandoned branch
            fork_point = before.fork_point
        prefixes[line.id] = Prefix(messages[-1], compactions[-1], fork_point)
        for at, sides in leaving.get(line.id, {}).items():
            passed = Prefix(fork_point=fork_point)
            if at >= 0:
                passed = Prefix(messages[at + 1], compactions[at + 1], fork_point)
            waiting.extend((side, passed) for side in sides)
    return prefixes


def get_label(graph: SessionGraph, line: DagLine) -> str | None:
    """Return the label of a line: a session's title, otherwise a summary or a prompt.

    A session that only has its first prompt gets its summary instead.
    """
    session = graph.sessions.get(line.session) if line.kind == "trunk" else None
    if session and not (line.summary and session.title == line.label):
        return session.title
    return line.summary or line.label


PLAIN_EDGES = frozenset({"parent", "logical", "boundary"})


class Ancestry(NamedTuple):
    """A record's ancestors, itself included."""

    number: int
    """In depth-first order: the descendants of a record follow it without a gap."""
    messages: int = 0
    compactions: int = 0
    prompt: str | None = None
    """The first words of the last prompt."""


@dataclass(frozen=True, slots=True)
class RawGraph:
    """The plain graph: a parent for each record, and its depth."""

    graph: SessionGraph
    parents: Mapping[str, str | None]
    ancestries: Mapping[str, Ancestry]
    ends: Mapping[str, int]
    """The number after the last descendant of each record."""
    leaves: Mapping[str, list[str]]
    """By session, depth first, children in file order."""

    @classmethod
    def of(cls, graph: SessionGraph) -> "RawGraph":
        """Return the plain graph of a graph."""
        edges = {
            uuid: graph.edge_of(uuid)
            for uuid, node in graph.nodes.items()
            if graph.files[node.file].kind == "session"
        }
        parents = {
            uuid: edge.parent if edge.kind in PLAIN_EDGES and edge.parent in edges else None
            for uuid, edge in edges.items()
        }
        children: dict[str | None, list[str]] = {}
        for uuid, parent in parents.items():
            children.setdefault(parent, []).append(uuid)
        for below in children.values():
            below.sort(key=lambda uuid: _get_place(graph.nodes[uuid]), reverse=True)
        ancestries: dict[str, Ancestry] = {}  # depth first
        waiting = children.get(None, [])
        while waiting:
            uuid = waiting.pop()
            above, node = ancestries.get(parents[uuid] or "", Ancestry(0)), graph.nodes[uuid]
            ancestries[uuid] = Ancestry(
                len(ancestries),
                above.messages + (node.kind in MESSAGES),
                above.compactions + node.is_boundary,
                node.preview if node.is_human_prompt else above.prompt,
            )
            waiting.extend(children.get(uuid, ()))
        ends = {uuid: number for number, uuid in enumerate(ancestries, 1)}
        for uuid in reversed(ancestries):
            parent = parents[uuid]
            if parent is not None:
                ends[parent] = max(ends[parent], ends[uuid])
        leaves: dict[str, list[str]] = {}
        for number, uuid in enumerate(ancestries, 1):
            if ends[uuid] == number:
                leaves.setdefault(graph.nodes[uuid].session, []).append(uuid)
        return cls(graph, parents, ancestries, ends, leaves)

    def paths(self) -> Iterator[Path]:
        """Yield every path, session by session; their records are computed on demand."""
        for session, leaves in self.leaves.items():
            known = self.graph.sessions.get(session)
            goal = known.leaf if known else None
            if goal is None or goal not in self.parents:
                active = None
            else:
                below = (
                    leaf for leaf in reversed(self.leaves[session]) if self.is_above(goal, leaf)
                )
                active = next(below, None)
            forks: dict[str, str | None] = {}
            for number, leaf in enumerate(leaves, 1):
                is_active = leaf == active
                ancestry = self.ancestries[leaf]
                yield Path(
                    session=session,
                    path=number,
                    of=len(leaves),
                    status="ACTIVE" if is_active else "ABANDONED",
                    fork_point=self.fork_point(leaf, active, forks) if not is_active else None,
                    leaf=leaf,
                    line=self.graph.line_of[leaf],
                    label=ancestry.prompt,
                    messages=ancestry.messages,
                    compactions=ancestry.compactions,
                )

    def uuids(self, path: Path) -> tuple[str, ...]:
        """Return the records of a path, root to leaf."""
        return tuple(self.upwards(path.leaf))[::-1]

    def upwards(self, leaf: str) -> Iterator[str]:
        """Yield a record and its ancestors."""
        here: str | None = leaf
        while here is not None:
            yield here
            here = self.parents[here]

    def is_above(self, upper: str, lower: str) -> bool:
        """Return whether a record is another one or its ancestor."""
        return self.ancestries[upper].number <= self.ancestries[lower].number < self.ends[upper]

    def fork_point(self, leaf: str, active: str | None, forks: dict[str, str | None]) -> str | None:
        """Return the last record that a path shares with the active one; cache what was visited."""
        passed: list[str] = []
        found: str | None = None
        for uuid in self.upwards(leaf) if active else ():
            if uuid in forks:
                found = forks[uuid]
                break
            if active and self.is_above(uuid, active):
                found = uuid
                break
            passed.append(uuid)
        forks.update(dict.fromkeys(passed, found))
        return found


def path_to_json(path: Path, graph: SessionGraph, uuids: Iterable[str]) -> dict[str, Any]:
    """Return a path and its records as JSON has them."""
    return {
        "session": path.session,
        "path": path.path,
        "of": path.of,
        "status": path.status,
        "fork_point": path.fork_point,
        "title": path.label,
        "summary": graph.lines[path.line].summary,
        "leaf": path.leaf,
        "line": path.line,
        "messages": path.messages,
        "compactions": path.compactions,
        "unseen": path.unseen,
        "uuids": uuids,
    }
