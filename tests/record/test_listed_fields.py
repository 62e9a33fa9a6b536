"""Every field listed in the format descriptions, and the attribute that reads it."""

import json
from typing import Any

import pytest

import plait
from plait.record import Record, parse_record
from plait.record.fields import PROGRESS_FIELDS
from plait.record.types import (
    RESULT_FIELDS,
    FileHistorySnapshot,
    PrLink,
    Progress,
    QueueOperation,
    Summary,
    parse_tool_use_result,
)


def record(fields: dict[str, Any]) -> Record:
    return parse_record(json.dumps(fields).encode())


STAMP = "2026-01-03T15:44:58.325Z"
ENVELOPE: dict[str, Any] = {
    "uuid": "c01b7ace",
    "parentUuid": "3ff42e6b",
    "sessionId": "07c9cd52",
    "timestamp": STAMP,
    "isSidechain": True,
    "isMeta": True,
    "userType": "external",
    "cwd": "/home/dev/mtools",
    "version": "2.1.29",
    "gitBranch": "main",
    "slug": "virtual-puzzling-nygaard",
    "agentId": "a4c7249",
}
READ = {"type": "text", "file": {"filePath": "a.md"}}
USER: dict[str, Any] = {
    **ENVELOPE,
    "type": "user",
    "permissionMode": "plan",
    "toolUseResult": READ,
    "message": {"role": "user", "content": "implement the backtest engine"},
}
ASSISTANT: dict[str, Any] = {
    **ENVELOPE,
    "type": "assistant",
    "requestId": "req_1",
    "isApiErrorMessage": True,
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": "I look."}],
        "stop_reason": "end_turn",
        "stop_sequence": "\n\nHuman:",
        "usage": {"input_tokens": 1, "output_tokens": 2, "service_tier": "standard"},
    },
}


# checklist: S7, F14, P11, P12
@pytest.mark.parametrize("line", [USER, ASSISTANT, {**ENVELOPE, "type": "system"}])
@pytest.mark.parametrize(
    ("field", "attribute"),
    [
        ("uuid", "uuid"),
        ("parentUuid", "parent_uuid"),
        ("sessionId", "session_id"),
        ("timestamp", "timestamp"),
        ("type", "type"),
        ("isSidechain", "is_sidechain"),
        ("isMeta", "is_meta"),
        ("userType", "user_type"),
        ("cwd", "cwd"),
        ("version", "version"),
        ("gitBranch", "git_branch"),
        ("slug", "slug"),
        ("agentId", "agent_id"),
    ],
)
def test_common_fields(line: dict[str, Any], field: str, attribute: str) -> None:
    assert getattr(record(line), attribute) == line[field]
    without = {name: value for name, value in line.items() if name != field}
    assert getattr(record(without), attribute) in (None, False)
    assert getattr(record({**line, field: [1]}), attribute) in (None, False)


# checklist: P106, S8
def test_user_message_fields() -> None:
    user = record(USER)
    assert isinstance(user, plait.User)
    assert user.message is not None
    assert (user.kind, user.message.role, user.text) == ("user", "user", USER["message"]["content"])
    assert user.message.content == (plait.Text("implement the backtest engine"),)
    assert user.permission_mode == "plan"
    assert user.tool_use_result == RESULT_FIELDS["ReadResult"](
        type="text", file={"filePath": "a.md"}
    )
    assert {field: _read(user, field) for field in ENVELOPE} == ENVELOPE
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    several = record({**USER, "message": {"role": "user", "content": blocks}})
    assert several.message is not None
    assert several.message.content == (plait.Text("one"), plait.Text("two"))


# checklist: P107, S8, F20
def test_assistant_message_fields() -> None:
    answer = record(ASSISTANT)
    assert isinstance(answer, plait.Assistant)
    assert (answer.kind, answer.request_id, answer.message_id) == ("assistant", "req_1", "msg_1")
    assert answer.is_api_error_message
    assert not record({**ASSISTANT, "isApiErrorMessage": False}).is_api_error_message
    message = answer.message
    assert message is not None
    assert (message.id, message.type, message.role) == ("msg_1", "message", "assistant")
    assert (message.model, message.stop_reason) == ("claude-opus-4-5", "end_turn")
    assert message.stop_sequence == "\n\nHuman:"
    assert message.content == (plait.Text("I look."),)
    assert message.usage == plait.Usage(input_tokens=1, output_tokens=2, service_tier="standard")
    assert {field: _read(answer, field) for field in ENVELOPE} == ENVELOPE


def _read(line: Record, field: str) -> object:
    names = {
        "parentUuid": "parent_uuid",
        "sessionId": "session_id",
        "isSidechain": "is_sidechain",
        "isMeta": "is_meta",
        "userType": "user_type",
        "gitBranch": "git_branch",
        "agentId": "agent_id",
    }
    return getattr(line, names.get(field, field))


@pytest.mark.parametrize(
    ("outer", "inner", "found"),
    [("req_1", None, "req_1"), (None, "req_2", "req_2"), ("req_1", "req_2", "req_1")],
)
def test_a_request_id_is_next_to_the_message_or_inside(
    outer: str | None, inner: str | None, found: str
) -> None:
    answer = record({"type": "assistant", "requestId": outer, "message": {"requestId": inner}})
    assert answer.request_id == found


# checklist: F9, P65
@pytest.mark.parametrize("reason", ["end_turn", "tool_use", "stop_sequence", None])
def test_a_stop_reason_is_read_unchanged(reason: str | None) -> None:
    answer = record({"type": "assistant", "message": {"content": [], "stop_reason": reason}})
    assert answer.message is not None
    assert answer.message.stop_reason == reason
    assert answer.envelope.message is not None
    assert answer.envelope.message.stop_reason == reason


BASH = {"output": "Step 1/12", "fullOutput": "DEPRECATED\nStep 1/12"}
AGENT = {"message": {"type": "user", "message": {"role": "user", "content": "Explore"}}}
HOOK = {"hookEvent": "SessionStart", "hookName": "SessionStart:startup", "command": "echo hello"}
SEARCHED = {"resultCount": 10, "query": "hooks"}
TASK = {"taskDescription": "Debug the bridge", "taskType": "local_bash"}


# checklist: P25, P26, P27, P28, P29
@pytest.mark.parametrize(
    ("kind", "news", "known"),
    [
        ("bash_progress", BASH, {"output": "Step 1/12", "full_output": "DEPRECATED\nStep 1/12"}),
        ("agent_progress", AGENT, {"message": AGENT["message"]}),
        (
            "hook_progress",
            HOOK,
            {
                "hook_event": "SessionStart",
                "hook_name": "SessionStart:startup",
                "command": "echo hello",
            },
        ),
        ("query_update", {"query": "hooks"}, {"query": "hooks"}),
        ("search_results_received", SEARCHED, {"result_count": 10, "query": "hooks"}),
        (
            "waiting_for_task",
            TASK,
            {"task_description": "Debug the bridge", "task_type": "local_bash"},
        ),
    ],
)
def test_progress_data(kind: str, news: dict[str, Any], known: dict[str, object]) -> None:
    ids = {"toolUseID": "toolu_1", "parentToolUseID": "toolu_0"}
    line = record({"type": "progress", "data": {"type": kind, **news}, **ids})
    assert isinstance(line, Progress)
    assert (line.progress_type, line.tool_use_id, line.parent_tool_use_id) == (
        kind,
        "toolu_1",
        "toolu_0",
    )
    assert type(line.data) is PROGRESS_FIELDS[kind]
    assert {name: getattr(line.data, name) for name in known} == known


def snapshot(message: str, of: str, files: dict[str, Any], *, is_update: bool) -> Record:
    inner = {"messageId": of, "trackedFileBackups": files, "timestamp": STAMP}
    return record(
        {
            "type": "file-history-snapshot",
            "messageId": message,
            "snapshot": inner,
            "isSnapshotUpdate": is_update,
        }
    )


# checklist: P30, F43
def test_snapshot_names_its_message() -> None:
    before = snapshot("c01b7ace", "c01b7ace", {}, is_update=False)
    assert isinstance(before, FileHistorySnapshot)
    assert (before.uuid, before.message_id, before.is_snapshot_update) == (None, "c01b7ace", False)
    assert before.snapshot is not None
    assert (before.snapshot.message_id, before.snapshot.timestamp) == ("c01b7ace", STAMP)
    assert before.snapshot.tracked_file_backups == {}


# checklist: P31, F43
@pytest.mark.parametrize(
    "backup",
    [
        "the file as it was",
        {"backupFileName": "0123456789abcdef@v2", "version": 2, "backupTime": STAMP},
        {"backupFileName": None, "version": 1, "backupTime": STAMP},
    ],
)
def test_snapshot_lists_files_by_content_or_backup(backup: object) -> None:
    after = snapshot("1f442222", "78d94c7b", {"notes/a.md": backup}, is_update=True)
    assert isinstance(after, FileHistorySnapshot)
    assert after.is_snapshot_update is True
    assert after.snapshot is not None
    assert (after.message_id, after.snapshot.message_id) == ("1f442222", "78d94c7b")
    assert after.snapshot.tracked_file_backups == {"notes/a.md": backup}


# checklist: P32
@pytest.mark.parametrize("operation", ["enqueue", "dequeue", "remove", "popAll"])
def test_queue_operation_fields(operation: str) -> None:
    fields = {"operation": operation, "timestamp": STAMP, "sessionId": "37dfb8a0"}
    waiting = record({"type": "queue-operation", **fields, "content": "and then"})
    assert isinstance(waiting, QueueOperation)
    assert (waiting.operation, waiting.timestamp) == (operation, STAMP)
    assert (waiting.session_id, waiting.content) == ("37dfb8a0", "and then")


# checklist: P33
def test_pull_request_fields() -> None:
    fields = {"prNumber": 3, "prUrl": "https://example.com/a/b/pull/3", "prRepository": "a/b"}
    line = record({"type": "pr-link", "sessionId": "s", "timestamp": STAMP, **fields})
    assert isinstance(line, PrLink)
    assert (line.pr_number, line.pr_repository) == (3, "a/b")
    assert line.pr_url == "https://example.com/a/b/pull/3"
    assert (line.session_id, line.timestamp) == ("s", STAMP)


# checklist: P24
def test_several_summaries_stay_separate() -> None:
    lines = [record({"type": "summary", "summary": s, "leafUuid": u}) for s, u in ("ax", "by")]
    assert [(one.summary, one.leaf_uuid) for one in lines if isinstance(one, Summary)] == [
        ("a", "x"),
        ("b", "y"),
    ]


def test_system_line_level_and_meta() -> None:
    note = record({"type": "system", "subtype": "local_command", "level": "info", "isMeta": False})
    assert isinstance(note, plait.System)
    assert (note.level, note.is_meta) == ("info", False)


FILE = {"filePath": "a.md", "content": "one\n", "numLines": 1, "startLine": 1, "totalLines": 473}
PATCH = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]
TODO = {"content": "Phase 1", "status": "in_progress", "activeForm": "Setting up"}
USAGE = {"input_tokens": 1, "output_tokens": 782, "service_tier": "standard"}
REPORT = [{"type": "text", "text": "There are still 114 errors."}]
RESULTS_LISTED: dict[str, dict[str, Any]] = {
    "GrepResult": {
        "mode": "files_with_matches",
        "filenames": ["file1.ts", "file2.ts"],
        "numFiles": 20,
        "appliedLimit": 20,
    },
    "ReadResult": {"type": "text", "file": FILE},
    "GlobResult": {
        "filenames": ["/a.cpp", "/b.cpp"],
        "durationMs": 128,
        "numFiles": 2,
        "truncated": True,
    },
    "BashResult": {"stdout": "M a.cpp", "stderr": "oh", "interrupted": True, "isImage": True},
    "WriteResult": {
        "type": "update",
        "filePath": "a.md",
        "content": "b",
        "structuredPatch": PATCH,
        "originalFile": "a",
    },
    "EditResult": {
        "filePath": "a.md",
        "oldString": "a",
        "newString": "b",
        "originalFile": "a\n",
        "structuredPatch": PATCH,
        "userModified": True,
        "replaceAll": True,
    },
    "TodoWriteResult": {"oldTodos": [TODO], "newTodos": [{**TODO, "status": "completed"}]},
    "AgentResult": {
        "status": "completed",
        "prompt": "Implement it",
        "agentId": "ab97f57",
        "content": REPORT,
        "totalDurationMs": 785728,
        "totalTokens": 126186,
        "totalToolUseCount": 77,
        "usage": USAGE,
    },
}


# checklist: F17, F18, P48, P49, P50, P51, P52, P53, P54, P60
@pytest.mark.parametrize("form", sorted(RESULTS_LISTED))
def test_tool_display_fields(form: str) -> None:
    value = RESULTS_LISTED[form]
    found = parse_tool_use_result(value)
    assert type(found) is RESULT_FIELDS[form]
    names = {name: _snake(name) for name in value}
    assert {name: getattr(found, attribute) for name, attribute in names.items()} == value


def _snake(name: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)


# checklist: P51
def test_a_new_file_differs_from_an_updated_one() -> None:
    new = {"type": "create", "filePath": "a", "content": "b", "structuredPatch": []}
    found = parse_tool_use_result({**new, "originalFile": None})
    assert found == RESULT_FIELDS["WriteResult"](
        type="create", file_path="a", content="b", structured_patch=[], original_file=None
    )
