"""Shapes of real logs in letters, and the DAG-lines they become."""

import pytest

from tests.graph.sketch import sketch

DOCUMENT = {
    "two hooks on one answer": ("U1 A1<U1 H1<A1 H2<A1", "main: U1 A1 H1 H2"),
    "a prompt beside a progress line": (
        "U1 A1<U1 P1<A1 U2<A1 A2<U2",
        "main: U1 A1 P1 U2 A2",
    ),
    "a prompt beside a chain of thirty progress lines": (
        "U1 A1<U1 P1<A1 " + " ".join(f"P{n}<P{n - 1}" for n in range(2, 31)) + " U2<A1 A2<U2",
        "main: U1 A1 " + " ".join(f"P{n}" for n in range(1, 31)) + " U2 A2",
    ),
    "the first result with a hook, beside the second call": (
        "U1 T1<U1 R1<T1 H1<R1 T2<T1~T1 R2<T2 A2<R2",
        "main: U1 T1 R1 H1 T2 R2 A2",
    ),
    "a second call whose result leads nowhere": (
        "U1 T1<U1 T2<T1~T1 R1<T1 R2<T2 A2<R1",
        "main: U1 T1 T2 R1 R2 A2",
    ),
    "parallel agents whose results stand below each other's calls": (
        "U1\nT1< Task(prompt='a')\nT2<T1~T1 Task(prompt='b')\nT3<T2~T1 Task(prompt='c')\n"
        "R3<T3 of T3\nR1<T1 of T1\nR2<T2 of T2\nA2<R2",
        "main: U1 T1 T2 T3 R3 R1 R2 A2",
    ),
    "calls threaded through progress": (
        "U1 T1<U1 R1<T1 P1<T1 H1<R1 T2<P1~T1 R2<T2 P2<T2 A2<P2",
        "main: U1 T1 R1 P1 H1 T2 R2 P2 A2",
    ),
    "a response that goes on while its first call runs": (
        "U1 T1<U1 T2<T1~T1 R2<T2 A2<R2 R1<T1 A3<R1 U2<A3 A4<U2",
        "main: U1 T1 T2 R2 A2 R1 A3 U2 A4",
    ),
    "the staircase of such responses": (
        "U1 T1<U1 T2<T1~T1 R1<T1 T3<T2~T1 R2<T2 T4<T3~T1 R3<T3 R4<T4 A5<R4",
        "main: U1 T1 T2 R1 T3 R2 T4 R3 R4 A5",
    ),
    "a prompt that a compaction replayed": (
        'U1\nA1<\nU2<A1\nU3<A1@= "prompt U2"\nA2<U2\nU4<A2',
        "main: U1 A1 U2 [replay: U3] A2 U4",
    ),
    "a replay that the conversation went on from": (
        'U1\nA1<\nU2<A1\nU3<A1@= "prompt U2"\nA3<U3\nU4<A3',
        "main: U1 A1 U2 [replay: U3] A3 U4",
    ),
    "a turn that a compaction replayed with its answer": (
        'U1\nA1<\nU2<A1@2026-11-02T09:10:00Z\nA2<@2026-11-02T09:10:05Z "yes"\nU3<\nA3<\n'
        'U4<A1@2026-11-02T09:10:00Z "prompt U2"\nA4<U4~A2@2026-11-02T09:10:05Z "yes"',
        "main: U1 A1 U2 [replay: U4] A2 [replay: A4] U3 A3",
    ),
    "and the conversation went on from there": (
        'U1\nA1<\nU2<A1@2026-11-02T09:10:00Z\nA2<@2026-11-02T09:10:05Z "yes"\n'
        'U4<A1@2026-11-02T09:10:00Z "prompt U2"\nA4<U4~A2@2026-11-02T09:10:05Z "yes"\nU5<A4\nA5<',
        "main: U1 A1 U2 [replay: U4] A2 [replay: A4] U5 A5",
    ),
    "a rewind": (
        "U1 A1<U1 U2<A1 A2<U2 U3<A1 A3<U3",
        "main: U1 A1 U3 A3\nmain@U2: U2 A2",
    ),
    "a rewind in a rewind": (
        "U1 A1<U1 U2<A1 A2<U2 U3<A1 A3<U3 U4<A3 A4<U4 U5<A3 A5<U5",
        "main: U1 A1 U3 A3 U5 A5\nmain@U2: U2 A2\nmain@U4: U4 A4",
    ),
    "two compactions, three roots": (
        "U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nB2 after A2\nC2<\nU3<\nA3<",
        "main: U1 A1 B1 C1 U2 A2 B2 C2 U3 A3",
    ),
    "a root that is a local command": (
        "S1 local_command\nU1\nA1<\nU2<\nA2<",
        "main: S1 U1 A1 U2 A2",
    ),
    "a hook before the first prompt": ("H1 U1<H1 A1<U1", "main: H1 U1 A1"),
    "a hook before the first prompt, and nothing between them": (
        "H1 U1 A1<U1",
        "main: H1 U1 A1",
    ),
    "a typed prompt on a call whose response went on": (
        "U1 T1<U1 T2<T1~T1 R1<T1 R2<T2 A2<R2 U2<T1 A3<U2",
        "main: U1 T1 T2 R1 R2 U2 A3\nmain@A2: A2",
    ),
    "a foreign result beside a continuation that people went on from": (
        "U1\nT1<\nA2<T1\nU2<A2\nA3<U2\nR9<T1 of ?x\nA4<R9\nU3<A4\nA5<U3",
        "main: U1 T1 R9 A4 U3 A5\nmain@A2: A2 U2 A3",
    ),
    "a hook in flight when the context is compacted": (
        "U1\nA1<\nB1 after A1\nC1<\nP1<?\nU2<C1\nA2<",
        "main: U1 A1 B1 C1 P1 U2 A2",
    ),
}

PEERS_GET_WRONG = {
    "the second of two parallel calls ends first": (
        "U1\nT1<\nT2<T1~T1\nR2<T2 of T2\nR1<T1 of T1\nA2<R1",
        "main: U1 T1 T2 R2 R1 A2",
    ),
    "a rewind to a tool result": (
        "U1 T1<U1 R1<T1 A2<R1 U3<A2 A3<U3 U4<R1 A4<U4",
        "main: U1 T1 R1 U4 A4\nmain@A2: A2 U3 A3",
    ),
    "two prompts at the same instant": (
        "U1\nA1<\nU2<A1\nU3<A1@=\nA2<U2\nA3<U3",
        "main: U1 A1 U3 A3\nmain@U2: U2 A2",
    ),
    "a rewind of the very first prompt": (
        "U1 A1<U1 U2 A2<U2",
        "main: U2 A2\nmain@U1: U1 A1",
    ),
    "a compaction, then a rewind to before it": (
        "U1\nA1<\nU2<A1\nA2<\nB1 after A2\nC1<\nU3<\nA3<\nU4<A1\nA4<",
        "main: U1 A1 U4 A4\nmain@U2: U2 A2 B1 C1 U3 A3",
    ),
    "a rewind to the last record before a compaction": (
        "U1\nA1<\nB1 after A1\nC1<\nU3<\nA3<\nU4<A1\nA4<",
        "main: U1 A1 U4 A4\nmain@B1: B1 C1 U3 A3",
    ),
    "a compaction of a rewound conversation": (
        "U1\nA1<\nU2<A1\nA2<\nU3<A1\nA3<\nB1 after A3\nC1<\nU4<\nA4<",
        "main: U1 A1 U3 A3 B1 C1 U4 A4\nmain@U2: U2 A2",
    ),
    "a rewind followed by parallel calls with progress": (
        "U1 A1<U1 U2<A1 A2<U2 U3<A1 T1<U3 P1<T1 T2<P1~T1 R1<T1 P2<T2 R2<T2 A3<R2",
        "main: U1 A1 U3 T1 P1 T2 R1 P2 R2 A3\nmain@U2: U2 A2",
    ),
    "two texts of one response in the same millisecond": (
        "U1\nA1<\nA2<A1~A1@=\nU2<A2\nA3<",
        "main: U1 A1 A2 U2 A3",
    ),
    "two texts of one response side by side": (
        "U1\nA1<U1\nA2<U1~A1@=\nU2<A2\nA3<",
        "main: U1 A1 A2 U2 A3",
    ),
    "a child before its parent": ("U1 A2<U2 U2<A1 A1<U1", "main: U1 A1 U2 A2"),
    "a fork file with the name of its origin": (
        "file main\nU1\nA1<\nU2<\nA2<\nfile side start=2026-11-03T09:00:00.000Z\n"
        "copy main:U1 main:A1 forked\nU3<main:A1\nA3<",
        "main: U1 A1 U2 A2\nside: U3 A3",
    ),
    "an agent nobody names": (
        'U1\nA1<\nagent lost nometa\nU5 "who am I"\nA5<',
        "main: U1 A1\nmain#lost: U5 A5",
    ),
}

RUNGS = {
    "a prompt between two parts of one response": (
        "U1 A1<U1 U2<A1 T1<U2~A1 R1<T1 A2<R1 U3<A2 A3<U3",
        "main: U1 A1 U2 T1 R1 A2 U3 A3",
    ),
    "and a prompt straight on its result": (
        "U1 A1<U1 U2<A1 T1<U2~A1 R1<T1 U3<R1 A3<U3",
        "main: U1 A1 U2 T1 R1 U3 A3",
    ),
    "an unanswered prompt that was replaced": (
        "U1 A1<U1 U2<A1 U3<A1 A3<U3",
        "main: U1 A1 U3 [retracted: U2] A3",
    ),
    "one that was sent again": (
        'U1\nA1<\nU2<A1 "go"\nU3<A1 "go"\nA3<U3',
        "main: U1 A1 U3 [resent: U2] A3",
    ),
    "a command that was sent again": (
        'U1\nA1<\nU2<A1 "<command-name>/go</command-name>"\n'
        'U3<A1 "<command-name>/go</command-name>"\nA3<U3',
        "main: U1 A1 U3 [resent: U2] A3",
    ),
    "a command beside another": (
        'U1\nA1<\nU2<A1 "<command-name>/go</command-name>"\n'
        'U3<A1 "<command-name>/on</command-name>"\nA3<U3',
        "main: U1 A1 U2 U3 A3",
    ),
    "three that were replaced in turn": (
        "U1 A1<U1 U2<A1 U3<A1 U4<A1 A4<U4",
        "main: U1 A1 U4 [retracted: U3 [retracted: U2]] A4",
    ),
    "an unanswered one with notes below it": (
        "U1 A1<U1 U2<A1 H1<U2 I1<H1 U3<A1 A3<U3",
        "main: U1 A1 U3 [retracted: U2 H1 I1] A3",
    ),
    "an unanswered one after a rewind": (
        "U1 A1<U1 U2<A1 A2<U2 U3<A1 U4<A1 A4<U4",
        "main: U1 A1 U4 [retracted: U3] A4\nmain@U2: U2 A2",
    ),
    "an unanswered one that the client goes on from": (
        "U1\nA1<\nU2<A1\nU3<A1\nA3<U3\nlast-prompt leaf U2",
        "main: U1 A1 U2\nmain@U3: U3 A3",
    ),
    "a prompt that only an error answered": (
        "U1\nA1<\nU2<A1\nE1<U2\nU3<A1\nA3<U3",
        "main: U1 A1 U3 [retracted: U2 E1] A3",
    ),
    "two answers to one prompt": ("U1 A1<U1 A2<U1 U2<A2 A3<U2", "main: U1 A1 A2 U2 A3"),
    "a prompt written twice, and another way a minute later": (
        'U1\nA1<\nU2<A1\nU3<A1@= "prompt U2"\nA2<U2\nU4<A1@+60s\nA4<U4',
        "main: U1 A1 U4 A4\nmain@U2: U2 [replay: U3] A2",
    ),
    "an answer beside an error, the next prompt on the error": (
        "U1\nA1<\nS1<U1 api_error\nU2<S1\nA2<",
        "main: U1 A1 S1 U2 A2",
    ),
    "a command without an answer beside the next prompt": (
        "U1 A1<U1 K1<A1 L1<K1 U2<A1 A2<U2",
        "main: U1 A1 K1 L1 U2 A2",
    ),
    "a rewind that begins with a command": (
        "U1 A1<U1 U2<A1 A2<U2 K1<A1 L1<K1 U3<L1 A3<U3",
        "main: U1 A1 K1 L1 U3 A3\nmain@U2: U2 A2",
    ),
    "two clients that write at once": (
        "U1 A1<U1 U2<A1 U3<A1 A2<U2 A3<U3 U4<A2 U5<A3",
        "main: U1 A1 U3 A3 U5\nmain@U2: U2 A2 U4",
    ),
    "a session resumed while a call of another client runs": (
        "U1\nT1<\nR1<T1 of T1\nU2<R1\nA2<\nR2<T1 of T1\nA3<R2\nU3<A3\nA4<",
        "main: U1 T1 R1 R2 A3 U3 A4\nmain@U2: U2 A2",
    ),
    "and where the other client is left": (
        "U1\nT1<\nR1<T1 of T1\nU2<R1\nA2<\nR2<T1 of T1\nA3<R2\nlast-prompt leaf A2",
        "main: U1 T1 R1 U2 A2 R2\nmain@A3: A3",
    ),
    "a prompt without an answer beside the answer to what came before": (
        "U1 T1<U1 R1<T1 U2<R1 A2<R1 U3<A2 A3<U3",
        "main: U1 T1 R1 U2 A2 U3 A3",
    ),
    "a notice below an older result, beside what the model went on with": (
        "U1\nT1<\nR1<\nA1<\nN1<R1 of T1\nA2<",
        "main: U1 T1 R1 A1 N1 A2",
    ),
    "and beside what a person went on with": (
        "U1\nT1<\nR1<\nA1<\nU2<\nA3<\nN1<R1 of T1\nA2<",
        "main: U1 T1 R1 N1 A2\nmain@A1: A1 U2 A3",
    ),
    "a queued prompt never opens a branch": (
        "U1 T1<U1 R1<T1 Q1<R1 A2<R1 U2<A2 A3<U2",
        "main: U1 T1 R1 Q1 A2 U2 A3",
    ),
    "a file that names no parents": (
        "U1 A1 U2 A2 U3 A3",
        "main: U1 A1 U2 A2 U3 A3",
    ),
    "a prompt after an interruption, with nothing above it": (
        "U1 A1<U1 I1<A1 U2 A2<U2",
        "main: U1 A1 I1 U2 A2",
    ),
    "a context that was cleared": (
        'U1\nA1<\nK1<A1 "/clear"\nL1<\nU2\nA2<',
        "main: U1 A1 K1 L1 U2 A2",
    ),
}


def check(drawing: str, expected: str) -> None:
    """Draw a shape and compare its lines; nothing may be missing."""
    drawn = sketch(drawing)
    assert drawn.picture == expected
    assert set(drawn.graph.nodes) == set(drawn.graph.line_of)


# checklist: D2, D5, D6, D33, D43, D44, D45, D46, D47, D49, D50, D52, D53
# checklist: D55, D56, D59, D60, D62, D63, D76, D87, S12, S19
@pytest.mark.parametrize("name", DOCUMENT)
def test_documented_shapes(name: str) -> None:
    check(*DOCUMENT[name])


STATE = "agent-setting ai-title custom-title pr-link queue-operation mode tag unheard-of".split()


# checklist: D53
@pytest.mark.parametrize("kind", STATE)
def test_state_line_with_a_uuid_is_structural(kind: str) -> None:
    check(f"U1\nA1<\nX1<A1 unknown {kind}\nU2<A1\nA2<", "main: U1 A1 X1 U2 A2")
    check(f"U1\nA1<\nX1< unknown {kind}\nU2<X1\nA2<\nU3<X1\nA3<", REWOUND)


REWOUND = "main: U1 A1 X1 U3 A3\nmain@U2: U2 A2"


# checklist: D48, S58, S59
@pytest.mark.parametrize("name", PEERS_GET_WRONG)
def test_tricky_shapes(name: str) -> None:
    check(*PEERS_GET_WRONG[name])


@pytest.mark.parametrize("name", RUNGS)
def test_shapes_explained_by_a_rule(name: str) -> None:
    check(*RUNGS[name])


def test_a_descendant_of_the_older_side_is_no_fork() -> None:
    assert sketch("U1 A1<U1 U2<A1 T1<U2~A1 R1<T1 U3<R1 A3<U3").rungs() == []
