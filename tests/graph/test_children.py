"""Lists of children: each child once, in order, no self-reference."""

from hypothesis import example, given
from hypothesis import strategies as st

from plait.graph.forks import build_children
from tests.graph.sketch import sketch

PARENTS = st.lists(st.integers(-1, 6), max_size=30).map(
    lambda drawn: [parent if parent < place else -1 for place, parent in enumerate(drawn)]
)


# checklist: D29
@given(PARENTS)
@example([-1, 0, 0, 1, 0])
def test_children_are_listed_once_in_order(up: list[int]) -> None:
    children = build_children(up)
    for parent in range(len(up)):
        named = [child for child, above in enumerate(up) if above == parent]
        assert list(children(parent)) == named


# checklist: D29
def test_self_referencing_record_is_not_its_child() -> None:
    drawn = sketch('U1\nA1<\nU2<A1 {"parentUuid": "$(uuid U2)"}\nA2<')
    assert drawn.picture == "main: U1 A1 U2 A2"
    own = drawn.drawing.uuid_of("U2")
    assert drawn.graph.edge_of(own).parent == drawn.drawing.uuid_of("A1")
    assert drawn.codes() == ["cycle"]


# checklist: D29
def test_repeated_line_is_one_child() -> None:
    drawn = sketch("U1\nA1<\nU2<A1\n=U2\n=U2\nA2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.rungs() == []
