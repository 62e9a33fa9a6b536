"""Odd sessions, in letters, of which a picture is kept.

Many of them turn on the first record of a file: what hangs on number nought hangs on something.
"""

SCOUT = 'U1\nT1< Agent(prompt="look around", description="scout") as x\nR1< of x\nA1<\n'

ODD: dict[str, str] = {
    # what hangs on the first record
    "rewind-to-the-first-record": "U1 A1<U1 U2<A1 A2<U2 A3<U1 U3<A3 A4<U3",
    "prompts-below-a-prompt": "U1 U2<U1 A2<U2 U3<U1 A3<U3 U4<U1",
    "missing-parent-of-the-second": "U1 A1<? U2<A1 A2<U2",
    "missing-parent-of-the-first": "U1<? A1<U1 U2<A1 U3<?",
    "missing-parent-later-in-time": "U1 A1<?@2026-11-01T08:00:00Z U2<A1 A2<? U3<?@=",
    "circle-from-the-first": "U1<A2 A1<U1 U2<A1 A2<U2 U3<A2",
    "circles-in-a-row": "U1 A1<A1 U2<A2 A2<U2 U3<A3 A3<U3 U4<A3",
    "child-before-its-parent": "A1<U1 U1 A2<U2 U2<A1 A3<U3 U3<A1",
    "a-file-that-goes-on-from-the-first": (
        "file one\nU1\nA1<\nU2<\nA2<\nfile two start=2026-11-03T09:00:00Z\n"
        "copy one:U1 forked\nA3<one:U1\nU3<\nA4<"
    ),
    "a-file-that-goes-on-without-copies": (
        "file one\nU1\nA1<\nU2<\nA2<\nfile two start=2026-11-03T09:00:00Z\nU3<one:U1\nA3<\nU4<\nA4<"
    ),
    "three-files-in-a-row": (
        "file one\nU1\nA1<\nfile two start=2026-11-03T09:00:00Z\ncopy one:U1 one:A1\n"
        "U2<one:A1\nA2<\n"
        "file three start=2026-11-04T09:00:00Z\ncopy one:U1 one:A1\ncopy two:U2 two:A2\n"
        "U3<two:A2\nA3<\nfile four start=2026-11-05T09:00:00Z\nU4<one:A1\nA4<\nU5<one:U1"
    ),
    "copies-repeated": (
        "file one\nU1\nA1<\nfile two start=2026-11-03T09:00:00Z\ncopy one:U1 one:A1\n"
        "copy one:U1 one:A1\nU2<one:A1\nA2<"
    ),
    "copies-alone": (
        "file one\nU1\nA1<\nU2<\nfile two start=2026-11-03T09:00:00Z\ncopy one:U1 forked\n"
        'agent w nometa\nU5 "who?"\nA5<'
    ),
    "another-session-in-a-file": (
        "file main\nU1\nA1<\nset session=other\nU2\nA2<\nU3<A2\nset session=main\nU4<A1\nA4<\n"
        "set session=third\nU5<A4\nA5<"
    ),
    "branch-that-stands-before-its-root": "U2<A1 A2<U2 U1 A1<U1 U3<A1 A3<U3",
    "sidechain-given-back": "U1!side A1<U1 U2<A1 A2<U2",
    # structure
    "structure-below-the-first": "U1 H1<U1 U2<H1 A2<U2 U3<U1 A3<U3",
    "structure-below-what-is-folded": "U1 H1<U1 H2<H1 U2 A2<U2",
    "note-at-the-end": "U1 H1<U1",
    "structure-first": "S1 local_command\nP1<S1\nU1<P1\nA1<\nH1<\nU2<H1\nA2<\nU3<H1\nA3<",
    "structure-alone": "S1 local_command\nS2<S1 api_error\nP1<S2",
    "errors-between": (
        "U1\nA1<\nU2<A1\nS1<U2 api_error\nS2<S1 api_error\nE1<S2\nU3<A1\nS3<U3 api_error\nA3<S3\n"
        "A4<U3"
    ),
    "interrupted-and-cleared": (
        'U1\nA1<\nI1<\nU2\nA2<\nM1\nK1<M1 "/clear"\nL1<\nU3\nA3<\nK2 "/clear"\nU4\nA4<\nR9 of ?\nA5'
    ),
    "caveat-that-clears-nothing": "U1\nA1<\nM1\nK1<M1\nL1<\nU2\nA2<\nM2",
    "compactions": (
        'U1\nA1<\nU2<\nA2<\nB1 after A1\nC1<\nU3<\nA3<\nB2 after ? keep=["A2","A3"]\n'
        "C2<\nU4<\nA4<\n"
        "B3 after ?\nC3<\nU5<A4\nA5<\nB4\nC4<"
    ),
    "compaction-first": "B1 after ?\nC1<\nU1<\nA1<",
    "compaction-of-the-first": "U1\nB1 after U1\nC1<\nU2<\nA2<\nA1<U1",
    "rewinds-behind-a-compaction": ("U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nU3<C1\nA3<\nU4<B1\nA4<"),
    # calls
    "a-result-in-an-agent": (
        'U1\nT1< Bash(command="x") as x\nT2<T1~T1 Agent(prompt="go") as y\nA1<\n'
        'agent y of y\nU5 "go"\nR5<U5 of main:x\nA5<\nagent z nometa\nU6 "z"\n'
        'T6< Bash(command="q") as q\nagent w nometa\nU7 "w"\nR7<U7 of z:q'
    ),
    "a-call-below-its-result": (
        'U1\nU9<U1 {"message": {"role": "user", "content": [{"type": "tool_result", '
        '"tool_use_id": "toolu_1", "content": "early"}]}}\nA2<U2\nU2<A1\n'
        'A1<U9 {"message": {"id": "m1", "role": "assistant", "content": '
        '[{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]}}'
    ),
    "calls-side-by-side": (
        "U1\nT1<\nT2<T1~T1\nT3<T2~T1\nR2<T2 of T2\nR1<T1 of T1\nR3<T3 of T3\nA2<R1\nU2<R3\nA3<\n"
        "U3<T1\nA4<"
    ),
    "results-away": (
        "U1\nT1<\nR1<T1 of T1\nA1<\nU2<A1\nT2<\nU3<A1\nR2<U3 of T2\nA3<\nR9<A3 of ?\nR8<U1 of T2"
    ),
    "results-of-another-call": (
        "U1\nT1<\nR1<T1 of T1\nA1<\nT2<A1\nR2<T2 of T1\nA2<\nR3<U1 of T1\nR4<T2 of T2"
    ),
    "a-response-in-two-places": "U1 A1<U1 U2<A1 A2<U2~A1 U3<A2 A3<U3 U4<A1 A4<U4~A3",
    "answers-side-by-side": "U1 A1<U1 A2<U1~A1 A3<U1 U2<A1 A4<U2 U3<A3 A5<U3",
    # folds
    "retracted-in-turn": "U1 A1<U1 U2<A1 U3<A1 U4<A1 A4<U4 U5<A4 U6<A4 H1<U5 U7<H1",
    "retracted-first": "U1 U2 A2<U2 U3<A2 A3<U3",
    "replayed": 'U1\nA1<\nU2<A1\nA2<\nU3<A1@= "prompt U2"\nU4<A1 "prompt U2"\nA4<',
    "queued-and-noticed": (
        "U1\nT1<\nQ1<T1\nR1<T1 of T1\nQ2<R1\nA1<R1\nN1<A1 of T1\nA2<\nN2<A2 of T1\nU2<A2\nA3<"
    ),
    "commands": (
        'U1\nA1<\nK1<A1 "/cost"\nL1<\nK2<A1 "/model"\nL2<\nA2<L2\nU2<A1\nA3<\nM1<A1\nA4<M1\nX1<A4'
    ),
    # pointers
    "pointers": (
        "U1\nA1<\nU2<A1\nA2<\nlast-prompt leaf A2\nU3<A1\nA3<\nlast-prompt leaf U2\nU4<A1\nA4<\n"
        "last-prompt leaf A2"
    ),
    "pointer-to-the-first": "U1\nA1<\nU2<\nA2<\nlast-prompt leaf U1 explicit",
    "pointer-repeated-plainly": "U1\nA1<\nU2<\nA2<\nlast-prompt leaf A1\nlast-prompt leaf A1",
    "pointer-repeated-after-an-explicit-one": (
        "U1\nA1<\nU2<\nA2<\nlast-prompt leaf A1 explicit\nlast-prompt leaf A2"
    ),
    "pointer-to-structure": "U1\nA1<\nS1<A1 turn_duration\nU2<A1\nA2<\nlast-prompt leaf S1",
    "pointer-to-a-result": ("U1\nT1<\nR1<T1 of T1\nA2<R1\nU2<U1\nA3<U2\nlast-prompt leaf R1"),
    "pointer-to-a-result-beside": (
        "U1\nT1<\nT2<T1~T1\nR1<T1 of T1\nR2<T2 of T2\nA2<R2\nlast-prompt leaf R1"
    ),
    # lines without uuid
    "loose-before-a-branch": ("mode plan\nU1\nA1<\nU3<A1\nA3<\nU2<A1\nA2<\nlast-prompt leaf A3"),
    "loose": (
        'mode plan\nai-title "one"\nU1\nmode plan\nA1<\nU2<A1\nA2<\nmode plan\nU3<A1\nA3<\n'
        'summary "of the branch" leaf A2\nsummary "of nothing" leaf zero\ntag "x"\nblank\n'
        'line {"type": "summary", "summary": "gone", "leafUuid": "nowhere"}'
    ),
    "loose-alone": 'file main\nmode plan\nai-title "no record"\nfile other\nU1\nA1<',
    "summaries-alone": (
        'file main\nU1\nA1<\nU2<A1\nA2<\nU3<A1\nA3<\nfile index\nsummary "way" leaf main:A2\n'
        'line {"type": "summary", "summary": "gone", "leafUuid": "nowhere"}\n'
        'file later\nsummary "trunk" leaf main:A3\nmode plan'
    ),
    "repeated-lines": "U1 A1<U1 U2<A1 =A1 A2<U2 =U1 =A1 U3<A2 =U3",
    # agents
    "agents-by-every-name": (
        SCOUT
        + 'T2<A1 Task(prompt="go", name="ann") as y\nT3<T2~T2 Task(prompt="go", name="bob") as z\n'
        'T4<T3~T2 Task(prompt="only here") as v\nR2<T2 of y\n'
        'agent x of x\nU5 "look around"\nA5<\nagent abob-123456 nometa\nU6 "go"\nA6<\n'
        'agent aann-123456 nometa\nU7 "go"\nA7<\nagent w nometa\nU8 "only here"\n'
        'agent q nometa\nU9 "nobody"\nT9< Task(prompt="nobody") as self\n'
        'agent aprompt_suggestion-1a2b3c nometa\nU10<main:A1 "sum it up"\nA10<\n'
        'agent warm nometa\nU11 "Warmup"\nA11<'
    ),
    "agents-of-the-first-record": (
        'T1 Agent(prompt="go", description="do") as x\nR1<T1 of x\nA1<\nagent x nometa\n'
        'U5 "go"\nA5<\n'
        "agent f nometa\n"
        'line {"type": "fork-context-ref", "agentId": "f", "parentLastUuid": "$(uuid main:T1)"}\n'
        'U6 "on"\nA6<\nagent g nometa\nU7<main:T1 "shares"\nA7<\nU8<?\nA8<'
    ),
    "agents-in-agents": (
        SCOUT + 'agent x of x\nU5 "look around"\nT5< Agent(prompt="deeper") as p\nR5< of p\nA5<\n'
        'U6<A5\nA6<\nU7<A5\nA7<\nagent y of x:p\nU8 "deeper"\nA8<\nagent z nometa\nU9 "lost"\nA9<'
    ),
    "agents-on-a-branch": (
        'U1\nA1<\nU2<A1\nT2< Task(prompt="go") as x\nR2< of x\nU3<A1\nA3<\n'
        'T4< Task(prompt="on") as y\n'
        'agent x of x\nU5 "go"\nA5<\nagent y of y\nU6 "on"\nA6<'
    ),
    "sidechains": (
        'U1!side "go"\nA1<U1!side\nU2\nT2< Task(prompt="go") as x\nU3!side "other"\nA3<U3!side\n'
        "A4<?!side\nR2<T2 of x\nA2<\nU5<A2!side\nA5<U5!side\nU6<A5\nA6<"
    ),
    "a-teammate": (
        'U1\nT1< Agent(prompt="map", name="ann") as y\n'
        'R1< of y {"toolUseResult": {"status": "teammate_spawned", "teammate_id": "ann@shop", '
        '"agent_id": "ann@shop", "name": "ann"}}\nA1<\nagent aann-12345678 nometa\n'
        "U5 \"<teammate-message teammate_id='lead'>hello</teammate-message>\"\nA5<"
    ),
    "workflows": (
        'U1\nT1< Workflow(script="x") as w\n'
        'R1< of w {"toolUseResult": {"runId": "wf_1", "scriptPath": "s"}}\nA1<\n'
        'agent p nometa run=wf_1\nU5 "one"\nA5<\nagent q nometa run=wf_1\nU6 "two"\nA6<\n'
        'agent r nometa run=wf_2\nU7 "three"\nA7<'
    ),
}
