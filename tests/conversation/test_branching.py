"""Whether a session may have branches, decided from its lines alone."""

import pytest

from examples.drawing import draw
from plait.conversation.build import may_branch
from tests.graph.pictures import drawings
from tests.graph.sketch import records_of, sketch

STRAIGHT = {
    "a prompt": "U1",
    "turns in a row": "U1 A1< U2< A2<",
    "a note between them": "U1 A1< S1< U2< A2<",
    "notes in a row": "U1 A1< S1< H1< U2< A2<",
    "a note before the first answer": "U1 H1< A1<U1 U2<A1",
    "a note before the first prompt": "H1 U1< A1< U2<",
    "a tool": "U1 T1< R1< A2< U2<",
    "calls side by side": "U1 T1<U1 T2<T1~T1 R1<T1 R2<T2 A2<R2 U2<A2",
    "two answers to one prompt": "U1 A1< A2<U1 U2<A2",
    "a response on several lines": "U1 A1< A2<A1~A1 U2<A2",
    "a sidechain before": "U1!side A1<U1!side U2 A2<U2",
    "a sidechain between": "U1 A1< U2!side A2<U2!side U3<A1 A3<",
    "a compaction": "U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<",
    "a line without uuid": "U1\nmode plan\nA1<\nmode plan\nU2<\nA2<",
}
BRANCHED = {
    "a prompt that goes back": "U1 A1< U2< A2< U3<A1 A3<",
    "by way of a note": "U1 A1< H1<U1 U2<H1 A2<",
    "by way of a note on a note": "U1 H1< A1<U1 H2<H1 U2<H2",
    "a prompt on a result": "U1 T1< R1< U2< A2<",
    "an answer to the turn before": "U1 A1< U2< A2<U1",
    "a response that goes on in another turn": "U1 A1<U1 U2<A1 A2<U2~A1",
    "a repeated line": "U1 A1< =A1",
    "a repeated line of an earlier turn": "U1 A1< U2< =U1",
    "a repeated line of a sidechain": "U1 A1< U2!side =U2",
    "another session": "file main\nU1\nA1<\nset session=other\nU2<\nA2<",
    "a compaction of an earlier turn": "U1\nA1<\nU2<\nA2<\nB1 after A1\nC1<",
    "a second root": "U1 A1< U2 A2<U2",
    "an answer without a parent": "U1 A1 U2<A1",
    "a parent that is nowhere": "U1 A1< U2<? A2<",
}


def asked(drawing: str) -> bool:
    return may_branch(records_of(draw(drawing).files[0]))


@pytest.mark.parametrize("why", STRAIGHT)
def test_a_straight_session(why: str) -> None:
    assert not asked(STRAIGHT[why])


@pytest.mark.parametrize("why", BRANCHED)
def test_a_session_that_may_branch(why: str) -> None:
    assert asked(BRANCHED[why])


def test_a_session_that_cannot_branch_has_no_branches() -> None:
    for name, drawing in drawings().items():
        if not asked(drawing):
            graph = sketch(drawing).graph
            first = graph.files[0].session
            kinds = {line.kind for line in graph.lines.values() if line.session == first}
            assert not kinds & {"branch", "foreign"}, name
