"""Who typed a record, and the title of a session."""

import json
from typing import Any

import pytest

from plait.record import parse_record
from plait.record.prompts import TitleSearch, get_prompt_text, is_human_prompt
from plait.record.time import parse_time
from plait.record.types import RESULT_FIELDS, parse_tool_use_result


def user(content: object, **fields: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


TEXT = {"type": "text", "text": "look at this"}
IMAGE = {"type": "image", "source": {"type": "base64", "data": ""}}
NOTE = {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"}


# checklist: S25, S26, S30, F4, T9, T10
@pytest.mark.parametrize(
    ("fields", "is_human"),
    [
        (user("fix the bug"), True),
        (user([TEXT]), True),
        (user([IMAGE]), True),
        (user([IMAGE, TEXT]), True),
        (user([NOTE, TEXT]), True),
        (user([NOTE]), False),
        (user("fix it", origin={"kind": "human"}), True),
        (user("fix it", origin={"kind": "peer"}), False),
        (user("x", isMeta=True), False),
        (user("x", isCompactSummary=True), False),
        (user("x", isVisibleInTranscriptOnly=True), False),
        (user("x", sourceToolUseID="toolu_1"), False),
        (user("x", toolUseResult={"stdout": ""}), False),
        (user([{"type": "tool_result", "tool_use_id": "t"}]), False),
        (user([{"type": "tool_result", "tool_use_id": "t"}, TEXT]), False),
        (user("  "), False),
        (user("<command-name>/clear</command-name>"), False),
        (user("<local-command-stdout>ok</local-command-stdout>"), False),
        (user("<bash-input>ls</bash-input>"), False),
        (user("<task-notification>done</task-notification>"), False),
        (user('<teammate-message teammate_id="x">hi</teammate-message>'), False),
        (user("<system-reminder>x</system-reminder>"), False),
        (user("[Request interrupted by user]"), False),
        (user("<html> is what I want to talk about"), True),
        (user('<cross-session-message from="b">hi</cross-session-message>'), False),
        (user("Another Claude session sent a message:\nhi"), False),
        (user("<observed_from_primary_session>x</observed_from_primary_session>"), False),
        (user("Operation stopped by hook: no"), False),
        (user("Operation stopped by hook"), False),
        (user("Operation stopped by hooks? Why"), True),
        (user('{"task_id": "b1"}'), True),  # only the queue holds such notices
        ({"type": "assistant", "message": {"content": "hi"}}, False),
    ],
)
def test_prompt_is_typed_by_a_person(fields: dict[str, Any], is_human: bool) -> None:
    assert is_human_prompt(parse_record(json.dumps(fields).encode())) is is_human


# checklist: F15
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("fix the bug\nplease", "fix the bug\nplease"),
        ([TEXT], "look at this"),
        ([IMAGE, TEXT], "look at this"),
        ([NOTE, TEXT], "look at this"),  # what the editor added is no part of the prompt
        ([IMAGE], ""),
    ],
)
def test_typed_text(content: object, text: str) -> None:
    assert get_prompt_text(parse_record(json.dumps(user(content)).encode())) == text


def title(*lines: dict[str, Any]) -> tuple[str, str] | None:
    search = TitleSearch()
    for fields in lines:
        search.add(parse_record(json.dumps(fields).encode()))
    return search.title()


PROMPT = user("first\n prompt", uuid="u1")
SUMMARY = {"type": "summary", "summary": "A summary", "leafUuid": "u1"}
LAST = {"type": "last-prompt", "lastPrompt": "newest prompt"}
AI = {"type": "ai-title", "aiTitle": "By the model"}
CUSTOM = {"type": "custom-title", "customTitle": "By the user"}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], None),
        ([user("meta", isMeta=True), PROMPT, user("second")], ("first prompt", "first prompt")),
        ([SUMMARY, PROMPT], ("A summary", "summary")),
        ([{**SUMMARY, "leafUuid": "elsewhere"}, PROMPT], ("first prompt", "first prompt")),
        ([LAST, SUMMARY, PROMPT], ("newest prompt", "last prompt")),
        ([LAST, {"type": "last-prompt", "leafUuid": "x"}], ("newest prompt", "last prompt")),
        ([AI, LAST, PROMPT], ("By the model", "ai")),
        ([CUSTOM, AI, LAST], ("By the user", "custom")),
        ([CUSTOM, {**CUSTOM, "customTitle": "Renamed"}], ("Renamed", "custom")),
    ],
)
def test_most_reliable_title_wins(
    lines: list[dict[str, Any]], expected: tuple[str, str] | None
) -> None:
    assert title(*lines) == expected


def said(*blocks: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": blocks}, **fields}


def queued(text: object, operation: str = "enqueue") -> dict[str, Any]:
    return {"type": "queue-operation", "operation": operation, "content": text}


def waited(prompt: object, **fields: object) -> dict[str, Any]:
    return {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": prompt, **fields},
    }


COMMAND = user(
    "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
    "<command-args>the\n parser</command-args>"
)
MODEL = user("<command-name>/model</command-name><command-args>opus</command-args>")
SET = user("<local-command-stdout>Set model to opus</local-command-stdout>")
BRIEF = user(
    '<teammate-message teammate_id="lead" summary="task 1">\nYou are wanda.\nBegin.\n'
    "</teammate-message>"
)
PEER = user(
    "Another Claude session sent a message:\n<cross-session-message>\nThe build\n is red"
    "\n</cross-session-message>\nNot typed.",
    isMeta=True,
)
CALL = {"type": "tool_use", "id": "t", "name": "Bash"}
SNAPSHOT = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([COMMAND, said(TEXT)], ("/review the parser", "command")),
        ([MODEL, SET, COMMAND, said(TEXT)], ("/review the parser", "command")),
        ([COMMAND, said(TEXT), MODEL, SET], ("/review the parser", "command")),
        ([MODEL, SET, user("<command-name>clear</command-name>"), SET], ("/model opus", "command")),
        ([COMMAND, PROMPT], ("first prompt", "first prompt")),
        (
            [{**MODEL, "type": "system", "content": MODEL["message"]["content"], "message": None}],
            ("/model opus", "command"),
        ),
        ([user("<command-message>plain</command-message>")], ("/plain", "command")),
        ([user("<command-name></command-name>"), said(TEXT)], ("look at this", "first answer")),
        ([BRIEF, said(TEXT), COMMAND], ("/review the parser", "command")),
        ([BRIEF, said(TEXT)], ("You are wanda.", "brief")),
        ([PEER, said(TEXT)], ("The build", "brief")),
        (
            [user("Look around.\nThen tell.", origin={"kind": "coordinator"})],
            ("Look around.", "brief"),
        ),
        (
            [user("done", origin={"kind": "task-notification"}), said(TEXT)],
            ("look at this", "first answer"),
        ),
        ([said(TEXT), said({"type": "text", "text": "more"})], ("look at this", "first answer")),
        ([said(TEXT, isApiErrorMessage=True)], None),
        (
            [said({**CALL, "input": {"command": "ls -l", "description": "List"}})],
            ("Bash: List", "first call"),
        ),
        (
            [
                said({**CALL, "input": {}}),
                said({**CALL, "name": "Read", "input": {"file_path": "a"}}),
            ],
            ("Bash", "first call"),
        ),
        ([said({**CALL, "input": {}}), said(TEXT)], ("look at this", "first answer")),
        ([queued("later"), COMMAND], ("later", "queued prompt")),
        ([queued("/cost"), queued('{"task_id":"b1"}'), queued("later", "remove")], None),
        ([queued([TEXT])], ("look at this", "queued prompt")),
        ([waited("later")], ("later", "queued prompt")),
        ([waited("later", origin={"kind": "peer"})], None),
        ([waited("later", commandMode="task-notification")], None),
        ([SUMMARY], ("summaries only: A summary", "contents")),
        (
            [{"type": "summary", "summary": "of\nnothing"}, {"type": "mode", "mode": "x"}],
            ("summaries only: of nothing", "contents"),
        ),
        ([SUMMARY, SNAPSHOT], ("summaries only: A summary", "contents")),
        ([{**SUMMARY, "leafUuid": "x"}, user("", isMeta=True)], None),
        ([SNAPSHOT], ("snapshots only", "contents")),
        ([{"type": "mode", "mode": "normal"}], None),
        ([{"type": "last-prompt", "lastPrompt": "<task-notification>x</task-notification>"}], None),
    ],
)
def test_a_session_without_a_prompt_has_a_title_too(
    lines: list[dict[str, Any]], expected: tuple[str, str] | None
) -> None:
    assert title(*lines) == expected


@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        ("2026-11-01T10:00:01.000Z", "2026-11-01 10:00:01+00:00"),
        ("2026-11-01T12:00:01+02:00", "2026-11-01 10:00:01+00:00"),
        ("2026-11-01T10:00:01", "2026-11-01 10:00:01+00:00"),
        (1793527201, "2026-11-01 10:00:01+00:00"),
        (1793527201000, "2026-11-01 10:00:01+00:00"),
        ("nonsense", "None"),
        (1e300, "None"),
        (None, "None"),
    ],
)
def test_timestamps(stamp: str | float | None, text: str) -> None:
    assert str(parse_time(stamp)) == text


# checklist: F19, F45, P50
def test_tool_use_results_by_form() -> None:
    read = parse_tool_use_result({"type": "text", "file": {"filePath": "a.py"}})
    assert read == RESULT_FIELDS["ReadResult"](type="text", file={"filePath": "a.py"})
    bash = parse_tool_use_result({"stdout": "x", "stderr": "", "interrupted": False, "isImage": 5})
    assert bash == RESULT_FIELDS["BashResult"](stdout="x", stderr="", interrupted=False)
    agent = parse_tool_use_result({"agentId": "a1", "status": "completed", "totalTokens": 5})
    assert agent == RESULT_FIELDS["AgentResult"](agent_id="a1", status="completed", total_tokens=5)
    assert parse_tool_use_result("Error: x") == "Error: x"
    assert parse_tool_use_result([1]) == [1]
    assert parse_tool_use_result({"odd": 1}) == {"odd": 1}
    assert parse_tool_use_result(None) is None
