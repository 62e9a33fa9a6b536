"""The client as a library: starting, continuing and streaming a session."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plait.chat import Client, MessagesApi, ReplayModel, ScriptModel
from plait.chat.events import Event, ToolFinished, TurnEnded
from plait.chat.runtime import Limits
from plait.errors import UserError
from plait.write.lines import Version
from tests.standin import StandIn, by_script, call, calls, said


def ask(client: Client, *prompts: str) -> list[Event]:
    async def play() -> list[Event]:
        events = []
        async with client:
            for prompt in prompts:
                events += [event async for event in client.send(prompt)]
        return events

    return asyncio.run(play())


def lines(client: Client) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.runtime.writer.path.read_bytes().splitlines()]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "notes.txt").write_text("one\ntwo\n")
    return place


SCRIPT = {
    "answers": [
        {"calls": [{"name": "Read", "input": {"file_path": "notes.txt"}}]},
        {"text": "Two lines."},
    ]
}


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_session_is_started_and_continued(tmp_path: Path, work: Path, version: Version) -> None:
    model = ScriptModel(SCRIPT)
    client = Client.new(tmp_path / "config", cwd=work, model=model, version=version)
    *_, ended = ask(client, "What is in the notes?")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", "Two lines.")
    [result] = [line for line in lines(client) if "toolUseResult" in line]
    assert result["toolUseResult"]["file"]["content"] == "one\ntwo\n"
    again = Client.resume(
        client.runtime.writer.path, model=ScriptModel({"answers": [{"text": "Still."}]})
    )
    ask(again, "And now?")
    roles = [message["role"] for message in again.runtime.requests.build([]).messages]
    assert roles == ["user", "assistant"] * 3
    assert {line["sessionId"] for line in lines(again) if "sessionId" in line} == {again.session}


def test_unpermitted_calls_are_denied_without_a_user(tmp_path: Path, work: Path) -> None:
    write = {"name": "Write", "input": {"file_path": "new.txt", "content": "x"}}
    script = {"answers": [{"calls": [write]}, {"text": "No."}] * 2}
    client = Client.new(tmp_path / "config", cwd=work, model=ScriptModel(script))
    [result] = [item for item in ask(client, "write") if isinstance(item, ToolFinished)]
    assert result.is_denied
    assert not (work / "new.txt").exists()
    client = Client.new(
        tmp_path / "config", cwd=work, model=ScriptModel(script), mode="acceptEdits"
    )
    [result] = [item for item in ask(client, "write") if isinstance(item, ToolFinished)]
    assert not result.is_denied
    assert (work / "new.txt").read_text() == "x"


def test_limits_are_enforced(tmp_path: Path, work: Path) -> None:
    client = Client.new(
        tmp_path / "config", cwd=work, model=ScriptModel(SCRIPT), limits=Limits(responses=1)
    )
    *_, ended = ask(client, "look")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "max_turns"


def test_an_unknown_option_is_rejected(tmp_path: Path, work: Path) -> None:
    with pytest.raises(UserError, match="'colour'"):
        Client.new(tmp_path / "config", cwd=work, model=ScriptModel(SCRIPT), colour="red")


@pytest.mark.parametrize(
    ("options", "has_backups", "has_duration"),
    [
        ({}, False, False),
        ({"environment": {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}}, True, False),
        ({"entrypoint": "cli"}, True, True),
        ({"version": "2.1.29"}, True, True),
    ],
)
def test_print_mode_logs_no_backup_and_no_duration_after_an_edit(
    options: dict[str, Any], has_backups: bool, has_duration: bool, tmp_path: Path, work: Path
) -> None:
    """As the logs of Claude Code 2.1.325 and 2.1.327: only interactive ones have them."""
    (work / "notes.txt").write_text("one\n")
    edit = call("Edit", file_path=str(work / "notes.txt"), old_string="one", new_string="two")
    model = ScriptModel({"answers": [calls(edit), said("Changed.")]})
    client = Client.new(tmp_path / "config", cwd=work, model=model, mode="acceptEdits", **options)
    ask(client, "change it")
    assert (work / "notes.txt").read_text() == "two\n"
    written = lines(client)
    assert any(line["type"].startswith("file-history") for line in written) == has_backups
    assert any(line.get("subtype") == "turn_duration" for line in written) == has_duration


def test_api_requests_match_the_script(tmp_path: Path, work: Path) -> None:
    rule = {
        "when": "notes",
        "answers": [calls(call("Read", file_path="notes.txt"), text="I look."), said("Two.")],
    }
    with StandIn(by_script({"rules": [rule]})) as standin:
        model = MessagesApi("claude-opus-5-5", key="made-up", base_url=standin.url)
        client = Client.new(tmp_path / "config", cwd=work, model=model)
        *_, ended = ask(client, "the notes", "more")
        requests = standin.taken()
    assert isinstance(ended, TurnEnded)
    assert ended.text == "ok"
    assert [len(request.messages) for request in requests] == [1, 3, 5]
    [answer] = [line for line in lines(client) if "I look." in json.dumps(line)]
    assert answer["requestId"].startswith("req_")
    played = Client.new(
        tmp_path / "config", cwd=work, model=ReplayModel(client.runtime.writer.path)
    )
    *_, ended = ask(played, "the notes", "more")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", "ok")


def test_sdk_is_imported_only_when_needed() -> None:
    code = (
        "import sys; from plait.chat import Client, MessagesApi;"
        "MessagesApi('m', key='k'); print('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
