"""A graph to what leaves each line, and where, as a drawing needs it."""

from collections.abc import Iterable
from typing import TypeAlias

from plait.graph.model import DagLine, SessionGraph
from plait.graph.paths import SPOKEN, unfolded

Leaving: TypeAlias = dict[tuple[str, str | None], list[DagLine]]


def leavings(graph: SessionGraph, *, everything: bool) -> Leaving:
    """Returns the lines that leave each node of a line; None is before its start."""
    found: Leaving = {}
    for names in graph.tree.children.values():
        for name in names:
            line = graph.lines[name]
            if line.parent and not is_unsent(line) and is_shown(line, everything=everything):
                node = unfolded(graph, line.attachment)
                found.setdefault((line.parent, node), []).append(line)
    return found


def unsent(graph: SessionGraph, roots: Iterable[str]) -> list[str]:
    """Returns the agents below some roots of which nothing says where they leave."""
    found: list[str] = []
    waiting = list(roots)
    for name in waiting:
        below = graph.tree.children.get(name, ())
        found += [one for one in below if is_unsent(graph.lines[one])]
        waiting += below
    return found


def is_unsent(line: DagLine) -> bool:
    """Tells an agent that stands under a line without leaving it anywhere."""
    return line.kind not in SPOKEN and line.attachment is None


def is_shown(line: DagLine, *, everything: bool) -> bool:
    """Tells whether a line is drawn at all."""
    return bool(line.nodes or line.folded) and (everything or line.kind != "service")


def partings(leaving: Leaving) -> dict[str, set[str]]:
    """Returns the nodes of each line that other conversations leave from."""
    found: dict[str, set[str]] = {}
    for (name, node), lines in leaving.items():
        if node and any(line.kind in SPOKEN for line in lines):
            found.setdefault(name, set()).add(node)
    return found
