"""Walks to steps: what one response is, with its calls and their results, becomes one thing.

    A₁ call x ──┬── A₂ call y ── U result y ── A₃        one step: A₁ A₂ and both results
                └── U result x                          its child: A₃

Progress, attachments and notes are bridged: they have a host, the nearest ancestor that is
more than structure, and never make a fork.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import lt

from plait.graph.index import Index
from plait.graph.model import Node, Trait
from plait.graph.repair import NOWHERE, Parents
from plait.graph.walks import Walks

NEAR = 64
"""How far up one looks before everything is numbered: few forks lie deeper."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What is known of each step and of the part below it."""

    first: list[int]
    """Its first record in the file."""
    last: list[int]
    """The last record in it or below it, as the file has them."""
    is_answered: bytearray
    """1 where the model says something in it or below it."""
    holds_leaf: bytearray
    """1 where the record that the client goes on from is in it or below it."""
    went_on: bytearray
    """1 where a person's prompt was answered in it or below it."""


@dataclass(frozen=True)
class Steps:
    """The contracted graph of all sessions; a parent has a smaller number than its children.

    Not slotted: what lies below is worked out where something forks, which most do not.
    """

    index: Index
    up: list[int]
    order: list[int]
    """All nodes of sessions, parents before children."""
    leaves: set[int]
    host: list[int]
    """By node: the nearest ancestor that is more than structure."""
    of: list[int]
    """By node: its step; NOWHERE for structure and for agents."""
    after_error: bytearray
    """By node: 1 where an API error stands between it and its host."""
    top: list[int]
    """By step: its first record from the root down."""
    parent: list[int]
    """By step: NOWHERE for one that begins a walk."""

    @cached_property
    def reach(self) -> Reach:
        """What is known of each step, by number."""
        count = len(self.top)
        found = Reach(
            list(self.top), list(self.top), bytearray(count), bytearray(count), bytearray(count)
        )
        _look_inside(self, found)
        _look_below(self, found)
        return found


def contract(index: Index, parents: Parents, walks: Walks, leaves: set[int]) -> Steps:
    """Returns the steps of all sessions."""
    order = _downward(walks.up, parents.is_aside)
    host, after_error = _hosts(index, walks.up, order)
    of, top = _number_steps(order, _same_step(index, parents, walks))
    parent = [of[host[node]] if host[node] >= 0 else NOWHERE for node in top]
    return Steps(index, walks.up, order, leaves, host, of, after_error, top, parent)


def _reached_below(
    index: Index, up: list[int], order: list[int], leaves: set[int]
) -> tuple[bytearray, bytearray]:
    """Returns for each node whether the model speaks in or below it, and whether a leaf is there.

    By the parents that records name: a response that goes on below a prompt answers it, though
    its step began above.
    """
    speaks, leads = bytearray(len(up)), bytearray(len(up))
    for leaf in leaves:
        leads[leaf] = 1
    nodes, answer = index.nodes, Trait.ANSWER
    for number in reversed(order):
        parent = up[number]
        if nodes[number].traits & answer:
            speaks[number] = 1
        if parent >= 0:
            speaks[parent] |= speaks[number]
            leads[parent] |= leads[number]
    return speaks, leads


@dataclass(frozen=True, slots=True)
class Below:
    """What hangs on what, by number: no lists, so a million nodes are four arrays."""

    first: list[int]
    following: list[int]
    """The next child of the same parent."""

    def __call__(self, number: int) -> Iterator[int]:
        """Yields the children of a node or step in their order."""
        child = self.first[number]
        while child >= 0:
            yield child
            child = self.following[child]


def below(up: list[int]) -> Below:
    """Returns the children of everything that has a parent."""
    first, following = [NOWHERE] * len(up), [NOWHERE] * len(up)
    for number in range(len(up) - 1, -1, -1):
        parent = up[number]
        if parent >= 0:
            following[number] = first[parent]
            first[parent] = number
    return Below(first, following)


def _downward(up: list[int], is_aside: bytearray) -> list[int]:
    """Returns the nodes of all sessions, parents before children.

    That is the order of the files; where it is not, those nearer to a root come first.
    """
    if _stand_in_order(up):
        return [node for node, aside in enumerate(is_aside) if not aside]
    children = below(up)
    first, following = children.first, children.following
    order = [node for node, parent in enumerate(up) if parent < 0 and not is_aside[node]]
    for node in order:  # grows while it is read: level by level
        child = first[node]
        while child >= 0:
            if not is_aside[child]:
                order.append(child)
            child = following[child]
    return order


def _stand_in_order(up: list[int]) -> bool:
    """Tells whether all parents stand before their children."""
    return all(map(lt, up, range(len(up))))


def _hosts(index: Index, up: list[int], order: list[int]) -> tuple[list[int], bytearray]:
    nodes = index.nodes
    after_error = bytearray(len(nodes))
    is_bridge = bytearray([node.traits & Trait.STRUCTURAL for node in nodes])
    is_bridge.append(0)  # for NOWHERE, which is the last place
    host = [NOWHERE] * len(nodes) if len(order) < len(nodes) else list(up)
    if len(order) < len(nodes):
        for number in order:
            host[number] = up[number]
    for number in [one for one in order if is_bridge[up[one]]]:
        parent = up[number]
        host[number] = host[parent]
        after_error[number] = after_error[parent] or nodes[parent].subtype == "api_error"
    return host, after_error


def _same_step(index: Index, parents: Parents, walks: Walks) -> list[int]:
    nodes, of, aside = index.nodes, walks.of, parents.is_aside
    stands = [NOWHERE] * len(nodes)
    responses: dict[tuple[int, str], int] = {}
    calls: dict[tuple[int, str], int] = {}
    for number, node in enumerate(nodes):
        if aside[number] or node.traits & Trait.STRUCTURAL:
            continue
        name = node.message_id or node.request_id
        if name and node.kind == "assistant":
            stands[number] = responses.setdefault((of[number], name), number)
        else:
            stands[number] = number
        for call in node.calls:
            calls.setdefault((of[number], call.id), number)
    for number in [one for one, node in enumerate(nodes) if node.results]:
        if stands[number] == number:
            node = nodes[number]
            called = _call_of(index, walks, number, node, calls)
            if called >= 0 and stands[called] >= 0:
                stands[number] = stands[called]
    return stands


def _call_of(
    index: Index, walks: Walks, number: int, node: Node, calls: dict[tuple[int, str], int]
) -> int:
    """Returns the record that holds the call of a result, in the same walk.

    Where a call's id is used twice, the record that the result names or hangs on is meant.
    """
    wanted = node.results[0]
    named = index.at.get(node.source, NOWHERE) if node.source else NOWHERE
    for near in (named, walks.up[number]):
        is_near = near >= 0 and walks.of[near] == walks.of[number]
        if is_near and any(call.id == wanted for call in index.nodes[near].calls):
            return near
    found = calls.get((walks.of[number], wanted), NOWHERE)
    if found < 0 and named >= 0 and walks.of[named] == walks.of[number]:
        return named
    return found


def _number_steps(order: list[int], stands: list[int]) -> tuple[list[int], list[int]]:
    """Numbers the steps from the roots down, so that a parent always comes before its child.

    The first record of a step hangs outside of it, and what it hangs on came even before:
    steps cannot lead in circles.
    """
    of, numbers = [NOWHERE] * len(stands), [NOWHERE] * len(stands)
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
    return of, top


def _look_inside(steps: Steps, found: Reach) -> None:
    of, first, last = steps.of, found.first, found.last
    speaks, leads = _reached_below(steps.index, steps.up, steps.order, steps.leaves)
    for number, step in enumerate(of):
        if step < 0:
            continue
        if number < first[step]:
            first[step] = number
        if number > last[step]:
            last[step] = number
        found.is_answered[step] |= speaks[number]
        found.holds_leaf[step] |= leads[number]
    for leaf in steps.leaves:
        home = leaf if of[leaf] >= 0 else steps.host[leaf]
        if home >= 0 and of[home] >= 0:
            found.holds_leaf[of[home]] = 1


def _look_below(steps: Steps, found: Reach) -> None:
    parent, last, nodes, top = steps.parent, found.last, steps.index.nodes, steps.top
    is_answered, holds_leaf, went_on = found.is_answered, found.holds_leaf, found.went_on
    for step in range(len(parent) - 1, -1, -1):
        above = parent[step]
        if is_answered[step] and nodes[top[step]].traits & Trait.HUMAN:
            went_on[step] = 1
        if above < 0:
            continue
        if last[step] > last[above]:
            last[above] = last[step]
        is_answered[above] |= is_answered[step]
        holds_leaf[above] |= holds_leaf[step]
        went_on[above] |= went_on[step]


def is_opener(index: Index, steps: Steps, step: int) -> bool:
    """Tells whether a step begins a turn: a prompt, or a command or notice that was answered."""
    traits = index.nodes[steps.top[step]].traits
    return bool(traits & Trait.HUMAN or (traits & Trait.ASKS and steps.reach.is_answered[step]))


class Descent:
    """Tells which nodes hang below which, by the parents that records name.

        A ── U₁ ── A (the same response) ── U₂      U₂ stands beside U₁, and yet below it

    The numbers are made when they are first needed: few files have such a response.
    """

    __slots__ = ("_ends", "_is_ordered", "_starts", "_up")

    def __init__(self, up: list[int]) -> None:
        self._up = up
        self._is_ordered = _stand_in_order(up)
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_below(self, lower: int, upper: int) -> bool:
        """Tells whether one node is a descendant of another."""
        here = lower
        for _ in range(NEAR if self._is_ordered else 0):
            if here <= upper:
                return here == upper and here != lower
            here = self._up[here]
        if not self._starts:
            self._starts, self._ends = _intervals(self._up)
        return self._starts[upper] < self._starts[lower] < self._ends[upper]


def _intervals(up: list[int]) -> tuple[list[int], list[int]]:
    children = below(up)
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
    return starts, [start + size for start, size in zip(starts, sizes, strict=True)]
