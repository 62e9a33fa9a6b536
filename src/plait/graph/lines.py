"""Drafts to DAG-lines: named, in reading order, with the place where each leaves its parent.

    {session}                      the line that a session is, and its active branch
    {session}@{12 of the uuid}     a branch; longer where two would be the same
    {session}#agent-{id}           an agent

Parents stand before children and calls before results; for the rest the file decides.
Timestamps never do: they step back in real files where the graph is right.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from plait.graph.agents import Anchor, is_service
from plait.graph.assign import LineDraft, LineDrafts
from plait.graph.index import Index
from plait.graph.model import DagLine, Finding, LineKind, Loose, Trait
from plait.graph.repair import NOWHERE, Parents, cycles
from plait.graph.walks import Walk, Walks

FIRST = 8
"""Records by which a copy is known: all that was there when it was made says so."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The DAG-lines, in the order of their drafts, and what was odd about them."""

    lines: list[DagLine]
    copied: list[DagLine]
    """Those of files that hold only copies."""
    findings: list[Finding]


def finish(
    index: Index, parents: Parents, walks: Walks, drafts: LineDrafts, anchors: dict[int, Anchor]
) -> Finished:
    """Returns the DAG-lines of all drafts."""
    own = _names_of(index, drafts)
    copy_files = _files_of_copies(index, own)
    names = [*own, *(index.sessions[file] for file in copy_files)]
    attached = [_attachment(index, parents, walks, draft, anchors) for draft in drafts.lines]
    above = _parent_lines(drafts, attached)
    above += [drafts.of[_last_record(index, file)] for file in copy_files]
    findings = [_untangle(index, drafts, attached, above, circle) for circle in cycles(above)]
    _adopt_agents(index, drafts, above, copy_files)
    reader = Reader(index, walks, drafts, findings)
    lines = [
        DagLine(
            names[number],
            _kind_of(index, draft),
            draft.walk.session,
            reader.read(draft.nodes),
            {index.nodes[under].uuid: reader.read(held) for under, held in draft.folded.items()},
            names[above[number]] if above[number] >= 0 else None,
            index.nodes[attached[number]].uuid if attached[number] >= 0 else None,
            True,
            *_times(index, draft.nodes),
            _label_of(index, draft),
            None,
            draft.walk.agent,
            (draft.walk.file,),
        )
        for number, draft in enumerate(drafts.lines)
    ]
    copied = [
        _line_of_copies(index, file, names[above[n]]) for n, file in enumerate(copy_files, len(own))
    ]
    return Finished(lines, copied, findings)


def _attachment(
    index: Index, parents: Parents, walks: Walks, draft: LineDraft, anchors: dict[int, Anchor]
) -> int:
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
    return _origin(index, walk) if draft.kind == "trunk" else NOWHERE


def _origin(index: Index, walk: Walk) -> int:
    """Returns the last record that a session was copied from under other ids."""
    if not any(index.nodes[number].copy_of for number in walk.nodes[:FIRST]):
        return NOWHERE
    for number in reversed(walk.nodes):
        copied = index.at.get(index.nodes[number].copy_of or "", NOWHERE)
        if copied >= 0 and index.nodes[copied].session != walk.session:
            return copied
    return NOWHERE


def _parent_lines(drafts: LineDrafts, attached: Sequence[int]) -> list[int]:
    trunks = {draft.walk.number: n for n, draft in enumerate(drafts.lines) if draft.root < 0}
    return [
        drafts.of[node] if node >= 0 else trunks[draft.walk.number] if draft.root >= 0 else NOWHERE
        for draft, node in zip(drafts.lines, attached, strict=True)
    ]


def _untangle(
    index: Index, drafts: LineDrafts, attached: list[int], above: list[int], circle: list[int]
) -> Finding:
    first = min(circle)
    attached[first] = above[first] = NOWHERE
    node = index.nodes[drafts.lines[first].walk.nodes[0]]
    sentence = "sessions or agents claim to have begun in each other"
    return Finding("tangled-lines", sentence, node.file, node.line, node.uuid)


def _kind_of(index: Index, draft: LineDraft) -> LineKind:
    is_errand = draft.kind == "agent" and is_service(index, draft.walk)
    return "service" if is_errand else draft.kind


class Reader:
    """Brings nodes of a line into reading order."""

    __slots__ = ("calls", "findings", "index", "of", "up")

    def __init__(
        self, index: Index, walks: Walks, drafts: LineDrafts, findings: list[Finding]
    ) -> None:
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


def _times(index: Index, members: Iterable[int]) -> tuple[str | None, str | None]:
    stamps = [stamp for number in members if (stamp := index.nodes[number].timestamp)]
    return (min(stamps), max(stamps)) if stamps else (None, None)


def _label_of(index: Index, draft: LineDraft) -> str | None:
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


SHORT = 12
LONGER = 4


def _names_of(index: Index, drafts: LineDrafts) -> list[str]:
    names = [""] * len(drafts.lines)
    taken: set[str] = set()
    ranked = sorted(
        range(len(names)), key=lambda number: (_naming_rank(drafts.lines[number]), number)
    )
    for number in ranked:
        draft = drafts.lines[number]
        name = next(name for name in _candidate_names(index, draft) if name not in taken)
        taken.add(name)
        names[number] = name
    return names


def _naming_rank(draft: LineDraft) -> int:
    return ("trunk", "foreign").index(draft.kind) if draft.kind in ("trunk", "foreign") else 2


def _candidate_names(index: Index, draft: LineDraft) -> Iterator[str]:
    """Yields names for a line, the best first; never ends."""
    session = draft.walk.session
    uuid = index.nodes[draft.root if draft.root >= 0 else draft.walk.nodes[0]].uuid
    if draft.walk.agent is not None:
        yield f"{session}#agent-{draft.walk.agent}"
        stem = f"{session}#agent-{draft.walk.agent}@"
    else:
        stem = f"{session}@"
        if draft.kind != "branch":
            yield session
    for length in range(SHORT, max(len(uuid), SHORT) + LONGER, LONGER):
        yield stem + uuid[:length]
    number = 2
    while True:
        yield f"{stem}{uuid}~{number}"
        number += 1


def _files_of_copies(index: Index, taken: Iterable[str]) -> list[int]:
    owners = {node.file for node in index.nodes}
    known = set(taken)
    found: list[int] = []
    for number, facts in enumerate(index.facts):
        session = index.sessions[number]
        is_bare = facts.file.kind == "session" and facts.nodes and number not in owners
        if is_bare and session not in known:
            known.add(session)
            found.append(number)
    return found


def _last_record(index: Index, file: int) -> int:
    return index.at[index.facts[file].nodes[-1].uuid]


def _line_of_copies(index: Index, file: int, parent: str | None) -> DagLine:
    nodes = index.facts[file].nodes
    last = nodes[-1]
    return DagLine(
        index.sessions[file],
        "trunk",
        index.sessions[file],
        (),
        parent=parent,
        attachment=last.uuid,
        started=last.timestamp,
        ended=last.timestamp,
        label=next((node.preview for node in nodes if node.is_human_prompt), None),
        files=(file,),
    )


def _adopt_agents(
    index: Index, drafts: LineDrafts, above: list[int], copy_files: Sequence[int]
) -> None:
    lines = drafts.lines
    sessions = _session_lines(index, lines, copy_files)
    numbers = [number for number, line in enumerate(lines) if line.kind == "agent"]
    agents = {(lines[n].walk.session, lines[n].walk.agent): n for n in numbers}
    taken = [number for number in numbers if above[number] < 0]
    for number in taken:
        walk = lines[number].walk
        meta = index.facts[walk.file].meta
        sender = agents.get((walk.session, meta.parent_agent_id), number) if meta else number
        above[number] = sender if sender != number else sessions.get(walk.session, NOWHERE)
    for circle in cycles(above):
        for number in set(circle).intersection(taken):
            above[number] = NOWHERE


def _session_lines(
    index: Index, lines: Sequence[LineDraft], copy_files: Sequence[int]
) -> dict[str, int]:
    sessions = {index.sessions[file]: n for n, file in enumerate(copy_files, len(lines))}
    for kind in ("foreign", "trunk"):
        found = ((line.walk.session, n) for n, line in enumerate(lines) if line.kind == kind)
        sessions.update(found)
    return sessions


Before: TypeAlias = Callable[[int], Sequence[int]]
"""What has to stand before a node; only nodes of the same line count."""


def reading_order(members: Sequence[int], before: Before) -> list[int] | None:
    """Returns the members, given in file order, so that what `before` names comes first.

    None where it leads in circles.
    """
    if _stands_in_order(members, before):
        return list(members)
    return _pulled_forward(members, before)


def _stands_in_order(members: Sequence[int], before: Before) -> bool:
    return all(earlier < member for member in members for earlier in before(member))


def _pulled_forward(members: Sequence[int], before: Before) -> list[int] | None:
    """Puts what a member needs right before it.

    file  U A₂ A₁ …  with A₂ hanging on A₁      read  U A₁ A₂ …
    """
    inside = set(members)
    open_, done = set[int](), set[int]()
    order: list[int] = []
    for member in members:
        waiting = [member]
        while waiting:
            here = waiting[-1]
            if here in done:
                waiting.pop()
                continue
            needed = [one for one in before(here) if one in inside and one not in done]
            if not needed:
                waiting.pop()
                open_.discard(here)
                done.add(here)
                order.append(here)
            elif here in open_:
                return None
            else:
                open_.add(here)
                waiting.extend(reversed(needed))
    return order
