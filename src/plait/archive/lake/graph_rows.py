"""The graph of sessions that are open to rows: their records, and what is odd in them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from plait.archive.lake.reading import OpenUnit
from plait.graph.model import DagLine, Loose, Node, SessionGraph
from plait.graph.source import FileFacts
from plait.lake.schema import FINDINGS, RECORDS, WHOSE, Table
from plait.line import Finding

Lists: TypeAlias = dict[str, list[Any]]


class GraphRows:
    """Makes the rows of each session, by its number."""

    def __init__(self, read: OpenUnit) -> None:
        self.read = read
        self.graph: SessionGraph = read.whole.graph
        self._rungs = _rungs_of(self.graph)
        self._findings = self._found_by_session()
        self._loose: dict[int, list[Loose]] = {}
        for one in self.graph.loose:
            self._loose.setdefault(one.place.file, []).append(one)
        self._facts = {one.file.path: one for one in read.whole.file_facts}
        self._files: list[list[int]] = [[] for _ in read.owners]
        for number, file in enumerate(self.graph.files):
            self._files[read.places[file.path]].append(number)

    def records(self, session: int) -> Lists:
        """Returns the records of a session's files, in each those with a uuid first."""
        found = empty(RECORDS)
        for number in self._files[session]:
            path = self.graph.files[number].path
            name = self.read.name_of(path)
            self._add_nodes(found, self._facts[path].nodes, name)
            self._add_loose(found, self._facts[path], self._loose.get(number, ()), name)
        return found

    def _add_nodes(self, found: Lists, nodes: Sequence[Node], name: str) -> None:
        """Adds what records say of themselves, then what the graph makes of them."""
        found["file"] += [name] * len(nodes)
        found["line"] += [node.line for node in nodes]
        found["offset"] += [node.offset for node in nodes]
        found["length"] += [node.length for node in nodes]
        found["uuid"] += [node.uuid for node in nodes]
        found["parent"] += [node.parent for node in nodes]
        found["logical_parent"] += [node.logical for node in nodes]
        found["kind"] += [node.kind for node in nodes]
        found["subtype"] += [node.subtype for node in nodes]
        found["time"] += [node.timestamp for node in nodes]
        found["calls"] += [len(node.calls) for node in nodes]
        found["results"] += [len(node.results) for node in nodes]
        found["copy_of"] += [node.copy_of for node in nodes]
        self._add_standing(found, nodes)

    def _add_standing(self, found: Lists, nodes: Sequence[Node]) -> None:
        graph, rungs = self.graph, self._rungs
        edges, folds = graph.edges, graph.folds
        uuids = [node.uuid for node in nodes]
        self._add_branches(found, [graph.line_of[uuid] for uuid in uuids])
        owned = [graph.nodes[uuid] for uuid in uuids]
        found["edge"] += [
            edges[one.uuid].kind if one.uuid in edges else "parent" if one.parent else "root"
            for one in owned
        ]
        found["host"] += [
            edges[one.uuid].parent if one.uuid in edges else one.parent for one in owned
        ]
        found["rung"] += [rungs.get(uuid) for uuid in uuids] if rungs else [None] * len(uuids)
        found["folded"] += [folds[uuid].reason if uuid in folds else None for uuid in uuids]
        found["copies"] += [len(one.copies) for one in owned]
        found["repeated"] += [
            one.line != node.line or one.file != node.file
            for one, node in zip(owned, nodes, strict=True)
        ]

    def _add_branches(self, found: Lists, names: Sequence[str | None]) -> None:
        lines = self.graph.lines
        known: dict[str | None, DagLine | None] = {name: lines.get(name or "") for name in names}
        stands = [known[name] for name in names]
        found["branch"] += names
        found["branch_kind"] += [one and one.kind for one in stands]
        found["live"] += [one and one.is_active for one in stands]

    def _add_loose(self, found: Lists, facts: FileFacts, loose: Sequence[Loose], name: str) -> None:
        asides, count = facts.asides, len(facts.asides)
        found["file"] += [name] * count
        found["line"] += [one.line for one in asides]
        found["offset"] += [one.offset for one in asides]
        found["length"] += [one.length for one in asides]
        found["kind"] += [one.kind for one in asides]
        found["time"] += [one.timestamp for one in asides]
        self._add_branches(found, [one.line for one in loose])
        for column in ("calls", "results", "copies"):
            found[column] += [0] * count
        found["repeated"] += [False] * count
        for column in OF_CHAIN:
            found[column] += [None] * count

    def findings(self, session: int) -> Lists:
        """Returns what is odd in a session: its broken lines, then what its graph says."""
        found = empty(FINDINGS)
        for one in self._findings_in(session):
            path = str(one.path) if one.path else None
            found["code"].append(one.code)
            found["sentence"].append(self.read.sentence(one.sentence))
            found["file"].append(self.read.name_of(path) if path else None)
            found["line"].append(one.line)
            found["uuid"].append(one.uuid)
        return found

    def _findings_in(self, session: int) -> Iterator[Finding]:
        for file in self.read.unit.sessions[session].files:
            yield from self.read.logs[file.path].broken
        yield from self._findings.get(session, ())

    def _found_by_session(self) -> dict[int, list[Finding]]:
        found: dict[int, list[Finding]] = {}
        for one in self.graph.findings:
            path = None if one.file is None else Path(self.graph.files[one.file].path)
            told = Finding(one.code, one.sentence, path, one.line, one.uuid)
            found.setdefault(self.read.places[str(path)] if path else 0, []).append(told)
        return found


OF_CHAIN = "uuid parent logical_parent subtype copy_of edge host rung folded".split()
"""What only records with a uuid have."""


def empty(table: Table) -> Lists:
    """Returns the columns of a table, but for those that every table begins with."""
    return {one.name: [] for one in table.columns[len(WHOSE) :]}


def _rungs_of(graph: SessionGraph) -> dict[str, str]:
    """Returns by which rules a fork or a joint was explained, by the record that begins it."""
    found: dict[str, list[str]] = {}
    for verdict in graph.verdicts:
        found.setdefault(verdict.newer, []).append(verdict.rung)
    return {uuid: " ".join(rungs) for uuid, rungs in found.items()}
