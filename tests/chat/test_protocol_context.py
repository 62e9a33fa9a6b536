"""Tokens, compaction, progress and resume of the published protocol."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import plait.chat
from plait.chat.client import Client
from plait.chat.context import LiveContext, RequestBuilder
from plait.chat.events import Compacted, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.runtime import Runtime
from plait.chat.tools import shell, toolbox
from plait.chat.tools.base import Workplace
from plait.write import SessionWriter
from plait.write.lines import VERSIONS, Version
from tests.chat.scripted_client import Echo, Permissive, ScriptedClient
from tests.chat.test_compaction import Room, usage
from tests.chat.test_protocol_turn import Overheard, of_type, strip_cache_marks

Json = dict[str, Any]
USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 3000,
    "output_tokens": 7,
}
LOOK = {"name": "Echo", "input": {"text": "a"}}


# checklist: P93
@pytest.mark.parametrize("version", VERSIONS)
def test_tokens_are_counted_once_per_response(tmp_path: Path, version: Version) -> None:
    answers = [
        {"thinking": "hm", "text": "Look.", "calls": [LOOK, LOOK], "usage": USAGE},
        {"text": "Done.", "usage": USAGE},
        {"text": "Again.", "usage": USAGE},
    ]
    session = ScriptedClient(tmp_path, {"answers": answers}, tools=[Echo()], version=version)
    events = session.ask("first", "second")
    turns = [event for event in events if isinstance(event, TurnEnded)]
    assert [turn.usage for turn in turns] == [
        {name: count * responses for name, count in USAGE.items()} for responses in (2, 1)
    ]
    assert session.client.meter.by_kind() == {name: 3 * count for name, count in USAGE.items()}
    assert [turn.responses for turn in turns] == [2, 1]
    assert all(turn.cost and turn.cost > 0 for turn in turns)
    *_, last = of_type(session, "assistant")
    assert USAGE.items() <= last["message"]["usage"].items()


# checklist: P94
@pytest.mark.parametrize("version", VERSIONS)
def test_a_conversation_near_the_limit_is_compacted_first(tmp_path: Path, version: Version) -> None:
    answers = [{"text": "One.", "usage": usage(900)}, {"text": "Two.", "usage": usage(1100)}]
    room = Room(tmp_path, {"answers": [*answers, {"text": "Three."}]}, version=version)
    events = room.ask("first", "second", "third")
    results = [event for event in events if isinstance(event, Compacted)]
    assert [(event.trigger, event.summary) for event in results] == [("auto", "They spoke.")]
    place = events.index(results[0])
    asked = [type(event).__name__ for event in events[:place]]
    assert asked.count("TurnEnded") == 2, "at 900 of 1000 tokens there was room yet"
    last = json.dumps(strip_cache_marks(room.model.asked[-1].messages))
    assert "They spoke." in last
    assert "third" in last
    assert "first" not in last


# checklist: P95, P96
def test_older_compaction_is_a_summary_a_boundary_and_a_new_root(
    tmp_path: Path,
) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]}, version="2.1.29")
    room.compact("first", "second")
    lines = room.lines
    at = next(place for place, line in enumerate(lines) if line["type"] == "summary")
    leaf = [line["uuid"] for line in lines[:at] if "uuid" in line][-1]
    assert lines[at] == {"type": "summary", "summary": "They spoke.", "leafUuid": leaf}
    boundary = lines[at + 1]
    assert (boundary["type"], boundary["subtype"]) == ("system", "compact_boundary")
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] == leaf
    assert boundary["compactMetadata"].keys() == {"trigger", "preTokens"}
    assert boundary["compactMetadata"]["trigger"] == "manual"
    assert boundary["compactMetadata"]["preTokens"] > 0
    assert lines[at + 2]["type"] == "user"
    assert lines[at + 2]["parentUuid"] is None


# checklist: P95, P96
def test_current_compaction_is_a_boundary_with_a_summary_below(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]})
    room.compact("first", "second")
    lines = [line for line in room.lines if "uuid" in line]
    at = next(
        place for place, result in enumerate(lines) if result.get("subtype") == "compact_boundary"
    )
    boundary, summary = lines[at : at + 2]
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] == lines[at - 1]["uuid"]
    assert summary["isCompactSummary"] is True
    assert summary["parentUuid"] == boundary["uuid"]
    assert "They spoke." in summary["message"]["content"]
    assert not of_type(room, "summary")


def open_with_tools(folder: Path, version: Version, *answers: Json) -> tuple[Client, Path]:
    """Return a client with the tools of this machine, and its log."""
    work = folder / "work"
    work.mkdir()
    writer = SessionWriter.new(folder / "config", cwd=work, version=version)
    memory = RequestBuilder(LiveContext(writer), "claude-opus-5-5")
    place = Workplace(work, work, environment={"PATH": "/usr/bin:/bin"})
    model = ScriptModel({"answers": [*answers]})
    return Client(Runtime(writer, model, memory, Permissive(), place, toolbox())), writer.path


def run_session(client: Client, *prompts: str) -> None:
    async def play() -> None:
        async with client:
            for prompt in prompts:
                async for _ in client.send(prompt):
                    pass

    asyncio.run(play())


def lines_of(log: Path) -> list[Json]:
    return [json.loads(line) for line in log.read_bytes().splitlines()]


# checklist: P97
@pytest.mark.parametrize("version", VERSIONS)
def test_output_of_a_running_command_is_progress(
    tmp_path: Path, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "PROGRESS_DELAY", 0.1)
    command = {"command": "echo Step 1; sleep 0.6; echo Step 2"}
    call = {"name": "Bash", "input": command, "id": "toolu_1"}
    client, log = open_with_tools(tmp_path, version, {"calls": [call]}, {"text": "Built."})
    run_session(client, "build")
    results = [line for line in lines_of(log) if line["type"] == "progress"]
    if version == "2.1.325":
        assert results == []
        return
    assert results[0]["data"]["type"] == "bash_progress"
    assert results[0]["data"]["output"].rstrip() == "Step 1"
    assert results[0]["data"]["fullOutput"].rstrip() == "Step 1"
    assert results[0]["toolUseID"]
    assert results[0]["parentToolUseID"] == "toolu_1"
    parents = {line["parentUuid"] for line in lines_of(log) if "uuid" in line}
    assert not parents & {line["uuid"] for line in results}, "nothing hangs on progress"


# checklist: P76
@pytest.mark.parametrize("version", VERSIONS)
def test_file_is_backed_up_before_a_call_changes_it(tmp_path: Path, version: Version) -> None:
    notes = tmp_path / "work" / "notes.txt"
    calls = [
        {"name": "Read", "input": {"file_path": str(notes)}},
        {
            "name": "Edit",
            "input": {"file_path": str(notes), "old_string": "one", "new_string": "1"},
        },
    ]
    answers = [{"calls": [call]} for call in calls]
    client, log = open_with_tools(tmp_path, version, *answers, {"text": "Done."}, {"text": "Yes."})
    notes.write_text("one\n", encoding="utf-8")
    run_session(client, "change it", "go on")
    assert notes.read_text(encoding="utf-8") == "1\n"
    lines = lines_of(log)
    at = next(place for place, result in enumerate(lines) if "oldString" in json.dumps(result))
    first, last = (
        line
        for line in lines
        if line["type"] == "file-history-snapshot" and (line["isSnapshotUpdate"] is False)
    )
    assert first["snapshot"]["trackedFileBackups"] == {}
    kept = last["snapshot"]["trackedFileBackups"]["notes.txt"]
    if version == "2.1.29":
        [update] = [line for line in lines[:at] if line.get("isSnapshotUpdate")]
        assert update["snapshot"]["trackedFileBackups"] == {"notes.txt": "one\n"}
        assert kept == "1\n"
        return
    [delta] = [line for line in lines[:at] if line["type"] == "file-history-delta"]
    assert delta["trackingPath"] == "notes.txt"
    assert delta["snapshotMessageId"] == first["messageId"]
    copies = log.parents[2] / "file-history" / log.stem
    assert (copies / delta["backup"]["backupFileName"]).read_text(encoding="utf-8") == "one\n"
    assert (copies / kept["backupFileName"]).read_text(encoding="utf-8") == "1\n"


def continue_log(log: Path, *answers: Json) -> list[list[Json]]:
    """Go on with a log for one prompt, and return what was sent for it."""
    writer = SessionWriter.resume(log)
    model = Overheard(*answers)
    memory = RequestBuilder(LiveContext(writer), "claude-opus-5-5")
    place = Workplace(log.parent, log.parent)
    client = Client(Runtime(writer, model, memory, Permissive(), place, {"Echo": Echo()}))
    run_session(client, "And now?")
    return [strip_cache_marks(request.messages) for request in model.requests]


# checklist: P101, P102, P103, P104
@pytest.mark.parametrize("version", VERSIONS)
def test_session_continues_from_its_file(tmp_path: Path, version: Version) -> None:
    answers = [{"thinking": "hm", "text": "Look.", "calls": [LOOK, LOOK]}, {"text": "Done."}]
    session = ScriptedClient(tmp_path, {"answers": answers}, tools=[Echo()], version=version)
    session.ask("first")
    before = session.lines
    [sent] = continue_log(session.parts.writer.path, {"text": "Later."})
    kinds = [[block["type"] for block in message["content"]] for message in sent]
    assert [message["role"] for message in sent] == ["user", "assistant"] * 2 + ["user"]
    assert kinds == [
        ["text"],
        ["thinking", "text", "tool_use", "tool_use"],
        ["tool_result", "tool_result"],
        ["text"],
        ["text"],
    ], "blocks of one request are one message"
    assert sent[-1]["content"] == [{"type": "text", "text": "And now?"}]
    lines = session.lines
    assert lines[: len(before)] == before
    added = [line for line in lines[len(before) :] if "uuid" in line]
    tip = next(line["uuid"] for line in reversed(before) if "uuid" in line)
    assert added[0]["parentUuid"] == tip
    assert added[1]["parentUuid"] == added[0]["uuid"]
    assert {line["sessionId"] for line in added} == {session.client.session}


# checklist: P105
@pytest.mark.parametrize("version", VERSIONS)
def test_compacted_session_continues_from_its_summary(tmp_path: Path, version: Version) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]}, version=version)
    room.compact("first", "second")
    [sent] = continue_log(room.parts.writer.path, {"text": "Later."})
    result = json.dumps(sent)
    assert "They spoke." in result
    assert "first" not in result
    assert "second" not in result
    assert ("Two." in result) == (version == "2.1.325"), "the tail is preserved today"


# checklist: P6
def test_log_file_alone_is_enough_to_continue(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]})
    session.ask("first", "second")
    elsewhere = tmp_path / "elsewhere" / f"{session.client.session}.jsonl"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(session.parts.writer.path.read_bytes())
    [sent] = continue_log(elsewhere, {"text": "Later."})
    assert [block["text"] for message in sent for block in message["content"]] == [
        "first",
        "One.",
        "second",
        "Two.",
        "And now?",
    ]


# checklist: P119
def test_older_log_can_be_rebuilt_as_in_the_appendix(tmp_path: Path) -> None:
    answers = [{"text": "Look.", "calls": [LOOK, LOOK]}, {"text": "Done."}]
    session = ScriptedClient(tmp_path, {"answers": answers}, tools=[Echo()], version="2.1.29")
    session.ask("first")
    log = session.parts.writer.path
    assert plait.chat.load_session(log) == appendix_c(log)
    assert [message["role"] for message in appendix_c(log)] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]


def appendix_c(jsonl_path: Path) -> list[Json]:
    """Return what the function of the appendix returns, line for line as it is printed there."""
    messages: list[Json] = []
    for line in jsonl_path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["type"] == "user" and not entry.get("isMeta"):
            messages.append(entry["message"])
        elif entry["type"] == "assistant":
            if (
                messages
                and messages[-1].get("role") == "assistant"
                and messages[-1].get("_requestId") == entry.get("requestId")
            ):
                messages[-1]["content"].extend(entry["message"]["content"])
            else:
                content = list(entry["message"]["content"])
                request = entry.get("requestId")
                messages.append({"role": "assistant", "content": content, "_requestId": request})
        elif entry["type"] == "summary":
            words = f"[Previous conversation summary]: {entry['summary']}"
            messages = [{"role": "user", "content": words}]
    for message in messages:
        message.pop("_requestId", None)
    return messages
