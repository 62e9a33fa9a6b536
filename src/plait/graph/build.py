"""Records or files to a graph: index, repair, walks, steps, lines, tree.

Each stage hands one value to the next. A builder keeps the facts of files, so that a file
that has grown is read only where it is new.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from plait.graph.account import accounts_of, stray_results
from plait.graph.agents import Anchor, Spawns, agent_links, join_agents, runs_of, unnamed_agents
from plait.graph.assign import LineDrafts, assign_lines
from plait.graph.index import Index, index
from plait.graph.leaf import leaf_of as client_leaf
from plait.graph.lines import Finished, finish, place_loose
from plait.graph.model import (
    Edge,
    EdgeKind,
    Finding,
    Fold,
    RungName,
    SessionGraph,
    Verdict,
)
from plait.graph.repair import Parents, repair
from plait.graph.source import FileFacts, Readable, Source, sources
from plait.graph.steps import contract
from plait.graph.tree import mark_active, resolve_summaries, sessions_of, tree_of, with_summaries
from plait.graph.walks import Walks, walks_of

LeafOf: TypeAlias = Callable[[FileFacts], str | None]
"""Says which record the client would go on from."""

JOINED: dict[str, RungName] = {"restart": "restart", "logical": "compaction"}


def build(given: Iterable[Readable], *, leaf_of: LeafOf = client_leaf) -> SessionGraph:
    """Returns the graph of files, or of records with the names of their files."""
    builder = Builder(leaf_of=leaf_of)
    for source in sources(given):
        builder.add(source)
    return builder.graph()


class Builder:
    """Takes files, and lines that were added to them, and gives the graph of all."""

    def __init__(self, *, leaf_of: LeafOf = client_leaf) -> None:
        self.facts: dict[str, FileFacts] = {}
        self.leaf_of = leaf_of

    def add(self, source: Source) -> None:
        """Takes in the records of a file, or those that follow the ones it has."""
        path = source.file.path
        known = self.facts.get(path)
        if known is None:
            known = self.facts[path] = FileFacts(source.file)
        known.meta = source.meta or known.meta
        known.beside = source.title or known.beside
        number = known.nodes[0].file if known.nodes else len(self.facts) - 1
        known.add(source.records, number)

    def graph(self) -> SessionGraph:
        """Returns the graph of all that was taken in."""
        return graph_of(index(self.facts.values()), self.leaf_of)


@dataclass(frozen=True, slots=True)
class Joined:
    """What all stages up to the DAG-lines have made, by number."""

    index: Index
    leaves: list[str | None]
    parents: Parents
    walks: Walks
    anchors: dict[int, Anchor]
    spawns: Spawns
    drafts: LineDrafts
    finished: Finished

    @property
    def names(self) -> list[str]:
        """The names of the lines, in the order of their drafts."""
        return [line.id for line in self.finished.lines]


def join_up(known: Index, leaf_of: LeafOf) -> Joined:
    """Takes an index through the stages."""
    parents = repair(known)
    walks = walks_of(known, parents)
    anchors, spawns = join_agents(known, parents, walks)
    leaves = [leaf_of(facts) if facts.file.kind == "session" else None for facts in known.facts]
    steps = contract(known, parents, walks, _own_leaves(known, leaves))
    drafts = assign_lines(known, parents, walks, steps)
    finished = finish(known, parents, walks, drafts, anchors)
    return Joined(known, leaves, parents, walks, anchors, spawns, drafts, finished)


def graph_of(known: Index, leaf_of: LeafOf) -> SessionGraph:
    """Returns the graph of an index."""
    made = join_up(known, leaf_of)
    names, of = made.names, made.drafts.of
    summaries, unresolved = resolve_summaries(known, names, of)
    lines = with_summaries(mark_active([*made.finished.lines, *made.finished.copied]), summaries)
    loose = place_loose(known, names, of)
    strays = stray_results(known, made.drafts, made.finished.lines)
    verdicts = (*made.drafts.verdicts, *_joined(known, made.parents))
    findings = (*_found_so_far(made), *chain.from_iterable(strays.values()), *unresolved)
    folds = _folds_of(known, made.drafts)
    account, accounts = accounts_of(
        known, made.drafts, lines.values(), folds, verdicts, strays, findings, loose
    )
    return SessionGraph(
        files=known.files,
        nodes=dict(zip(known.at, known.nodes, strict=True)),
        edges=_edges_of(known, made.parents, made.walks, made.anchors),
        lines=lines,
        sessions=sessions_of(known, lines, made.leaves),
        folds=folds,
        verdicts=verdicts,
        findings=findings,
        agents=agent_links(known, made.spawns, made.drafts, made.anchors, names),
        workflows=runs_of(known, made.spawns, made.drafts, made.finished.lines),
        loose=loose,
        summaries=summaries,
        tree=tree_of(lines),
        account=account,
        accounts=accounts,
    )


def _found_so_far(made: Joined) -> Iterator[Finding]:
    yield from made.index.findings
    yield from made.parents.findings
    yield from unnamed_agents(made.index, made.drafts, made.anchors)
    yield from made.finished.findings


def _own_leaves(known: Index, leaves: Iterable[str | None]) -> set[int]:
    found: set[int] = set()
    for file, leaf in enumerate(leaves):
        at = known.at.get(leaf or "")
        if at is not None and known.nodes[at].file == file:
            found.add(at)
    return found


def _joined(known: Index, parents: Parents) -> Iterable[Verdict]:
    for number, edge in parents.edges.items():
        rung = JOINED.get(edge.kind)
        if rung and edge.parent:
            node = known.nodes[number]
            yield Verdict(rung, node.session, edge.parent, None, node.uuid)


def _folds_of(known: Index, drafts: LineDrafts) -> dict[str, Fold]:
    nodes = known.nodes
    return {
        nodes[number].uuid: Fold(folding.reason, nodes[folding.under].uuid)
        for number, folding in drafts.folds.items()
    }


def _edges_of(
    known: Index, parents: Parents, walks: Walks, anchors: dict[int, Anchor]
) -> dict[str, Edge]:
    edges = {known.nodes[number].uuid: edge for number, edge in parents.edges.items()}
    for walk in walks.walks:
        anchor = anchors.get(walk.number)
        if anchor is None:
            continue
        node = known.nodes[walk.nodes[0]]
        kind: EdgeKind = "fork" if anchor.by == "context" else "spawn"
        edges[node.uuid] = Edge(known.nodes[anchor.node].uuid, kind, node.parent)
    return edges
