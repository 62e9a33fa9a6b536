"""Every written line has the fields the published description requires."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.write.lines import VERSIONS, Version
from tests.write.stories import STORIES, writer

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
Check = Callable[[Any], bool]


def is_uuid(value: Any) -> bool:
    return isinstance(value, str) and bool(UUID4.fullmatch(value))


def is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(TIME.fullmatch(value))


def is_parent(value: Any) -> bool:
    return value is None or is_uuid(value)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def among(*values: object) -> Check:
    return lambda value: value in values


ENVELOPE: dict[str, Check] = {
    "uuid": is_uuid,
    "parentUuid": is_parent,
    "sessionId": is_uuid,
    "timestamp": is_time,
    "isSidechain": among(True, False),
    "userType": among("external"),
    "cwd": among("/tmp/app"),
    "version": among(*VERSIONS),
    "gitBranch": among("main"),
    "slug": lambda value: bool(re.fullmatch(r"[a-z]+-[a-z]+-[a-z]+", value)),
}
REQUIRED: dict[str, dict[str, Check]] = {
    "user": ENVELOPE | {"message": is_object, "message.role": among("user")},
    "assistant": ENVELOPE
    | {
        "requestId": lambda value: value.startswith("req_"),
        "message.model": is_text,
        "message.id": is_text,
        "message.type": among("message"),
        "message.role": among("assistant"),
        "message.content": lambda value: isinstance(value, list) and len(value) == 1,
        "message.stop_reason": among(None, "tool_use", "end_turn", "stop_sequence"),
        "message.stop_sequence": among(None, ""),
        "message.usage": lambda value: {"input_tokens", "output_tokens"} <= value.keys(),
    },
    "system": ENVELOPE | {"subtype": is_text},
    "attachment": ENVELOPE | {"attachment.type": is_text},
    "progress": ENVELOPE | {"data.type": is_text, "toolUseID": is_text, "parentToolUseID": is_text},
    "system/turn_duration": {"durationMs": lambda value: value > 0, "isMeta": among(False)},
    "system/local_command": {"content": is_text, "level": among("info"), "isMeta": among(False)},
    "system/informational": {"content": is_text, "level": among("info"), "isMeta": among(False)},
    "system/away_summary": {"content": is_text, "isMeta": among(False)},
    "system/bridge_status": {"content": is_text, "url": is_text},
    "system/api_error": {
        "level": among("error"),
        "error": is_object,
        "retryInMs": among(558),
        "retryAttempt": among(1),
        "maxRetries": among(10),
    },
    "system/stop_hook_summary": {
        "hookCount": among(1),
        "hookInfos": lambda value: len(value) == 1,
        "hookErrors": among([]),
        "preventedContinuation": among(False),
        "stopReason": among(""),
        "hasOutput": among(False),
        "level": among("suggestion"),
        "toolUseID": is_uuid,
    },
    "system/microcompact_boundary": {"microcompactMetadata": is_object, "content": is_text},
    "system/model_refusal_no_fallback": {"originalModel": is_text, "requestId": is_text},
    "system/compact_boundary": {
        "logicalParentUuid": is_uuid,
        "content": among("Conversation compacted"),
        "level": among("info"),
        "compactMetadata.trigger": among("auto", "manual"),
        "compactMetadata.preTokens": lambda value: value > 0,
    },
    "summary": {"summary": is_text, "leafUuid": is_uuid},
    "queue-operation": {
        "operation": among("enqueue", "dequeue", "remove", "popAll"),
        "timestamp": is_time,
        "sessionId": is_uuid,
    },
    "file-history-snapshot": {
        "messageId": is_uuid,
        "snapshot.messageId": is_uuid,
        "snapshot.trackedFileBackups": is_object,
        "snapshot.timestamp": is_time,
        "isSnapshotUpdate": among(True, False),
    },
    "pr-link": {
        "sessionId": is_uuid,
        "prNumber": among(3),
        "prUrl": is_text,
        "prRepository": among("o/r"),
        "timestamp": is_time,
    },
    "last-prompt": {"leafUuid": lambda value: isinstance(value, str), "sessionId": is_uuid},
    "custom-title": {"customTitle": is_text, "sessionId": is_uuid},
    "ai-title": {"aiTitle": is_text, "sessionId": is_uuid},
    "agent-name": {"agentName": is_text, "sessionId": is_uuid},
    "tag": {"tag": is_text, "sessionId": is_uuid},
    "mode": {"mode": is_text, "sessionId": is_uuid},
    "permission-mode": {"permissionMode": is_text, "sessionId": is_uuid},
}
BLOCKS = {
    "text": {"type", "text"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "content"},
    "thinking": {"type", "thinking", "signature"},
    "image": {"type", "source"},
}
ONLY_OLDER, ONLY_NEWER = {"progress"}, {"last-prompt"}


def write_stories(folder: Path, version: Version) -> list[dict[str, Any]]:
    """Return every line of every story, those of agents included."""
    for seed, item in enumerate(STORIES.values()):
        with writer(folder, version, seed) as session:
            item(session)
    logs = sorted(folder.rglob("*.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_bytes().splitlines()]


@pytest.fixture(scope="module", params=VERSIONS)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return request.param, write_stories(tmp_path_factory.mktemp("told"), request.param)


@pytest.mark.parametrize("kind", REQUIRED)
def test_no_required_field_is_missing(
    told: tuple[Version, list[dict[str, Any]]], kind: str
) -> None:
    version, entries = told
    name, _, subtype = kind.partition("/")
    found = [
        entry
        for entry in entries
        if entry["type"] == name and (not subtype or entry["subtype"] == subtype)
    ]
    assert bool(found) == (kind not in (ONLY_NEWER if version == "2.1.29" else ONLY_OLDER))
    for entry in found:
        for field, is_right in REQUIRED[kind].items():
            holder, _, inner = field.rpartition(".")
            value = (entry[holder] if holder else entry)[inner]
            assert is_right(value), (field, entry)


def test_blocks_have_the_fields_of_their_type(
    told: tuple[Version, list[dict[str, Any]]],
) -> None:
    seen = set()
    for entry in told[1]:
        content = entry.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            seen.add(block["type"])
            assert BLOCKS[block["type"]] <= block.keys() <= BLOCKS[block["type"]] | {"is_error"}
    assert seen == BLOCKS.keys()


def test_line_names_its_version(told: tuple[Version, list[dict[str, Any]]]) -> None:
    version, entries = told
    assert {entry["version"] for entry in entries if "uuid" in entry} == {version}
    assert {entry.get("entrypoint") for entry in entries if "uuid" in entry} == {
        None if version == "2.1.29" else "cli"
    }
