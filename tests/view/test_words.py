"""Short descriptions of prompts, records and blocks."""

from __future__ import annotations

from typing import Any

import pytest

from examples.drawing import draw
from plait.record import parse_record
from plait.view.summaries import (
    format_block_kinds,
    format_prompt,
    summarize_blocks,
    summarize_record,
    to_single_line,
)
from plait.view.text import strip_markdown_marks


# checklist: S26
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix the parser", "fix the parser"),
        ("<command-name>/model</command-name> <command-args>opus</command-args>", "/model opus"),
        ("<command-message>x</command-message> <command-name>/x</command-name>", "/x"),
        ("<bash-input>ls -la</bash-input>", "! ls -la"),
        (
            "<task-notification><task-id>1</task-id><summary>Agent done</summary>",
            "notice: Agent done",
        ),
        ("<task-notification> <task-id>a17", "task notification"),
        (
            '<teammate-message teammate_id="otto" color="red">hello</teammate-message>',
            "otto: hello",
        ),
        ("<local-command-stdout>Set model</local-command-stdout>", "Set model"),
        (
            "<local-command-stdout></local-command-stdout>",
            "<local-command-stdout></local-command-stdout>",
        ),
        ("<b", "<b"),
    ],
)
def test_prompts_lose_their_machine_tags(text: str, words: str) -> None:
    assert format_prompt(text) == words


@pytest.mark.parametrize(
    ("drawing", "kind", "words"),
    [
        ('U1 "hello\\nyou"', "prompt", "hello you"),
        ('U1\nA1< "Hi."', "answer", "Hi."),
        ('U1\nT1< Bash(command="ls")', "call", "Bash(ls)"),
        ('U1\nT1< Bash(command="ls")\nR1< "a.py"', "result", "a.py"),
        ('U1\nT1< Bash(command="ls")\nR1< error "no such file"', "failure", "no such file"),
        ('U1\nA1< think "Where is it?"', "thinking", "Where is it?"),
        ('M1 "a caveat"', "meta", "a caveat"),
        ("U1\nS1< turn_duration", "system", "turn_duration"),
        ("U1\nH1<", "attachment", "hook_success"),
        ('U1\nQ1< "and the tests"', "attachment", "queued_command and the tests"),
        ("U1\nI1<", "input", "[Request interrupted by user]"),
        ("U1\nX1<", "novel-record", ""),
    ],
)
def test_record_summary(drawing: str, kind: str, words: str) -> None:
    found = summarize_record(parse_record(draw(drawing).files[0].lines[-1].data))
    assert found.kind == kind
    assert found.text.startswith(words)


def test_compaction_shows_what_it_saved() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "compactMetadata": {"trigger": "auto", "preTokens": 155000, "postTokens": 12000},
    }
    assert summary_of(boundary) == "compacted automatically: 155k to 12k tokens"
    for odd in (3, ["auto"], "sometimes", None):
        metadata = {"trigger": odd, "preTokens": 155000, "postTokens": 12000}
        assert (
            summary_of({**boundary, "compactMetadata": metadata}) == "compacted: 155k to 12k tokens"
        )
    boundary["compactMetadata"] = {"trigger": "manual", "preTokens": 900}
    assert summary_of(boundary) == "compacted with /compact: 900 tokens"
    boundary["compactMetadata"] = {"trigger": "manual"}
    assert summary_of(boundary) == "compacted with /compact"


def summary_of(fields: dict[str, Any]) -> str:
    import msgspec

    return summarize_record(parse_record(msgspec.json.encode(fields))).text


@pytest.mark.parametrize(
    ("blocks", "words", "names"),
    [
        ([{"type": "text", "text": " hello  you "}], "hello you", "text"),
        (
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi."}],
            "Hi.",
            "thinking, text",
        ),
        (
            [
                {"type": "tool_use", "name": "Read", "input": {"limit": 3, "file_path": "a.py"}},
                {"type": "tool_use", "name": "Read", "input": {"file_path": "b.py"}},
            ],
            "Read(a.py)",
            "2 Read",
        ),
        ([{"type": "tool_result", "content": "ok"}], "ok", "result"),
        (
            [
                {
                    "type": "tool_result",
                    "content": [{"type": "image"}, {"type": "text", "text": "x"}],
                }
            ],
            "x",
            "result",
        ),
        ([{"type": "thinking", "thinking": "hm"}], "hm", "thinking"),
        ([{"type": "image"}], "", "image"),
        ([{"type": "tool_use", "name": "Odd", "input": None}], "Odd()", "Odd"),
        ([], "", ""),
    ],
)
def test_message_summary(blocks: list[dict[str, Any]], words: str, names: str) -> None:
    assert summarize_blocks(blocks) == words
    assert format_block_kinds(blocks) == names


def test_long_text_is_cut() -> None:
    assert len(to_single_line("word " * 1000)) == 300


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the plan: # Plan: Batches ## Context", "the plan: Plan: Batches Context"),
        ("it **does not commit** any changes**...", "it does not commit any changes..."),
        ("**bold** first, last **bold**", "bold first, last bold"),
        ("src/**/*.py and 2**3", "src/**/*.py and 2**3"),
        ("issue #12 and C# stay, ** alone too", "issue #12 and C# stay, ** alone too"),
        ("## ", ""),
    ],
)
def test_markdown_marks_are_removed_from_one_line(text: str, shown: str) -> None:
    assert strip_markdown_marks(text) == shown
