"""Paths: one for each ending of a conversation, with its status."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given

from plait.archive import Archive
from plait.graph import build
from plait.graph.paths import Path, RawGraph, list_path_uuids, list_paths
from plait.sessions.open_session import build_sessions_graph
from tests.graph.generated import archives, sources
from tests.graph.sketch import Sketch, sketch

REDOS = """
    U1 A1< U2< A2< U3< A3<
    U4<A3 A4< U5< A5<
    U6<A3 A6< U7< A7< U8< A8<
    U9<A8 A9<
    U10<A8 A10<
"""


def told(drawn: Sketch) -> list[str]:
    """Return the paths of a drawing in letters."""
    return [
        line(drawn, path, list_path_uuids(drawn.graph, path), drawn.names[path.session])
        for path in list_paths(drawn.graph)
    ]


def told_raw(drawn: Sketch) -> list[str]:
    """Return the raw paths of a drawing in letters."""
    plain = RawGraph.of(drawn.graph)
    return [
        line(drawn, path, plain.uuids(path), drawn.names[path.session]) for path in plain.paths()
    ]


def line(drawn: Sketch, path: Path, way: tuple[str, ...], session: str) -> str:
    fork = f" from {drawn.names[path.fork_point]}" if path.fork_point else ""
    letters = " ".join(drawn.names[uuid] for uuid in way)
    return f"{session} {path.path}/{path.of} {path.status}{fork}: {letters}"


def pieces(text: str) -> str:
    """Return a drawing in the short form without its margin."""
    return " ".join(text.split())


# checklist: S12, S13, S16, S19, S54, S57
def test_several_redos_give_several_paths() -> None:
    assert told(sketch(pieces(REDOS))) == [
        "main 1/3 ABANDONED from A3: U1 A1 U2 A2 U3 A3 U4 A4 U5 A5",
        "main 2/3 ABANDONED from A8: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U9 A9",
        "main 3/3 ACTIVE: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U10 A10",
    ]


def test_unanswered_redo_is_folded_but_a_raw_path() -> None:
    drawn = sketch(pieces(REDOS.replace("A9<", "").replace("A10<", "")))
    assert told(drawn) == [
        "main 1/2 ABANDONED from A3: U1 A1 U2 A2 U3 A3 U4 A4 U5 A5",
        "main 2/2 ACTIVE: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U10",
    ]
    assert told_raw(drawn) == [
        "main 1/3 ABANDONED from A3: U1 A1 U2 A2 U3 A3 U4 A4 U5 A5",
        "main 2/3 ABANDONED from A8: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U9",
        "main 3/3 ACTIVE: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U10",
    ]


# checklist: S20, S24, S41, S42, S43
@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        pytest.param("U1 A1< U2< A2<", ["main 1/1 ACTIVE: U1 A1 U2 A2"], id="one way"),
        pytest.param(
            "U1 A1< U2 A2<",
            ["main 1/2 ABANDONED: U1 A1", "main 2/2 ACTIVE: U2 A2"],
            id="a rewind of the very first prompt",
        ),
        pytest.param(
            "U1 T1< T2<T1~T1 R2<T2 R1<T1 A1<R1",
            ["main 1/1 ACTIVE: U1 T1 T2 R2 R1 A1"],
            id="parallel calls are no endings",
        ),
        pytest.param(
            "U1\nA1<\nB1 boundary after A1\nC1<\nU2<\nA2<",
            ["main 1/1 ACTIVE: U1 A1 B1 C1 U2 A2"],
            id="a compaction stands inline",
        ),
        pytest.param(
            "U1\nA1<\nU2<\nA2<\nU3<A1\nA3<\nlast-prompt leaf A2",
            ["main 1/2 ACTIVE: U1 A1 U2 A2", "main 2/2 ABANDONED from A1: U1 A1 U3 A3"],
            id="the older side can be the active one",
        ),
        pytest.param(
            "U1\nA1<\nU2<\nA2<\nU3<A2\nA3<\nU4<A2\nA4<\nU5<A1\nA5<",
            [
                "main 1/3 ABANDONED from A1: U1 A1 U2 A2 U3 A3",
                "main 2/3 ABANDONED from A1: U1 A1 U2 A2 U4 A4",
                "main 3/3 ACTIVE: U1 A1 U5 A5",
            ],
            id="a branch of a branch leaves the active path where that one does",
        ),
    ],
)
def test_shapes(drawing: str, expected: list[str]) -> None:
    assert told(sketch(drawing)) == expected


# checklist: S40, S51, S52
def test_a_continued_session_is_part_of_its_continuation() -> None:
    drawn = sketch("file one\nU1\nA1<\nS1<\nfile two\ncopy one:U1 one:A1\nU2<one:A1\nA2<")
    assert told(drawn) == ["two 1/1 ACTIVE: U1 A1 U2 A2"]


# checklist: S53
def test_a_session_that_also_continued_keeps_its_own_path() -> None:
    drawn = sketch("file one\nU1\nA1<\nU2<\nA2<\nfile two\ncopy one:U1 one:A1\nU3<one:A1\nA3<")
    assert told(drawn) == ["one 1/1 ACTIVE: U1 A1 U2 A2", "two 1/1 ACTIVE: U1 A1 U3 A3"]


def test_trailing_note_does_not_end_a_session_early() -> None:
    drawn = sketch("file one\nU1\nA1<\nU2<\nS1<\nfile two\ncopy one:U1 one:A1\nU3<one:A1\nA3<")
    assert told(drawn) == ["one 1/1 ACTIVE: U1 A1 U2 S1", "two 1/1 ACTIVE: U1 A1 U3 A3"]


# checklist: S16
def test_path_may_end_in_a_note() -> None:
    drawn = sketch("U1\nA1<\nU2<\nA2<\nS1< turn_duration\nU3<A1\nA3<\nS2< turn_duration\nH1<")
    assert told(drawn) == [
        "main 1/2 ABANDONED from A1: U1 A1 U2 A2 S1",
        "main 2/2 ACTIVE: U1 A1 U3 A3 S2 H1",
    ]
    found = list_paths(drawn.graph)
    assert [(drawn.names[path.leaf], path.messages) for path in found] == [("S1", 4), ("H1", 4)]


def test_agents_are_not_endings() -> None:
    drawn = sketch(
        'U1\nT1< Agent(description="look", prompt="p")\nR1<\nA1<\nagent look of T1\nU5 "p"\nA5<'
    )
    assert told(drawn) == ["main 1/1 ACTIVE: U1 T1 R1 A1"]


def test_raw_paths_name_unjoined_records() -> None:
    drawn = sketch("U1 T1< T2<T1~T1 R2<T2 R1<T1 A1<R1 U2<?")
    assert told_raw(drawn) == [
        "main 1/3 ABANDONED: U1 T1 T2 R2",
        "main 2/3 ABANDONED: U1 T1 R1 A1",
        "main 3/3 ACTIVE: U2",
    ]


# checklist: S38
def test_a_path_counts_its_messages_and_compactions() -> None:
    drawn = sketch("U1\nA1<\nS1<\nB1 boundary after S1\nC1<\nU2<\nA2<")
    (path,) = list_paths(drawn.graph)
    assert (path.messages, path.compactions) == (5, 1)
    (raw,) = RawGraph.of(drawn.graph).paths()
    assert (raw.messages, raw.compactions) == (5, 1)


# checklist: S34
def test_path_label_is_summary_title_or_prompt() -> None:
    drawn = sketch(
        'ai-title "The title"\nU1 "first"\nA1<\nU2< "old way"\nA2<\nU3<A1 "new way"\nA3<'
    )
    assert [path.label for path in list_paths(drawn.graph)] == ["old way", "The title"]
    drawn = sketch('U1 "first"\nA1<\nsummary "What it was about" leaf A1')
    assert [path.label for path in list_paths(drawn.graph)] == ["What it was about"]


# checklist: S59
@given(archives)
def test_every_leaf_has_one_path(archive: dict[str, list[dict[str, Any]]]) -> None:
    graph = build(sources(archive))
    found = list_paths(graph)
    ways = [list_path_uuids(graph, path) for path in found]
    assert all(len(way) == len(set(way)) for way in ways)
    assert len({path.leaf for path in found}) == len(found)
    for path, way in zip(found, ways, strict=True):
        assert way[-1] == path.leaf
        assert path.path <= path.of
        assert path.status == "ABANDONED" or path.fork_point is None
        assert path.compactions == sum(graph.nodes[uuid].is_boundary for uuid in way)
        assert path.messages == sum(graph.nodes[uuid].kind in ("user", "assistant") for uuid in way)


# checklist: S36, S37
@given(archives)
def test_raw_paths_reach_every_record_of_a_session(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    graph = build(sources(archive))
    plain = RawGraph.of(graph)
    reached = {uuid for path in plain.paths() for uuid in plain.uuids(path)}
    main = {uuid for uuid, node in graph.nodes.items() if graph.files[node.file].kind == "session"}
    assert main <= reached


@given(archives)
def test_raw_paths_match_their_records(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    graph = build(sources(archive))
    plain = RawGraph.of(graph)
    found = [(path, plain.uuids(path)) for path in plain.paths()]
    active = {path.session: set(way) for path, way in found if path.status == "ACTIVE"}
    for path, way in found:
        nodes = [graph.nodes[uuid] for uuid in way]
        assert path.messages == sum(node.kind in ("user", "assistant") for node in nodes)
        assert path.compactions == sum(node.is_boundary for node in nodes)
        shared = [uuid for uuid in way if uuid in active.get(path.session, ())]
        assert path.fork_point == (shared[-1] if shared and path.status != "ACTIVE" else None)


def test_no_path_of_real_logs_contains_another(shared: FilePath) -> None:
    graph = build_sessions_graph(Archive([shared / "corpus"]).sessions)
    found = list_paths(graph)
    holders: dict[str, set[int]] = {}
    for number, path in enumerate(found):
        for uuid in list_path_uuids(graph, path):
            holders.setdefault(uuid, set()).add(number)
    for number, path in enumerate(found):
        within = set.intersection(*(holders[uuid] for uuid in list_path_uuids(graph, path)))
        assert within == {number}
