"""An index to the trees of some sessions: what `plait.archive.tree` reads, without logs."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from plait.archive.index.families import KnownFamilies
from plait.archive.index.fresh import FreshIndex
from plait.archive.model import Session
from plait.archive.tree import FamilyTree, SessionTree, TreeWay, family_tree, joined_trees
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.rows import group_results, keeping_group_result

if TYPE_CHECKING:
    from plait.graph.source import FileFacts


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
    groves = IndexedTrees(warm, sessions, watch)
    return joined_trees(groves.all(), way)


def _indexed_tree_of_one(warm: FreshIndex, session: Session) -> FamilyTree:
    family = (warm.number(session),)
    known = group_results(warm.catalogue, ALONE).get(family)
    if known is not None:
        return from_bytes(known, FamilyTree)
    from plait.archive.open_session import graph_of

    grove = family_tree(graph_of([session]))
    warm.keep([keeping_group_result(ALONE, family, to_bytes(grove))])
    return grove


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
