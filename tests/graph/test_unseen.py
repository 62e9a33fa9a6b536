"""Messages on the active line that the client will not send."""

import pytest

from examples.drawing import session_id
from plait.graph.client import Reason, build_context
from plait.graph.client.context import align_reasons
from plait.graph.layout import iter_rows
from tests.graph.sketch import Sketch, records_of, sketch

PARALLEL = "U1\nT1<\nT2<T1~T1\nR1<T1 of T1\nR2<T2 of T2\nA1<R2\n"
PRESERVED = (
    'U1\nA1<\nU2<\nA2<\nB1 after A2 keep=["U2","A2"] anchor=C1\nC1<\n'
    "U3<A2@2026-11-03T09:00:00Z\nA3<"
)

CASES = {
    "a straight line": ("U1 A1< U2< A2<", ""),
    "a parent that is nowhere": ("U1 A1<U1 U2<?@+1h A2<U2", "U1 A1"),
    "another stands in within five seconds": ("U1 A1<U1 U2<?@+5s A2<U2", ""),
    "and not after them": ("U1 A1<U1 U2<?@+6s A2<U2", "U1 A1"),
    "below a type that the client does not know": ("U1 A1<U1 X1<A1 U2<X1@+1h A2<U2", "U1 A1"),
    "below progress": ("U1 A1<U1 P1<A1 U2<P1@+1h A2<U2", ""),
    "a notice below an older result": ("U1\nT1<\nR1<\nA1<\nN1<R1 of T1\nA2<", "A1"),
    "a second answer": ("U1 A1<U1 A2<U1 U2<A2 A3<U2", "A1"),
    "an error in the place of an answer": ("U1 E1<U1 U2<E1 A2<U2", ""),
    "calls side by side": (PARALLEL, ""),
    "what was said behind the record that an explicit pointer names": (
        "U1 A1<U1 U2<A1 A2<U2\nlast-prompt leaf A1 explicit",
        "U2 A2",
    ),
    "a root without reason": ("U1 A1<U1 A2@+1h U2<A2 A3<U2", "U1 A1"),
    "before a compaction": ("U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<", ""),
    "before a compaction whose summary names no parent": ("U1\nA1<\nB1 after A1\nC1\nU2<\nA2<", ""),
    "a parent that is nowhere, behind a compaction": (
        "U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nU3<?@+1h\nA3<",
        "C1 U2 A2",
    ),
    "before a cleared context": ('U1\nA1<\nK1< "/clear"\nU2\nA2<', ""),
    "a prompt below what a compaction preserved": (PRESERVED, ""),
    "a rewind past a compaction that preserved something": (
        'U1\nA1<\nU2<\nA2<\nB1 after A2 keep=["U2","A2"] anchor=C1\nC1<\nU3<\nA3<\nU4<A1\nA4<',
        "U1 A1",
    ),
    "a branch": ("U1 A1< U2< A2< U3<A1 A3<", ""),
}


def unseen(drawn: Sketch) -> str:
    (session,) = drawn.graph.sessions.values()
    return " ".join(drawn.names[uuid] for uuid in session.unseen)


@pytest.mark.parametrize("name", CASES)
def test_messages_that_are_not_on_the_chain(name: str) -> None:
    text, expected = CASES[name]
    drawn = sketch(text)
    assert unseen(drawn) == expected
    assert unseen(drawn) == " ".join(left_out(drawn, Reason.UNSEEN))


def left_out(drawn: Sketch, reason: Reason) -> list[str]:
    """Return the messages that a context leaves out for a reason."""
    (file,) = drawn.drawing.files
    found = build_context(records_of(file), size=len(file.data))
    (session,) = drawn.graph.sessions
    told = align_reasons(drawn.graph, session, found)
    return [
        drawn.names[one.uuid]
        for one in told.left_out
        if one.reason is reason and drawn.graph.nodes[one.uuid].kind in ("user", "assistant")
    ]


REASONS: dict[str, tuple[str, Reason, str]] = {
    "before a compaction": (
        "U1\nA1<\nU2<\nA2<\nB1 after A2\nC1<\nU3<\nA3<",
        Reason.BEFORE_COMPACTION,
        "U1 A1 U2 A2",
    ),
    "before the last of two": (
        "U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nB2 after A2\nC2<\nU3<\nA3<",
        Reason.BEFORE_COMPACTION,
        "U1 A1 C1 U2 A2",
    ),
    "before a compaction whose summary names no parent": (
        "U1\nA1<\nB1 after A1\nU2\nA2<",
        Reason.BEFORE_COMPACTION,
        "U1 A1",
    ),
    "a branch that was left before a compaction": (
        "U1\nA1<\nU2<\nA2<\nU3<A1\nA3<\nB1 after A3\nC1<\nU4<\nA4<",
        Reason.ABANDONED,
        "U2 A2",
    ),
    "before a cleared context": (
        'U1\nA1<\nK1< "/clear"\nU2\nA2<',
        Reason.CLEARED,
        "U1 A1 K1",
    ),
    "a compaction behind a cleared context": (
        'U1\nA1<\nK1< "/clear"\nU2\nA2<\nB1 after A2\nC1<\nU3<\nA3<',
        Reason.BEFORE_COMPACTION,
        "U1 A1 K1 U2 A2",
    ),
    "a rewind": ("U1 A1< U2< A2< U3<A1 A3<", Reason.ABANDONED, "U2 A2"),
    "a prompt that was replaced": ("U1 A1< U2< U3<A1 A3<", Reason.ABANDONED, "U2"),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons_for_left_out_records(name: str) -> None:
    text, reason, expected = REASONS[name]
    assert " ".join(left_out(sketch(text), reason)) == expected


def test_another_session_in_the_file_is_not_abandoned() -> None:
    drawn = sketch("U1\nA1<\nset session=other\nU2\nA2<\nset session=main\nU3<A1@+1h\nA3<")
    (file,) = drawn.drawing.files
    found = build_context(records_of(file), size=len(file.data))
    told = align_reasons(drawn.graph, session_id("main"), found)
    assert {drawn.names[one.uuid]: one.reason for one in told.left_out} == {
        "U2": Reason.OTHER_SESSION,
        "A2": Reason.OTHER_SESSION,
    }


def test_rows_have_the_mark() -> None:
    drawn = sketch("U1 A1<U1 U2<?@+1h A2<U2")
    marks = [row.marks for row in iter_rows(drawn.graph)]
    assert marks == [("active", "unseen"), ("active", "leaf")]
    records = [row.marks for row in iter_rows(drawn.graph, "record")]
    assert ["unseen" in one for one in records] == [True, True, False, False]
