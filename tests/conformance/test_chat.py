"""Comparing the lines of two clients: kinds, fields, graphs, values."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.chat.alike import differing, drawn, told
from conformance.chat.explained import FIELDS
from conformance.chat.kinds import Form, differences, fields_of, forms, kind_of
from conformance.client import objects
from tests.write.stories import STORIES, writer

Entry = dict[str, Any]
NOON = "2026-11-16T12:00:"


def user(content: object, **fields: object) -> Entry:
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def result(**fields: object) -> Entry:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "", **fields}
    return user([block])


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        (user("Hello"), "prompt"),
        (user([{"type": "text", "text": "Hello"}]), "prompt"),
        (user("More", isMeta=True), "meta"),
        (user("Sum", isCompactSummary=True), "summary of a compaction"),
        (user([{"type": "text", "text": "[Request interrupted by user]"}]), "interruption"),
        (user("<command-name>/cost</command-name>"), "command"),
        (result(), "result Bash"),
        (result(is_error=True), "result Bash failed"),
        (result(is_error=True) | {"toolDenialKind": "interrupted"}, "result Bash interrupted"),
        ({"type": "assistant", "message": {"content": [{"type": "thinking"}]}}, "answer thinking"),
        ({"type": "assistant", "isApiErrorMessage": True}, "api error"),
        ({"type": "assistant", "isApiErrorMessage": False}, "made-up answer"),
        ({"type": "system", "subtype": "turn_duration"}, "system turn_duration"),
        ({"type": "attachment", "attachment": {"type": "date"}}, "attachment date"),
        ({"type": "progress", "data": {"type": "bash_progress"}}, "progress bash_progress"),
        (
            {"type": "queue-operation", "operation": "remove", "reason": "x"},
            "queue-operation remove x",
        ),
        ({"type": "last-prompt", "explicit": True}, "last-prompt explicit"),
        ({"type": "mode"}, "mode"),
    ],
)
def test_kinds_of_lines(entry: Entry, kind: str) -> None:
    assert kind_of(entry, {"t1": "Bash"}) == kind


def test_fields_are_paths_and_free_values_are_ignored() -> None:
    entry = {"a": {"b": [{"c": 1}, {"d": None}]}, "input": {"any": "thing"}, "on": True}
    assert fields_of(entry) == {
        "a": "object",
        "a.b": "list",
        "a.b[]": "object",
        "a.b[].c": "number",
        "a.b[].d": "null",
        "input": "object",
        "on": "bool",
    }


def test_missing_and_extra_fields() -> None:
    theirs = forms([{"type": "mode", "a": 1, "b": {"c": 1}}, {"type": "mode", "b": {"c": 1}}])
    ours = forms([{"type": "mode", "a": "1", "e": {"f": 1}}, {"type": "tag"}])
    assert [str(one) for one in differences(ours, theirs)] == [
        "mode: says text in a",
        "mode: lacks b",
        "mode: has beyond e",
        "tag: no such kind ",
    ]


def log(folder: Path, name: str, *entries: Entry) -> Path:
    place = folder / name
    place.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return place


ONE, TWO, NOTE = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123")


def test_logs_match_except_ids_times_and_client_only_lines(tmp_path: Path) -> None:
    asked = {"uuid": ONE, "parentUuid": None, "timestamp": "2026-01-03T10:00:00.000Z"}
    note = {"type": "attachment", "attachment": {"type": "date"}, "uuid": NOTE, "parentUuid": ONE}
    ended: Entry = {"type": "system", "subtype": "turn_duration", "durationMs": 12, "uuid": TWO}
    theirs = log(tmp_path, "a", user("in /x", **asked), note, {**ended, "parentUuid": NOTE})
    same = log(
        tmp_path,
        "b",
        user("in /y", **asked | {"uuid": TWO, "timestamp": "2026-05-03T10:00:00.000Z"}),
        {**ended, "durationMs": 700, "parentUuid": TWO, "uuid": ONE},
    )
    first, second = told(theirs, {"/x": "HERE"}), told(same, {"/y": "HERE"})
    assert drawn(first) == ["1<- prompt", "2<1 system turn_duration"]
    assert differing(second, first) == []
    other = log(tmp_path, "c", user("in /y!", **asked), {**ended, "parentUuid": ONE})
    assert differing(told(other, {"/y": "HERE"}), first) == [
        'prompt: message.content: "in HERE!" here, "in HERE" there'
    ]
    cut = log(tmp_path, "d", user("in /x", **asked), {**ended, "parentUuid": None})
    assert "+2<- system turn_duration" in differing(told(cut, {"/x": "HERE"}), first)


def queued(operation: str, time: str) -> Entry:
    return {"type": "queue-operation", "operation": operation, "timestamp": f"{NOON}{time}Z"}


def test_queue_lines_are_ordered_by_time(tmp_path: Path) -> None:
    """The client writes messages a moment later than it makes them."""
    at = {"uuid": ONE, "parentUuid": None}
    lines = [
        queued("enqueue", "01"),
        queued("dequeue", "05"),
        user("a", timestamp=f"{NOON}04Z", **at),
        user("b", timestamp=f"{NOON}06Z", uuid=TWO, parentUuid=ONE),
        queued("remove", "07"),
        user("c", timestamp=f"{NOON}07Z", uuid=NOTE, parentUuid=TWO),
    ]
    kept = [kind for kind, _ in told(log(tmp_path, "a", *lines), {})]
    assert kept == [
        "queue-operation enqueue",
        "prompt",
        "queue-operation dequeue",
        "prompt",
        "queue-operation remove",
        "prompt",
    ]


def snapshot(of: str, *, is_update: bool = False) -> Entry:
    return {"type": "file-history-snapshot", "messageId": of, "isSnapshotUpdate": is_update}


def test_snapshot_precedes_its_prompt(tmp_path: Path) -> None:
    prompt = user("a", uuid=ONE, parentUuid=None)
    late = log(tmp_path, "a", prompt, snapshot(ONE), snapshot(ONE, is_update=True), snapshot(TWO))
    kept = [(kind, entry.get("isSnapshotUpdate")) for kind, entry in told(late, {})]
    file = "file-history-snapshot"
    assert kept == [(file, False), ("prompt", None), (file, True), (file, False)]


def block(uuid: str, parent: str | None, call: str) -> Entry:
    content = [{"type": "tool_use", "id": call, "name": "Bash", "input": {}}]
    message = {"id": "msg_1", "content": content}
    return {"type": "assistant", "message": message, "uuid": uuid, "parentUuid": parent}


def test_results_follow_the_whole_response(tmp_path: Path) -> None:
    """A call may be done before the next block is there, which then hangs on its result."""
    one, two, three, four = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "4567")
    early = result(uuid=two) | {"uuid": two, "parentUuid": one}
    late = result() | {"uuid": four, "parentUuid": three}
    lines = [block(one, None, "t1"), early, block(three, two, "t2"), late]
    assert drawn(told(log(tmp_path, "a", *lines), {})) == [
        "1<- answer tool_use",
        "2<1 answer tool_use",
        "3<1 result Bash",
        "4<2 result Bash",
    ]


def test_omitted_messages_are_not_counted(tmp_path: Path) -> None:
    date = {"type": "attachment", "attachment": {"type": "date"}, "uuid": ONE, "parentUuid": None}
    ended = {"type": "system", "subtype": "turn_duration", "uuid": TWO, "messageCount": 7}
    [(_, entry)] = told(log(tmp_path, "a", date, {**ended, "parentUuid": ONE}), {})
    assert entry["messageCount"] == 6


def was_stopped(entry: Entry) -> bool:
    """Whether a line is of a response that came to no end: the shared logs have none."""
    return entry["type"] == "assistant" and entry["message"]["stop_reason"] is None


OF_THE_REQUEST = {"effort", "perTurnEffort", "promptCacheRequested", "requestRef"}
TOLD_BY_THE_CALLER = {
    "thinkingDisplay",
    "thinkingDurationMs",
    "toolInputStreamMs",
    "permissionDecision",
    "sandboxed",
    "message.content[].is_error",
    "toolUseResult.noOutputExpected",
    "attachment.savedCopyFraming",
}


def test_every_field_of_the_writer_is_the_clients(shared: Path, tmp_path: Path) -> None:
    """Holds fields at any depth; what a caller says of an event is the caller's."""
    theirs: dict[str, Form] = {}
    ours: dict[str, Form] = {}
    for folder in ("produced", "client-sessions"):
        for file in sorted((shared / folder).rglob("*.jsonl")):
            if "subagents" not in file.parts:
                forms(objects(file), theirs)
    for seed, told_to in enumerate(STORIES.values()):
        with writer(tmp_path, seed=seed) as session:
            told_to(session)
    for file in sorted(tmp_path.glob("projects/*/*.jsonl")):
        forms((entry for entry in objects(file) if not was_stopped(entry)), ours)
    found = [
        one
        for one in differences(ours, theirs)
        if one.what == "lacks" and one.path not in OF_THE_REQUEST | TOLD_BY_THE_CALLER
    ]
    assert {one.kind for one in found} == {"system api_error", "system compact_boundary"}
    assert all(one.path.startswith(("error.", "compactMetadata.")) for one in found), found
    assert FIELDS
