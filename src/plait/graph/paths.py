"""A graph to its paths: root to leaf over DAG-lines, one for each conversation ending.

    s    a b c ─ g h          path 1   a b c d e f    ABANDONED, leaves at c
    s@d      ╰── d e f        path 2   a b c g h      ACTIVE

A path names the line it ends on; its uuids are made on demand, since a thousand paths may
share one long beginning. `RawGraph` gives every way from a root to a leaf as the records name
their parents: nothing is folded and nothing repaired, so parallel calls make dead ends.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.graph.model import DagLine, Node, SessionGraph
from plait.graph.tree import unfolded

Status: TypeAlias = Literal["ACTIVE", "ABANDONED"]
Place: TypeAlias = tuple[int, int]
Leaving: TypeAlias = dict[str, dict[int, list[DagLine]]]
"""By parent and by the position in it: the lines that leave there; -1 is before its start."""

SPOKEN = frozenset({"trunk", "branch", "foreign"})
MESSAGES = frozenset({"user", "assistant"})
LATE: Place = (1 << 62, 0)
NEVER = "\uffff"


class Path(Struct, frozen=True, gc=False):
    """One way through a session, from its root to one of its endings."""

    session: str
    path: int
    """Its number in the session, from 1."""
    of: int
    """How many the session has."""
    status: Status
    fork_point: str | None
    """Where an abandoned path leaves the active one; None also for one with a root of its own."""
    leaf: str
    line: str
    """The DAG-line that it ends on."""
    label: str | None = None
    """What it is known by: a summary, a title, its first prompt."""
    messages: int = 0
    compactions: int = 0
    unseen: int = 0
    """Messages on it that the client would not send."""


class Prefix(NamedTuple):
    """What a path has behind it at some place."""

    messages: int = 0
    compactions: int = 0
    fork_point: str | None = None


def paths(graph: SessionGraph) -> tuple[Path, ...]:
    """Returns one path for each ending of a conversation, session by session.

    Within a session they stand in the order of the file: of two, the one first whose own
    records begin first. A path that another session carries on is part of that one.
    """
    leaving = _leavings(graph)
    prefixes = _prefixes_of(graph, leaving)
    inherited = frozenset(_carried_on(graph, leaving))
    found: list[Path] = []
    for tops in _sessions_in_order(graph).values():
        lines = [line for line in _in_file_order(graph, tops, leaving) if line.id not in inherited]
        for number, line in enumerate(lines, 1):
            found.append(_path_on(graph, line, number, len(lines), prefixes[line.id]))
    return tuple(found)


def uuids(graph: SessionGraph, path: Path) -> tuple[str, ...]:
    """Returns the records of a path, root to leaf."""
    line = graph.lines[path.line]
    parts = [line.nodes]
    while line.parent is not None and _is_child(graph, line):
        parent = graph.lines[line.parent]
        end = _position(graph, line, parent) + 1
        if not end:
            break
        parts.append(parent.nodes[:end])
        line = parent
    return tuple(uuid for part in reversed(parts) for uuid in part)


def _is_spoken(line: DagLine) -> bool:
    return line.kind in SPOKEN and bool(line.nodes)


def _is_child(graph: SessionGraph, line: DagLine) -> bool:
    parent = graph.lines.get(line.parent or "")
    return parent is not None and _is_spoken(parent)


def _leavings(graph: SessionGraph) -> Leaving:
    wanted: dict[str, dict[str | None, list[DagLine]]] = {}
    for line in graph.lines.values():
        if _is_spoken(line) and line.parent is not None and _is_child(graph, line):
            inline = unfolded(graph, line.attachment)
            wanted.setdefault(line.parent, {}).setdefault(inline, []).append(line)
    return {name: _by_position(graph, graph.lines[name], found) for name, found in wanted.items()}


def _by_position(
    graph: SessionGraph, parent: DagLine, wanted: dict[str | None, list[DagLine]]
) -> dict[int, list[DagLine]]:
    inside = [(at, wanted.pop(uuid)) for at, uuid in enumerate(parent.nodes) if uuid in wanted]
    rootless = [line for lines in wanted.values() for line in lines]
    found = [(-1, rootless), *inside] if rootless else inside
    return {at: sorted(lines, key=lambda line: _beginning(graph, line)) for at, lines in found}


def _position(graph: SessionGraph, line: DagLine, parent: DagLine) -> int:
    inline = unfolded(graph, line.attachment)
    return parent.nodes.index(inline) if inline in parent.nodes else -1


def _beginning(graph: SessionGraph, line: DagLine) -> Place:
    return _place_of(graph.nodes[line.nodes[0]])


def _place_of(node: Node) -> Place:
    """Returns where a record stands, so that earlier ones are less."""
    return node.file, node.line


def _sessions_in_order(graph: SessionGraph) -> dict[str, list[DagLine]]:
    tops: dict[str, list[DagLine]] = {}
    spoken = [line for line in graph.lines.values() if _is_spoken(line)]
    for line in sorted(spoken, key=lambda line: (line.started or NEVER, line.id)):
        parent = graph.lines[line.parent] if line.parent and _is_child(graph, line) else None
        if parent is None or parent.session != line.session:
            tops.setdefault(line.session, []).append(line)
    return tops


def _in_file_order(
    graph: SessionGraph, tops: Iterable[DagLine], leaving: Leaving
) -> Iterator[DagLine]:
    """Yields the lines of one session in the order in which their paths part.

    At each parting the sides come in the order of their first records: the line itself is
    one of them, so it comes last where it went on last.
    """
    waiting = [(_beginning(graph, line), line, _own_partings(line, leaving)) for line in tops]
    waiting.sort(key=lambda one: one[0], reverse=True)
    while waiting:
        _, line, partings = waiting.pop()
        parting = next(partings, None)
        if parting is None:
            yield line
            continue
        at, branches = parting
        sides = [(_beginning(graph, side), side, _own_partings(side, leaving)) for side in branches]
        sides.append((_going_on(graph, line, at), line, partings))
        waiting.extend(sorted(sides, key=lambda one: one[0], reverse=True))


def _own_partings(line: DagLine, leaving: Leaving) -> Iterator[tuple[int, list[DagLine]]]:
    for at, lines in leaving.get(line.id, {}).items():
        branches = [other for other in lines if other.session == line.session]
        if branches:
            yield at, branches


def _going_on(graph: SessionGraph, line: DagLine, at: int) -> Place:
    if at + 1 < len(line.nodes):
        return _place_of(graph.nodes[line.nodes[at + 1]])
    return LATE


def _carried_on(graph: SessionGraph, leaving: Leaving) -> Iterator[str]:
    """Yields the lines that a line of another session goes on from the end of.

    Notes of the client behind the last message (how long the turn took) are no ending.
    """
    for name, places in leaving.items():
        line = graph.lines[name]
        last = _last_word(graph, line)
        for at, lines in places.items():
            if at >= last and any(other.session != line.session for other in lines):
                yield name


def _last_word(graph: SessionGraph, line: DagLine) -> int:
    for at in range(len(line.nodes) - 1, -1, -1):
        if not graph.nodes[line.nodes[at]].is_structural:
            return at
    return 0


def _prefixes_of(graph: SessionGraph, leaving: Leaving) -> dict[str, Prefix]:
    found: dict[str, Prefix] = {}
    lines = [line for line in graph.lines.values() if _is_spoken(line)]
    waiting = [(line, Prefix()) for line in lines if not _is_child(graph, line)]
    while waiting:
        line, before = waiting.pop()
        nodes = [graph.nodes[uuid] for uuid in line.nodes]
        messages = list(accumulate((n.kind in MESSAGES for n in nodes), initial=before.messages))
        compactions = list(accumulate((n.is_boundary for n in nodes), initial=before.compactions))
        end = Prefix(messages[-1], compactions[-1], _fork_point(graph, line, before))
        found[line.id] = end
        for at, sides in leaving.get(line.id, {}).items():
            passed = Prefix(messages[at + 1], compactions[at + 1], end.fork_point)
            passed = passed if at >= 0 else Prefix(fork_point=end.fork_point)
            waiting.extend((side, passed) for side in sides)
    return found


def _fork_point(graph: SessionGraph, line: DagLine, before: Prefix) -> str | None:
    if line.is_active:
        return None
    parent = graph.lines.get(line.parent or "")
    is_nested = parent is not None and not parent.is_active
    return before.fork_point if is_nested else line.attachment


def _path_on(graph: SessionGraph, line: DagLine, number: int, of: int, prefix: Prefix) -> Path:
    return Path(
        session=line.session,
        path=number,
        of=of,
        status="ACTIVE" if line.is_active else "ABANDONED",
        fork_point=prefix.fork_point,
        leaf=line.nodes[-1],
        line=line.id,
        label=label_of(graph, line),
        messages=prefix.messages,
        compactions=prefix.compactions,
        unseen=len(graph.sessions[line.session].unseen) if line.id == line.session else 0,
    )


def label_of(graph: SessionGraph, line: DagLine) -> str | None:
    """Returns what a line is known by: a session by its title, others by summary or prompt."""
    session = graph.sessions.get(line.session) if line.kind == "trunk" else None
    return session.title if session else line.summary or line.label


PLAIN_EDGES = frozenset({"parent", "logical", "boundary"})


class Standing(NamedTuple):
    """What a record has above it, itself included."""

    number: int
    """In the order depth first: those below a record follow it without a gap."""
    messages: int = 0
    compactions: int = 0
    prompt: str | None = None
    """The first words of the last prompt."""


@dataclass(frozen=True, slots=True)
class RawGraph:
    """The plain graph: a parent for each record, and how far down it stands."""

    graph: SessionGraph
    parents: Mapping[str, str | None]
    standings: Mapping[str, Standing]
    ends: Mapping[str, int]
    """The number behind the last record below each."""
    leaves: Mapping[str, list[str]]
    """By session, depth first, children in file order."""

    @classmethod
    def of(cls, graph: SessionGraph) -> "RawGraph":
        """Returns the plain graph of a graph."""
        parents = _plain_parents(graph)
        order = _depth_first(graph, parents)
        ends = _ends_of(order, parents)
        leaves: dict[str, list[str]] = {}
        for number, uuid in enumerate(order, 1):
            if ends[uuid] == number:
                leaves.setdefault(graph.nodes[uuid].session, []).append(uuid)
        return cls(graph, parents, _standings_of(graph, order, parents), ends, leaves)

    def paths(self) -> Iterator[Path]:
        """Yields every path, session by session; their records are made on demand."""
        for session, leaves in self.leaves.items():
            active = self.active_leaf(session)
            forks: dict[str, str | None] = {}
            for number, leaf in enumerate(leaves, 1):
                is_active = leaf == active
                standing = self.standings[leaf]
                yield Path(
                    session=session,
                    path=number,
                    of=len(leaves),
                    status="ACTIVE" if is_active else "ABANDONED",
                    fork_point=self.fork_point(leaf, active, forks) if not is_active else None,
                    leaf=leaf,
                    line=self.graph.line_of[leaf],
                    label=standing.prompt,
                    messages=standing.messages,
                    compactions=standing.compactions,
                )

    def uuids(self, path: Path) -> tuple[str, ...]:
        """Returns the records of a path, root to leaf."""
        return tuple(self.upwards(path.leaf))[::-1]

    def upwards(self, leaf: str) -> Iterator[str]:
        """Yields a record and its ancestors."""
        here: str | None = leaf
        while here is not None:
            yield here
            here = self.parents[here]

    def active_leaf(self, session: str) -> str | None:
        """Returns the leaf that is, or is the last below, the record the client goes on from."""
        known = self.graph.sessions.get(session)
        goal = known.leaf if known else None
        if goal is None or goal not in self.parents:
            return None
        below = (leaf for leaf in reversed(self.leaves[session]) if self.is_above(goal, leaf))
        return next(below, None)

    def is_above(self, one: str, other: str) -> bool:
        """Tells whether a record is another or an ancestor of it."""
        return self.standings[one].number <= self.standings[other].number < self.ends[one]

    def fork_point(self, leaf: str, active: str | None, forks: dict[str, str | None]) -> str | None:
        """Returns the last record that a path shares with the active one; keeps what it met."""
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


def _plain_parents(graph: SessionGraph) -> dict[str, str | None]:
    """Returns the parent that each record of a session's own file names, None for a root.

    A parent that is in no session's file, or that would close a circle, is none.
    """
    own = [uuid for uuid, node in graph.nodes.items() if _is_of_session(graph, node)]
    edges = {uuid: graph.edge_of(uuid) for uuid in own}
    return {
        uuid: edge.parent if edge.kind in PLAIN_EDGES and edge.parent in edges else None
        for uuid, edge in edges.items()
    }


def _is_of_session(graph: SessionGraph, node: Node) -> bool:
    return graph.files[node.file].kind == "session"


def _depth_first(graph: SessionGraph, parents: Mapping[str, str | None]) -> list[str]:
    children: dict[str | None, list[str]] = {}
    for uuid, parent in parents.items():
        children.setdefault(parent, []).append(uuid)
    for below in children.values():
        below.sort(key=lambda uuid: _place_of(graph.nodes[uuid]), reverse=True)
    found: list[str] = []
    waiting = children.get(None, [])
    while waiting:
        uuid = waiting.pop()
        found.append(uuid)
        waiting.extend(children.get(uuid, ()))
    return found


def _ends_of(order: Iterable[str], parents: Mapping[str, str | None]) -> dict[str, int]:
    ends = {uuid: number for number, uuid in enumerate(order, 1)}
    for uuid in reversed(list(ends)):
        parent = parents[uuid]
        if parent is not None:
            ends[parent] = max(ends[parent], ends[uuid])
    return ends


def _standings_of(
    graph: SessionGraph, order: Iterable[str], parents: Mapping[str, str | None]
) -> dict[str, Standing]:
    found: dict[str, Standing] = {}
    for number, uuid in enumerate(order):
        above = found.get(parents[uuid] or "", Standing(0))
        node = graph.nodes[uuid]
        found[uuid] = Standing(
            number,
            above.messages + (node.kind in MESSAGES),
            above.compactions + node.is_boundary,
            node.preview if node.is_human_prompt else above.prompt,
        )
    return found
