"""A graph's parts to the account: where every node and every tool result has gone."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from plait.graph.agents import Anchor, Spawns, agent_links, join_agents, runs_of, unnamed_agents
from plait.graph.assign import LineDrafts, assign_lines
from plait.graph.index import Index, index
from plait.graph.leaf import leaf_of as client_leaf
from plait.graph.lines import Finished, finish, place_loose
from plait.graph.model import (
    Account,
    DagLine,
    Edge,
    EdgeKind,
    Finding,
    Fold,
    Loose,
    Node,
    RungName,
    Session,
    SessionGraph,
    Verdict,
)
from plait.graph.repair import Parents, repair
from plait.graph.source import FileFacts, Readable, Source, sources
from plait.graph.steps import contract
from plait.graph.tree import mark_active, resolve_summaries, sessions_of, tree_of, with_summaries
from plait.graph.unseen import unseen_on
from plait.graph.walks import Walks, walks_of


@dataclass(slots=True)
class RunningAccount:
    """Counts in the making."""

    nodes: int = 0
    copies: int = 0
    inline: int = 0
    folded: Counter[str] = field(default_factory=Counter)
    dag_lines: int = 0
    branches: int = 0
    rungs: Counter[str] = field(default_factory=Counter)
    results: int = 0
    reachable: int = 0
    orphaned: int = 0
    loose: int = 0
    findings: Counter[str] = field(default_factory=Counter)

    def account(self) -> Account:
        """Returns the counts as a value."""
        return Account(
            self.nodes,
            self.copies,
            self.inline,
            dict(sorted(self.folded.items())),
            self.dag_lines,
            self.branches,
            dict(sorted(self.rungs.items())),
            self.results,
            self.reachable,
            self.orphaned,
            self.loose,
            dict(sorted(self.findings.items())),
        )


def stray_results(
    index: Index, drafts: LineDrafts, lines: Sequence[DagLine]
) -> dict[str, list[Finding]]:
    """Returns a finding for each result that cannot be reached from its call, by session."""
    answering = [number for number, node in enumerate(index.nodes) if node.results]
    places = _call_places(index, drafts) if answering else {}
    names = [line.id for line in lines]
    parents = {line.id: line.parent for line in lines}
    found: dict[str, list[Finding]] = {}
    for number in answering:
        node = index.nodes[number]
        for result in node.results:
            at = places.get(result, ())
            line = drafts.of[number]
            if line in at or _is_above(names[line], {names[one] for one in at}, parents):
                continue
            session = drafts.lines[line].walk.session
            found.setdefault(session, []).append(_stray(node, result, bool(at)))
    return found


def _call_places(index: Index, drafts: LineDrafts) -> dict[str, set[int]]:
    places: dict[str, set[int]] = {}
    for number, node in enumerate(index.nodes):
        for call in node.calls:
            places.setdefault(call.id, set()).add(drafts.of[number])
    if index.copies() and any(one not in places for node in index.nodes for one in node.results):
        for node in chain.from_iterable(facts.nodes for facts in index.facts):
            for call in node.calls:  # a copy can hold what its owner does not
                places.setdefault(call.id, set()).add(drafts.of[index.at[node.uuid]])
    return places


def _is_above(name: str | None, wanted: set[str], parents: Mapping[str, str | None]) -> bool:
    while wanted and name is not None:
        if name in wanted:
            return True
        name = parents[name]
    return False


def _stray(node: Node, result: str, is_known: bool) -> Finding:
    code = "result-away" if is_known else "orphan-result"
    where = "stands elsewhere" if is_known else "is in no file"
    sentence = f"the call {result} of this result {where}"
    return Finding(code, sentence, node.file, node.line, node.uuid)


def accounts_of(
    index: Index,
    drafts: LineDrafts,
    lines: Iterable[DagLine],
    folds: Mapping[str, Fold],
    verdicts: Iterable[Verdict],
    strays: Mapping[str, list[Finding]],
    findings: Iterable[Finding],
    loose: Iterable[Loose],
) -> tuple[Account, dict[str, Account]]:
    """Returns the account of all, and of each session."""
    tallies: dict[str, RunningAccount] = defaultdict(RunningAccount)
    _count_nodes(index, drafts, tallies)
    _count_lines(lines, folds, tallies)
    for verdict in verdicts:
        tallies[verdict.session].rungs[verdict.rung] += 1
    for session, found in strays.items():
        tally = tallies[session]
        tally.orphaned += len(found)
        tally.reachable -= len(found)
    for finding in findings:
        tallies[_session_of(index, drafts, finding)].findings[finding.code] += 1
    for one in loose:
        tallies[index.sessions[one.place.file]].loose += 1
    whole = _total(tallies.values())
    return whole.account(), {name: tally.account() for name, tally in sorted(tallies.items())}


def _count_nodes(index: Index, drafts: LineDrafts, tallies: dict[str, RunningAccount]) -> None:
    by_line = [tallies[line.walk.session] for line in drafts.lines]
    for line, count in Counter(drafts.of).items():
        by_line[line].nodes += count
    for node, line in zip(index.nodes, drafts.of, strict=True):
        if node.results or node.copies:
            tally = by_line[line]
            tally.copies += len(node.copies)
            tally.results += len(node.results)
            tally.reachable += len(node.results)


def _count_lines(
    lines: Iterable[DagLine], folds: Mapping[str, Fold], tallies: dict[str, RunningAccount]
) -> None:
    for line in lines:
        tally = tallies[line.session]
        tally.dag_lines += 1
        tally.branches += line.kind == "branch"
        tally.inline += len(line.nodes)
        for held in line.folded.values():
            tally.folded.update(folds[uuid].reason for uuid in held)


def _session_of(index: Index, drafts: LineDrafts, finding: Finding) -> str:
    at = index.at.get(finding.uuid or "")
    if at is not None:
        return drafts.lines[drafts.of[at]].walk.session
    return index.sessions[finding.file] if finding.file is not None else ""


def _total(tallies: Iterable[RunningAccount]) -> RunningAccount:
    whole = RunningAccount()
    for one in tallies:
        for name in ("nodes", "copies", "inline", "dag_lines", "branches", "loose"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        for name in ("results", "reachable", "orphaned"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.folded.update(one.folded)
        whole.rungs.update(one.rungs)
        whole.findings.update(one.findings)
    return whole


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
    verdicts = (*made.drafts.verdicts, *_joined(known, made.parents, made.walks))
    findings = (*_found_so_far(made), *chain.from_iterable(strays.values()), *unresolved)
    folds = _folds_of(known, made.drafts)
    account, accounts = accounts_of(
        known, made.drafts, lines.values(), folds, verdicts, strays, findings, loose
    )
    return SessionGraph(
        files=known.files,
        nodes=known.named,
        edges=_edges_of(known, made.parents, made.walks, made.anchors),
        lines=lines,
        sessions=_with_unseen(made, sessions_of(known, lines, made.leaves), lines),
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


def _with_unseen(
    made: Joined, sessions: Mapping[str, Session], lines: Mapping[str, DagLine]
) -> dict[str, Session]:
    found = dict(sessions)
    for name, session in sessions.items():
        trunk = lines.get(session.trunk or "")
        unseen = unseen_on(made.index, made.parents, trunk, session.leaf) if trunk else ()
        if unseen:
            found[name] = replace(session, unseen=unseen)
    return found


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


def _joined(known: Index, parents: Parents, walks: Walks) -> Iterable[Verdict]:
    for number, edge in parents.edges.items():
        rung = JOINED.get(edge.kind)
        if rung and edge.parent:
            session = walks.walks[walks.of[number]].session
            yield Verdict(rung, session, edge.parent, None, known.nodes[number].uuid)


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
