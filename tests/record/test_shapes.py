"""Every kind of line in the client's form, as typed attributes."""

import json
from typing import Any

import pytest

from plait import Record, System, User
from plait.record import parse_record
from plait.record.fields import ATTACHMENT_FIELDS, PROGRESS_FIELDS
from plait.record.types import (
    Attachment,
    CompactMetadata,
    FileBackup,
    FileHistoryDelta,
    FileHistorySnapshot,
    ForkContextRef,
    LastPrompt,
    PrLink,
    Progress,
    QueueOperation,
    Summary,
    WorktreeState,
    parse_tool_use_result,
)


def record(**fields: object) -> Record:
    return parse_record(json.dumps(fields).encode())


BOUNDARY = {
    "parentUuid": None,
    "logicalParentUuid": "old-leaf",
    "type": "system",
    "subtype": "compact_boundary",
    "content": "Conversation compacted",
    "level": "info",
    "uuid": "b",
    "compactMetadata": {
        "trigger": "auto",
        "preTokens": 166503,
        "postTokens": 3518,
        "durationMs": 9000,
        "preservedSegment": {"headUuid": "h", "anchorUuid": "b", "tailUuid": "t"},
        "preservedMessages": {"anchorUuid": "b", "uuids": ["h", "t"]},
    },
}


# checklist: S21, F26, D82, P21, P62
def test_compaction_boundary() -> None:
    boundary = record(**BOUNDARY)
    assert isinstance(boundary, System)
    assert (boundary.parent_uuid, boundary.logical_parent_uuid) == (None, "old-leaf")
    assert (boundary.subtype, boundary.content) == ("compact_boundary", "Conversation compacted")
    known = boundary.compact_metadata
    assert known is not None
    assert (known.trigger, known.pre_tokens, known.post_tokens) == ("auto", 166503, 3518)
    assert known.duration_ms == 9000
    assert known.preserved_segment is not None
    assert known.preserved_segment.tail_uuid == "t"
    assert known.preserved_messages is not None
    assert known.preserved_messages.uuids == ["h", "t"]


# checklist: D83
@pytest.mark.parametrize("tokens", ["many", None, [1], {"n": 1}, 1.5])
def test_figures_of_a_wrong_type_are_ignored(tokens: object) -> None:
    metadata = {"trigger": "manual", "preTokens": tokens}
    boundary = record(type="system", subtype="compact_boundary", compactMetadata=metadata)
    assert isinstance(boundary, System)
    assert boundary.compact_metadata == CompactMetadata(trigger="manual")


# checklist: F27, P22, P23
def test_notices() -> None:
    command = record(
        type="system", subtype="local_command", content="<command-name>/usage</command-name>"
    )
    assert command.text == "<command-name>/usage</command-name>"
    turn = record(type="system", subtype="turn_duration", durationMs=24434, messageCount=5)
    assert isinstance(turn, System)
    assert (turn.duration_ms, turn.message_count) == (24434, 5)
    error = record(
        type="system", subtype="api_error", retryInMs=500, retryAttempt=1, error={"x": 1}
    )
    assert isinstance(error, System)
    assert (error.retry_in_ms, error.retry_attempt, error.error) == (500, 1, {"x": 1})


# checklist: F21
def test_context_edits_of_a_response_are_kept() -> None:
    answer = record(type="assistant", message={"context_management": {"applied_edits": [1]}})
    assert answer.message is not None
    assert answer.message.context_management == {"applied_edits": [1]}


# checklist: F28
def test_queue_operation_has_no_uuid() -> None:
    waiting = record(type="queue-operation", operation="enqueue", content="and then", sessionId="s")
    assert isinstance(waiting, QueueOperation)
    assert (waiting.uuid, waiting.operation, waiting.content) == (None, "enqueue", "and then")


# checklist: F29
def test_file_snapshots() -> None:
    backup = {"backupFileName": "0123456789abcdef@v2", "version": 2, "backupTime": "t"}
    snapshot = record(
        type="file-history-snapshot",
        messageId="m",
        isSnapshotUpdate=True,
        snapshot={"messageId": "m", "timestamp": "t", "trackedFileBackups": {"a.py": backup}},
    )
    assert isinstance(snapshot, FileHistorySnapshot)
    assert (snapshot.message_id, snapshot.is_snapshot_update) == ("m", True)
    assert snapshot.snapshot is not None
    assert snapshot.snapshot.tracked_file_backups == {"a.py": backup}
    delta = record(type="file-history-delta", trackingPath="a.py", backup=backup)
    assert isinstance(delta, FileHistoryDelta)
    assert delta.backup == FileBackup("0123456789abcdef@v2", 2, "t")


# checklist: F30, P61
def test_state_lines() -> None:
    match record(type="summary", summary="A title", leafUuid="l"):
        case Summary(summary=str(text), leaf_uuid=str(leaf)):
            assert (text, leaf) == ("A title", "l")
        case _:
            pytest.fail("no summary")
    last = record(type="last-prompt", lastPrompt="go on", leafUuid="l", explicit=True)
    assert isinstance(last, LastPrompt)
    assert (last.last_prompt, last.leaf_uuid, last.explicit) == ("go on", "l", True)
    link = record(type="pr-link", prNumber=7, prUrl="https://example.com/7", prRepository="a/b")
    assert isinstance(link, PrLink)
    assert (link.pr_number, link.pr_repository) == (7, "a/b")
    fork = record(type="fork-context-ref", agentId="a", parentSessionId="s", parentLastUuid="u")
    assert isinstance(fork, ForkContextRef)
    assert (fork.agent_id, fork.parent_last_uuid) == ("a", "u")
    tree = record(type="worktree-state", worktreeSession={"worktreeBranch": "wt"})
    assert isinstance(tree, WorktreeState)
    assert tree.worktree_session is not None
    assert tree.worktree_session.worktree_branch == "wt"


@pytest.mark.parametrize("kind", sorted(PROGRESS_FIELDS))
def test_every_kind_of_progress_is_typed(kind: str) -> None:
    news = record(type="progress", data={"type": kind}, toolUseID="t", parentToolUseID="p")
    assert isinstance(news, Progress)
    assert (news.progress_type, news.tool_use_id, news.parent_tool_use_id) == (kind, "t", "p")
    assert type(news.data) is PROGRESS_FIELDS[kind]


def test_progress_has_its_data() -> None:
    bash = record(type="progress", data={"type": "bash_progress", "output": "1", "totalLines": 3})
    assert isinstance(bash, Progress)
    assert bash.data == PROGRESS_FIELDS["bash_progress"](output="1", total_lines=3)
    agent = record(type="progress", data={"type": "agent_progress", "agentId": "a", "prompt": "p"})
    assert isinstance(agent, Progress)
    assert agent.data == PROGRESS_FIELDS["agent_progress"](agent_id="a", prompt="p")


def test_every_kind_of_attachment_is_typed() -> None:
    for kind, fields in ATTACHMENT_FIELDS.items():
        attachment = record(type="attachment", attachment={"type": kind})
        assert isinstance(attachment, Attachment)
        assert attachment.attachment_type == kind
        assert type(attachment.attachment) is fields


def test_queued_prompt() -> None:
    queued = {"type": "queued_command", "prompt": "and then", "commandMode": "prompt"}
    attachment = record(type="attachment", attachment={**queued, "source_uuid": "u"})
    assert isinstance(attachment, Attachment)
    expected = ATTACHMENT_FIELDS["queued_command"](
        prompt="and then", command_mode="prompt", source_uuid="u"
    )
    assert attachment.attachment == expected


# checklist: P14
def test_prompt_with_metadata() -> None:
    prompt = record(
        type="user",
        permissionMode="plan",
        promptId="p",
        promptSource="typed",
        imagePasteIds=[1],
        todos=[],
        message={"role": "user", "content": [{"type": "text", "text": "look"}]},
    )
    assert isinstance(prompt, User)
    assert (prompt.permission_mode, prompt.prompt_id, prompt.text) == ("plan", "p", "look")
    assert (prompt.prompt_source, prompt.image_paste_ids, prompt.todos) == ("typed", [1], [])


# checklist: P52
@pytest.mark.parametrize(
    ("value", "form", "known"),
    [
        (
            {"filenames": ["a"], "numFiles": 1, "durationMs": 5, "truncated": False},
            "GlobResult",
            {"filenames": ["a"], "num_files": 1},
        ),
        (
            {"mode": "content", "filenames": [], "numFiles": 0, "content": "x", "numLines": 1},
            "GrepResult",
            {"mode": "content", "num_lines": 1},
        ),
        (
            {"type": "create", "filePath": "a", "content": "x", "structuredPatch": []},
            "WriteResult",
            {"type": "create", "file_path": "a"},
        ),
        (
            {
                "filePath": "a",
                "oldString": "x",
                "newString": "y",
                "originalFile": "x",
                "structuredPatch": [{"oldStart": 1}],
                "userModified": False,
                "replaceAll": True,
            },
            "EditResult",
            {"old_string": "x", "replace_all": True, "user_modified": False},
        ),
        ({"oldTodos": [], "newTodos": [1]}, "TodoWriteResult", {"new_todos": [1]}),
    ],
)
def test_tool_results(value: dict[str, Any], form: str, known: dict[str, Any]) -> None:
    result = parse_tool_use_result(value)
    assert type(result).__name__ == form
    assert {name: getattr(result, name) for name in known} == known
