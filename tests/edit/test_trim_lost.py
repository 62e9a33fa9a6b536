"""What Claude no longer knows after a trim: removed, shortened, largest by name."""

from typing import Any

from plait.edit.trim import describe_losses
from plait.graph.client.entries import Context

Blocks = list[dict[str, Any]]


def make_context(*blocks: dict[str, Any], role: str = "user") -> Context:
    """Return what is sent: the calls of three tools, and some blocks."""
    calls = [
        call("a", "Bash", {"timeout": 9, "command": "make  check"}),
        call("b", "Read", {"file_path": "/" + "x" * 60 + "/end.py"}),
        call("c", "Odd", {}),
    ]
    return Context(True, None, None, (), [], [("assistant", calls), (role, list(blocks))], ())


def call(name: str, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(name: str, length: int) -> dict[str, Any]:
    """Return the result of a call."""
    return {"type": "tool_result", "tool_use_id": name, "content": "x" * length}


RESULTS = (result("a", 3000), result("b", 30_000), result("c", 30))
PICTURE = {"type": "image", "source": {}}
NOTE = {"type": "text", "text": "<system-reminder>Mind the gap.</system-reminder>"}
THOUGHT = {"type": "thinking", "thinking": "Well.", "signature": "x"}
WORDS = {"type": "text", "text": "Hello."}


def test_losses_are_described() -> None:
    for before, after, report in [
        (RESULTS, RESULTS, []),
        (
            RESULTS,
            (RESULTS[1], RESULTS[2]),
            [
                "Claude will no longer know the result of a call: "
                "Bash make check (about 1,045 tokens)"
            ],
        ),
        (
            RESULTS,
            (),
            [
                "Claude will no longer know the results of 3 calls: Read …"
                + "x" * 41
                + "/end.py (about 10,045 tokens), Bash make check (about 1,045 tokens) "
                "and a smaller one"
            ],
        ),
        (
            RESULTS,
            (result("a", 300), RESULTS[1], result("c", 3)),
            [
                "Claude will know only part of the results of 2 calls: "
                "Bash make check (about 900 tokens) and Odd (about 9 tokens)"
            ],
        ),
        (
            RESULTS,
            (result("a", 6000), RESULTS[1], RESULTS[2]),
            [],
        ),
        (
            (THOUGHT, PICTURE, PICTURE, NOTE, WORDS),
            (WORDS,),
            [
                "Claude will no longer see 1 thinking block, 2 images or documents and "
                "1 note from Claude Code"
            ],
        ),
        ((WORDS, NOTE), (NOTE,), []),
        (
            ({"type": "tool_result", "tool_use_id": "a", "content": [PICTURE]},),
            ({"type": "tool_result", "tool_use_id": "a", "content": [PICTURE, WORDS]},),
            [],
        ),
    ]:
        assert list(describe_losses(make_context(*before), make_context(*after))) == report


def test_images_in_results_and_system_messages_count_as_losses() -> None:
    shown = {"type": "tool_result", "tool_use_id": "a", "content": [PICTURE]}
    noted = {"type": "tool_result", "tool_use_id": "a", "content": "[picture]"}
    _, seen = describe_losses(make_context(shown), make_context(noted))
    assert seen == "Claude will no longer see 1 image or document"
    assert list(describe_losses(make_context(WORDS, role="system"), make_context())) == [
        "Claude will no longer see 1 note from Claude Code"
    ]
