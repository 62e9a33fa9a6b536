"""Steps to the DAG-line that each node stands on, inline or folded.

The side of a fork that the client would go on from keeps the line of its host; the others
become branches. A line is drafted by number first; names and values come last.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from plait.graph.index import Index
from plait.graph.ladder import Child, Judged, Outcome, weigh
from plait.graph.model import FoldReason, LineKind, Node, Trait, Verdict
from plait.graph.repair import NOWHERE, Parents
from plait.graph.steps import Descent, Steps, below, is_opener
from plait.graph.walks import Walk, Walks


@dataclass(slots=True)
class LineDraft:
    """A DAG-line in the making, its nodes by number."""

    kind: LineKind
    walk: Walk
    root: int
    """The node that it begins with; NOWHERE for a session's own line."""
    nodes: list[int] = field(default_factory=list)
    folded: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Folding:
    """Why a step is folded, and under which node."""

    reason: FoldReason
    under: int


@dataclass(slots=True)
class LineDrafts:
    """All lines in the making, and what was decided on the way."""

    lines: list[LineDraft] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    """The line of each node."""
    folds: dict[int, Folding] = field(default_factory=dict)
    """By node."""
    verdicts: list[Verdict] = field(default_factory=list)


def assign_lines(index: Index, parents: Parents, walks: Walks, steps: Steps) -> LineDrafts:
    """Returns the lines of all walks, with every node on exactly one of them."""
    drafts = LineDrafts()
    trunks = [_add_line(drafts, index, walk) for walk in walks.walks]
    Assignment(index, parents, walks, steps, drafts, trunks).run()
    return drafts


def _add_line(drafts: LineDrafts, index: Index, walk: Walk) -> int:
    kind: LineKind = "agent" if walk.agent is not None else "trunk"
    if kind == "trunk" and walk.session != index.sessions[walk.file]:
        kind = "foreign"
    drafts.lines.append(LineDraft(kind, walk, NOWHERE))
    return len(drafts.lines) - 1


class Assignment:
    """One pass over the steps from the roots down, with a line for each."""

    def __init__(
        self,
        index: Index,
        parents: Parents,
        walks: Walks,
        steps: Steps,
        drafts: LineDrafts,
        trunks: list[int],
    ) -> None:
        self.index = index
        self.parents = parents
        self.walks = walks
        self.steps = steps
        self.drafts = drafts
        self.trunks = trunks
        self.line = [NOWHERE] * len(steps.top)
        self.fold: dict[int, Folding] = {}
        self.below = below(steps.parent)
        self.descent = Descent(walks.up)
        self.adopted: dict[int, list[int]] = {}
        self.waiting: list[int] = []

    def run(self) -> None:
        """Gives every step its line, then every node."""
        for walk, roots in self.roots().items():
            self.divide(roots, self.trunks[walk], NOWHERE)
        self.hand_down()
        self.place_nodes()

    def hand_down(self) -> None:
        """Hands the lines down, level by level; most steps have one child and nothing to decide."""
        line, fold, adopted, waiting = self.line, self.fold, self.adopted, self.waiting
        first, following = self.below.first, self.below.following
        for step in waiting:  # grows while it is read
            only = first[step]
            is_plain = only >= 0 and following[only] < 0
            if is_plain and step not in fold and step not in adopted:
                line[only] = line[step]
                waiting.append(only)
            else:
                self.descend(step)

    def roots(self) -> dict[int, list[int]]:
        """Returns the steps that begin walks."""
        roots: dict[int, list[int]] = {}
        of, top = self.walks.of, self.steps.top
        for step, parent in enumerate(self.steps.parent):
            if parent < 0:
                roots.setdefault(of[top[step]], []).append(step)
        return roots

    def descend(self, step: int) -> None:
        """Hands a line down from a step to its children."""
        children = [*self.below(step), *self.adopted.get(step, ())]
        if not children:
            return
        folding = self.fold.get(step)
        if folding is None:
            self.divide(children, self.line[step], step)
        elif folding.reason != "replay":  # what hangs on a replay hangs on the original
            for child in children:
                self.fold[child] = folding
                self.settle(child, self.line[step])

    def settle(self, step: int, line: int) -> None:
        """Puts a step on a line and lets its children wait."""
        self.line[step] = line
        self.waiting.append(step)

    def divide(self, children: list[int], line: int, host: int) -> None:
        """Judges several children of a host and puts each on its line."""
        if not children[1:]:  # one way alone: nothing to judge
            self.settle(children[0], line)
            return
        children.sort(key=self.steps.reach.first.__getitem__)
        outcome = weigh(map(self.child, children), self.is_below, is_rootless=host < 0)
        self.record(outcome.verdicts, host)
        for step in outcome.staying:
            self.settle(step, line)
        chosen = self.chosen_side(outcome)
        for number, side in enumerate(outcome.sides):
            target = line if number == chosen else self.branch(side, line)
            for step in side:
                self.settle(step, target)
        self.fold_away(outcome)

    def child(self, step: int) -> Child:
        """Shows a step to the rungs."""
        steps, reach = self.steps, self.steps.reach
        top = steps.top[step]
        node = self.index.nodes[top]
        host = steps.host[top]
        return Child(
            step,
            host if host >= 0 else self.parents.up[top],
            node.timestamp,
            node.digest,
            is_opener(self.index, steps, step),
            bool(node.traits & Trait.HUMAN),
            node.kind == "assistant" or bool(node.results),
            bool(reach.is_answered[step]),
            bool(reach.holds_leaf[step]),
            bool(reach.went_on[step]),
            bool(steps.after_error[top]),
            host >= 0 and _asks(self.index.nodes[host]),
            reach.first[step],
            reach.last[step],
        )

    def is_below(self, newer: Child, older: Child) -> bool:
        """Tells whether one child hangs below another, by way of a record of their host."""
        top = self.steps.top
        return self.descent.is_below(top[newer.step], top[older.step])

    def record(self, verdicts: Iterable[Judged], host: int) -> None:
        """Keeps verdicts with the uuids they are about."""
        nodes, top = self.index.nodes, self.steps.top
        for judged in verdicts:
            newer = nodes[top[judged.newer]]
            session = self.walks.walks[self.walks.of[top[judged.newer]]].session
            above = nodes[top[host]].uuid if host >= 0 else None
            older = nodes[top[judged.older]].uuid
            verdict = Verdict(judged.rung, session, above, older, newer.uuid)
            self.drafts.verdicts.append(verdict)

    def fold_away(self, outcome: Outcome) -> None:
        """Folds retracted prompts with all below them, and replays without it."""
        top = self.steps.top
        for judged in reversed(outcome.folded):  # a replacement can have been replaced itself
            reason: FoldReason = "resent" if judged.rung == "resent" else "retracted"
            self.fold[judged.older] = Folding(reason, top[judged.newer])
            self.settle(judged.older, self.line[judged.newer])
        for judged in outcome.replayed:
            self.fold[judged.newer] = Folding("replay", top[judged.older])
            self.line[judged.newer] = self.line[judged.older]
            self.adopt(judged.older, judged.newer)

    def adopt(self, older: int, newer: int) -> None:
        """Hangs what hangs on a replay on the original."""
        moved = [*self.below(newer), *self.adopted.pop(newer, ())]
        if moved:
            self.adopted.setdefault(older, []).extend(moved)

    def chosen_side(self, outcome: Outcome) -> int:
        """Returns the side that keeps the line: where the client would go on, else the newest."""
        holds = self.steps.reach.holds_leaf
        for number in range(len(outcome.sides) - 1, -1, -1):
            if any(holds[step] for step in outcome.sides[number]):
                return number
        return len(outcome.sides) - 1

    def branch(self, side: list[int], line: int) -> int:
        """Begins a branch."""
        walk = self.drafts.lines[line].walk
        self.drafts.lines.append(LineDraft("branch", walk, self.steps.top[side[0]]))
        return len(self.drafts.lines) - 1

    def place_nodes(self) -> None:
        """Puts every node on the line of its step, or of its host's step, or of its walk."""
        walk_of, trunks, line_of = self.walks.of, self.trunks, self.line
        lines, fold, drafts = self.drafts.lines, self.fold, self.drafts
        of, host = self.steps.of, self.steps.host
        inline = [draft.nodes for draft in lines]
        place = drafts.of.append
        for number, own in enumerate(of):
            step = of[host[number]] if own < 0 and host[number] >= 0 else own
            line = line_of[step] if step >= 0 else trunks[walk_of[number]]
            place(line)
            if step not in fold:
                inline[line].append(number)
            else:
                folding = drafts.folds[number] = fold[step]
                lines[line].folded.setdefault(folding.under, []).append(number)


def _asks(node: Node) -> bool:
    return node.kind == "user" and not node.results
