"""Turns of drawn sessions: openers, members, durations."""

import pytest

from tests.conversation.sketched import talk

NOTICE_AT_REST = """
U1 "go"
A0< Agent(prompt="look", description="look") as sent
R0< of sent async
A1< "It runs."
N1< of sent
A2< "It is done."
"""
NOTICE_AT_WORK = """
U1 "go"
A0< Agent(prompt="look", description="look") as sent
R0< of sent async
T1< Bash(command="ls") as ls
R1< of ls
N1< of sent
A1< "Done."
"""
TABLE = [
    (
        "a prompt and its answer are a turn",
        "U1 A1< U2< A2<",
        ["1 prompt: U1=prompt A1=said", "2 prompt: U2=prompt A2=said"],
    ),
    (
        "calls, results and what follows them belong to the turn",
        "U1 T1< R1< A1<",
        ["1 prompt: U1=prompt T1=Bash:ok(R1) R1=own A1=said"],
    ),
    (
        "a prompt that nobody answered is a turn too",
        "U1 A1< U2<",
        ["1 prompt: U1=prompt A1=said", "2 prompt: U2=prompt"],
    ),
    (
        "what stands before the first prompt has number 0",
        "H1 U1< A1<",
        ["0 -: H1=hook_success", "1 prompt: U1=prompt A1=said"],
    ),
    (
        "a command that the client ran itself opens nothing",
        "U1 A1< K1< L1< U2< A2<",
        [
            "1 prompt: U1=prompt A1=said K1=command L1=command-output",
            "2 prompt: U2=prompt A2=said",
        ],
    ),
    (
        "a command that the model answers opens a turn, its expansion goes with it",
        "U1 A1< K1< M1< A2<",
        ["1 prompt: U1=prompt A1=said", "2 command: K1=command M1=skill A2=said"],
    ),
    (
        "a notice opens a turn where the model was at rest",
        NOTICE_AT_REST,
        [
            "1 prompt: U1=prompt A0=Agent:launched(R0) R0=own A1=said",
            "2 notice: N1=notice A2=said",
        ],
    ),
    (
        "a notice between a result and the next answer opens none",
        NOTICE_AT_WORK,
        [
            "1 prompt: U1=prompt A0=Agent:launched(R0) R0=own "
            "T1=Bash:ok(R1) R1=own N1=notice A1=said"
        ],
    ),
    (
        "a prompt typed while the model works belongs to the turn",
        "U1 T1< R1< Q1< A1<",
        ["1 prompt: U1=prompt T1=Bash:ok(R1) R1=own Q1=queued A1=said"],
    ),
    (
        "a prompt that waited until the model was at rest opens a turn",
        "U1 A1< Q1< A2<",
        ["1 prompt: U1=prompt A1=said", "2 queued: Q1=queued A2=said"],
    ),
    (
        "an interruption belongs to what it interrupts, the next prompt is a new turn",
        "U1 T1< I1< U2< A2<",
        [
            "1 prompt: U1=prompt T1=Bash:missing I1=interruption",
            "2 prompt: U2=prompt A2=said",
        ],
    ),
    (
        "a compaction in mid-turn does not end it",
        "U1 T1< R1< B1 C1< A2<",
        ["1 prompt: U1=prompt T1=Bash:ok(R1) R1=own B1=compacted C1=summary A2=said"],
    ),
    (
        "words of the client open a turn where nothing else does",
        'U1 "go"\nA1< "ok"\nM1< "Go on." -promptId\nA2< "rest"',
        ["1 prompt: U1=prompt A1=said", "2 meta: M1=meta A2=said"],
    ),
    (
        "the client's own words within a turn name its prompt and open none",
        'U1 "go" {"promptId": "p1"}\nA1< "half"\nM1< "Go on." {"promptId": "p1"}\nA2< "rest"',
        ["1 prompt: U1=prompt A1=said M1=meta A2=said"],
    ),
    (
        "what stands in the queue alone was never asked",
        'U1 "go"\nA1< "ok"\nenqueue "later"\nenqueue "/cost"\nM1< "Go on." -promptId\nA2< "rest"',
        [
            "1 prompt: U1=prompt A1=said ·=queued ·=queue-operation",
            "2 meta: M1=meta A2=said",
        ],
    ),
    (
        "a retracted prompt is folded in the turn that replaced it",
        "U1 A1< U2<A1 U3<A1 A3<",
        [
            "1 prompt: U1=prompt A1=said",
            "2 prompt: U3=prompt [retracted: U2=prompt] A3=said",
        ],
    ),
    (
        "an error of the API is an answer of its own",
        "U1 E1< U2< A2<",
        ["1 prompt: U1=prompt E1=said", "2 prompt: U2=prompt A2=said"],
    ),
]


@pytest.mark.parametrize(
    ("drawing", "turns"), [(d, t) for _, d, t in TABLE], ids=[name for name, _, _ in TABLE]
)
def test_turns_of_a_drawing(drawing: str, turns: list[str]) -> None:
    # checklist: S23, P15
    assert talk(drawing).picture.splitlines() == turns
