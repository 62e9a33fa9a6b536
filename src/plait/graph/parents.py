"""Parents that exist and never form circles, and the walks that they form.

Parents are used as recorded where possible. Otherwise the record before it in the file replaces the
parent, as it does for the client, and a finding keeps the missing uuid. Agents are left alone: if
their files miss a parent, the record is a root.

A walk is the records of one session in a file, or of one agent. It becomes one or more DAG-lines:
its nodes are connected, and where one follows a node of another walk, the walk leaves that other
one.
"""

from dataclasses import dataclass, field, replace
from operator import lt

from plait.graph.index import Index
from plait.graph.model import Edge, EdgeKind, Finding, Node, Trait

CHAIN = frozenset({"user", "assistant", "system", "attachment"})
NO_NODE = -1
NEAR = 16
"""How many hooks and caveats may precede the command that clears the context."""
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
"""What may start a conversation: a prompt after a rewind to the start, a command, a hook."""
LOUD = ~(Trait.TEAM | Trait.SIDECHAIN | Trait.MUTE)


@dataclass(slots=True)
class Parents:
    """The parent of each node, by number."""

    up: list[int]
    """NO_NODE for a root."""
    is_side: bytearray
    """1 for records of agents: agent files, and the sidechains of older session files."""
    edges: dict[int, Edge] = field(default_factory=dict)
    """Edges that are not simply what the record says."""
    findings: list[Finding] = field(default_factory=list)

    def attach(self, child: int, parent: int, index: Index, kind: EdgeKind) -> None:
        """Give a node another parent than its record says."""
        self.up[child] = parent
        uuid = index.nodes[parent].uuid if parent >= 0 else None
        self.edges[child] = Edge(uuid, kind, index.nodes[child].parent)


def resolve_parents(index: Index) -> Parents:
    """Return a parent for every node, or none; walking up always ends."""
    is_agent = [file.kind == "agent" for file in index.files]
    sidechain = Trait.SIDECHAIN
    is_side = bytearray(
        [1 if node.traits & sidechain or is_agent[node.file] else 0 for node in index.nodes]
    )
    if any(is_side):
        nodes, at = index.nodes, index.at
        for number, node in enumerate(nodes):
            if is_side[number]:
                continue
            above = at.get(node.parent or "", NO_NODE)
            while above >= 0 and is_side[above] and not is_agent[nodes[above].file]:
                is_side[above] = 0
                above = at.get(nodes[above].parent or "", NO_NODE)
    parents = Parents([NO_NODE] * len(index.nodes), is_side)
    for file in range(len(index.files)):
        FileWalk(index, parents, file).run()
    circles = find_cycles(parents.up)
    if circles:
        # The record before each on the main chain of its file
        before: list[int] = []
        last, file = NO_NODE, NO_NODE
        for number, node in enumerate(index.nodes):
            if node.file != file:
                last, file = NO_NODE, node.file
            before.append(last)
            if not parents.is_side[number] and node.kind in CHAIN:
                last = number
        for circle in circles:
            _cut_circle(index, parents, min(circle), before[min(circle)])
        for circle in find_cycles(
            parents.up
        ):  # a replacement can close a new circle: now it is a root
            _cut_circle(index, parents, min(circle), NO_NODE)
    return parents


@dataclass(slots=True)
class FileWalk:
    """One pass through a file, with the most recent records."""

    index: Index
    parents: Parents
    file: int
    before: int = NO_NODE
    """The last link of the main chain, owned by this file or copied into it."""
    neighbour: int = NO_NODE
    """The last record of a sidechain."""
    spoken: dict[str, int] = field(default_factory=dict)
    """The last record of each session that is more than structure."""
    compacted: set[str] | None = None
    """The sessions that were compacted in this file, if that was needed."""
    unexpected: dict[str, list[Node]] = field(default_factory=dict)
    """By session: responses and results that name no parent although others precede them."""

    def run(self) -> None:
        """Give each node that the file owns its parent."""
        if self.hangs_together():
            return
        index, file, is_side = self.index, self.file, self.parents.is_side
        nodes, at, up = index.nodes, index.at, self.parents.up
        done = NO_NODE
        for node in index.facts[file].nodes:
            number = at[node.uuid]
            own = nodes[number]
            if own.file == file and number > done:  # a repeat was seen before
                parent = at.get(own.parent or "", NO_NODE)
                if parent >= 0 and nodes[parent].file == file:
                    up[number] = parent
                else:
                    self.resolve(number, own, parent)
                done = number
            if is_side[number]:
                self.neighbour = number
            elif own.kind in CHAIN:
                self.before = number
                is_quiet = not (own.traits & LOUD or own.results or own.kind != "user")
                if not (own.traits & Trait.STRUCTURAL or is_quiet):
                    self.spoken[own.session] = number
        for found in self.unexpected.values():
            sentence = "an answer or result in the middle of a session has no parent"
            if len(found) > 1:
                sentence = (
                    f"{len(found)} answers and results in the middle of a session have no parent; "
                    "this is the first"
                )
            self.note("unexpected-root", found[0], sentence)

    def hangs_together(self) -> bool:
        """Give all nodes their parents at once if each but the first has its parent in the file and
        no other file holds any of them; return whether it did.
        """
        index, held = self.index, self.index.facts[self.file].nodes
        if not held:
            return True
        first, count = index.at[held[0].uuid], len(held)
        own = index.nodes[first : first + count]
        is_own = own[0].file == self.file == own[-1].file and len(own) == count
        if not is_own:
            return False
        if own != held and [node.uuid for node in own] != [node.uuid for node in held]:
            return False
        above = [index.at.get(node.parent or "", NO_NODE) for node in own]
        if count > 1 and (min(above[1:]) < first or max(above[1:]) >= first + count):
            return False
        self.parents.up[first : first + count] = above
        if not first <= above[0] < first + count:
            self.parents.up[first] = NO_NODE
            self.resolve(first, own[0], above[0])
        return True

    def resolve(self, number: int, node: Node, parent: int) -> None:
        """Find the parent of a node that is not simply in the same file."""
        is_side = self.parents.is_side[number]
        if node.parent is None:
            if not is_side:
                if node.traits & Trait.BOUNDARY:
                    target = self.continued(node)
                    if target >= 0:
                        self.parents.attach(number, target, self.index, "logical")
                elif self.follows_boundary(node):
                    self.parents.attach(number, self.spoken[node.session], self.index, "boundary")
                elif self.restarts(node):
                    self.parents.attach(number, self.spoken[node.session], self.index, "restart")
                elif node.session in self.spoken and not node.traits & BEGINS:
                    self.unexpected.setdefault(node.session, []).append(node)
        elif parent >= 0 and (
            # a parent in another file is accepted for agents, and for a file's first record
            self.holds(parent) or self.parents.is_side[number] or self.before < 0
        ):
            self.parents.up[number] = parent
        elif is_side:
            is_inside = self.index.files[self.file].kind == "session" and self.neighbour >= 0
            stand_in = self.neighbour if is_inside else NO_NODE
            self.parents.attach(number, stand_in, self.index, "repaired" if is_inside else "lost")
            if self.index.facts[self.file].nodes[0].uuid != node.uuid:
                self.note(
                    "missing-parent", node, f"parent {node.parent} of an agent's record is missing"
                )
        else:
            self.attach_to_neighbour(number, node)

    def holds(self, number: int) -> bool:
        """Return whether this file has the record, as its own or as a copy."""
        node = self.index.nodes[number]
        return node.file == self.file or any(copy.file == self.file for copy in node.copies)

    def attach_to_neighbour(self, number: int, node: Node) -> None:
        """Attach a record whose parent is missing to the one before it, if that is not later."""
        before = self.before
        stamp = self.index.nodes[before].timestamp if before >= 0 else None
        if before < 0 or (stamp and node.timestamp and stamp > node.timestamp):
            self.parents.attach(number, NO_NODE, self.index, "lost")
        else:
            self.parents.attach(number, before, self.index, "repaired")
        if not self.is_expected(node):
            code = "stray-progress" if node.kind == "progress" else "missing-parent"
            self.note(code, node, f"parent {node.parent} is not in this file")

    def is_expected(self, node: Node) -> bool:
        """Return whether it is known why a parent is missing.

        It is in an agent's file; or a hook was running when the context was compacted, and lost its
        call.
        """
        above = self.index.at.get(node.parent or "", NO_NODE)
        if above >= 0 and self.parents.is_side[above]:
            return True
        is_hook = node.kind == "progress" or "hook" in (node.subtype or "")
        if not is_hook or not node.traits & Trait.STRUCTURAL:
            return False
        if self.compacted is None:
            nodes = self.index.facts[self.file].nodes
            self.compacted = {node.session for node in nodes if node.is_boundary}
        return node.session in self.compacted

    def follows_boundary(self, node: Node) -> bool:
        """Return whether a root continues a compaction: some writers name no parent.

        U1 ── A1 ── B1    ∅ ── U2 ── A2      U2 follows B1
        """
        last = self.spoken.get(node.session, NO_NODE)
        return last >= 0 and self.index.nodes[last].is_boundary

    def continued(self, node: Node) -> int:
        """Return the record that a compaction continues, or the one before it."""
        for uuid in (node.logical, *(node.preserved.uuids if node.preserved else ())):
            target = self.index.at.get(uuid, NO_NODE) if uuid else NO_NODE
            if target >= 0 and self.holds(target) and not self.parents.is_side[target]:
                return target
        if node.logical:
            sentence = f"the compaction continues from {node.logical}, which is not in this file"
            self.note("missing-logical-parent", node, sentence)
        return self.spoken.get(node.session, NO_NODE)

    def restarts(self, node: Node) -> bool:
        """Return whether a root follows an interruption or a cleared context, in its session."""
        if node.kind == "assistant" or node.results or node.session not in self.spoken:
            return False
        last = self.index.nodes[self.spoken[node.session]]
        return bool((last.traits & (Trait.INTERRUPTION | Trait.CLEAR)) or self.clears(node))

    def clears(self, node: Node) -> bool:
        """Return whether a root is the clearing command, or precedes it: a caveat, a hook."""
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
        """Add a finding at the place of a node."""
        found = Finding(code, sentence, node.file, node.line, node.uuid)
        self.parents.findings.append(found)


def find_cycles(up: list[int]) -> list[list[int]]:
    """Return the circles formed by parents, each once."""
    if all(map(lt, up, range(len(up)))):  # parents come before children nearly everywhere
        return []
    seen = [0] * len(up)
    found: list[list[int]] = []
    for start in range(len(up)):
        mark, node = start + 1, start
        while node >= 0 and not seen[node]:
            seen[node] = mark
            node = up[node]
        if node >= 0 and seen[node] == mark:
            circle, member = [node], up[node]
            while member != node:
                circle.append(member)
                member = up[member]
            found.append(circle)
    return found


def _cut_circle(index: Index, parents: Parents, first: int, before: int) -> None:
    """Cut a circle at its first record, which then follows the one before it, or is a root.

    b ── c ── d ──┐          a ── b ── c ── d
    └─────────────┘
    """
    node = index.nodes[first]
    is_free = not parents.is_side[first] and first not in parents.edges
    parents.attach(first, before if is_free else NO_NODE, index, "cut")
    sentence = f"parent {node.parent} leads back to this record"
    parents.findings.append(Finding("cycle", sentence, node.file, node.line, node.uuid))


SPOKEN_TRAITS = Trait.HUMAN | Trait.QUEUED | Trait.ANSWER
FARTHEST = 64
"""How many other walks are searched for a session's predecessor before it counts as a new
beginning.
"""


@dataclass(frozen=True, slots=True)
class Walk:
    """The nodes of one session in one file, or of one agent."""

    number: int
    file: int
    session: str
    agent: str | None
    """None for a session."""
    nodes: list[int]


@dataclass(frozen=True, slots=True)
class Walks:
    """All walks, with the parents inside them."""

    walks: tuple[Walk, ...]
    of: list[int]
    """The walk of each node."""
    up: list[int]
    """The parent of each node in its own walk; NO_NODE where the walk begins."""


def build_walks(index: Index, parents: Parents) -> Walks:
    """Return the walks of an index, in the order in which they begin."""
    # The topmost record of each sidechain, which names its agent in older logs
    roots: dict[int, int] = {}
    for start, node in enumerate(index.nodes):
        if not parents.is_side[start] or index.files[node.file].kind == "agent":
            continue
        path, here = [], start
        while here not in roots:
            path.append(here)
            above = parents.up[here]
            if above < 0 or not parents.is_side[above] or index.nodes[above].file != node.file:
                break
            here = above
        root = roots.get(here, here)
        roots.update((member, root) for member in path)
    found: dict[tuple[int, str, str], Walk] = {}
    of: list[int] = []
    file, session, current = NO_NODE, "", NO_NODE
    held: list[int] = []
    for number, (node, is_side) in enumerate(zip(index.nodes, parents.is_side, strict=True)):
        if not is_side and node.file == file and node.session == session:
            held.append(number)
            of.append(current)
            continue
        file_of_node = index.files[node.file]
        if not is_side:
            key = node.file, node.session, ""
        elif file_of_node.kind == "agent":
            key = node.file, "", file_of_node.agent or ""
        else:
            key = node.file, node.session, node.agent or index.nodes[roots[number]].uuid[:12]
        walk = found.get(key)
        if walk is None:
            agent = key[2] if is_side else None
            walk = Walk(len(found), node.file, key[1] or index.sessions[key[0]], agent, [])
            found[key] = walk
        held, current = walk.nodes, walk.number
        file, session = NO_NODE if is_side else node.file, node.session
        held.append(number)
        of.append(current)
    walks = _merge_scraps(index, parents, list(found.values()), of)
    return Walks(walks, of, _find_inner_parents(parents.up, of))


def _merge_scraps(
    index: Index, parents: Parents, walks: list[Walk], of: list[int]
) -> tuple[Walk, ...]:
    """Return the walks with fragments of other sessions merged into the file's own walk.

    Records without messages make no session, nor does one that the file's own walk continues: a
    client that is resumed or cleared leaves such at the beginning of the next file.
    """
    homes = {(walk.file, walk.session): walk for walk in walks if walk.agent is None}
    moved: dict[int, Walk] = {}
    for walk in walks:
        home = homes.get((walk.file, index.sessions[walk.file]), walk)
        if walk.agent is not None or home is walk:
            continue
        is_silent = not any(index.nodes[node].traits & SPOKEN_TRAITS for node in walk.nodes)
        is_single = len(walk.nodes) == 1
        if is_silent or (is_single and walk.nodes[0] in {parents.up[node] for node in home.nodes}):
            moved[walk.number] = home
    if not moved:
        return tuple(walks)
    for scrap, home in moved.items():
        home.nodes[:] = sorted([*home.nodes, *walks[scrap].nodes])
    left = [walk for walk in walks if walk.number not in moved]
    found = tuple(replace(walk, number=number) for number, walk in enumerate(left))
    for walk in found:
        for node in walk.nodes:
            of[node] = walk.number
    return found


def _find_inner_parents(up: list[int], of: list[int]) -> list[int]:
    """Return the parents inside walks; a walk that another interrupts continues after it.

    session X  a ── b           e ── f        e follows b
    session Y       └── c ── d ─┘
    """
    inner = list(up)
    tops: dict[int, int] = {}
    for number, parent in enumerate(up):
        if parent >= 0 and of[parent] != of[number]:
            above = parent
            for _ in range(FARTHEST):
                if above < 0 or of[above] == of[number]:
                    break
                path, here = (
                    [above],
                    above,
                )  # the stretch of the other walk, up to where it is known
                while here not in tops and up[here] >= 0 and of[up[here]] == of[above]:
                    here = up[here]
                    path.append(here)
                top = tops.get(here, here)
                tops.update((member, top) for member in path)
                above = up[top]
            else:
                above = NO_NODE
            inner[number] = above
    return inner
