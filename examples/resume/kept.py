"""Small drawings to resume cases on what the client takes into its chain, and where it stands.

Results that are not the first of their call, notes whose parent is nowhere, calls of a turn that
nobody finished, attachments that say nothing.
"""

from typing import Any

from examples.resume.drawing import (
    NO_RESPONSE,
    Case,
    attached,
    calls,
    lost,
    out,
    pointer,
    result,
    says,
    stopped,
    system,
    use,
    user,
)

ANSWERED = [user("U1"), calls("C1<U1", "x"), result("R1<C1", "x")]


def beside_a_prompt(name: str, kind: str, /, words: str = "", **fields: Any) -> Case:
    """Returns the case of an attachment that the client drops, or of which it says some words."""
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
    """Returns the fields of a hook that ran well."""
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
