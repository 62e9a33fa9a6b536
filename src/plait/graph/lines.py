"""Drafts to DAG-lines: in reading order, with the place where each leaves its parent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plait.graph.agents import Anchor, is_service
from plait.graph.bare import bare_files, bare_line, last_of
from plait.graph.drafts import Draft, Drafts
from plait.graph.homes import take_in
from plait.graph.index import Index
from plait.graph.model import DagLine, Finding, LineKind, Loose, Trait
from plait.graph.names import names_of
from plait.graph.order import reading_order
from plait.graph.repair import NOWHERE, Parents, cycles
from plait.graph.walks import Walks


@dataclass(frozen=True, slots=True)
class Finished:
    """The DAG-lines, in the order of their drafts, and what was odd about them."""

    lines: list[DagLine]
    bare: list[DagLine]
    """Those of files that hold only copies."""
    findings: list[Finding]


def finish(
    index: Index, parents: Parents, walks: Walks, drafts: Drafts, anchors: dict[int, Anchor]
) -> Finished:
    """Returns the DAG-lines of all drafts."""
    own = names_of(index, drafts)
    bare = bare_files(index, own)
    names = [*own, *(index.sessions[file] for file in bare)]
    attached = [attachment(parents, walks, draft, anchors) for draft in drafts.lines]
    above = parent_lines(drafts, attached)
    above += [drafts.of[last_of(index, file)] for file in bare]
    findings = [untangle(index, drafts, attached, above, circle) for circle in cycles(above)]
    take_in(index, drafts, above, bare)
    reader = Reader(index, walks, drafts, findings)
    lines = [
        DagLine(
            names[number],
            kind_of(index, draft),
            draft.walk.session,
            reader.read(draft.nodes),
            {index.nodes[under].uuid: reader.read(held) for under, held in draft.folded.items()},
            names[above[number]] if above[number] >= 0 else None,
            index.nodes[attached[number]].uuid if attached[number] >= 0 else None,
            True,
            *times(index, draft.nodes),
            label_of(index, draft),
            None,
            draft.walk.agent,
            (draft.walk.file,),
        )
        for number, draft in enumerate(drafts.lines)
    ]
    copied = [bare_line(index, file, names[above[n]]) for n, file in enumerate(bare, len(own))]
    return Finished(lines, copied, findings)


def attachment(parents: Parents, walks: Walks, draft: Draft, anchors: dict[int, Anchor]) -> int:
    """Returns the node where a line leaves another, NOWHERE for one that leaves none."""
    walk = draft.walk
    if draft.root >= 0:
        return parents.up[draft.root]
    anchor = anchors.get(walk.number)
    if anchor:
        return anchor.node
    for number in walk.nodes:
        parent = parents.up[number]
        if parent >= 0 and walks.up[number] < 0:
            return parent
    return NOWHERE


def parent_lines(drafts: Drafts, attached: Sequence[int]) -> list[int]:
    """Returns the line that each leaves; a branch from the very start leaves its trunk."""
    trunks = {draft.walk.number: n for n, draft in enumerate(drafts.lines) if draft.root < 0}
    return [
        drafts.of[node] if node >= 0 else trunks[draft.walk.number] if draft.root >= 0 else NOWHERE
        for draft, node in zip(drafts.lines, attached, strict=True)
    ]


def untangle(
    index: Index, drafts: Drafts, attached: list[int], above: list[int], circle: list[int]
) -> Finding:
    """Frees the first of some lines that leave each other in a circle."""
    first = min(circle)
    attached[first] = above[first] = NOWHERE
    node = index.nodes[drafts.lines[first].walk.nodes[0]]
    sentence = "sessions or agents claim to have begun in each other"
    return Finding("tangled-lines", sentence, node.file, node.line, node.uuid)


def kind_of(index: Index, draft: Draft) -> LineKind:
    """Returns the kind of a line; what nobody sent out is a service."""
    is_errand = draft.kind == "agent" and is_service(index, draft.walk)
    return "service" if is_errand else draft.kind


class Reader:
    """Brings nodes of a line into reading order."""

    __slots__ = ("calls", "findings", "index", "of", "up")

    def __init__(self, index: Index, walks: Walks, drafts: Drafts, findings: list[Finding]) -> None:
        self.index = index
        self.up = walks.up
        self.of = drafts.of
        self.findings = findings
        self.calls: dict[tuple[int, str], int] = {}
        for number, node in enumerate(index.nodes):
            for call in node.calls:
                self.calls.setdefault((drafts.of[number], call.id), number)

    def read(self, members: Sequence[int]) -> tuple[str, ...]:
        """Returns the uuids of some nodes in reading order."""
        order = list(members) if self.stands(members) else reading_order(members, self.before)
        if order is None:  # a call stands below its own result
            node = self.index.nodes[members[0]]
            sentence = "some results stand before their calls from here on"
            self.findings.append(Finding("order", sentence, node.file, node.line, node.uuid))
            order = reading_order(members, self.above) or list(members)
        nodes = self.index.nodes
        return tuple([nodes[number].uuid for number in order])

    def stands(self, members: Sequence[int]) -> bool:
        """Tells quickly whether the file has some nodes in the right order."""
        up = self.up
        if not all(up[number] < number for number in members):
            return False
        answering = [number for number in members if self.index.nodes[number].results]
        return all(call < number for number in answering for call in self.before(number))

    def before(self, number: int) -> Sequence[int]:
        """Returns the parent and the calls of a node."""
        node = self.index.nodes[number]
        if not node.results:
            return (self.up[number],)
        line = self.of[number]
        called = (self.calls.get((line, result), NOWHERE) for result in node.results)
        return (self.up[number], *(one for one in called if one != number))

    def above(self, number: int) -> Sequence[int]:
        """Returns the parent of a node."""
        return (self.up[number],)


def times(index: Index, members: Iterable[int]) -> tuple[str | None, str | None]:
    """Returns the first and the last time on a line."""
    stamps = [stamp for number in members if (stamp := index.nodes[number].timestamp)]
    return (min(stamps), max(stamps)) if stamps else (None, None)


def label_of(index: Index, draft: Draft) -> str | None:
    """Returns what people know a line by: an agent's task, else the first prompt."""
    meta = index.facts[draft.walk.file].meta
    if draft.kind == "agent" and meta and (meta.description or meta.name):
        return meta.description or meta.name
    named: str | None = None
    for number in draft.nodes:
        node = index.nodes[number]
        if node.preview and (node.traits & Trait.HUMAN or draft.kind == "agent"):
            return node.preview
        named = named or node.preview
    return named


def place_loose(index: Index, names: Sequence[str], of: Sequence[int]) -> tuple[Loose, ...]:
    """Returns the lines without uuid, each on the line of the last uuid before it."""
    placed: list[Loose] = []
    for number, facts in enumerate(index.facts):
        for aside in facts.asides:
            near = facts.nodes[max(aside.after - 1, 0)].uuid if facts.nodes else None
            line = names[of[index.at[near]]] if near else None
            after = near if aside.after else None
            placed.append(Loose(aside.kind, facts.place(aside, number), line, after))
    return tuple(placed)
