"""A graph to its paths: root to leaf over DAG-lines, one for each conversation ending.

    s    a b c ─ g h          path 1   a b c d e f    ABANDONED, leaves at c
    s@d      ╰── d e f        path 2   a b c g h      ACTIVE

A path names the line it ends on; its uuids are made on demand, since a thousand paths may
share one long beginning.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.graph.model import DagLine, Node, SessionGraph

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
    graph: SessionGraph, parent: DagLine, wanted: Mapping[str | None, list[DagLine]]
) -> dict[int, list[DagLine]]:
    found: dict[int, list[DagLine]] = {}
    missing = dict(wanted)
    for number, uuid in enumerate(parent.nodes):
        if uuid in missing:
            found[number] = sorted(missing.pop(uuid), key=lambda line: _beginning(graph, line))
    if missing:
        rootless = [line for lines in missing.values() for line in lines]
        found = {-1: sorted(rootless, key=lambda line: _beginning(graph, line)), **found}
    return found


def _position(graph: SessionGraph, line: DagLine, parent: DagLine) -> int:
    inline = unfolded(graph, line.attachment)
    return parent.nodes.index(inline) if inline in parent.nodes else -1


def unfolded(graph: SessionGraph, uuid: str | None) -> str | None:
    """Returns a node, or the inline one that it is folded under."""
    seen: set[str] = set()
    while uuid is not None and uuid in graph.folds and uuid not in seen:
        seen.add(uuid)
        uuid = graph.folds[uuid].under
    return uuid


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
        knots = list(accumulate((n.is_boundary for n in nodes), initial=before.compactions))
        end = Prefix(messages[-1], knots[-1], _fork_point(graph, line, before))
        found[line.id] = end
        for at, sides in leaving.get(line.id, {}).items():
            passed = Prefix(messages[at + 1], knots[at + 1], end.fork_point)
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
    )


def label_of(graph: SessionGraph, line: DagLine) -> str | None:
    """Returns what a line is known by: a session by its title, others by summary or prompt."""
    session = graph.sessions.get(line.session)
    if session and line.kind == "trunk":
        return session.title
    return line.summary or line.label
