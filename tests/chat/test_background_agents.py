"""Agents in the background: their launch, progress and notification."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import TurnEnded
from plait.write.lines import Version
from tests.chat.play import COUNTING, Json, Play, lines_of, sends
from tests.chat.stage import picture

NEWS = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}


def beside(prompt: str = "[count]", **more: Any) -> Json:
    """Return the call that sends out an agent, and does not wait for it."""
    return sends(prompt, run_in_background=True, **more)


def rules(*steps: Json) -> list[Json]:
    return [{"when": "[go]", "answers": [*steps, {"text": "On its way."}]}, NEWS, COUNTING]


def until_it_is_back() -> Json:
    """Return the call of a command that goes on until an agent has come to its end."""
    beside_logs = "../config/projects/*/*/subagents/*.meta.json"
    command = f"until grep -qs finished {beside_logs}; do sleep 0.05; done; sleep 0.2"
    return {"calls": [{"name": "Bash", "input": {"command": command}}]}


def told(line: Json) -> str:
    return str(line["message"]["content"])


def test_end_of_an_agent_gets_its_own_turn(tmp_path: Path) -> None:
    play = Play(tmp_path, rules({"calls": [beside()]}), "2.1.325")
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.text == "Heard."
    log = play.agents[0]
    agent = log.stem.removeprefix("agent-")
    output = play.result["toolUseResult"]
    assert [*output] == [
        *("isAsync", "status", "agentId", "description", "resolvedModel", "prompt"),
        *("outputFile", "canReadOutputFile", "canContinueAgent"),
    ]
    assert (output["status"], output["agentId"]) == ("async_launched", agent)
    [companion, news] = [line for line in play.lines if line.get("queueSkipAttachments")]
    assert told(companion) == (
        "<system-reminder>\n<tools-used-before-summary>Bash</tools-used-before-summary>\n"
        "</system-reminder>"
    )
    assert companion["isMeta"] is companion["turnCompanion"] is True
    assert companion["promptId"] == news["promptId"]
    assert news["parentUuid"] == companion["uuid"]
    assert news["origin"]["kind"] == "task-notification"
    assert news["origin"]["runId"].count("-") == 1
    words = told(news).split("\n")
    call = play.result["message"]["content"][0]["tool_use_id"]
    assert words[:6] == [
        "<task-notification>",
        f"<task-id>{agent}</task-id>",
        f"<tool-use-id>{call}</tool-use-id>",
        f"<output-file>{output['outputFile']}</output-file>",
        "<status>completed</status>",
        '<summary>Agent "some work" finished</summary>',
    ]
    assert words[7] == "<result>There are two.</result>"
    assert words[8].startswith("<usage><subagent_tokens>")
    beside_log = json.loads(log.with_suffix(".meta.json").read_bytes())
    assert beside_log["requestShape"] == "background"
    assert beside_log["launchedWithDefaults"] is beside_log["finished"] is True


def test_end_in_the_older_version(tmp_path: Path) -> None:
    play = Play(tmp_path, rules({"calls": [beside()]}), "2.1.29")
    play.ask("[go]")
    [log] = play.agents
    agent = log.stem.removeprefix("agent-")
    output = play.result["toolUseResult"]
    keys = ["isAsync", "status", "agentId", "description", "prompt", "outputFile"]
    assert [*output] == keys
    [news] = [line for line in play.lines if "<task-notification>" in str(line.get("message"))]
    assert told(news).split("\n") == [
        "<task-notification>",
        f"<task-id>{agent}</task-id>",
        "<status>completed</status>",
        '<summary>Agent "some work" completed</summary>',
        "<result>There are two.</result>",
        "</task-notification>",
        f"Full transcript available at: {output['outputFile']}",
    ]
    assert not [line for line in play.lines if line["type"] == "progress"]


def test_newer_version_runs_in_the_background_by_default(tmp_path: Path) -> None:
    call = sends("[count]")
    del call["input"]["run_in_background"]
    newer = Play(tmp_path / "a", rules({"calls": [call]}), "2.1.325")
    newer.ask("[go]")
    assert newer.result["toolUseResult"]["status"] == "async_launched"
    older = Play(tmp_path / "b", rules({"calls": [call]}), "2.1.29")
    older.ask("[go]")
    assert older.result["toolUseResult"]["status"] == "completed"


def test_end_during_a_turn_is_reported_in_it(tmp_path: Path) -> None:
    wait = {"calls": [{"name": "TaskOutput", "input": {"task_id": "b", "timeout": 1}}]}
    steps = rules({"calls": [beside()]}, until_it_is_back(), wait)
    play = Play(tmp_path, steps, "2.1.325", mode="bypassPermissions")
    play.ask("[go]")
    [news] = [one for one in play.lines if one.get("attachment", {}).get("toolsUsedDelta")]
    attached = news["attachment"]
    assert [*attached] == [
        *("type", "prompt", "source_uuid", "delivery_id", "commandMode", "origin", "runId"),
        *("timestamp", "toolsUsedDelta", "usage"),
    ]
    assert attached["toolsUsedDelta"] == ["Bash"]
    assert attached["usage"]["toolUses"] == 1
    assert [one["content"][:54] for one in news["rendered"]] == [
        "<system-reminder>\n<tools-used-before-summary>Bash</too",
        "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPU",
    ]


def test_failed_agent_says_why(tmp_path: Path) -> None:
    broken = {"when": "[break]", "answers": [{"error": 400, "message": "bad thing"}]}
    steps = [broken, *rules({"calls": [beside("[break]")]})]
    play = Play(tmp_path, steps, "2.1.325")
    play.ask("[go]")
    [news] = [one["content"] for one in play.lines if "<task-" in str(one.get("content"))][:1]
    assert "<status>failed</status>" in news
    assert 'Agent "some work" failed: Agent terminated early due to an API error:' in news
    assert "HTTP 400" in news
    assert "<result>" not in news


def test_notifications_go_to_the_calling_agent(tmp_path: Path) -> None:
    steps: list[Json] = [
        {"when": "[go]", "answers": [{"calls": [sends("[delegate]")]}, {"text": "Back."}]},
        {
            "when": "[delegate]",
            "answers": [{"calls": [beside()]}, until_it_is_back(), {"text": "Done."}],
        },
        COUNTING,
    ]
    play = Play(tmp_path, steps, "2.1.325", mode="bypassPermissions")
    play.ask("[go]")
    outer = lines_of(play.agents[0])
    assert any(one.get("attachment", {}).get("type") == "queued_command" for one in outer)
    assert not any(one["type"] == "attachment" for one in play.lines)
    operations = [one["operation"] for one in play.lines if one["type"] == "queue-operation"]
    assert operations == ["enqueue", "dequeue", "enqueue", "remove"]


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_background_agent_cannot_ask_for_permission(tmp_path: Path, version: Version) -> None:
    class Asker:
        asked = 0

        async def ask(self, proposal: Any, call: str) -> Any:
            raise AssertionError("somebody was asked")

    write = {"calls": [{"name": "Write", "input": {"file_path": "x.txt", "content": "x"}}]}
    steps = [
        {"when": "[write]", "answers": [write, {"text": "No."}]},
        *rules({"calls": [beside("[write]")]}),
    ]
    play = Play(tmp_path, steps, version, asker=Asker())
    play.ask("[go]")
    assert "haven't granted it yet" in json.dumps(play.agent())
    assert not (play.work / "x.txt").exists()
    assert picture(play.agent()).splitlines()[-1].endswith("assistant No.")


def test_end_waits_while_the_user_types(tmp_path: Path) -> None:
    play = Play(tmp_path, rules({"calls": [beside()]}), "2.1.325", entrypoint="cli")

    async def asked() -> list[str]:
        ends = []
        async with play.client as client:
            ends += [one.text async for one in client.send("[go]") if isinstance(one, TurnEnded)]
            await client.wait_for_background()
            ends += [
                one.text async for one in client.continue_turns() if isinstance(one, TurnEnded)
            ]
        return ends

    assert asyncio.run(asyncio.wait_for(asked(), 60)) == ["On its way.", "Heard."]
