"""A graph's parts to the account: where every node and every tool result has gone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plait.graph.assign import LineDrafts
from plait.graph.index import Index
from plait.graph.model import Account, DagLine, Finding, Fold, Loose, Node, Verdict


@dataclass(slots=True)
class Tally:
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
    places = _call_places(index, drafts)
    names = [line.id for line in lines]
    parents = {line.id: line.parent for line in lines}
    found: dict[str, list[Finding]] = {}
    for number, node in enumerate(index.nodes):
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
    tallies: dict[str, Tally] = {}
    _count_nodes(index, drafts, tallies)
    _count_lines(lines, folds, tallies)
    for verdict in verdicts:
        tallies.setdefault(verdict.session, Tally()).rungs[verdict.rung] += 1
    for session, found in strays.items():
        tally = tallies[session]
        tally.orphaned += len(found)
        tally.reachable -= len(found)
    for finding in findings:
        session = _session_of(index, drafts, finding)
        tallies.setdefault(session, Tally()).findings[finding.code] += 1
    for one in loose:
        tallies.setdefault(index.sessions[one.place.file], Tally()).loose += 1
    whole = _total(tallies.values())
    return whole.account(), {name: tally.account() for name, tally in sorted(tallies.items())}


def _count_nodes(index: Index, drafts: LineDrafts, tallies: dict[str, Tally]) -> None:
    by_line = [tallies.setdefault(line.walk.session, Tally()) for line in drafts.lines]
    for node, line in zip(index.nodes, drafts.of, strict=True):
        tally = by_line[line]
        tally.nodes += 1
        tally.copies += len(node.copies)
        tally.results += len(node.results)
        tally.reachable += len(node.results)


def _count_lines(
    lines: Iterable[DagLine], folds: Mapping[str, Fold], tallies: dict[str, Tally]
) -> None:
    for line in lines:
        tally = tallies.setdefault(line.session, Tally())
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


def _total(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for one in tallies:
        for name in ("nodes", "copies", "inline", "dag_lines", "branches", "loose"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        for name in ("results", "reachable", "orphaned"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.folded.update(one.folded)
        whole.rungs.update(one.rungs)
        whole.findings.update(one.findings)
    return whole
