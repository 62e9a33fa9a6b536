"""Nodes of one DAG-line to the order in which they are read.

Parents stand before children and calls before results; for the rest the file decides.
Timestamps never do: they step back in real files where the graph is right.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

Before: TypeAlias = Callable[[int], Sequence[int]]
"""What has to stand before a node; only nodes of the same line count."""


def reading_order(members: Sequence[int], before: Before) -> list[int] | None:
    """Returns the members, given in file order, so that what `before` names comes first.

    None where it leads in circles.
    """
    if stands_in_order(members, before):
        return list(members)
    return pulled_forward(members, before)


def stands_in_order(members: Sequence[int], before: Before) -> bool:
    """Tells whether the file already has everything in the right order."""
    return all(earlier < member for member in members for earlier in before(member))


def pulled_forward(members: Sequence[int], before: Before) -> list[int] | None:
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
