"""The graph that records form: nodes, DAG-lines and the tree of sessions; nothing is lost."""

from plait.graph.build import Builder, build
from plait.graph.facts import Source
from plait.graph.model import (
    AgentLink,
    DagLine,
    Edge,
    Finding,
    Fold,
    GraphCounts,
    Node,
    Session,
    SessionGraph,
    SessionTree,
    Verdict,
)
from plait.graph.tree import find_summary_files, traverse

__all__ = [
    "AgentLink",
    "Builder",
    "DagLine",
    "Edge",
    "Finding",
    "Fold",
    "GraphCounts",
    "Node",
    "Session",
    "SessionGraph",
    "SessionTree",
    "Source",
    "Verdict",
    "build",
    "find_summary_files",
    "traverse",
]
