"""Sessions across files as a tree."""

import pytest

from examples.drawing import session_id
from plait.graph import traverse
from plait.graph.layout import iter_outline
from plait.graph.paths import list_paths
from tests.graph.sketch import sketch

EXAMPLE = """
file s1
A B< C< D< E< F< G<
file s2 start=2026-11-03T09:00:00.000Z
H<s1:G I< J<
file s3 start=2026-11-04T09:00:00.000Z
K<s1:E L< M<
"""


# checklist: D3, D10, D11, D39, D41
def test_example_of_the_document() -> None:
    drawn = sketch(EXAMPLE)
    assert drawn.picture == "s1: A B C D E F G\ns2: H I J\ns3: K L M"
    walked = [drawn.names[uuid] for line in traverse(drawn.graph.tree) for uuid in line.nodes]
    assert walked == list("ABCDEFGHIJKLM")
    assert drawn.codes() == []


# checklist: D7, D9, D13, D14, D37, D38, D40
def test_forks_link_both_ways() -> None:
    drawn = sketch(EXAMPLE)
    graph = drawn.graph
    leaving = {"s2": "G", "s3": "E"}
    assert {
        drawn.names[one.id]: drawn.names[one.attachment]
        for one in graph.lines.values()
        if one.attachment
    } == leaving
    for junction in graph.tree.junctions.values():
        for name in junction.leaving:
            assert graph.lines[name].attachment == junction.uuid
            assert graph.lines[name].parent == junction.line
    assert len(graph.tree.junctions) == 2


COMPACTED = "U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nB2 after A2\nC2<\nU3<\nA3<"


# checklist: S20, S24, S41, D32, D70, D71, D72, D73, D77
@pytest.mark.parametrize(
    ("drawing", "roots"),
    [
        ("U1 A1<U1 U2<A1", ["U1"]),
        (COMPACTED, ["U1", "B1 logical A1", "B2 logical A2"]),
        ("S1 local_command\nU1\nA1<", ["S1", "U1"]),
        ("H1 U1 A1<U1", ["H1", "U1"]),
        ("H1 U1<H1 A1<U1", ["H1"]),
    ],
    ids=["a prompt", "two compactions", "a local command", "a hook apart", "a hook before"],
)
def test_where_the_roots_of_a_session_are_attached(drawing: str, roots: list[str]) -> None:
    drawn = sketch(drawing)
    found = []
    for uuid, node in drawn.graph.nodes.items():
        edge = drawn.graph.edge_of(uuid)
        if node.parent is None:
            above = f" {edge.kind} {drawn.names[edge.parent]}" if edge.parent else ""
            found.append(drawn.names[uuid] + above)
    assert found == roots
    assert list(drawn.graph.lines) == [drawn.drawing.session]
    assert drawn.codes() == []


def test_children_are_in_time_order() -> None:
    later = EXAMPLE.replace("11-03", "11-05")
    drawn = sketch(later)
    assert drawn.picture.split("\n")[1:] == ["s3: K L M", "s2: H I J"]


def test_branches_and_agents_are_tree_nodes() -> None:
    drawn = sketch(
        'U1\nA1<\nU2<A1\nT1< Task(prompt="go") as x\nR1< of x\nU3<A1\nA3<\n'
        'agent x of x\nU5 "go"\nA5<'
    )
    assert drawn.picture == "main: U1 A1 U3 A3\nmain@U2: U2 T1 R1\nmain#x: U5 A5"
    active = {drawn.title(line.id): line.is_active for line in drawn.graph.lines.values()}
    assert active == {"main": True, "main@U2": False, "main#x": False}


@pytest.mark.parametrize("scrap", ["S2", "H2\nS2<", "M2\nK2<\nL2<"])
@pytest.mark.parametrize("is_first", [True, False])
def test_leftover_records_are_no_session(scrap: str, is_first: bool) -> None:
    left = f"set session=other\n{scrap}\nset session=main\n"
    own = "U1\nA1<\n"
    drawn = sketch(f"{left}{own}" if is_first else f"{own}{left}")
    assert list(drawn.graph.sessions) == [session_id("main")]
    assert set(drawn.graph.accounts) == {session_id("main")}
    assert [path.session for path in list_paths(drawn.graph)] == [session_id("main")]


def test_a_record_of_another_session_that_the_file_continues_is_part_of_it() -> None:
    drawn = sketch("set session=other\nU1\nset session=main\nA1<U1\nU2<A1\nA2<")
    assert list(drawn.graph.sessions) == [session_id("main")]
    assert drawn.picture == "main: U1 A1 U2 A2"


def test_lone_foreign_prompt_is_not_continued() -> None:
    drawn = sketch("U1\nA1<\nset session=other\nU2")
    found = [(path.session, path.status) for path in list_paths(drawn.graph)]
    assert found == [(session_id("main"), "ACTIVE"), (session_id("other"), "ABANDONED")]


@pytest.mark.parametrize("said", ["U2\nS2<", "U2\nA2<", "H2\nA2<"])
def test_messages_of_another_session_in_a_file_belong_to_that_session(said: str) -> None:
    drawn = sketch(f"U1\nA1<\nset session=other\n{said}\n")
    assert list(drawn.graph.sessions) == [session_id("main"), session_id("other")]


# checklist: D10, D39
def test_continuing_sessions_are_in_time_order() -> None:
    drawn = sketch(
        "file main\nU1\nA1<\nU2<\nA2<\nB1 after A2\nC1<\n"
        "file two start=2026-11-03T09:00:00Z\ncopy main:U1 main:A1 main:U2 main:A2\n"
        "U5<main:A2\nA5<\n"
        "file three start=2026-11-04T09:00:00Z\ncopy main:U1 main:A1\nU6<main:A1\nA6<"
    )
    listed = [(item.depth, drawn.title(item.id)) for item in iter_outline(drawn.graph)]
    assert listed == [(0, "main"), (1, "B1"), (1, "two"), (1, "three")]


# checklist: D4
def test_session_inside_another_file_is_its_own_line() -> None:
    drawn = sketch("file main\nU1\nA1<\nset session=other\nU2\nA2<\nset session=main\nU3<A1\nA3<")
    assert [letters.partition(": ")[2] for letters in drawn.picture.split("\n")] == [
        "U1 A1 U3 A3",
        "U2 A2",
    ]
    assert [line.kind for line in drawn.graph.lines.values()] == ["trunk", "foreign"]
