"""Sessions across files as a tree."""

from plait.graph import traverse
from tests.graph.sketch import sketch

EXAMPLE = """
file s1
A B< C< D< E< F< G<
file s2 start=2026-11-03T09:00:00.000Z
H<s1:G I< J<
file s3 start=2026-11-04T09:00:00.000Z
K<s1:E L< M<
"""


# checklist: D7, D9, D10, D11, D13, D14, D37, D38, D39, D40, D41
def test_the_example_of_the_document() -> None:
    drawn = sketch(EXAMPLE)
    assert drawn.picture == "s1: A B C D E F G\ns2: H I J\ns3: K L M"
    walked = [drawn.names[uuid] for line in traverse(drawn.graph.tree) for uuid in line.nodes]
    assert walked == list("ABCDEFGHIJKLM")
    assert drawn.codes() == []


def test_junctions_link_both_ways() -> None:
    graph = sketch(EXAMPLE).graph
    for junction in graph.tree.junctions.values():
        for name in junction.leaving:
            assert graph.lines[name].attachment == junction.uuid
            assert graph.lines[name].parent == junction.line
    assert len(graph.tree.junctions) == 2


def test_children_stand_in_time_order() -> None:
    later = EXAMPLE.replace("11-03", "11-05")
    drawn = sketch(later)
    assert drawn.picture.split("\n")[1:] == ["s3: K L M", "s2: H I J"]


def test_branches_and_agents_are_nodes_of_the_tree() -> None:
    drawn = sketch(
        'U1\nA1<\nU2<A1\nT1< Task(prompt="go") as x\nR1< of x\nU3<A1\nA3<\n'
        'agent x of x\nU5 "go"\nA5<'
    )
    assert drawn.picture == "main: U1 A1 U3 A3\nmain@U2: U2 T1 R1\nmain#x: U5 A5"
    active = {drawn.title(line.id): line.is_active for line in drawn.graph.lines.values()}
    assert active == {"main": True, "main@U2": False, "main#x": False}


# checklist: D4
def test_a_session_inside_another_file_is_its_own_trunk() -> None:
    drawn = sketch("file main\nU1\nA1<\nset session=other\nU2\nA2<\nset session=main\nU3<A1\nA3<")
    assert [letters.partition(": ")[2] for letters in drawn.picture.split("\n")] == [
        "U1 A1 U3 A3",
        "U2 A2",
    ]
    assert [line.kind for line in drawn.graph.lines.values()] == ["trunk", "foreign"]
