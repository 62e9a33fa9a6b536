"""An index to the trees of some sessions: what `plait.archive.forest` reads, without logs."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from plait.archive.forest import Forest, Grove, Way, grove_of, planted
from plait.archive.model import Session
from plait.archive.warm import Warm
from plait.archive.warm_kin import Kinship
from plait.index.derived import families, keeping_family
from plait.index.packed import packed, unpacked

if TYPE_CHECKING:
    from plait.graph.source import FileFacts

SORT, ALONE = "tree", "tree of one"
"""Where one session is asked for, the client's own rule says where it goes on."""
Family = tuple[int, ...]
Watch = Callable[[Sequence[Session]], Iterable[Session]]


def kept_forest(warm: Warm, sessions: Sequence[Session], way: Way, watch: Watch) -> Forest:
    """Returns the trees of some sessions; what is not known of them yet is read and kept."""
    if not sessions[1:]:
        return planted([kept_grove(warm, sessions[0])], way)
    groves = KeptGroves(warm, sessions, watch)
    return planted(groves.all(), way)


def kept_grove(warm: Warm, session: Session) -> Grove:
    """Returns the tree of one session."""
    family = (warm.number(session),)
    known = families(warm.catalogue, ALONE).get(family)
    if known is not None:
        return unpacked(known, Grove)
    from plait.archive.graphs import graph_of

    grove = grove_of(graph_of([session]))
    warm.keep([keeping_family(ALONE, family, packed(grove))])
    return grove


class KeptGroves:
    """Gives the trees of families."""

    def __init__(self, warm: Warm, sessions: Sequence[Session], watch: Watch) -> None:
        self.warm, self.sessions = warm, sessions
        self.by_sid = {warm.number(one): one for one in sessions}
        self.kinship = Kinship(warm)
        self._facts: dict[int, list[FileFacts]] = {}
        unknown = self.kinship.unknown(sessions)
        if unknown:
            from plait.archive.ties import read_facts, ties_of

            for session in watch(unknown):
                facts, loose = read_facts(session)
                self._facts[warm.number(session)] = facts
                self.kinship.learn(session, ties_of(facts, loose))

    def all(self) -> list[Grove]:
        """Returns the trees of all families, and keeps those that were not known."""
        known = families(self.warm.catalogue, SORT)
        found: list[Grove] = []
        changes = [*self.kinship.changes()]
        for family in self.kinship.families(self.sessions):
            if family in known:
                found.append(unpacked(known[family], Grove))
            else:
                found.append(self.grown(family))
                changes.append(keeping_family(SORT, family, packed(found[-1])))
        self.warm.keep(changes)
        return found

    def grown(self, family: Family) -> Grove:
        """Returns the trees of a family that is not known yet."""
        from plait.archive.ties import read_facts
        from plait.graph.build import graph_of
        from plait.graph.index import index
        from plait.graph.leaf import leaf_of

        facts = [
            one
            for sid in family
            for one in self._facts.pop(sid, None) or read_facts(self.by_sid[sid])[0]
        ]
        return grove_of(graph_of(index(facts), leaf_of))
