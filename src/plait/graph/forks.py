"""The children of a host to what becomes of each: it stays, it is folded, it is a branch."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from plait.graph.ladder import Child, Fork, judge
from plait.graph.model import RungName


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on two steps."""

    rung: RungName
    older: int
    newer: int


@dataclass(slots=True)
class Outcome:
    """What becomes of the children of one host."""

    staying: list[int] = field(default_factory=list)
    """Steps that stay on the host's line whichever way the conversation went."""
    sides: list[list[int]] = field(default_factory=list)
    """The ways it went, oldest first; one of them stays on the host's line."""
    folded: list[Judged] = field(default_factory=list)
    """Prompts folded under the newer one; the newest verdict is the last."""
    replayed: list[Judged] = field(default_factory=list)
    """Steps folded under the older one."""
    verdicts: list[Judged] = field(default_factory=list)


IsBelow: TypeAlias = Callable[[Child, Child], bool]
"""Whether the first hangs below the second."""


def weigh(children: Iterable[Child], is_below: IsBelow, *, is_rootless: bool = False) -> Outcome:
    """Judges the children of a host in file order, each against what came before it."""
    outcome = Outcome()
    standing: list[Child] = []
    for newer in without_replays(children, outcome):
        if standing and is_below(newer, standing[-1]):  # the same way, no fork
            stand(outcome, standing, newer)
        else:
            place(outcome, standing, newer, is_rootless)
    return outcome


def without_replays(children: Iterable[Child], outcome: Outcome) -> list[Child]:
    """Returns the children that are no replays; each has the fate of its replays for its own."""
    kept: list[Child] = []
    written: dict[tuple[int, str | None, int | None], int] = {}
    for newer in children:
        at = written.setdefault((newer.host, newer.stamp, newer.digest), len(kept))
        if at < len(kept) and judge(Fork(kept[at], newer)) == "replay":
            outcome.replayed.append(Judged("replay", kept[at].step, newer.step))
            kept[at] = merged(kept[at], newer)
        else:
            kept.append(newer)
    outcome.verdicts.extend(outcome.replayed)
    return kept


def merged(older: Child, newer: Child) -> Child:
    """Returns the older of two that are the same, with what hangs on either."""
    return replace(
        older,
        is_opener=older.is_opener or newer.is_opener,
        is_answered=older.is_answered or newer.is_answered,
        holds_leaf=older.holds_leaf or newer.holds_leaf,
        last=max(older.last, newer.last),
    )


def place(outcome: Outcome, standing: list[Child], newer: Child, is_rootless: bool) -> None:
    """Finds the side for a step; prompts that it replaces fall away before it."""
    rung: RungName | None = None
    while standing:
        older = standing[-1]
        rung = judge(Fork(older, newer, is_rootless))
        if rung not in ("retracted", "resent"):
            outcome.verdicts.append(Judged(rung, older.step, newer.step))
            break
        withdraw(outcome, Judged(rung, standing.pop().step, newer.step))
        rung = None
    if rung in ("rewind", "parallel"):
        outcome.sides.append([])
    stand(outcome, standing, newer)


def stand(outcome: Outcome, standing: list[Child], newer: Child) -> None:
    """Puts a step on the latest side; a note that leads nowhere belongs to all sides."""
    if not newer.is_opener and not newer.is_answered:
        outcome.staying.append(newer.step)
        return
    if not outcome.sides:
        outcome.sides.append([])
    standing.append(newer)
    outcome.sides[-1].append(newer.step)


def withdraw(outcome: Outcome, judged: Judged) -> None:
    """Takes a folded prompt off its side, and the side away where nothing else is on it."""
    outcome.verdicts.append(judged)
    outcome.folded.append(judged)
    outcome.sides[-1].pop()
    if not outcome.sides[-1]:
        outcome.sides.pop()
