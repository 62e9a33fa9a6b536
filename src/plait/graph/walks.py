"""Nodes to walks: one for each session in a file, one for each agent.

A walk is what becomes one or more DAG-lines. Its nodes hang on each other; what hangs on a
node of another walk is where the walk leaves that one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from plait.graph.index import Index
from plait.graph.model import Trait
from plait.graph.repair import NOWHERE, Parents

SAID = Trait.HUMAN | Trait.QUEUED | Trait.ANSWER
FARTHEST = 64
"""How many other walks a session is looked for behind, before it begins anew."""


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
    """All walks, with the parents that lie within them."""

    walks: tuple[Walk, ...]
    of: list[int]
    """The walk of each node."""
    up: list[int]
    """The parent of each node in its own walk, NOWHERE where the walk begins."""


def walks_of(index: Index, parents: Parents) -> Walks:
    """Returns the walks of an index, in the order in which they begin."""
    roots = _sidechain_roots(index, parents)
    found: dict[tuple[int, str, str], Walk] = {}
    of: list[int] = []
    file, session, current = NOWHERE, "", NOWHERE
    held: list[int] = []
    for number, (node, is_aside) in enumerate(zip(index.nodes, parents.is_aside, strict=True)):
        if not is_aside and node.file == file and node.session == session:
            held.append(number)
            of.append(current)
            continue
        key = _agent_key(index, number, roots) if is_aside else (node.file, node.session, "")
        walk = found.get(key)
        if walk is None:
            agent = key[2] if is_aside else None
            walk = Walk(len(found), node.file, _session_of(index, key[0], key[1]), agent, [])
            found[key] = walk
        held, current = walk.nodes, walk.number
        file, session = NOWHERE if is_aside else node.file, node.session
        held.append(number)
        of.append(current)
    walks = _without_scraps(index, parents, list(found.values()), of)
    return Walks(walks, of, _inner_parents(parents.up, of))


def _without_scraps(
    index: Index, parents: Parents, walks: list[Walk], of: list[int]
) -> tuple[Walk, ...]:
    """Returns the walks, with what another session left in a file as part of that file's own.

    Records in which nobody says anything make no session, nor does one that the file's own hang
    on: a client that is resumed or cleared leaves such at the head of the next file.
    """
    homes = {(walk.file, walk.session): walk for walk in walks if walk.agent is None}
    moved: dict[int, Walk] = {}
    for walk in walks:
        home = homes.get((walk.file, index.sessions[walk.file]), walk)
        if walk.agent is None and home is not walk and _is_scrap(index, parents, walk, home):
            moved[walk.number] = home
    if not moved:
        return tuple(walks)
    for scrap, home in moved.items():
        home.nodes[:] = sorted([*home.nodes, *walks[scrap].nodes])
    return _renumbered([walk for walk in walks if walk.number not in moved], of)


def _is_scrap(index: Index, parents: Parents, walk: Walk, home: Walk) -> bool:
    if not any(index.nodes[one].traits & SAID for one in walk.nodes):
        return True
    first = walk.nodes[0]
    is_single = not walk.nodes[1:]
    return is_single and any(parents.up[one] == first for one in home.nodes)


def _renumbered(walks: list[Walk], of: list[int]) -> tuple[Walk, ...]:
    found = tuple(replace(walk, number=number) for number, walk in enumerate(walks))
    for walk in found:
        for number in walk.nodes:
            of[number] = walk.number
    return found


def _agent_key(index: Index, number: int, roots: dict[int, int]) -> tuple[int, str, str]:
    node = index.nodes[number]
    file = index.files[node.file]
    if file.kind == "agent":
        return node.file, "", file.agent or ""
    return node.file, node.session, node.agent or index.nodes[roots[number]].uuid[:12]


def _session_of(index: Index, file: int, session: str) -> str:
    return session or index.sessions[file]


def _sidechain_roots(index: Index, parents: Parents) -> dict[int, int]:
    roots: dict[int, int] = {}
    for start, node in enumerate(index.nodes):
        if not parents.is_aside[start] or index.files[node.file].kind == "agent":
            continue
        path, here = [], start
        while here not in roots:
            path.append(here)
            above = parents.up[here]
            if above < 0 or not parents.is_aside[above] or index.nodes[above].file != node.file:
                break
            here = above
        root = roots.get(here, here)
        roots.update((one, root) for one in path)
    return roots


def _inner_parents(up: list[int], of: list[int]) -> list[int]:
    """Returns the parents within walks; a walk that another interrupts goes on behind it.

    session X  a ── b           e ── f        e hangs on b
    session Y       └── c ── d ─┘
    """
    inner = list(up)
    tops: dict[int, int] = {}
    for number, parent in enumerate(up):
        if parent >= 0 and of[parent] != of[number]:
            inner[number] = _nearest_own(number, up, of, tops)
    return inner


def _nearest_own(number: int, up: list[int], of: list[int], tops: dict[int, int]) -> int:
    above = up[number]
    for _ in range(FARTHEST):
        if above < 0 or of[above] == of[number]:
            return above
        above = up[_top_of(above, up, of, tops)]
    return NOWHERE


def _top_of(number: int, up: list[int], of: list[int], tops: dict[int, int]) -> int:
    path = list(_stretch(number, up, of, tops))
    top = tops.get(path[-1], path[-1])
    tops.update((one, top) for one in path)
    return top


def _stretch(number: int, up: list[int], of: list[int], tops: dict[int, int]) -> Iterator[int]:
    walk = of[number]
    while number >= 0 and of[number] == walk:
        yield number
        if number in tops:
            return
        number = up[number]
