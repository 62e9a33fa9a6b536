"""An index to parents that exist and never lead in circles.

What the records say is followed where it can be. Where it cannot, the record before it in
the file stands in, as it does for the client, and a finding keeps the uuid that is missing.
Agents are left alone: what their files miss is a root.
"""

from dataclasses import dataclass, field
from operator import lt

from plait.graph.index import Index
from plait.graph.model import Edge, EdgeKind, Finding, Node, Trait

CHAIN = frozenset({"user", "assistant", "system", "attachment"})
NOWHERE = -1
NEAR = 16
"""How many hooks and caveats may lead up to the command that clears the context."""
BEGINS = (
    Trait.STRUCTURAL
    | Trait.HUMAN
    | Trait.QUEUED
    | Trait.ASKS
    | Trait.META
    | Trait.SUMMARY
    | Trait.INTERRUPTION
    | Trait.MUTE
)
"""What may begin anew: a prompt after a rewind to the start, a command, a hook."""
LOUD = ~(Trait.TEAM | Trait.SIDECHAIN | Trait.MUTE)


@dataclass(slots=True)
class Parents:
    """Where each node hangs, by number."""

    up: list[int]
    """NOWHERE for a root."""
    is_aside: bytearray
    """1 for what an agent wrote: agent files, and the sidechains of older session files."""
    edges: dict[int, Edge] = field(default_factory=dict)
    """Those that are not simply what the record says."""
    findings: list[Finding] = field(default_factory=list)

    def hang(self, child: int, parent: int, index: Index, kind: EdgeKind) -> None:
        """Hangs a node elsewhere than its record says."""
        self.up[child] = parent
        uuid = index.nodes[parent].uuid if parent >= 0 else None
        self.edges[child] = Edge(uuid, kind, index.nodes[child].parent)


def repair(index: Index) -> Parents:
    """Returns a parent for every node, or none; walking up always ends."""
    parents = Parents([NOWHERE] * len(index.nodes), _agents_part(index))
    for file in range(len(index.files)):
        FileWalk(index, parents, file).run()
    circles = cycles(parents.up)
    if circles:
        before = _links_before(index, parents)
        for circle in circles:
            _cut(index, parents, min(circle), before[min(circle)])
        for circle in cycles(parents.up):  # a stand-in can close a new one: now it is a root
            _cut(index, parents, min(circle), NOWHERE)
    return parents


def _agents_part(index: Index) -> bytearray:
    is_agent = [file.kind == "agent" for file in index.files]
    sidechain = Trait.SIDECHAIN
    aside = bytearray(
        [1 if node.traits & sidechain or is_agent[node.file] else 0 for node in index.nodes]
    )
    if any(aside):
        _give_back(index, is_agent, aside)
    return aside


def _give_back(index: Index, is_agent: list[bool], aside: bytearray) -> None:
    nodes, at = index.nodes, index.at
    for number, node in enumerate(nodes):
        if aside[number]:
            continue
        above = at.get(node.parent or "", NOWHERE)
        while above >= 0 and aside[above] and not is_agent[nodes[above].file]:
            aside[above] = 0
            above = at.get(nodes[above].parent or "", NOWHERE)


class FileWalk:
    """One pass through a file, with the records that have just gone by."""

    __slots__ = (
        "before",
        "beside",
        "compacted",
        "file",
        "index",
        "parents",
        "spoken",
        "unexpected",
    )

    def __init__(self, index: Index, parents: Parents, file: int) -> None:
        self.index = index
        self.parents = parents
        self.file = file
        self.before = NOWHERE
        """The last link of the main chain, owned by this file or copied into it."""
        self.beside = NOWHERE
        """The last record of a sidechain."""
        self.spoken: dict[str, int] = {}
        """The last record of each session that is more than structure."""
        self.compacted: set[str] | None = None
        """The sessions that were compacted in this file, where that was asked."""
        self.unexpected: dict[str, list[Node]] = {}
        """By session: answers and results that name no parent, though others stand before them."""

    def run(self) -> None:
        """Gives each node that the file owns its parent."""
        if self.hangs_together():
            return
        index, file, aside = self.index, self.file, self.parents.is_aside
        nodes, at, up = index.nodes, index.at, self.parents.up
        done = NOWHERE
        for node in index.facts[file].nodes:
            number = at[node.uuid]
            own = nodes[number]
            if own.file == file and number > done:  # a repeat has been here before
                parent = at.get(own.parent or "", NOWHERE)
                if parent >= 0 and nodes[parent].file == file:
                    up[number] = parent
                else:
                    self.resolve(number, own, parent)
                done = number
            if aside[number]:
                self.beside = number
            elif own.kind in CHAIN:
                self.before = number
                if not own.traits & Trait.STRUCTURAL and not _is_quiet(own):
                    self.spoken[own.session] = number
        for found in self.unexpected.values():
            self.note("unexpected-root", found[0], _rootless(len(found)))

    def hangs_together(self) -> bool:
        """Gives all nodes their parents at once where each but the first hangs in the file, and
        no other file holds any of them; tells whether it has.
        """
        index, held = self.index, self.index.facts[self.file].nodes
        if not held:
            return True
        first, count = index.at[held[0].uuid], len(held)
        own = index.nodes[first : first + count]
        is_own = own[0].file == self.file == own[-1].file and len(own) == count
        if not is_own or (own != held and _uuids(own) != _uuids(held)):
            return False
        above = [index.at.get(node.parent or "", NOWHERE) for node in own]
        if count > 1 and (min(above[1:]) < first or max(above[1:]) >= first + count):
            return False
        self.parents.up[first : first + count] = above
        if not first <= above[0] < first + count:
            self.parents.up[first] = NOWHERE
            self.resolve(first, own[0], above[0])
        return True

    def resolve(self, number: int, node: Node, parent: int) -> None:
        """Finds the parent of a node that is not simply in the same file."""
        is_aside = self.parents.is_aside[number]
        if node.parent is None:
            if not is_aside:
                self.join_root(number, node)
        elif parent >= 0 and (self.holds(parent) or self.may_leave(number)):
            self.parents.up[number] = parent
        elif is_aside:
            self.lose(number, node)
        else:
            self.stand_in(number, node)

    def holds(self, number: int) -> bool:
        """Tells whether this file has the record, as its own or as a copy."""
        node = self.index.nodes[number]
        return node.file == self.file or any(copy.file == self.file for copy in node.copies)

    def may_leave(self, number: int) -> bool:
        """Tells whether a parent in another file is believed: of agents, and of a file's first.

        A.jsonl  a ── b ── c
        B.jsonl            └── d ── e      d is the first of its file
        """
        return bool(self.parents.is_aside[number]) or self.before < 0

    def lose(self, number: int, node: Node) -> None:
        """Makes a root of an agent's record; its first is expected to name a stranger.

        In a session's own file the sidechain before it goes on.
        """
        is_inside = self.index.files[self.file].kind == "session" and self.beside >= 0
        stand_in = self.beside if is_inside else NOWHERE
        self.parents.hang(number, stand_in, self.index, "repaired" if is_inside else "lost")
        if self.index.facts[self.file].nodes[0].uuid != node.uuid:
            self.note("missing-parent", node, f"parent {node.parent} of an agent's record is gone")

    def stand_in(self, number: int, node: Node) -> None:
        """Hangs a record whose parent is missing on the one before it, if that is not later."""
        before = self.before
        stamp = self.index.nodes[before].timestamp if before >= 0 else None
        if before < 0 or (stamp and node.timestamp and stamp > node.timestamp):
            self.parents.hang(number, NOWHERE, self.index, "lost")
        else:
            self.parents.hang(number, before, self.index, "repaired")
        if not self.is_expected(node):
            code = "stray-progress" if node.kind == "progress" else "missing-parent"
            self.note(code, node, f"parent {node.parent} is not in this file")

    def is_expected(self, node: Node) -> bool:
        """Tells whether it is known why a parent is missing.

        It lies in an agent's file; or a hook was in flight when the context was compacted, and
        lost its call.
        """
        above = self.index.at.get(node.parent or "", NOWHERE)
        if above >= 0 and self.parents.is_aside[above]:
            return True
        is_hook = node.kind == "progress" or "hook" in (node.subtype or "")
        if not is_hook or not node.traits & Trait.STRUCTURAL:
            return False
        if self.compacted is None:
            nodes = self.index.facts[self.file].nodes
            self.compacted = {one.session for one in nodes if one.is_boundary}
        return node.session in self.compacted

    def join_root(self, number: int, node: Node) -> None:
        """Joins a root to what it goes on from: a compaction, or a cleared context."""
        if node.traits & Trait.BOUNDARY:
            target = self.continued(node)
            if target >= 0:
                self.parents.hang(number, target, self.index, "logical")
        elif self.follows_boundary(node):
            self.parents.hang(number, self.spoken[node.session], self.index, "boundary")
        elif self.restarts(node):
            self.parents.hang(number, self.spoken[node.session], self.index, "restart")
        elif node.session in self.spoken and not node.traits & BEGINS:
            self.unexpected.setdefault(node.session, []).append(node)

    def follows_boundary(self, node: Node) -> bool:
        """Tells whether a root is what a compaction goes on with: some writers name no parent.

        U1 ── A1 ── B1    ∅ ── U2 ── A2      U2 hangs on B1
        """
        last = self.spoken.get(node.session, NOWHERE)
        return last >= 0 and self.index.nodes[last].is_boundary

    def continued(self, node: Node) -> int:
        """Returns the record that a compaction goes on from, or the one before it."""
        for uuid in (node.logical, *(node.preserved.uuids if node.preserved else ())):
            target = self.index.at.get(uuid, NOWHERE) if uuid else NOWHERE
            if target >= 0 and self.holds(target) and not self.parents.is_aside[target]:
                return target
        if node.logical:
            sentence = f"the compaction goes on from {node.logical}, which is not in this file"
            self.note("missing-logical-parent", node, sentence)
        return self.spoken.get(node.session, NOWHERE)

    def restarts(self, node: Node) -> bool:
        """Tells whether a root follows an interruption or a cleared context, in its session."""
        if node.kind == "assistant" or node.results or node.session not in self.spoken:
            return False
        last = self.index.nodes[self.spoken[node.session]]
        return bool((last.traits & (Trait.INTERRUPTION | Trait.CLEAR)) or self.clears(node))

    def clears(self, node: Node) -> bool:
        """Tells whether a root is the clearing command, or leads up to it: a caveat, a hook."""
        if node.traits & Trait.CLEAR:
            return True
        following = self.index.at[node.uuid] + 1
        for child in self.index.nodes[following : following + NEAR]:
            is_leading = node.traits & (Trait.META | Trait.STRUCTURAL)
            if not is_leading or child.parent != node.uuid:
                return False
            if child.traits & Trait.CLEAR:
                return True
            node = child
        return False

    def note(self, code: str, node: Node, sentence: str) -> None:
        """Keeps a finding at the place of a node."""
        found = Finding(code, sentence, node.file, node.line, node.uuid)
        self.parents.findings.append(found)


def _uuids(nodes: list[Node]) -> list[str]:
    return [node.uuid for node in nodes]


def _rootless(count: int) -> str:
    if count == 1:
        return "an answer or a result in mid-session names no parent"
    return f"{count} answers and results in mid-session name no parent, this is the first"


def _is_quiet(node: Node) -> bool:
    return not (node.traits & LOUD or node.results or node.kind != "user")


def cycles(up: list[int]) -> list[list[int]]:
    """Returns the circles in which parents lead, each once."""
    if all(map(lt, up, range(len(up)))):  # parents stand before children nearly everywhere
        return []
    seen = [0] * len(up)
    found: list[list[int]] = []
    for start in range(len(up)):
        mark, node = start + 1, start
        while node >= 0 and not seen[node]:
            seen[node] = mark
            node = up[node]
        if node >= 0 and seen[node] == mark:
            found.append(_circle_from(node, up))
    return found


def _circle_from(start: int, up: list[int]) -> list[int]:
    circle, node = [start], up[start]
    while node != start:
        circle.append(node)
        node = up[node]
    return circle


def _links_before(index: Index, parents: Parents) -> list[int]:
    before: list[int] = []
    last, file = NOWHERE, NOWHERE
    for number, node in enumerate(index.nodes):
        if node.file != file:
            last, file = NOWHERE, node.file
        before.append(last)
        if not parents.is_aside[number] and node.kind in CHAIN:
            last = number
    return before


def _cut(index: Index, parents: Parents, first: int, before: int) -> None:
    """Cuts a circle at its first record, which then hangs on the one before it, or is a root.

    b ── c ── d ──┐          a ── b ── c ── d
    └─────────────┘
    """
    node = index.nodes[first]
    is_free = not parents.is_aside[first] and first not in parents.edges
    parents.hang(first, before if is_free else NOWHERE, index, "cut")
    sentence = f"parent {node.parent} leads back to this record"
    parents.findings.append(Finding("cycle", sentence, node.file, node.line, node.uuid))
