"""Sessions to the tree that they form, with what is said beside it.

A forest is the trees of its families side by side: what is worked out of one family can be
kept, and put together with others.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from plait.archive.model import Session
from plait.graph.outline import OutlineItem

if TYPE_CHECKING:
    from plait.graph.model import SessionGraph


TreeWay: TypeAlias = Literal["all", "agents", "few"]
"""Everything; no service agents; agents only counted."""
WAYS: tuple[TreeWay, ...] = ("all", "agents", "few")
Rank: TypeAlias = tuple[str, bool, str, str, int]
LATE = "\uffff"
SUMMARY = "summary"
SPOKEN = frozenset({"user", "assistant", "system", "attachment", "message", "untyped"})
"""What belongs into a graph; other lines never have a uuid."""


class Tree(Struct, frozen=True, array_like=True):
    """A root with all that hangs on it."""

    rank: Rank
    """By which it stands among others: its project, its time."""
    items: tuple[OutlineItem, ...]


class Unlinked(Struct, frozen=True, gc=False, array_like=True):
    """Records that no graph can hold."""

    records: int = 0
    files: int = 0


class FamilyTree(Struct, frozen=True, array_like=True):
    """The trees of some sessions, drawn in each way."""

    trees: dict[TreeWay, tuple[Tree, ...]]
    compactions: dict[str, str]
    """What each compaction did, in words."""
    unlinked: Unlinked


class SessionTree(Struct, frozen=True):
    """All trees in one list, parents before children."""

    items: list[OutlineItem]
    compactions: dict[str, str]
    unlinked: Unlinked


def tree_of(sessions: Sequence[Session], way: TreeWay) -> SessionTree:
    """Reads some sessions and returns their trees."""
    from plait.archive.open_session import graph_of

    return joined_trees([family_tree(graph_of(sessions))], way)


def joined_trees(families: Iterable[FamilyTree], way: TreeWay) -> SessionTree:
    """Puts the trees of families together."""
    given = list(families)
    trees = sorted(chain.from_iterable(one.trees[way] for one in given), key=lambda one: one.rank)
    return SessionTree(
        list(chain.from_iterable(tree.items for tree in trees)),
        {uuid: words for one in given for uuid, words in one.compactions.items()},
        Unlinked(
            sum(one.unlinked.records for one in given), sum(one.unlinked.files for one in given)
        ),
    )


def family_tree(graph: "SessionGraph") -> FamilyTree:
    """Returns the trees of a graph in each way, with what is said beside them."""
    from plait.archive.raw_lines import records_of
    from plait.view.words import record_words

    trees = {way: _trees_of(graph, way) for way in WAYS}
    boundaries = [
        item.id for tree in trees["all"] for item in tree.items if item.kind == "compaction"
    ]
    said = {uuid: record_words(record).words for uuid, record in records_of(graph, boundaries)}
    return FamilyTree(trees, said, unlinked_in(graph))


def _trees_of(graph: "SessionGraph", way: TreeWay) -> tuple[Tree, ...]:
    from plait.graph.outline import outline

    found: list[list[OutlineItem]] = []
    for item in outline(graph, each_agent=way != "few", services=way == "all"):
        if item.depth:
            found[-1].append(item)
        else:
            found.append([item])
    lone = iter(_lone_ranks(graph))
    return tuple(Tree(_rank_of(one[0], lone), tuple(one)) for one in found)


def _rank_of(root: OutlineItem, lone: Iterator[Rank]) -> Rank:
    if root.kind == SUMMARY:
        return next(lone)
    return root.project, False, root.started or LATE, root.id, 0


def _lone_ranks(graph: "SessionGraph") -> list[Rank]:
    told = {node.file for node in graph.nodes.values()}
    places = [link.place for link in graph.summaries if link.place.file not in told]
    ranks = [
        (graph.files[one.file].project, True, graph.files[one.file].path, "", one.line)
        for one in places
    ]
    return sorted(ranks, key=lambda rank: rank[0])


def unlinked_in(graph: "SessionGraph") -> Unlinked:
    """Counts the records that no graph can hold."""
    linked = {node.file for node in graph.nodes.values()}
    linked.update(copy.file for node in graph.nodes.values() for copy in node.copies)
    told = [one for one in graph.loose if graph.files[one.place.file].kind != "journal"]
    bare = [one.place.file for one in told if one.place.file not in linked and one.kind != SUMMARY]
    bare += [one.place.file for one in told if one.place.file in linked and one.kind in SPOKEN]
    return Unlinked(len(bare), len(set(bare)))
