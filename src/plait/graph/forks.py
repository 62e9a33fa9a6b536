"""Forks: which children of a record branch off, which are folded, and which stay on its line.

A response with its calls and their results is first contracted to one step:

    A₁ call x ──┬── A₂ call y ── U result y ── A₃        one step: A₁ A₂ and both results
                └── U result x                          its child: A₃

Progress, attachments and notes are bridged: they belong to a host, the nearest ancestor that is
more than structure, and never make a fork. Then the children of each host are judged by a ladder of
rules, and each step is assigned to a DAG-line. The side of a fork that the client would resume from
keeps the line of its host; the others become branches.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import lt
from typing import TypeAlias

from plait.graph.index import Index
from plait.graph.model import FoldReason, LineKind, Node, RungName, Trait, Verdict
from plait.graph.parents import NO_NODE, Parents, Walk, Walks

NEAR = 64
"""How far up to look before numbering everything: few forks are deeper."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What is known of each step and of its descendants."""

    first: list[int]
    """Its first record in the file."""
    last: list[int]
    """The last record of it and its descendants, in file order."""
    is_answered: bytearray
    """1 if it or a descendant contains text of the model."""
    holds_leaf: bytearray
    """1 if it or a descendant contains the record that the client resumes from."""
    went_on: bytearray
    """1 if a prompt of the user was answered in it or a descendant."""


@dataclass(frozen=True)
class Steps:
    """The contracted graph of all sessions; a parent has a smaller number than its children.

    No slots: `reach` is computed only where something forks, which is rare.
    """

    index: Index
    up: list[int]
    order: list[int]
    """All nodes of sessions, parents before children."""
    leaves: set[int]
    host: list[int]
    """By node: the nearest ancestor that is more than structure."""
    of: list[int]
    """By node: its step; NO_NODE for structure and for agents."""
    after_error: bytearray
    """By node: 1 if an API error is between it and its host."""
    top: list[int]
    """By step: its first record from the root down."""
    parent: list[int]
    """By step: NO_NODE for one that begins a walk."""

    @cached_property
    def reach(self) -> Reach:
        """What is known of each step, by number."""
        count = len(self.top)
        found = Reach(
            list(self.top), list(self.top), bytearray(count), bytearray(count), bytearray(count)
        )
        of, up, first, last = self.of, self.up, found.first, found.last
        # By node: whether the model speaks in or below it, and whether a leaf is there. By the
        # parents that records name: a response that continues below a prompt answers it, though
        # its step began above.
        speaks, leads = bytearray(len(up)), bytearray(len(up))
        for leaf in self.leaves:
            leads[leaf] = 1
        nodes, answer = self.index.nodes, Trait.ANSWER
        for number in reversed(self.order):
            parent = up[number]
            if nodes[number].traits & answer:
                speaks[number] = 1
            if parent >= 0:
                speaks[parent] |= speaks[number]
                leads[parent] |= leads[number]
        for number, step in enumerate(of):
            if step < 0:
                continue
            if number < first[step]:
                first[step] = number
            if number > last[step]:
                last[step] = number
            found.is_answered[step] |= speaks[number]
            found.holds_leaf[step] |= leads[number]
        for leaf in self.leaves:
            home = leaf if of[leaf] >= 0 else self.host[leaf]
            if home >= 0 and of[home] >= 0:
                found.holds_leaf[of[home]] = 1
        hosts, top = self.parent, self.top
        is_answered, holds_leaf, went_on = found.is_answered, found.holds_leaf, found.went_on
        for step in range(len(hosts) - 1, -1, -1):
            above = hosts[step]
            if is_answered[step] and nodes[top[step]].traits & Trait.HUMAN:
                went_on[step] = 1
            if above < 0:
                continue
            if last[step] > last[above]:
                last[above] = last[step]
            is_answered[above] |= is_answered[step]
            holds_leaf[above] |= holds_leaf[step]
            went_on[above] |= went_on[step]
        return found


def build_steps(index: Index, parents: Parents, walks: Walks, leaves: set[int]) -> Steps:
    """Return the steps of all sessions."""
    # Parents come before children: in nearly all files that is the order of the lines, otherwise
    # what is nearer to a root comes first.
    if _is_in_order(walks.up):
        order = [node for node, is_agent in enumerate(parents.is_side) if not is_agent]
    else:
        children = build_children(walks.up)
        first, following = children.first, children.following
        order = [
            node for node, parent in enumerate(walks.up) if parent < 0 and not parents.is_side[node]
        ]
        for node in order:  # grows while it is read: level by level
            child = first[node]
            while child >= 0:
                if not parents.is_side[child]:
                    order.append(child)
                child = following[child]
    host, after_error = _hosts(index, walks.up, order)
    # Steps are numbered from the roots down, so that a parent always comes before its
    # child: the parent of a step's first record is outside of the step and earlier, so
    # steps cannot form circles.
    stands = _same_step(index, parents, walks, host)
    of, numbers = [NO_NODE] * len(stands), [NO_NODE] * len(stands)
    top: list[int] = []
    for node in order:
        stand = stands[node]
        if stand < 0:
            continue
        step = numbers[stand]
        if step < 0:
            step = numbers[stand] = len(top)
            top.append(node)
        of[node] = step
    parent = [of[host[node]] if host[node] >= 0 else NO_NODE for node in top]
    return Steps(index, walks.up, order, leaves, host, of, after_error, top, parent)


@dataclass(frozen=True, slots=True)
class Children:
    """The children of nodes or steps by number, as arrays: lists for a million nodes would be too
    large.
    """

    first: list[int]
    following: list[int]
    """The next child of the same parent."""

    def __call__(self, number: int) -> Iterator[int]:
        """Yield the children of a node or step in order."""
        child = self.first[number]
        while child >= 0:
            yield child
            child = self.following[child]


def build_children(up: list[int]) -> Children:
    """Return the children of everything that has a parent."""
    first, following = [NO_NODE] * len(up), [NO_NODE] * len(up)
    for number in range(len(up) - 1, -1, -1):
        parent = up[number]
        if parent >= 0:
            following[number] = first[parent]
            first[parent] = number
    return Children(first, following)


def _is_in_order(up: list[int]) -> bool:
    """Return whether all parents come before their children."""
    return all(map(lt, up, range(len(up))))


def _hosts(index: Index, up: list[int], order: list[int]) -> tuple[list[int], bytearray]:
    nodes = index.nodes
    after_error = bytearray(len(nodes))
    is_bridge = bytearray([node.traits & Trait.STRUCTURAL for node in nodes])
    is_bridge.append(0)  # for NO_NODE, which is the last index
    host = [NO_NODE] * len(nodes) if len(order) < len(nodes) else list(up)
    if len(order) < len(nodes):
        for number in order:
            host[number] = up[number]
    for number in [node for node in order if is_bridge[up[node]]]:
        parent = up[number]
        host[number] = host[parent]
        after_error[number] = after_error[parent] or nodes[parent].subtype == "api_error"
    return host, after_error


def _same_step(index: Index, parents: Parents, walks: Walks, host: list[int]) -> list[int]:
    nodes, of, is_side = index.nodes, walks.of, parents.is_side
    stands = [NO_NODE] * len(nodes)
    responses: dict[tuple[int, str], int] = {}
    calls: dict[tuple[int, str], int] = {}
    for number, node in enumerate(nodes):
        if is_side[number] or node.traits & Trait.STRUCTURAL:
            continue
        name = node.message_id or node.request_id
        if name and node.kind == "assistant":
            stand = responses.setdefault((of[number], name), number)
            if stand != number and (above := host[number]) >= 0:
                if (nodes[above].message_id or nodes[above].request_id) == name:
                    stand = stands[above] if stands[above] >= 0 else stand
                elif _is_written_again(nodes, host, stand, number):
                    stand = number
            stands[number] = stand
        else:
            stands[number] = number
        for call in node.calls:
            calls.setdefault((of[number], call.id), number)
    for number in [number_ for number_, node in enumerate(nodes) if node.results]:
        if stands[number] == number:
            node = nodes[number]
            called = _find_call(index, walks, number, node, calls)
            if called >= 0 and stands[called] >= 0:
                stands[number] = stands[called]
    return stands


def _is_written_again(nodes: list[Node], host: list[int], older: int, newer: int) -> bool:
    """Return whether an answer is another one once more, below a prompt that is written again."""
    hosts = host[older], host[newer]
    if min(hosts) < 0 or hosts[0] == hosts[1]:
        return False
    if nodes[hosts[0]].timestamp != nodes[hosts[1]].timestamp:
        return False
    first, second = nodes[older], nodes[newer]
    is_same_line = (first.timestamp, first.length) == (second.timestamp, second.length)
    return is_same_line and [call.id for call in first.calls] == [call.id for call in second.calls]


def _find_call(
    index: Index, walks: Walks, number: int, node: Node, calls: dict[tuple[int, str], int]
) -> int:
    """Return the record that holds the call of a result, in the same walk.

    If a call's id is used twice, the record that the result names or follows is meant.
    """
    wanted = node.results[0]
    named = index.at.get(node.source, NO_NODE) if node.source else NO_NODE
    for near in (named, walks.up[number]):
        is_near = near >= 0 and walks.of[near] == walks.of[number]
        if is_near and any(call.id == wanted for call in index.nodes[near].calls):
            return near
    found = calls.get((walks.of[number], wanted), NO_NODE)
    if found < 0 and named >= 0 and walks.of[named] == walks.of[number]:
        return named
    return found


def is_opener(index: Index, steps: Steps, step: int) -> bool:
    """Return whether a step begins a turn, or a path taken after a rewind.

    A turn begins with a prompt, or with a command or notice that was answered.
    """
    node = index.nodes[steps.top[step]]
    is_answered = node.traits & Trait.ASKS and steps.reach.is_answered[step]
    return bool(node.traits & Trait.HUMAN or is_answered or node.subtype == "rewind")


class Descent:
    """Which nodes descend from which, by the parents that records name.

        A ── U₁ ── A (the same response) ── U₂      U₂ is beside U₁, and yet below it

    The numbers are computed when first needed: few files have such a response.
    """

    __slots__ = ("_ends", "_is_ordered", "_starts", "_up")

    def __init__(self, up: list[int]) -> None:
        self._up = up
        self._is_ordered = _is_in_order(up)
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_below(self, lower: int, upper: int) -> bool:
        """Return whether one node is a descendant of another."""
        here = lower
        for _ in range(NEAR if self._is_ordered else 0):
            if here <= upper:
                return here == upper and here != lower
            here = self._up[here]
        if not self._starts:
            up = self._up
            children = build_children(up)
            order = [node for node, parent in enumerate(up) if parent < 0]
            for node in order:  # grows while it is read
                order.extend(children(node))
            sizes = [1] * len(up)
            for node in reversed(order):
                if up[node] >= 0:
                    sizes[up[node]] += sizes[node]
            starts, free = [0] * len(up), [0] * (len(up) + 1)
            for node in order:
                parent = up[node]  # the last place of `free` is for the roots
                starts[node] = free[parent]
                free[parent] += sizes[node]
                free[node] = starts[node] + 1
            self._starts = starts
            self._ends = [start + size for start, size in zip(starts, sizes, strict=True)]
        return self._starts[upper] < self._starts[lower] < self._ends[upper]


# The ladder: rules are tried in order, and the first that answers decides. A rule returns the name
# of a verdict or declines with None. It never raises and never looks at another rule. The last
# cannot decline: what no rule explains is a rewind.
#
# What documents call artifacts (parallel calls, early and late results, continued responses, hooks
# and progress next to the conversation) never gets here: contraction to steps has removed it.


@dataclass(frozen=True, slots=True)
class Child:
    """A step and its host, as the rules see it."""

    step: int
    host: int
    """The record it follows; under none, and in another session's file, it may differ."""
    stamp: str | None
    digest: int | None
    """A digest of its text, if it is a prompt."""
    is_opener: bool
    is_prompt: bool
    """Typed by the user."""
    is_reply: bool
    """Text of the model, or the result of a call."""
    is_answered: bool
    holds_leaf: bool
    """Whether the client would resume from it or from a descendant."""
    went_on: bool
    """Whether a prompt of the user was answered in it or a descendant."""
    is_after_error: bool
    """Whether an API error is between it and its host."""
    is_below_prompt: bool
    """Whether its host is a prompt, not a response or a result."""
    first: int
    last: int
    """Positions in the file: its first record, and the last of it and its descendants."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """A newer step and an older sibling."""

    older: Child
    newer: Child
    is_rootless: bool = False
    """Both are roots: the file may not say what follows what."""

    @property
    def is_same_place(self) -> bool:
        return self.older.host == self.newer.host

    @property
    def answers_same(self) -> bool:
        """Whether both answer one thing: a prompt, even if it was written twice."""
        is_prompted = self.older.is_below_prompt and self.newer.is_below_prompt
        return self.is_same_place or is_prompted

    @property
    def has_same_words(self) -> bool:
        return self.older.digest is not None and self.older.digest == self.newer.digest


Rung: TypeAlias = Callable[[Siblings], RungName | None]


def _replay(pair: Siblings) -> RungName | None:
    """The same text at the same time: written twice, the second is folded.

    A ──┬── U₁ "go on" 10:02 ── A …
        └── U₂ "go on" 10:02            folded under U₁; its children move to U₁
    """
    same_time = pair.older.stamp is not None and pair.older.stamp == pair.newer.stamp
    return "replay" if same_time and pair.has_same_words and pair.is_same_place else None


def _retry(pair: Siblings) -> RungName | None:
    """The model answered again, or its answer is a sibling of an API error.

    U ──┬── A₁ "…"                      U ──┬── A₁ "…"
        └── A₂ "…" ── U …                   └── api_error ── U₂ …
    """
    if pair.is_rootless or pair.older.is_opener or not pair.older.is_answered:
        return None
    if not pair.newer.is_opener:
        return "retry" if pair.newer.is_answered and pair.answers_same else None
    return "retry" if pair.newer.is_after_error else None


def _other_writer(pair: Siblings) -> RungName | None:
    """An answer next to a conversation that continued: nobody can rewind to it, so another client
    wrote it.

    A ──┬── result ── U₂ ── A …             resumed while the first client still waits
        └── result ── A₃                    its call returns, and it continues
    """
    if pair.is_rootless or not pair.newer.is_reply or not pair.newer.is_answered:
        return None
    return "parallel" if pair.older.went_on else None


def _sent_again(pair: Siblings) -> RungName | None:
    """A command without an answer was sent once more, with the same text.

    A ──┬── "/review src"                   unanswered, folded
        └── "/review src" ── A …            continues
    """
    is_command = not pair.older.is_opener and pair.newer.is_opener and not pair.is_rootless
    return "resent" if is_command and _retracted(pair) == "resent" else None


def _note(pair: Siblings) -> RungName | None:
    """What begins no turn stays on the line, and so does what cannot be a rewind.

    A ──┬── U "next" ── A …             ∅ ── U    ∅ ── A    ∅ ── U     no parents at all
        └── "/model" (no answer)

    R ──┬── A …                         R ──┬── A ── U ── A …
        └── notice ── A …  stays            └── notice ── A …   leaves the user's text behind
    """
    older, newer = pair.older, pair.newer
    if not newer.is_opener:
        return "note"
    if older.is_opener:
        return None
    if pair.is_rootless or not older.is_answered:
        return "note"
    return "note" if not newer.is_prompt and not older.went_on else None


def _retracted(pair: Siblings) -> RungName | None:
    """The earlier prompt got no answer: it is folded under the one that replaced it.

    A ──┬── U₁ "fix teh bug"                unanswered, folded
        └── U₂ "fix the bug" ── A …         continues
    """
    older = pair.older
    if older.is_answered or older.holds_leaf or not pair.is_same_place:
        return None
    return "resent" if pair.has_same_words else "retracted"


def _parallel(pair: Siblings) -> RungName | None:
    """Both sides grow at the same time: two clients write to one session.

    A ──┬── U₁ (line 7) ── A (line 9) ── U (line 12) …
        └── U₂ (line 8) ── A (line 10) …
    """
    return "parallel" if pair.older.last > pair.newer.first else None


def rewind(pair: Siblings) -> RungName:
    """The conversation went back to the host and took another course.

    A ──┬── U₁ 10:02 ── A …
        └── U₂ 10:35 ── A …
    """
    return "rewind"


LADDER: tuple[Rung, ...] = (
    _replay,
    _other_writer,
    _retry,
    _sent_again,
    _note,
    _retracted,
    _parallel,
    rewind,
)


def judge(pair: Siblings) -> RungName:
    """Return the name of the first rule that answers."""
    for rung in LADDER:
        if name := rung(pair):
            return name
    raise AssertionError("the last rung answers")  # pragma: no cover


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict on two steps."""

    rung: RungName
    older: int
    newer: int


@dataclass(slots=True)
class Outcome:
    """What happens to the children of one host."""

    staying: list[int] = field(default_factory=list)
    """Steps that stay on the host's line whichever side continues."""
    sides: list[list[int]] = field(default_factory=list)
    """The sides of the fork, oldest first; one of them stays on the host's line."""
    folded: list[Judgement] = field(default_factory=list)
    """Prompts folded under the newer one; the newest verdict is the last."""
    replayed: list[Judgement] = field(default_factory=list)
    """Steps folded under the older one."""
    verdicts: list[Judgement] = field(default_factory=list)


IsBelow: TypeAlias = Callable[[Child, Child], bool]
"""Returns whether the first descends from the second."""


def judge_children(
    children: Iterable[Child], is_below: IsBelow, *, is_rootless: bool = False
) -> Outcome:
    """Judge the children of a host in file order, each against the earlier ones."""
    outcome = Outcome()
    open_children: list[Child] = []
    unanswered: dict[tuple[int, int | None], Child] = {}
    for newer in _without_replays(children, outcome):
        # An unanswered command is folded under the same one that was sent again and answered.
        older = unanswered.get((newer.host, newer.digest))
        if older and judge(Siblings(older, newer, is_rootless)) == "resent":
            del unanswered[newer.host, newer.digest]
            outcome.staying.remove(older.step)
            outcome.folded.append(Judgement("resent", older.step, newer.step))
            outcome.verdicts.append(outcome.folded[-1])
        if not newer.is_opener and not newer.is_answered and newer.digest is not None:
            unanswered[newer.host, newer.digest] = newer
        if open_children and is_below(newer, open_children[-1]):  # the same side, no fork
            _keep_open(outcome, open_children, newer)
        else:
            rung: RungName | None = None
            while open_children:
                older = open_children[-1]
                rung = judge(Siblings(older, newer, is_rootless))
                if rung not in ("retracted", "resent"):
                    outcome.verdicts.append(Judgement(rung, older.step, newer.step))
                    break
                judged = Judgement(rung, open_children.pop().step, newer.step)
                outcome.verdicts.append(judged)
                outcome.folded.append(judged)
                outcome.sides[-1].pop()
                if not outcome.sides[-1]:
                    outcome.sides.pop()
                rung = None
            if rung in ("rewind", "parallel"):
                outcome.sides.append([])
            _keep_open(outcome, open_children, newer)
    return outcome


def _without_replays(children: Iterable[Child], outcome: Outcome) -> list[Child]:
    kept: list[Child] = []
    written: dict[tuple[int, str | None, int | None], int] = {}
    for newer in children:
        at = written.setdefault((newer.host, newer.stamp, newer.digest), len(kept))
        if at < len(kept) and judge(Siblings(kept[at], newer)) == "replay":
            outcome.replayed.append(Judgement("replay", kept[at].step, newer.step))
            older = kept[at]
            kept[at] = replace(
                older,
                is_opener=older.is_opener or newer.is_opener,
                is_answered=older.is_answered or newer.is_answered,
                holds_leaf=older.holds_leaf or newer.holds_leaf,
                went_on=older.went_on or newer.went_on,
                last=max(older.last, newer.last),
            )
        else:
            kept.append(newer)
    outcome.verdicts.extend(outcome.replayed)
    return kept


def _keep_open(outcome: Outcome, open_children: list[Child], newer: Child) -> None:
    if not newer.is_opener and not newer.is_answered:
        outcome.staying.append(newer.step)
        return
    if not outcome.sides:
        outcome.sides.append([])
    open_children.append(newer)
    outcome.sides[-1].append(newer.step)


# Lines are drafted by number first; names and values come last.


@dataclass(slots=True)
class LineDraft:
    """A DAG-line while it is built, its nodes by number."""

    kind: LineKind
    walk: Walk
    root: int
    """Its first node; NO_NODE for a session's own line."""
    nodes: list[int] = field(default_factory=list)
    folded: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Folding:
    """Why a step is folded, and under which node."""

    reason: FoldReason
    under: int


@dataclass(slots=True)
class LineDrafts:
    """All lines while they are built, and the decisions on the way."""

    lines: list[LineDraft] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    """The line of each node."""
    folds: dict[int, Folding] = field(default_factory=dict)
    """By node."""
    verdicts: list[Verdict] = field(default_factory=list)


def assign_lines(index: Index, parents: Parents, walks: Walks, steps: Steps) -> LineDrafts:
    """Return the lines of all walks, with every node on exactly one of them."""
    drafts = LineDrafts()
    for walk in walks.walks:
        kind: LineKind = "agent" if walk.agent is not None else "trunk"
        if kind == "trunk" and walk.session != index.sessions[walk.file]:
            kind = "foreign"
        drafts.lines.append(LineDraft(kind, walk, NO_NODE))
    Assignment(index, parents, walks, steps, drafts).run()
    return drafts


class Assignment:
    """One pass over the steps from the roots down that assigns a line to each."""

    def __init__(
        self, index: Index, parents: Parents, walks: Walks, steps: Steps, drafts: LineDrafts
    ) -> None:
        self.index = index
        self.parents = parents
        self.walks = walks
        self.steps = steps
        self.drafts = drafts
        """Begins with one line for each walk, under the walk's number."""
        self.line = [NO_NODE] * len(steps.top)
        self.fold: dict[int, Folding] = {}
        self.below = build_children(steps.parent)
        self.descent = Descent(walks.up)
        self.adopted: dict[int, list[int]] = {}
        self.waiting: list[int] = []

    def run(self) -> None:
        """Assign a line to every step, then to every node."""
        for walk, roots in self.roots().items():
            self.divide(roots, walk, NO_NODE)
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
        self.place_nodes()

    def roots(self) -> dict[int, list[int]]:
        """Return the steps that begin walks."""
        roots: dict[int, list[int]] = {}
        of, top = self.walks.of, self.steps.top
        for step, parent in enumerate(self.steps.parent):
            if parent < 0:
                roots.setdefault(of[top[step]], []).append(step)
        return roots

    def descend(self, step: int) -> None:
        """Pass a line down from a step to its children."""
        children = [*self.below(step), *self.adopted.get(step, ())]
        if not children:
            return
        folding = self.fold.get(step)
        if folding is None:
            self.divide(children, self.line[step], step)
        elif folding.reason != "replay":  # children of a replay move to the original
            for child in children:
                self.fold[child] = folding
                self.settle(child, self.line[step])

    def settle(self, step: int, line: int) -> None:
        """Put a step on a line and queue its children."""
        self.line[step] = line
        self.waiting.append(step)

    def divide(self, children: list[int], line: int, host: int) -> None:
        """Judge several children of a host and put each on its line."""
        if not children[1:]:  # only one side: nothing to judge
            self.settle(children[0], line)
            return
        children.sort(key=self.steps.reach.first.__getitem__)
        judged_children = [self.child(step) for step in children]
        if self.adopted.get(host):
            judged_children = [self.as_original(child) for child in judged_children]
        outcome = judge_children(judged_children, self.is_below, is_rootless=host < 0)
        self.record(outcome.verdicts, host)
        for step in outcome.staying:
            self.settle(step, line)
        chosen = self.chosen_side(outcome)
        for number, side in enumerate(outcome.sides):
            target = line
            if number != chosen:
                target = len(self.drafts.lines)
                walk = self.drafts.lines[line].walk
                self.drafts.lines.append(LineDraft("branch", walk, self.steps.top[side[0]]))
            for step in side:
                self.settle(step, target)
        top = self.steps.top
        for judged in reversed(outcome.folded):  # a replacement may itself have been replaced
            reason: FoldReason = "resent" if judged.rung == "resent" else "retracted"
            self.fold[judged.older] = Folding(reason, top[judged.newer])
            self.settle(judged.older, self.line[judged.newer])
        for judged in outcome.replayed:
            self.fold[judged.newer] = Folding("replay", top[judged.older])
            self.line[judged.newer] = self.line[judged.older]
            moved = [*self.below(judged.newer), *self.adopted.pop(judged.newer, ())]
            if moved:
                self.adopted.setdefault(judged.older, []).extend(moved)

    def child(self, step: int) -> Child:
        """Return a step in the form the rules see it."""
        steps, reach = self.steps, self.steps.reach
        top = steps.top[step]
        node = self.index.nodes[top]
        host = steps.host[top]
        above = self.index.nodes[host] if host >= 0 else None
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
            above is not None and above.kind == "user" and not above.results,
            reach.first[step],
            reach.last[step],
        )

    def as_original(self, child: Child) -> Child:
        """Return a child of a record that was written twice as if it were attached to the first one.

        A response below both was then written twice as well.
        """
        steps, node = self.steps, self.index.nodes[self.steps.top[child.step]]
        step = steps.of[child.host]
        while (folding := self.fold.get(step)) and folding.reason == "replay":
            step = steps.of[folding.under]
        calls = tuple(call.id for call in node.calls)
        content = node.message_id or node.request_id, calls, node.results, node.length
        digest = hash(content) if node.digest is None else node.digest
        return replace(child, host=steps.top[step], digest=digest)

    def is_below(self, newer: Child, older: Child) -> bool:
        """Return whether one child descends from another, through a record of their host."""
        top = self.steps.top
        return self.descent.is_below(top[newer.step], top[older.step])

    def record(self, verdicts: Iterable[Judgement], host: int) -> None:
        """Store verdicts with the uuids they are about."""
        nodes, top = self.index.nodes, self.steps.top
        for judged in verdicts:
            newer = nodes[top[judged.newer]]
            session = self.walks.walks[self.walks.of[top[judged.newer]]].session
            above = nodes[top[host]].uuid if host >= 0 else None
            older = nodes[top[judged.older]].uuid
            verdict = Verdict(judged.rung, session, above, older, newer.uuid)
            self.drafts.verdicts.append(verdict)

    def chosen_side(self, outcome: Outcome) -> int:
        """Return the side that keeps the line: where the client would resume, else the newest."""
        holds = self.steps.reach.holds_leaf
        for number in range(len(outcome.sides) - 1, -1, -1):
            if any(holds[step] for step in outcome.sides[number]):
                return number
        return len(outcome.sides) - 1

    def place_nodes(self) -> None:
        """Put every node on the line of its step, of its host's step, or of its walk."""
        walk_of, line_of = self.walks.of, self.line
        lines, fold, drafts = self.drafts.lines, self.fold, self.drafts
        of, host = self.steps.of, self.steps.host
        inline = [draft.nodes for draft in lines]
        place = drafts.of.append
        for number, own in enumerate(of):
            step = of[host[number]] if own < 0 and host[number] >= 0 else own
            line = line_of[step] if step >= 0 else walk_of[number]
            place(line)
            if step not in fold:
                inline[line].append(number)
            else:
                folding = drafts.folds[number] = fold[step]
                lines[line].folded.setdefault(folding.under, []).append(number)
