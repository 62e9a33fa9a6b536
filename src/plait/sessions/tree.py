"""The tree of sessions: forks, branches, agents and compactions as an outline.

The trees of families are independent, so the index stores the tree of each family and joins them.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.graph.build import build_from_index
from plait.graph.facts import FileFacts
from plait.graph.index import build_index
from plait.graph.layout import OutlineItem, iter_outline
from plait.graph.leaf import find_leaf
from plait.graph.model import SessionGraph
from plait.index.catalogue import (
    RowChange,
    from_bytes,
    load_family_results,
    load_references,
    load_session_starts,
    load_sharing_pairs,
    save_family_result,
    save_references,
    save_sharing_pairs,
    to_bytes,
)
from plait.sessions.families import find_sharing_pairs, group_by_pairs, read_start
from plait.sessions.fresh_index import FreshIndex
from plait.sessions.model import Session
from plait.sessions.open_session import build_sessions_graph
from plait.sessions.other_summaries import find_other_summaries
from plait.sessions.raw_lines import read_node_records
from plait.view.summaries import summarize_record

TreeDetail: TypeAlias = Literal["all", "agents", "few"]
"""Everything; without the client's background agents; agents only counted."""
TREE_DETAILS: tuple[TreeDetail, ...] = ("all", "agents", "few")
Rank: TypeAlias = tuple[str, bool, str, str, int]
AFTER_ALL_TIMES = "\uffff"
SUMMARY = "summary"
GRAPH_KINDS = frozenset({"user", "assistant", "system", "attachment", "message", "untyped"})
"""Records that belong in a graph; other lines never have a uuid."""
FOREST, SINGLE_TREE = "tree", "tree of one"
"""Names of results in the index. For a single session the client's own rule chooses its leaf."""
SessionTracker: TypeAlias = Callable[[Sequence[Session]], Iterable[Session]]


class Tree(Struct, frozen=True, array_like=True):
    """A root with everything below it."""

    rank: Rank
    """Its sort key: project, then time."""
    items: tuple[OutlineItem, ...]


class Unlinked(Struct, frozen=True, gc=False, array_like=True):
    """Records outside any graph."""

    records: int = 0
    files: int = 0


class FamilyTree(Struct, frozen=True, array_like=True):
    """The trees of some sessions at each level of detail."""

    trees: dict[TreeDetail, tuple[Tree, ...]]
    compactions: dict[str, str]
    """A summary of each compaction, by its record."""
    unlinked: Unlinked


class SessionTree(Struct, frozen=True):
    """All trees in one list, parents before children."""

    items: list[OutlineItem]
    compactions: dict[str, str]
    unlinked: Unlinked

    def __iter__(self) -> Iterator[OutlineItem]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def read_tree(sessions: Sequence[Session], way: TreeDetail) -> SessionTree:
    """Return the trees of some sessions, read from their logs."""
    return join_trees([build_family_tree(build_sessions_graph(sessions))], way)


def join_trees(families: Iterable[FamilyTree], way: TreeDetail) -> SessionTree:
    """Join the trees of families."""
    trees: list[Tree] = []
    compactions: dict[str, str] = {}
    records = files = 0
    for family in families:
        trees += family.trees[way]
        compactions |= family.compactions
        records += family.unlinked.records
        files += family.unlinked.files
    trees.sort(key=lambda tree: tree.rank)
    items = list(chain.from_iterable(tree.items for tree in trees))
    return SessionTree(items, compactions, Unlinked(records, files))


def build_family_tree(graph: SessionGraph) -> FamilyTree:
    """Return the trees of a graph at each level of detail, with a summary of each compaction."""
    # Summaries without a parent have no time: they are sorted by file and line.
    files_with_nodes = {node.file for node in graph.nodes.values()}
    lone_ranks: list[Rank] = sorted(
        (
            (
                graph.files[link.place.file].project,
                True,
                graph.files[link.place.file].path,
                "",
                link.place.line,
            )
            for link in graph.summaries
            if link.place.file not in files_with_nodes
        ),
        key=lambda rank: rank[0],
    )

    def build_trees(way: TreeDetail) -> tuple[Tree, ...]:
        roots: list[list[OutlineItem]] = []
        for item in iter_outline(graph, each_agent=way != "few", services=way == "all"):
            if item.depth:
                roots[-1].append(item)
            else:
                roots.append([item])
        ranks = iter(lone_ranks)
        return tuple(
            Tree(
                next(ranks)
                if items[0].kind == SUMMARY
                else (items[0].project, False, items[0].started or AFTER_ALL_TIMES, items[0].id, 0),
                tuple(items),
            )
            for items in roots
        )

    trees = {way: build_trees(way) for way in TREE_DETAILS}
    boundaries = [
        item.id for tree in trees["all"] for item in tree.items if item.kind == "compaction"
    ]
    compactions = {
        uuid: summarize_record(record).text for uuid, record in read_node_records(graph, boundaries)
    }
    return FamilyTree(trees, compactions, count_unlinked(graph))


def count_unlinked(graph: SessionGraph) -> Unlinked:
    """Count the records outside any graph."""
    linked = {node.file for node in graph.nodes.values()}
    linked.update(copy.file for node in graph.nodes.values() for copy in node.copies)
    files = [
        loose.place.file
        for loose in graph.loose
        if graph.files[loose.place.file].kind != "journal"
        and (loose.kind in GRAPH_KINDS if loose.place.file in linked else loose.kind != SUMMARY)
    ]
    return Unlinked(len(files), len(set(files)))


# ---------------------------------------------------------------------- from the index


def read_indexed_tree(
    index: FreshIndex, sessions: Sequence[Session], way: TreeDetail, watch: SessionTracker
) -> SessionTree:
    """Return the trees of some sessions; what the index lacks is read and saved."""
    if find_other_summaries(sessions):  # the index's saved trees do not include them
        return read_tree(sessions, way)
    if len(sessions) > 1:
        known_families = KnownFamilies(index)
        facts_by_sid: dict[int, list[FileFacts]] = {}
        unknown = [
            session
            for session in sessions
            if index.session_number(session) not in known_families.starts
        ]
        if unknown:
            from plait.sessions.details import collect_references, read_facts

            for session in watch(unknown):
                facts, loose = read_facts(session)
                facts_by_sid[index.session_number(session)] = facts
                known_families.add(session, collect_references(facts, loose))

        known = load_family_results(index.catalogue, FOREST)
        trees: list[FamilyTree] = []
        changes = [*known_families.changes()]
        by_sid = {index.session_number(session): session for session in sessions}
        for family in known_families.families(sessions):
            if family in known:
                trees.append(from_bytes(known[family], FamilyTree))
                continue
            from plait.sessions.details import read_facts

            facts = [
                file_facts
                for sid in family
                for file_facts in facts_by_sid.pop(sid, None) or read_facts(by_sid[sid])[0]
            ]
            trees.append(build_family_tree(build_from_index(build_index(facts), find_leaf)))
            changes.append(save_family_result(FOREST, family, to_bytes(trees[-1])))
        index.save(changes)
        return join_trees(trees, way)
    (session,) = sessions
    family = (index.session_number(session),)
    data = load_family_results(index.catalogue, SINGLE_TREE).get(family)
    if data is None:
        data = to_bytes(build_family_tree(build_sessions_graph([session])))
        index.save([save_family_result(SINGLE_TREE, family, data)])
    return join_trees([from_bytes(data, FamilyTree)], way)


class KnownFamilies:
    """Which sessions share references, as far as the index knows, and sessions added since."""

    def __init__(self, index: FreshIndex) -> None:
        self.index = index
        self.starts = load_session_starts(index.catalogue)
        """When each session with known references started."""
        self._pairs = set(load_sharing_pairs(index.catalogue))
        self._new: dict[int, array[int]] = {}

    def add(self, session: Session, references: "array[int]") -> None:
        """Add the references of a session, if they are not known yet."""
        sid = self.index.session_number(session)
        if sid not in self.starts:
            self.starts[sid] = read_start(session)
            self._new[sid] = references

    def families(self, sessions: Sequence[Session]) -> list[tuple[int, ...]]:
        """Return the numbers of sessions by family."""
        sids = map(self.index.session_number, sessions)
        return group_by_pairs(sids, self._pairs | self._new_pairs)

    def changes(self) -> Iterator[RowChange]:
        """Yield the changes that save what was added."""
        if self._new:
            yield save_references(self.starts, self._new)
            yield save_sharing_pairs(self._new_pairs)

    @cached_property
    def _new_pairs(self) -> set[tuple[int, int]]:
        if not self._new:
            return set()
        return find_sharing_pairs(self._new, load_references(self.index.catalogue))
