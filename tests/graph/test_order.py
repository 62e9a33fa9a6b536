"""Reading order within a DAG-line."""

import pytest

from plait.graph import build
from plait.graph.lines import sort_for_reading
from tests.graph.sketch import sketch, sources_of

# What each number needs before it.
CASES: dict[str, tuple[dict[int, tuple[int, ...]], list[int] | None]] = {
    "already in order": ({0: (), 1: (0,), 2: (1,)}, [0, 1, 2]),
    "a parent after its child": ({0: (2,), 1: (), 2: ()}, [2, 0, 1]),
    "two levels up": ({0: (1,), 1: (2,), 2: ()}, [2, 1, 0]),
    "two needs": ({0: (), 1: (3, 2), 2: (), 3: ()}, [0, 3, 2, 1]),
    "a circle": ({0: (1,), 1: (0,)}, None),
    "needs outside of the line": ({1: (7,), 2: (1,)}, [1, 2]),
}


@pytest.mark.parametrize("name", CASES)
def test_parents_come_first(name: str) -> None:
    needs, expected = CASES[name]
    assert sort_for_reading(list(needs), needs.__getitem__) == expected


def test_result_before_its_call_is_read_after_it() -> None:
    drawn = sketch("U1\nT1<\nT2<T1~T1\nR2<T1 of T2\nR1<T1 of T1\nA2<R1")
    (source,) = sources_of(drawn.drawing)
    records = list(source.records)
    records[2], records[3] = records[3], records[2]
    graph = build([(source.file, [record.replace() for record in records])])
    (line,) = graph.lines.values()
    assert [drawn.names[uuid] for uuid in line.nodes] == ["U1", "T1", "T2", "R2", "R1", "A2"]


# checklist: D1, D54
def test_timestamps_never_order_records_of_one_file() -> None:
    drawn = sketch("U1@+9s A1<U1@2026-11-01T00:00:00Z U2<A1@+5s A2<U2@2026-10-01T00:00:00Z")
    assert drawn.picture == "main: U1 A1 U2 A2"


def test_million_deep_chain() -> None:
    count = 200_000
    needs = {number: (number + 1,) if number + 1 < count else () for number in range(count)}
    assert sort_for_reading(range(count), needs.__getitem__) == list(range(count - 1, -1, -1))
