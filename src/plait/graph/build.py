"""Building a graph in stages, and its accounts: where every node and every tool result went."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from plait.graph.facts import FileFacts, Readable, Source, iter_sources
from plait.graph.forks import LineDrafts, assign_lines, build_steps
from plait.graph.index import Index, build_index
from plait.graph.leaf import find_leaf as client_leaf
from plait.graph.leaf import find_unsent
from plait.graph.lines import (
    Anchor,
    BuiltLines,
    Spawns,
    build_agent_links,
    build_lines,
    build_workflow_runs,
    find_unnamed_agents,
    join_agents,
    place_loose,
)
from plait.graph.model import (
    DagLine,
    Edge,
    EdgeKind,
    Finding,
    Fold,
    GraphCounts,
    PlacedLine,
    RungName,
    SessionGraph,
    Verdict,
)
from plait.graph.parents import Parents, Walks, build_walks, resolve_parents
from plait.graph.tree import (
    add_summaries,
    build_sessions,
    build_tree,
    mark_abandoned,
    resolve_summaries,
)


@dataclass(slots=True)
class Tally:
    """Counts of a graph or of one of its sessions, while it is built."""

    numbers: Counter[str] = field(default_factory=Counter)
    """By the names of the fields of `GraphCounts`."""
    folded: Counter[str] = field(default_factory=Counter)
    rungs: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Add the counts of a part."""
        for item in fields(self):
            getattr(self, item.name).update(getattr(other, item.name))

    def counts(self) -> GraphCounts:
        """Return the counts as a value."""
        return GraphCounts(
            folded=dict(sorted(self.folded.items())),
            rungs=dict(sorted(self.rungs.items())),
            findings=dict(sorted(self.findings.items())),
            **self.numbers,
        )


def find_stray_results(
    index: Index, drafts: LineDrafts, lines: Sequence[DagLine]
) -> dict[str, list[Finding]]:
    """Return a finding for each result that cannot be reached from its call, by session."""
    answering = [number for number, node in enumerate(index.nodes) if node.results]
    if not answering:
        return {}
    lines_of_calls: dict[str, set[int]] = {}
    for number, node in enumerate(index.nodes):
        for call in node.calls:
            lines_of_calls.setdefault(call.id, set()).add(drafts.of[number])
    results = (result for number in answering for result in index.nodes[number].results)
    if index.copies() and any(result not in lines_of_calls for result in results):
        for node in chain.from_iterable(facts.nodes for facts in index.facts):
            for call in node.calls:  # a copy can have a call that its owner does not
                lines_of_calls.setdefault(call.id, set()).add(drafts.of[index.at[node.uuid]])
    names = [line.id for line in lines]
    parents = {line.id: line.parent for line in lines}
    strays: dict[str, list[Finding]] = {}
    for number in answering:
        node, line = index.nodes[number], drafts.of[number]
        for result in node.results:
            homes = lines_of_calls.get(result, set())
            if line in homes:
                continue
            wanted, above = {names[home] for home in homes}, parents[names[line]]
            while above is not None and above not in wanted and wanted:
                above = parents[above]
            if wanted and above is not None:
                continue
            code = "result-away" if homes else "orphan-result"
            where = "is on another branch" if homes else "is not in any file"
            sentence = f"the call {result} of this result {where}"
            strays.setdefault(drafts.lines[line].walk.session, []).append(
                Finding(code, sentence, node.file, node.line, node.uuid)
            )
    return strays


def count_graph(
    index: Index,
    drafts: LineDrafts,
    lines: Iterable[DagLine],
    folds: Mapping[str, Fold],
    verdicts: Iterable[Verdict],
    strays: Mapping[str, list[Finding]],
    findings: Iterable[Finding],
    loose: Iterable[PlacedLine],
) -> tuple[GraphCounts, dict[str, GraphCounts]]:
    """Return the counts of the whole graph and of each session."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    tallies_of_lines = [tallies[draft.walk.session] for draft in drafts.lines]
    for number, count in Counter(drafts.of).items():
        tallies_of_lines[number].numbers["nodes"] += count
    for node, number in zip(index.nodes, drafts.of, strict=True):
        if node.results or node.copies:
            numbers = tallies_of_lines[number].numbers
            numbers["copies"] += len(node.copies)
            numbers["tool_results"] += len(node.results)
            numbers["tool_results_reachable"] += len(node.results)
    for line in lines:
        tally = tallies[line.session]
        tally.numbers["dag_lines"] += 1
        tally.numbers["branches"] += line.kind == "branch"
        tally.numbers["inline"] += len(line.nodes)
        for folded in line.folded.values():
            tally.folded.update(folds[uuid].reason for uuid in folded)
    for verdict in verdicts:
        tallies[verdict.session].rungs[verdict.rung] += 1
    for session, found in strays.items():
        tallies[session].numbers["tool_results_orphaned"] += len(found)
        tallies[session].numbers["tool_results_reachable"] -= len(found)
    for finding in findings:
        at = index.at.get(finding.uuid or "")
        if at is not None:
            session = drafts.lines[drafts.of[at]].walk.session
        else:
            session = index.sessions[finding.file] if finding.file is not None else ""
        tallies[session].findings[finding.code] += 1
    for placed in loose:
        tallies[index.sessions[placed.place.file]].numbers["loose"] += 1
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    return total.counts(), {name: tally.counts() for name, tally in sorted(tallies.items())}


LeafOf: TypeAlias = Callable[[FileFacts], str | None]
"""Returns the record that the client would resume from."""

RUNGS_OF_EDGES: dict[str, RungName] = {"restart": "restart", "logical": "compaction"}


def build(given: Iterable[Readable], *, leaf_of: LeafOf = client_leaf) -> SessionGraph:
    """Build the graph of files, or of records with the names of their files."""
    builder = Builder(leaf_of=leaf_of)
    for source in iter_sources(given):
        builder.add(source)
    return builder.graph()


class Builder:
    """Builds a graph from files, and rebuilds it when lines were added to them."""

    def __init__(self, *, leaf_of: LeafOf = client_leaf) -> None:
        self.facts: dict[str, FileFacts] = {}
        self.leaf_of = leaf_of

    def add(self, source: Source) -> None:
        """Add the records of a file, or those that follow the known ones."""
        path = source.file.path
        known = self.facts.get(path)
        if known is None:
            known = self.facts[path] = FileFacts(source.file)
        known.meta = source.meta or known.meta
        known.title_file = source.title or known.title_file
        number = known.nodes[0].file if known.nodes else len(self.facts) - 1
        known.add(source.records, number)

    def graph(self) -> SessionGraph:
        """Return the graph of everything that was added."""
        return build_from_index(build_index(self.facts.values()), self.leaf_of)


@dataclass(frozen=True, slots=True)
class Stages:
    """The results of all stages up to the DAG-lines, by number."""

    index: Index
    leaves: list[str | None]
    parents: Parents
    walks: Walks
    anchors: dict[int, Anchor]
    spawns: Spawns
    drafts: LineDrafts
    built: BuiltLines

    @property
    def names(self) -> list[str]:
        """The names of the lines, in the order of their drafts."""
        return [line.id for line in self.built.lines]


def run_stages(index: Index, leaf_of: LeafOf) -> Stages:
    """Run all stages on an index, up to its DAG-lines."""
    parents = resolve_parents(index)
    walks = build_walks(index, parents)
    anchors, spawns = join_agents(index, parents, walks)
    leaves = [leaf_of(facts) if facts.file.kind == "session" else None for facts in index.facts]
    leaf_nodes: set[int] = set()
    for file, leaf in enumerate(leaves):
        at = index.at.get(leaf or "")
        if at is not None and index.nodes[at].file == file:
            leaf_nodes.add(at)
    steps = build_steps(index, parents, walks, leaf_nodes)
    drafts = assign_lines(index, parents, walks, steps)
    built = build_lines(index, parents, walks, drafts, anchors)
    return Stages(index, leaves, parents, walks, anchors, spawns, drafts, built)


def build_from_index(index: Index, leaf_of: LeafOf) -> SessionGraph:
    """Build the graph of an index."""
    stages = run_stages(index, leaf_of)
    nodes, drafts, built = index.nodes, stages.drafts, stages.built
    summaries, unresolved = resolve_summaries(index, stages.names, drafts.of)
    lines = add_summaries(mark_abandoned([*built.lines, *built.copied]), summaries)
    loose = place_loose(index, stages.names, drafts.of)
    strays = find_stray_results(index, drafts, built.lines)
    restarts: list[Verdict] = []
    for number, edge in stages.parents.edges.items():
        rung = RUNGS_OF_EDGES.get(edge.kind)
        if rung and edge.parent:
            session = stages.walks.walks[stages.walks.of[number]].session
            restarts.append(Verdict(rung, session, edge.parent, None, nodes[number].uuid))
    verdicts = (*drafts.verdicts, *restarts)
    findings = (
        *index.findings,
        *stages.parents.findings,
        *find_unnamed_agents(index, drafts, stages.anchors),
        *built.findings,
        *chain.from_iterable(strays.values()),
        *unresolved,
    )
    folds = {
        nodes[number].uuid: Fold(folding.reason, nodes[folding.under].uuid)
        for number, folding in drafts.folds.items()
    }
    counts, counts_of_sessions = count_graph(
        index, drafts, lines.values(), folds, verdicts, strays, findings, loose
    )
    sessions = build_sessions(index, lines, stages.leaves)
    replays = [(uuid, fold.under) for uuid, fold in folds.items() if fold.reason == "replay"]
    for name, own in list(sessions.items()):
        trunk = lines.get(own.trunk or "")
        unseen = find_unsent(index, stages.parents, trunk, own.leaf, replays) if trunk else ()
        if unseen:
            sessions[name] = replace(own, unseen=unseen)
    edges = {nodes[number].uuid: edge for number, edge in stages.parents.edges.items()}
    for walk in stages.walks.walks:
        anchor = stages.anchors.get(walk.number)
        if anchor is not None:
            node = nodes[walk.nodes[0]]
            kind: EdgeKind = "fork" if anchor.by == "context" else "spawn"
            edges[node.uuid] = Edge(nodes[anchor.node].uuid, kind, node.parent)
    return SessionGraph(
        files=index.files,
        nodes=index.named,
        edges=edges,
        lines=lines,
        sessions=sessions,
        folds=folds,
        verdicts=verdicts,
        findings=findings,
        agents=build_agent_links(index, stages.spawns, drafts, stages.anchors, stages.names),
        workflows=build_workflow_runs(index, stages.spawns, drafts, built.lines),
        loose=loose,
        summaries=summaries,
        tree=build_tree(lines),
        account=counts,
        accounts=counts_of_sessions,
    )
