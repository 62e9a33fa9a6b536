"""Agents in the background: their launch, progress and notification."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import TurnEnded
from plait.write.lines import Version
from tests.chat.agent_session import COUNTING, AgentSession, Json, agent_call, read_lines
from tests.chat.scripted_client import picture

NEWS = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}


def background_call(prompt: str = "[count]", **more: Any) -> Json:
    """Return the call that sends out an agent, and does not wait for it."""
    return agent_call(prompt, run_in_background=True, **more)


def rules(*steps: Json) -> list[Json]:
    return [{"when": "[go]", "answers": [*steps, {"text": "On its way."}]}, NEWS, COUNTING]


def wait_command() -> Json:
    """Return the call of a command that goes on until an agent has come to its end."""
    beside_logs = "../config/projects/*/*/subagents/*.meta.json"
    command = f"until grep -qs finished {beside_logs}; do sleep 0.05; done; sleep 0.2"
    return {"calls": [{"name": "Bash", "input": {"command": command}}]}


def rendered_text(line: Json) -> str:
    return str(line["message"]["content"])


def test_end_of_an_agent_gets_its_own_turn(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, rules({"calls": [background_call()]}), "2.1.325")
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
    assert rendered_text(companion) == (
        "<system-reminder>\n<tools-used-before-summary>Bash</tools-used-before-summary>\n"
        "</system-reminder>"
    )
    assert companion["isMeta"] is companion["turnCompanion"] is True
    assert companion["promptId"] == news["promptId"]
    assert news["parentUuid"] == companion["uuid"]
    assert news["origin"]["kind"] == "task-notification"
    assert news["origin"]["runId"].count("-") == 1
    words = rendered_text(news).split("\n")
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
    play = AgentSession(tmp_path, rules({"calls": [background_call()]}), "2.1.29")
    play.ask("[go]")
    [log] = play.agents
    agent = log.stem.removeprefix("agent-")
    output = play.result["toolUseResult"]
    keys = ["isAsync", "status", "agentId", "description", "prompt", "outputFile"]
    assert [*output] == keys
    [news] = [line for line in play.lines if "<task-notification>" in str(line.get("message"))]
    assert rendered_text(news).split("\n") == [
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
    call = agent_call("[count]")
    del call["input"]["run_in_background"]
    newer = AgentSession(tmp_path / "a", rules({"calls": [call]}), "2.1.325")
    newer.ask("[go]")
    assert newer.result["toolUseResult"]["status"] == "async_launched"
    older = AgentSession(tmp_path / "b", rules({"calls": [call]}), "2.1.29")
    older.ask("[go]")
    assert older.result["toolUseResult"]["status"] == "completed"


def test_end_during_a_turn_is_reported_in_it(tmp_path: Path) -> None:
    wait = {"calls": [{"name": "TaskOutput", "input": {"task_id": "b", "timeout": 1}}]}
    steps = rules({"calls": [background_call()]}, wait_command(), wait)
    play = AgentSession(tmp_path, steps, "2.1.325", mode="bypassPermissions")
    play.ask("[go]")
    [news] = [line for line in play.lines if line.get("attachment", {}).get("toolsUsedDelta")]
    attached = news["attachment"]
    assert [*attached] == [
        *("type", "prompt", "source_uuid", "delivery_id", "commandMode", "origin", "runId"),
        *("timestamp", "toolsUsedDelta", "usage"),
    ]
    assert attached["toolsUsedDelta"] == ["Bash"]
    assert attached["usage"]["toolUses"] == 1
    assert [new["content"][:54] for new in news["rendered"]] == [
        "<system-reminder>\n<tools-used-before-summary>Bash</too",
        "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPU",
    ]


def test_failed_agent_says_why(tmp_path: Path) -> None:
    broken = {"when": "[break]", "answers": [{"error": 400, "message": "bad thing"}]}
    steps = [broken, *rules({"calls": [background_call("[break]")]})]
    play = AgentSession(tmp_path, steps, "2.1.325")
    play.ask("[go]")
    [news] = [line["content"] for line in play.lines if "<task-" in str(line.get("content"))][:1]
    assert "<status>failed</status>" in news
    assert 'Agent "some work" failed: Agent terminated early due to an API error:' in news
    assert "HTTP 400" in news
    assert "<result>" not in news


def test_notifications_go_to_the_calling_agent(tmp_path: Path) -> None:
    steps: list[Json] = [
        {"when": "[go]", "answers": [{"calls": [agent_call("[delegate]")]}, {"text": "Back."}]},
        {
            "when": "[delegate]",
            "answers": [{"calls": [background_call()]}, wait_command(), {"text": "Done."}],
        },
        COUNTING,
    ]
    play = AgentSession(tmp_path, steps, "2.1.325", mode="bypassPermissions")
    play.ask("[go]")
    outer = read_lines(play.agents[0])
    assert any(item.get("attachment", {}).get("type") == "queued_command" for item in outer)
    assert not any(line["type"] == "attachment" for line in play.lines)
    operations = [line["operation"] for line in play.lines if line["type"] == "queue-operation"]
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
        *rules({"calls": [background_call("[write]")]}),
    ]
    play = AgentSession(tmp_path, steps, version, asker=Asker())
    play.ask("[go]")
    assert "haven't granted it yet" in json.dumps(play.agent())
    assert not (play.work / "x.txt").exists()
    assert picture(play.agent()).splitlines()[-1].endswith("assistant No.")


def test_end_waits_while_the_user_types(tmp_path: Path) -> None:
    play = AgentSession(
        tmp_path, rules({"calls": [background_call()]}), "2.1.325", entrypoint="cli"
    )

    async def run() -> list[str]:
        ends = []
        async with play.client as client:
            ends += [item.text async for item in client.send("[go]") if isinstance(item, TurnEnded)]
            await client.wait_for_background()
            ends += [
                continue_turn.text
                async for continue_turn in client.continue_turns()
                if isinstance(continue_turn, TurnEnded)
            ]
        return ends

    assert asyncio.run(asyncio.wait_for(run(), 60)) == ["On its way.", "Heard."]
