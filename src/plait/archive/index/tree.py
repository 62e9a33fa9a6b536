"""An index to the families of its sessions and to their trees, without logs."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from plait.archive.families import began, families_of, sharing_pairs
from plait.archive.index.fresh import FreshIndex
from plait.archive.model import Session
from plait.archive.tree import FamilyTree, SessionTree, TreeWay, family_tree, joined_trees
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.rows import (
    RowChange,
    group_results,
    keeping_group_result,
    keeping_related,
    keeping_related_pairs,
    related_digests,
    related_pairs,
    related_starts,
)

if TYPE_CHECKING:
    from plait.graph.source import FileFacts


class KnownFamilies:
    """Knows who shares something with whom, and learns it of others."""

    def __init__(self, warm: FreshIndex) -> None:
        self.warm = warm
        self.began = related_starts(warm.catalogue)
        self._pairs = set(related_pairs(warm.catalogue))
        self._new: dict[int, array[int]] = {}

    def unknown(self, sessions: Iterable[Session]) -> list[Session]:
        """Returns the sessions of which it is not known yet."""
        return [one for one in sessions if self.warm.number(one) not in self.began]

    def learn(self, session: Session, found: "array[int]") -> None:
        """Takes in what a session holds or names, if that is new."""
        sid = self.warm.number(session)
        if sid in self.began:
            return
        self.began[sid] = began(session)
        self._new[sid] = found

    def families(self, sessions: Sequence[Session]) -> list[tuple[int, ...]]:
        """Returns sessions by family."""
        return families_of(map(self.warm.number, sessions), self._pairs | self.new_pairs)

    def changes(self) -> Iterator[RowChange]:
        """Yields the changes that keep what was learnt."""
        if self._new:
            yield keeping_related(self.began, self._new)
            yield keeping_related_pairs(self.new_pairs)

    @cached_property
    def new_pairs(self) -> set[tuple[int, int]]:
        """Who shares something with the sessions that were learnt of, all of them by now."""
        return (
            sharing_pairs(self._new, related_digests(self.warm.catalogue)) if self._new else set()
        )


SORT, ALONE = "tree", "tree of one"
"""Where one session is asked for, the client's own rule says where it goes on."""
Family = tuple[int, ...]
Watch = Callable[[Sequence[Session]], Iterable[Session]]


def indexed_tree(
    warm: FreshIndex, sessions: Sequence[Session], way: TreeWay, watch: Watch
) -> SessionTree:
    """Returns the trees of some sessions; what is not known of them yet is read and kept."""
    if not sessions[1:]:
        return joined_trees([_indexed_tree_of_one(warm, sessions[0])], way)
    trees = IndexedTrees(warm, sessions, watch)
    return joined_trees(trees.all(), way)


def _indexed_tree_of_one(warm: FreshIndex, session: Session) -> FamilyTree:
    family = (warm.number(session),)
    known = group_results(warm.catalogue, ALONE).get(family)
    if known is not None:
        return from_bytes(known, FamilyTree)
    from plait.archive.open_session import graph_of

    tree = family_tree(graph_of([session]))
    warm.keep([keeping_group_result(ALONE, family, to_bytes(tree))])
    return tree


class IndexedTrees:
    """Gives the trees of families."""

    def __init__(self, warm: FreshIndex, sessions: Sequence[Session], watch: Watch) -> None:
        self.warm, self.sessions = warm, sessions
        self.by_sid = {warm.number(one): one for one in sessions}
        self.kinship = KnownFamilies(warm)
        self._facts: dict[int, list[FileFacts]] = {}
        unknown = self.kinship.unknown(sessions)
        if unknown:
            from plait.archive.index.details import read_facts, references_of

            for session in watch(unknown):
                facts, loose = read_facts(session)
                self._facts[warm.number(session)] = facts
                self.kinship.learn(session, references_of(facts, loose))

    def all(self) -> list[FamilyTree]:
        """Returns the trees of all families, and keeps those that were not known."""
        known = group_results(self.warm.catalogue, SORT)
        found: list[FamilyTree] = []
        changes = [*self.kinship.changes()]
        for family in self.kinship.families(self.sessions):
            if family in known:
                found.append(from_bytes(known[family], FamilyTree))
            else:
                found.append(self.grown(family))
                changes.append(keeping_group_result(SORT, family, to_bytes(found[-1])))
        self.warm.keep(changes)
        return found

    def grown(self, family: Family) -> FamilyTree:
        """Returns the trees of a family that is not known yet."""
        from plait.archive.index.details import read_facts
        from plait.graph.build import graph_of
        from plait.graph.index import index
        from plait.graph.leaf import leaf_of

        facts = [
            one
            for sid in family
            for one in self._facts.pop(sid, None) or read_facts(self.by_sid[sid])[0]
        ]
        return family_tree(graph_of(index(facts), leaf_of))
