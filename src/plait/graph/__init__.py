"""Records to the graph they form: nodes, DAG-lines, the tree of sessions, nothing lost."""

from plait.graph.build import Builder, build
from plait.graph.model import (
    Account,
    AgentLink,
    DagLine,
    Edge,
    Finding,
    Fold,
    Node,
    Session,
    SessionGraph,
    SessionTree,
    Verdict,
)
from plait.graph.source import Source
from plait.graph.tree import summary_files, traverse

__all__ = [
    "Account",
    "AgentLink",
    "Builder",
    "DagLine",
    "Edge",
    "Finding",
    "Fold",
    "Node",
    "Session",
    "SessionGraph",
    "SessionTree",
    "Source",
    "Verdict",
    "build",
    "summary_files",
    "traverse",
]
