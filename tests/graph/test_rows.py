"""Graph rows: columns, links and marks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given

from plait.graph import build
from plait.graph.layout import MOST_COLUMNS, Detail, RowShape, iter_rows
from tests.graph.generated import archives, sources
from tests.graph.sketch import Sketch, sketch

AGENTS = """
U1 "look into it"
T1< Agent(description="look", prompt="p")
R1<
A1<
U2< "thanks"
A2<
agent look of T1
U5 "p"
T5< Bash(command="ls")
R5<
A5<
"""


def shapes(drawn: Sketch, detail: Detail = "turn", *, everything: bool = False) -> list[str]:
    """Return rows in letters: column, records, lanes, links, marks."""
    return [shape(drawn, row) for row in iter_rows(drawn.graph, detail, everything=everything)]


def shape(drawn: Sketch, row: RowShape) -> str:
    letters = " ".join(drawn.names[uuid] for uuid in row.uuids)
    links = " ".join(f"{link.start}>{link.end}:{link.shape}" for link in row.links)
    lanes = "".join(f" |{lane}" for lane in row.lanes)
    return f"{row.column} {letters}{lanes}  {links}  {' '.join(row.marks)}".rstrip()


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        pytest.param(
            "U1 A1< U2< A2<",
            ["0 U1 A1    active", "0 U2 A2  0>0:straight 0>0:end  active leaf"],
            id="a turn a row",
        ),
        pytest.param(
            'U1\nA1<\nK1< "/clear"\nP1\nU2<P1\nA2<',
            [
                "0 U1 A1    active",
                "0 K1  0>0:straight  active",
                "0 P1 U2 A2  0>0:straight 0>0:end  active restart leaf",
            ],
            id="a context that was cleared, with a hook before the next prompt",
        ),
        pytest.param(
            "U1 A1< A2<U1 U2<A2 A3<",
            [
                "0 U1 A1 A2    active unseen retry",
                "0 U2 A3  0>0:straight 0>0:end  active leaf",
            ],
            id="an answer and another",
        ),
        pytest.param(
            "U1\nA1<\nS1<U1 api_error\nU2<S1\nA2<",
            [
                "0 U1 A1 S1    active unseen",
                "0 U2 A2  0>0:straight 0>0:end  active leaf",
            ],
            id="a prompt behind an error is no answer",
        ),
        pytest.param(
            "U1 A1< S1< U2< A2< U3<S1 A3<",
            [
                "0 U1 A1 S1    active fork",
                "1 U2 A2 |0  0>1:fork 1>1:end  abandoned",
                "0 U3 A3  0>0:straight 0>0:end  active rewind leaf",
            ],
            id="a rewind",
        ),
        pytest.param(
            "U1 T1< R1< A1< U2<R1 A2<",
            [
                "0 U1 T1 R1    active fork",
                "1 A1 |0  0>1:fork 1>1:end  abandoned",
                "0 U2 A2  0>0:straight 0>0:end  active rewind leaf",
            ],
            id="a rewind into the middle of a turn",
        ),
        pytest.param(
            "U1 A1< U2< U3<A1 A3<",
            [
                "0 U1 A1    active",
                "1 U2 |0  0>1:fork 1>1:end  abandoned folded retracted",
                "0 U3 A3  0>0:straight 0>0:end  active leaf",
            ],
            id="a retracted prompt",
        ),
        pytest.param(
            "U1 A1< U2 A2<",
            [
                "1 U1 A1  1>1:end  abandoned",
                "0 U2 A2  0>0:end  active rewind leaf",
            ],
            id="a rewind of the first prompt",
        ),
        pytest.param(
            "U1\nA1<\nB1 boundary after A1\nC1<\nA2<\nU2<\nA3<",
            [
                "0 U1 A1    active",
                "0 B1 C1  0>0:straight  active compaction",
                "0 A2  0>0:straight  active",
                "0 U2 A3  0>0:straight 0>0:end  active leaf",
            ],
            id="a compaction in the middle of a turn",
        ),
        pytest.param(
            "U1 A1< Q1< A2< I1< U2<",
            [
                "0 U1 A1    active",
                "0 Q1 A2 I1  0>0:straight  active interrupted queued",
                "0 U2  0>0:straight 0>0:end  active leaf",
            ],
            id="queued and interrupted",
        ),
        pytest.param(
            AGENTS,
            [
                "0 U1 T1 R1 A1    active",
                "1 U5 T5 R5 A5 |0  0>1:agent-out 1>0:agent-in  active agent",
                "0 U2 A2  0>0:straight 0>0:end  active leaf",
            ],
            id="an agent on one row",
        ),
        pytest.param(
            "file one\nU1\nA1<\nfile two\ncopy one:U1 one:A1\nU2<one:A1\nA2<",
            [
                "0 U1 A1    active leaf fork",
                "0 U2 A2  0>0:straight 0>0:end  active session leaf",
            ],
            id="a session goes on in another file, in the same column",
        ),
    ],
)
def test_shapes(drawing: str, expected: list[str]) -> None:
    assert shapes(sketch(drawing)) == expected


def test_row_ends_with_its_last_response() -> None:
    (row,) = iter_rows(
        sketch('U1\nA1<@+5s\nS1<@+9s\nA2<@+9s "well" {"isMeta": true}').graph, "turn"
    )
    assert (row.started, row.ended) == ("2026-11-02T09:00:00.000Z", "2026-11-02T09:00:05.000Z")


def test_every_record_can_have_its_row() -> None:
    assert shapes(sketch("U1 A1< U2< A2< U3<A1 A3<"), "record") == [
        "0 U1    active",
        "0 A1  0>0:straight  active fork",
        "1 U2 |0  0>1:fork  abandoned",
        "1 A2 |0  1>1:straight 1>1:end  abandoned",
        "0 U3  0>0:straight  active rewind",
        "0 A3  0>0:straight 0>0:end  active leaf",
    ]


def test_linear_runs_collapse() -> None:
    drawing = "U1\nA1<\nU2<\nA2<\nU3<\nA3<\nU4<A2\nA4<\nB1 boundary after A4\nC1<\nU5<\nA5<"
    assert shapes(sketch(drawing), "run") == [
        "0 U1 A1 U2 A2    active fork",
        "1 U3 A3 |0  0>1:fork 1>1:end  abandoned",
        "0 U4 A4  0>0:straight  active rewind",
        "0 B1 C1 U5 A5  0>0:straight 0>0:end  active leaf compaction",
    ]


def test_agents_can_be_followed() -> None:
    assert shapes(sketch(AGENTS), "record", everything=True)[1:7] == [
        "0 T1  0>0:straight  active",
        "1 U5 |0  0>1:agent-out  active agent",
        "1 T5 |0  1>1:straight  active agent",
        "1 R5 |0  1>1:straight  active agent",
        "1 A5 |0  1>1:straight 1>0:agent-in  active agent",
        "0 R1  0>0:straight  active",
    ]


def test_a_row_has_a_text() -> None:
    first, agent, last = iter_rows(sketch(AGENTS).graph)
    assert (first.words, first.calls, first.agents) == ("look into it", 1, 1)
    assert (agent.words, agent.calls, agent.agents) == ("look", 1, 0)
    assert (last.words, last.calls, last.agents) == ("thanks", 0, 0)
    assert first.started == "2026-11-02T09:00:00.000Z"
    assert first.ended == "2026-11-02T09:00:03.000Z"


def test_rows_are_json() -> None:
    (row,) = iter_rows(sketch("U1 A1<").graph)
    value = msgspec.json.decode(msgspec.json.encode(row))
    assert value["links"] == [{"from": 0, "to": 0, "kind": "end"}]
    assert value["marks"] == ["active", "leaf"]
    assert value["head"] == value["uuids"][0]


def test_deeply_nested_branches_stay_within_the_columns() -> None:
    chain = [f"U{number}< A{number}<" for number in range(2, 60)]
    rewinds = [f"U{number + 100}<A{number} A{number + 100}<" for number in range(58, 0, -1)]
    drawn = sketch(" ".join(["U1", "A1<", *chain, *rewinds]))
    found = list(iter_rows(drawn.graph))
    assert max(row.column for row in found) == MOST_COLUMNS - 1
    assert sum(len(row.uuids) for row in found) == len(drawn.graph.nodes)


@pytest.mark.parametrize("detail", ["run", "turn", "record"])
@given(archive=archives)
def test_every_record_is_on_one_row(
    detail: Detail, archive: dict[str, list[dict[str, Any]]]
) -> None:
    graph = build(sources(archive))
    found = list(iter_rows(graph, detail, everything=True))
    assert sorted(uuid for row in found for uuid in row.uuids) == sorted(graph.nodes)
    for row in found:
        assert row.column not in row.lanes
        assert row.head in row.uuids


@given(archive=archives)
def test_lanes_pass_until_their_strand_continues(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    found = list(iter_rows(build(sources(archive)), everything=True))
    for row, below in pairwise(found):
        if any(link.shape == "straight" for link in below.links) and below.column != row.column:
            assert below.column in row.lanes
