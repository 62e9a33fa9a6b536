"""The description of cloning, rule by rule."""

from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.record import Record, read
from tests.edit.copies import SESSION, apply_steps, root_with

PROMPT, ANSWER, RESULT = (f"{number:08x}-aaaa-4bbb-8ccc-dddddddddddd" for number in (1, 2, 3))
FOLDER = f"/home/dev/.claude/projects/-home-dev-shop/{SESSION}/tool-results/x.txt"
THOUGHT = {"type": "thinking", "thinking": f"It lies in {FOLDER}.", "signature": "EsQCCkYIBRgC"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": FOLDER}}
OUTPUT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "words"}


def said(kind: str, uuid: str, parent: str | None, *content: object, **more: Any) -> dict[str, Any]:
    message = {"id": f"msg_{uuid[:8]}", "role": kind, "content": list(content)}
    own = {"parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-11-02T09:00:00.000Z"}
    return {"type": kind, "uuid": uuid, **own, "message": message, **more}


LINES = (
    {"type": "summary", "summary": "Where it lies", "leafUuid": RESULT},
    {"type": "queue-operation", "operation": "enqueue", "content": "a", "sessionId": SESSION},
    {
        "type": "file-history-snapshot",
        "messageId": PROMPT,
        "snapshot": {"messageId": PROMPT, "trackedFileBackups": {}},
        "isSnapshotUpdate": False,
    },
    said("user", PROMPT, None, {"type": "text", "text": "Where?"}),
    said("assistant", ANSWER, PROMPT, THOUGHT, CALL, requestId="req_1"),
    said("user", RESULT, ANSWER, OUTPUT, sourceToolAssistantUUID=ANSWER),
)


@pytest.fixture
def session(tmp_path: Path) -> str:
    """Return the id of the clone."""
    root = root_with(tmp_path, *LINES)
    return apply_steps(Archive([root]).plan.clone(SESSION)).stem


@pytest.fixture
def clone(session: str, tmp_path: Path) -> dict[str, Record]:
    """Return the records of a clone, by what they are."""
    [path] = tmp_path.rglob(f"{session}.jsonl")
    names = ("summary", "queue", "snapshot", "prompt", "answer", "result")
    return dict(zip(names, read(path), strict=True))


# checklist: F44
@pytest.mark.parametrize(
    "verb",
    [
        lambda plan: plan.clone(SESSION),
        lambda plan: plan.fork(SESSION, RESULT),
        lambda plan: plan.rename(SESSION, "a title"),
    ],
    ids=["clone", "fork", "rename"],
)
def test_signed_thinking_is_unchanged(verb: Any, tmp_path: Path) -> None:
    path = apply_steps(verb(Archive([root_with(tmp_path, *LINES)]).plan))
    [answer] = [record for record in read(path) if record.type == "assistant"]
    assert answer.fields["message"]["content"] == [THOUGHT, CALL]


# checklist: F46
def test_every_session_id_is_replaced(session: str, clone: dict[str, Record]) -> None:
    assert session != SESSION
    named = [name for name, record in clone.items() if "sessionId" in record.fields]
    assert named == ["queue", "prompt", "answer", "result"]
    assert {clone[name].session_id for name in named} == {session}


# checklist: F47
def test_every_record_has_a_new_id_at_the_same_place(clone: dict[str, Record]) -> None:
    uuids = [clone[name].uuid for name in ("prompt", "answer", "result")]
    assert len(set(uuids)) == 3
    assert not {PROMPT, ANSWER, RESULT} & set(uuids)
    assert [clone[name].parent_uuid for name in ("prompt", "answer", "result")] == [
        None,
        *uuids[:2],
    ]
    assert clone["result"].fields["sourceToolAssistantUUID"] == clone["answer"].uuid


# checklist: F48
def test_a_queued_prompt_gets_the_new_session_id(session: str, clone: dict[str, Record]) -> None:
    assert clone["queue"].fields == {**LINES[1], "sessionId": session}


# checklist: F49
def test_a_snapshot_refers_to_the_prompt_of_the_clone(clone: dict[str, Record]) -> None:
    fields = clone["snapshot"].fields
    assert fields["messageId"] == fields["snapshot"]["messageId"] == clone["prompt"].uuid


# checklist: F50
def test_summary_names_the_clones_last_record(clone: dict[str, Record]) -> None:
    assert clone["summary"].fields == {**LINES[0], "leafUuid": clone["result"].uuid}
