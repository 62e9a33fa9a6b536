"""Resume cases about which entries the client takes into its chain.

Results that are not the first of their call, notes with a missing parent, calls of an unfinished
turn, attachments without content.
"""

from typing import Any

from examples.resume.drawing import (
    NO_RESPONSE,
    Case,
    attached,
    boundary,
    calls,
    lost,
    note,
    out,
    pointer,
    recap,
    result,
    says,
    segment,
    stopped,
    system,
    text,
    use,
    user,
)

ANSWERED = [user("U1"), calls("C1<U1", "x"), result("R1<C1", "x")]


def beside_a_prompt(name: str, kind: str, /, words: str = "", **fields: Any) -> Case:
    """Return the case of an attachment that the client drops, or rewords."""
    result = [("S", words)] if words else []
    return Case(
        name,
        [user("U1"), attached("H1<U1", kind, **fields), says("A1<H1")],
        "U1 H1 A1" if words else "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
        [("U", "prompt U1"), *result, ("A", "answer A1")],
    )


def hook(event: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a successful hook."""
    own = {"hookName": event, "hookEvent": event, "toolUseID": "x", "command": "./lint"}
    return {**own, "content": "", "stdout": "", "stderr": "", "exitCode": 0, **fields}


KEPT = [
    Case(
        "second-result-stays-below-an-answer",
        [*ANSWERED, says("A1<R1"), result("R2<A1", "x"), user("U2<A1"), says("A2<U2")],
        "U1 C1 R1 A1 R2 U2 A2",
        "U1 C1 R1 A1 R2 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
            ("U", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "second-result-stays-below-a-call",
        [
            *ANSWERED,
            calls("C2<R1", "y"),
            result("R2<C2", "x"),
            result("R3<C2", "y"),
            says("A1<R3"),
        ],
        "U1 C1 R1 C2 R2 R3 A1",
        "U1 C1 R1 C2 R2 R3 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", use("y")),
            ("U", out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "circle-below-preserved-messages",
        [
            user("U1"),
            says("A1<U1"),
            boundary("B1", preservedSegment=segment("U1", "B1", "A1")),
            recap("S1<B1"),
            says("A2<S1"),
            recap("S1<A2"),
        ],
        "B1 U1 A1",
        "U1 A1",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "circle-of-parallel-calls",
        [
            user("U1<A1"),
            calls("C1<U1", "x", mid="m1"),
            result("R1<C1", "x"),
            says("A1<R1"),
        ],
        "U1 C1 R1 A1",
        "",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "result-before-a-call-without-message-id",
        [user("U1"), result("R1<U1", "x"), calls("C1<R1", "x", mid=None), says("A1<C1")],
        "U1 C1 R1 A1",
        "U1 R1 C1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "overlapping-responses",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m1"),
            calls("D1<C1", "y", mid="m2"),
            calls("C2<D1", "z", mid="m1"),
            calls("D2<C2", "w", mid="m2"),
            result("R1<C1", "x"),
            result("S1<D1", "y"),
            result("R2<C2", "z"),
            result("S2<D2", "w"),
            says("A1<S2"),
        ],
        "U1 C1 D1 C2 D2 R1 S1 R2 S2 A1",
        "U1 C1 D1 C2 R1 R2 D2 S1 S2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("z")),
            ("U", lost("x"), lost("z")),
            ("A", use("y"), use("w")),
            ("U", out("y"), out("w")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "words-of-the-system-end-a-response",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m1"),
            result("R1<C1", "x"),
            calls("C2<R1", "y", mid="m2"),
            note("H1<C2"),
            says("A1<H1"),
            calls("C3<A1", "z", mid="m1"),
            result("R3<C3", "z"),
        ],
        "U1 C1 R1 C2 H1 A1 C3 R3",
        "U1 C1 R1 C2 A1 C3 R3",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", use("y")),
            ("U", lost("y")),
            ("A", "answer A1"),
            ("A", use("z")),
            ("U", out("z")),
            ("A", NO_RESPONSE),
        ],
    ),
    Case(
        "blank-answer-of-a-response-with-words",
        [user("U1"), says("A1<U1", [text(" ")], mid="m1"), user("U2<A1"), says("A2<U2", mid="m1")],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("U", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "pointer-to-a-note-of-a-parallel-call",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m1"),
            attached("H1<C1", "hook_success", **hook("PreToolUse:Bash", stdout="ok")),
            calls("C2<C1", "y", mid="m1"),
            result("R1<H1", "x"),
            result("R2<C2", "y"),
            says("A1<R2"),
            pointer("H1"),
        ],
        "U1 C1 C2 H1 R1 R2 A1",
        "U1 C1 C2 R1 R2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "pointer-within-an-answer-that-went-on-from-its-note",
        [
            user("U1"),
            says("A1<U1", mid="m1"),
            note("H1<A1"),
            says("A2<H1", mid="m1"),
            user("U2<H1"),
            says("A3<U2"),
            pointer("A2"),
        ],
        "U1 A1 A2 H1 U2 A3",
        "U1 A1 A2 U2 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1", "answer A2"),
            ("U", "prompt U2"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "trailing-notes-one-below-the-other",
        [
            user("U1"),
            says("A1<U1"),
            note("H1<A1@9"),
            note("H2<A1@5"),
            note("H3<H1@10"),
            note("H4<H2@12"),
            pointer("A1", explicit=True),
        ],
        "U1 A1 H2 H4 H1 H3",
        "U1 A1",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "sidechain-with-a-missing-parent",
        [
            user("U1"),
            says("A1<U1"),
            user("U2<A1"),
            user("V1", isSidechain=True),
            says("V2<gone", isSidechain=True),
            says("A2<V2"),
        ],
        "V1 V2 A2",
        "A2",
        [
            ("U", "prompt V1"),
            ("A", "answer V2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "result-that-ends-its-turn",
        [*ANSWERED[:2], result("R1<C1", "x", toolEndsTurn=True), note("H1<R1")],
        "U1 C1 R1 H1",
        "U1 C1 R1",
        [("U", "prompt U1"), ("A", use("x")), ("U", out("x"))],
    ),
    Case(
        "result-that-ends-its-turn-without-notes",
        [*ANSWERED[:2], result("R1<C1", "x", toolEndsTurn=True)],
        "U1 C1 R1",
        "U1 C1 R1",
        [("U", "prompt U1"), ("A", use("x")), ("U", out("x")), ("A", NO_RESPONSE)],
    ),
    Case(
        "pointer-above-a-second-result",
        [*ANSWERED, says("A1<R1"), result("R2<A1", "x"), pointer("A1", explicit=True)],
        "U1 C1 R1 A1 R2",
        "U1 C1 R1 A1 R2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
            ("U", "(no content)"),
            ("A", NO_RESPONSE),
        ],
    ),
    Case(
        "meta-prompt-of-nobody-before-a-late-result",
        [
            user("U1"),
            calls("C1<U1", "x"),
            user("M1<stranger", isMeta=True),
            result("R1<C1", "x"),
            says("A1<M1"),
        ],
        "U1 C1 M1 R1 A1",
        "A1",
        [("U", "prompt U1"), ("A", use("x")), ("U", out("x"), "prompt M1"), ("A", "answer A1")],
    ),
    Case(
        "command-of-nobody-before-a-late-result",
        [
            user("U1"),
            calls("C1<U1", "x"),
            system("S1<stranger", "local_command", content="<local-command-stdout>ok"),
            result("R1<C1", "x"),
            says("A1<S1"),
        ],
        "U1 C1 S1 R1 A1",
        "A1",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x"), "<local-command-stdout>ok"),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "calls-behind-words-of-a-response-with-a-result",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m"),
            result("R1<C1", "x"),
            says("A1<R1", mid="m"),
            calls("C2<A1", "y"),
            calls("C3<C2", "z"),
        ],
        "U1 C1 R1 A1 C3",
        "U1 C1 R1 A1 C2 C3",
        [
            ("U", "prompt U1"),
            ("A", {"type": "text", "text": "answer A1"}, use("x")),
            ("U", out("x")),
            ("A", use("z")),
            ("U", stopped("z")),
            ("A", NO_RESPONSE),
        ],
    ),
    Case(
        "call-before-words-that-a-result-follows",
        [
            user("U1"),
            calls("C1<U1", "x"),
            says("A1<C1"),
            calls("C2<A1", "y"),
            result("R2<C2", "y"),
            calls("C3<R2", "z"),
        ],
        "U1 C1 A1 C2 R2 C3",
        "U1 C1 A1 C2 R2 C3",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", lost("x")),
            ("A", "answer A1"),
            ("A", use("y")),
            ("U", out("y")),
            ("A", use("z")),
            ("U", stopped("z")),
            ("A", NO_RESPONSE),
        ],
    ),
    beside_a_prompt("file-without-content", "file", filename="/home/dev/garden/bed.md"),
    beside_a_prompt(
        "file-whose-content-is-a-text", "file", filename="/home/dev/garden/bed.md", content="roses"
    ),
    beside_a_prompt("hook-without-words", "hook_success", **hook("SessionStart")),
    beside_a_prompt("hook-with-blank-output", "hook_success", **hook("Stop", stdout=" \n")),
    beside_a_prompt("hook-whose-words-are-a-list", "hook_success", **hook("Stop", content=["ok"])),
    beside_a_prompt(
        "hook-with-words-at-the-start",
        "hook_success",
        words="SessionStart hook success: ok",
        **hook("SessionStart", content="ok"),
    ),
    beside_a_prompt(
        "hook-with-words-before-a-prompt",
        "hook_success",
        words="UserPromptSubmit hook success: ok",
        **hook("UserPromptSubmit", content="ok"),
    ),
    beside_a_prompt("hook-context-that-is-no-list", "hook_additional_context", content="frost"),
    beside_a_prompt("skills-that-are-no-list", "invoked_skills", skills="prune"),
    beside_a_prompt("tasks-that-are-no-list", "task_reminder", content="water"),
    beside_a_prompt("todos-that-are-no-list", "todo_reminder", content="water"),
    Case(
        "hook-with-errors-alone",
        [
            user("U1"),
            attached("H1<U1", "hook_success", **hook("Stop", stderr="late")),
            says("A1<H1"),
        ],
        "U1 H1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
]
