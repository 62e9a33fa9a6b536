"""DAG-lines to the tree they form across files, and the tree to one order for reading.

s1  a b c d e f g              s1
s2          ╰── h i j          ├── s3   leaves at e
s3      ╰── k l m              └── s2   leaves at g
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from plait.graph.model import DagLine, Junction, SessionTree

LATE = "\uffff"


def plant(lines: Mapping[str, DagLine]) -> SessionTree:
    """Returns the forest of all lines, children in time order."""
    children: dict[str, list[DagLine]] = {}
    leaving: dict[str, list[DagLine]] = {}
    roots: list[DagLine] = []
    for line in lines.values():
        if line.parent is None:
            roots.append(line)
        else:
            children.setdefault(line.parent, []).append(line)
        if line.attachment is not None:
            leaving.setdefault(line.attachment, []).append(line)
    junctions = {
        uuid: Junction(uuid, found[0].parent or "", in_time(found))
        for uuid, found in leaving.items()
    }
    ordered = {name: in_time(found) for name, found in children.items()}
    return SessionTree(in_time(roots), ordered, junctions, lines)


def in_time(lines: Iterable[DagLine]) -> tuple[str, ...]:
    """Returns the names of lines, the earliest first; without a time they come last."""
    ordered = sorted(lines, key=lambda line: (line.started or LATE, line.id))
    return tuple(line.id for line in ordered)


def traverse(tree: SessionTree) -> Iterator[DagLine]:
    """Yields each DAG-line, depth first: a line, then all that leaves it."""
    for name in depth_first(tree):
        yield tree.lines[name]


def depth_first(tree: SessionTree) -> Iterator[str]:
    """Yields the names of all lines, parents before children."""
    waiting = list(reversed(tree.roots))
    while waiting:
        name = waiting.pop()
        yield name
        waiting.extend(reversed(tree.children.get(name, ())))


def mark_active(lines: Sequence[DagLine]) -> dict[str, DagLine]:
    """Returns the lines with what hangs on an abandoned branch marked as abandoned.

    A session that goes on from an abandoned branch of another is not abandoned itself.
    """
    found = {line.id: line for line in lines}
    for name in depth_first(plant(found)):
        line = found[name]
        above = found.get(line.parent or "")
        follows = line.kind in ("agent", "service") and above is not None and not above.is_active
        if line.kind == "branch" or follows:
            found[name] = replace(line, is_active=False)
    return found
