"""Invariants of every graph, however odd its records."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.graph import Builder, SessionGraph, Source, build, traverse
from tests.graph.generated import archives, conversations, sources

Archive = dict[str, list[dict[str, Any]]]

quick = settings(max_examples=150, deadline=None, derandomize=True)
thorough = settings(
    max_examples=6000, deadline=None, suppress_health_check=list(HealthCheck), derandomize=False
)


def check_each_node_stands_once(graph: SessionGraph) -> None:
    inline = [uuid for line in graph.lines.values() for uuid in line.nodes]
    folded = [
        uuid for line in graph.lines.values() for held in line.folded.values() for uuid in held
    ]
    assert sorted(inline + folded) == sorted(graph.nodes)
    assert set(folded) == set(graph.folds)
    assert graph.account.balanced
    assert all(account.balanced for account in graph.accounts.values())


def check_parents_stand_before_children(graph: SessionGraph) -> None:
    for line in graph.lines.values():
        place = {uuid: at for at, uuid in enumerate(line.nodes)}
        for uuid, at in place.items():
            parent = graph.edge_of(uuid).parent
            assert place.get(parent or "", -1) < at


def check_calls_stand_before_results(graph: SessionGraph) -> None:
    odd = {finding.uuid for finding in graph.findings if finding.code == "order"}
    for line in graph.lines.values():
        if odd & set(line.nodes):
            continue
        called: dict[str, int] = {}
        for at, uuid in enumerate(line.nodes):
            for call in graph.nodes[uuid].calls:
                called.setdefault(call.id, at)
        for at, uuid in enumerate(line.nodes):
            assert all(called.get(result, -1) <= at for result in graph.nodes[uuid].results)


def check_walking_up_ends(graph: SessionGraph) -> None:
    for uuid in graph.nodes:
        here: str | None = uuid
        for _ in range(len(graph.nodes) + 1):
            here = graph.edge_of(here).parent if here else None
        assert here is None


def check_the_tree_holds_every_line_once(graph: SessionGraph) -> None:
    walked = [line.id for line in traverse(graph.tree)]
    assert sorted(walked) == sorted(graph.lines)
    for line in graph.lines.values():
        if line.attachment:
            assert line.id in graph.tree.junctions[line.attachment].leaving
            assert graph.line_of[line.attachment] == line.parent


def check(archive: Archive) -> SessionGraph:
    graph = build(sources(archive))
    check_each_node_stands_once(graph)
    check_parents_stand_before_children(graph)
    check_calls_stand_before_results(graph)
    check_walking_up_ends(graph)
    check_the_tree_holds_every_line_once(graph)
    return graph


# checklist: D36, D89, D90, D92, S36, P3
@quick
@given(archives)
def test_graph_invariants(archive: Archive) -> None:
    check(archive)


@quick
@given(conversations)
def test_conversation_invariants(archive: Archive) -> None:
    check(archive)


@quick
@given(archives)
def test_file_order_does_not_matter(archive: Archive) -> None:
    given_ = sources(archive)
    assert build(given_) == build(list(reversed(given_)))


def cut_anywhere(archive: Archive, seed: int) -> None:
    """Build an archive in growing pieces, in any order, and at once."""
    chance = random.Random(seed)
    waiting = [(one.file, list(one.records)) for one in sources(archive)]
    builder = Builder()
    while waiting:
        file, records = waiting.pop(chance.randrange(len(waiting)))
        size = chance.randint(0, len(records))
        builder.add(Source(file, records[:size]))
        builder.graph()
        if records[size:]:
            waiting.append((file, records[size:]))
    assert builder.graph() == build(sources(archive))


@quick
@given(archives)
def test_growing_file_gives_the_same_graph(archive: Archive) -> None:
    cut_anywhere(archive, len(str(archive)))


@pytest.mark.long
@thorough
@given(st.one_of(archives, conversations))
def test_graph_invariants_at_length(archive: Archive) -> None:
    graph = check(archive)
    assert graph == build(list(reversed(sources(archive))))
    cut_anywhere(archive, len(str(archive)))
