"""Agents that no call explains to the lines that they stand under all the same.

An agent whose note names the agent that sent it out stands under that one, any other under
its session. Neither says where it leaves the line.
"""

from collections.abc import Sequence

from plait.graph.drafts import Draft, Drafts
from plait.graph.index import Index
from plait.graph.repair import NOWHERE, cycles


def take_in(index: Index, drafts: Drafts, above: list[int], bare: Sequence[int]) -> None:
    """Gives agents without a parent one; files of mere copies count on behind the drafts."""
    lines = drafts.lines
    homes = homes_of(index, lines, bare)
    numbers = [number for number, line in enumerate(lines) if line.kind == "agent"]
    agents = {(lines[n].walk.session, lines[n].walk.agent): n for n in numbers}
    taken = [number for number in numbers if above[number] < 0]
    for number in taken:
        walk = lines[number].walk
        meta = index.facts[walk.file].meta
        sender = agents.get((walk.session, meta.parent_agent_id), number) if meta else number
        above[number] = sender if sender != number else homes.get(walk.session, NOWHERE)
    for circle in cycles(above):
        for number in set(circle).intersection(taken):
            above[number] = NOWHERE


def homes_of(index: Index, lines: Sequence[Draft], bare: Sequence[int]) -> dict[str, int]:
    """Returns the line of each session; its own file's before what another file holds of it."""
    homes = {index.sessions[file]: n for n, file in enumerate(bare, len(lines))}
    for kind in ("foreign", "trunk"):
        found = ((line.walk.session, n) for n, line in enumerate(lines) if line.kind == kind)
        homes.update(found)
    return homes
