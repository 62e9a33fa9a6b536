"""Agents that never end, die, flood or are stopped: nothing is lost."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import AgentEvent, Event, ToolStarted, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.runtime import Limits
from plait.chat.streaming import Request, StreamEvent
from plait.write.lines import Version
from plait.write.transcript import INTERRUPTED, INTERRUPTED_AT_TOOLS, REJECTED
from tests.chat.agent_session import COUNTING, AgentSession, Json, agent_call, read_lines
from tests.chat.scripted_client import picture
from tests.chat.sent import find_problems, resume_messages

BOTH = pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
LOOK = {"calls": [{"name": "Bash", "input": {"command": "true"}}]}
SLEEP = {"calls": [{"name": "Bash", "input": {"command": "tail -f /dev/null"}}]}


def going(*calls: Json) -> Json:
    return {"when": "[go]", "answers": [{"calls": [*calls]}, {"text": "Done."}]}


def words(play: AgentSession) -> str:
    return json.dumps(play.result["message"]["content"], ensure_ascii=False)


@BOTH
def test_endless_agent_is_ended(tmp_path: Path, version: Version) -> None:
    play = AgentSession(
        tmp_path, [going(agent_call("[on]")), {"when": "[on]", "answers": [LOOK]}], version
    )
    assert play.client.runtime.agents
    play.client.runtime.agents.max_responses = 3
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "done"
    assert "this agent stopped at its 3-turn limit before finishing" in words(play)
    assert sum(item["type"] == "assistant" for item in play.agent()) == 3
    assert not any(item["type"] == "attachment" for item in play.agent())


@BOTH
def test_agent_with_failing_requests_says_so(tmp_path: Path, version: Version) -> None:
    broken = {"when": "[break]", "answers": [LOOK, {"error": 400, "message": "bad thing"}]}
    play = AgentSession(tmp_path, [going(agent_call("[break]")), broken], version)
    play.ask("[go]")
    [block] = play.result["message"]["content"]
    assert block["is_error"] is True
    assert block["content"].startswith(
        "Agent terminated early due to an API error: API Error: 400 bad thing (error type unknown,"
    )
    assert block["content"].endswith("model sent to the API: claude-opus-5-5)")
    assert play.agent()[-1]["isApiErrorMessage"] is True


class Breaking(ScriptModel):
    """A model that breaks where it is not foreseen, once an agent asks."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        if "[break]" in str(request.messages[0]):
            raise RuntimeError("the model broke")
        async for piece in super().stream(request):
            yield piece


@pytest.mark.parametrize("is_background", [False, True])
def test_dying_agent_does_not_end_the_session(tmp_path: Path, is_background: bool) -> None:
    call = agent_call("[break]", run_in_background=is_background)
    heard = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}
    play = AgentSession(tmp_path, [], "2.1.325", model=Breaking({"rules": [heard, going(call)]}))
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "done"
    assert "the model broke" in json.dumps(play.lines)
    assert find_problems(resume_messages(play.path)) == []


def test_number_of_running_agents_is_limited(tmp_path: Path) -> None:
    calls = [agent_call(f"[count] {number}") for number in range(5)]
    play = AgentSession(tmp_path, [going(*calls), COUNTING], "2.1.325")
    assert play.client.runtime.agents
    play.client.runtime.agents.max_concurrent = 2
    play.ask("[go]")
    results = [line for line in play.lines if "toolUseResult" in line]
    refused = [item for item in results if "are already running" in str(item["toolUseResult"])]
    assert (len(results), len(refused), len(play.agents)) == (5, 3, 2)


def test_agent_cost_counts_for_the_budget(tmp_path: Path) -> None:
    dear = {"usage": {"input_tokens": 1_000_000, "output_tokens": 10}}
    rules = [
        going(agent_call("[dear]")),
        {"when": "[dear]", "answers": [{**LOOK, **dear}]},
    ]
    play = AgentSession(tmp_path, rules, "2.1.325", limits=Limits(dollars=1.0))
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "max_budget"
    assert sum(item["type"] == "assistant" for item in play.agent()) == 1


def stop_when(play: AgentSession, agents: int) -> list[Event]:
    """Stop the turn once so many agents are at something; returns what happened."""

    async def run() -> list[Event]:
        events, busy = [], set()
        async with play.client as client:
            async for event in client.send("[go]"):
                events.append(event)
                if isinstance(event, AgentEvent) and isinstance(event.event, ToolStarted):
                    busy.add(event.agent)
                if len(busy) == agents:
                    client.interrupt()
                    busy.add("")
        return events

    return asyncio.run(asyncio.wait_for(run(), 60))


@BOTH
def test_interrupt_stops_agents(tmp_path: Path, version: Version) -> None:
    rules = [going(agent_call("[a]"), agent_call("[b]"))]
    rules += [{"when": name, "answers": [SLEEP]} for name in ("[a]", "[b]")]
    play = AgentSession(tmp_path, rules, version, mode="bypassPermissions")
    events = stop_when(play, 2)
    ends = [event for event in events if isinstance(event, TurnEnded)]
    assert [end.ending for end in ends] == ["interrupted"]
    results = [line for line in play.lines if "toolUseResult" in line]
    assert [item["toolUseResult"] for item in results] == ["User rejected tool use"] * 2
    for log in play.agents:
        *_, result, last = read_lines(log)
        assert result["message"]["content"][0]["content"] == REJECTED
        assert last["message"]["content"][0]["text"] == INTERRUPTED_AT_TOOLS
        beside = log.with_suffix(".meta.json")
        assert version == "2.1.29" or "finished" not in json.loads(beside.read_bytes())
    assert play.client.runtime.agents
    assert play.client.runtime.agents.running_count == 0
    assert find_problems(resume_messages(play.path)) == []


@BOTH
def test_exit_ends_background_agents(tmp_path: Path, version: Version) -> None:
    rules = [
        going(agent_call("[sleep]", run_in_background=True)),
        {"when": "[sleep]", "answers": [SLEEP]},
    ]
    play = AgentSession(tmp_path, rules, version, entrypoint="cli", mode="bypassPermissions")

    async def run() -> None:
        async with play.client as client:
            async for _ in client.send("[go]"):
                pass
            assert client.runtime.agents
            for _ in range(2000):
                if len(play.agents) and len(play.agent()) == 2:
                    break
                await asyncio.sleep(0.01)
            assert client.runtime.agents.background_count == 1

    asyncio.run(asyncio.wait_for(run(), 60))
    assert play.agent()[-1]["message"]["content"][0]["text"] == INTERRUPTED_AT_TOOLS
    ends = [line for line in play.lines if line.get("subtype") == "turn_duration"]
    pending = [end.get("pendingBackgroundAgentCount") for end in ends]
    assert pending == [1 if version == "2.1.325" else None]
    assert not any("<task-notification>" in json.dumps(line) for line in play.lines)


class Silent(ScriptModel):
    """A model that never answers agents."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        if "[hush]" in str(request.messages[0]):
            await asyncio.Event().wait()
        async for piece in super().stream(request):
            yield piece


def test_unanswered_agent_can_be_stopped(tmp_path: Path) -> None:
    play = AgentSession(
        tmp_path, [], "2.1.325", model=Silent({"rules": [going(agent_call("[hush]"))]})
    )

    async def run() -> list[Event]:
        events = []
        async with play.client as client:
            async for event in client.send("[go]"):
                events.append(event)
                if isinstance(event, AgentEvent):
                    client.interrupt()
        return events

    events = asyncio.run(asyncio.wait_for(run(), 60))
    [ended] = [item for item in events if isinstance(item, TurnEnded)]
    assert ended.ending == "interrupted"
    assert picture(play.agent()) == f"A<·  user [hush]\nB<A  user {INTERRUPTED}"


@BOTH
def test_unknown_agent_type_lists_the_known_ones(tmp_path: Path, version: Version) -> None:
    play = AgentSession(tmp_path, [going(agent_call("[x]", "nobody"))], version)
    play.ask("[go]")
    assert play.result["toolUseResult"] == (
        "Error: Agent type 'nobody' not found. Available agents: Explore, general-purpose, Plan"
    )
    assert play.agents == []


@BOTH
def test_agent_tool_accepts_both_names(tmp_path: Path, version: Version) -> None:
    call: dict[str, Any] = {**agent_call("[count]"), "name": "Task"}
    play = AgentSession(tmp_path, [going(call), COUNTING], version)
    play.ask("[go]")
    assert play.result["toolUseResult"]["status"] == "completed"
    names = [*play.client.runtime.tools]
    assert names[0] == ("Agent" if version == "2.1.325" else "Task")


def test_agents_can_be_denied(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, [going(agent_call("[count]"))], "2.1.325", forbidden=("Agent",))
    play.ask("[go]")
    assert "Agent" not in play.client.runtime.tools
    assert "No such tool available" in words(play)
    assert play.agents == []


def test_agent_stays_in_the_session_directory(tmp_path: Path) -> None:
    move = {"calls": [{"name": "Bash", "input": {"command": "cd sub && pwd"}}]}
    look = {"calls": [{"name": "Bash", "input": {"command": "pwd"}}]}
    rules = [
        going(agent_call("[move]")),
        {"when": "[move]", "answers": [move, look, {"text": "So."}]},
    ]
    play = AgentSession(tmp_path, rules, "2.1.325", mode="bypassPermissions")
    (play.work / "sub").mkdir()
    play.ask("[go]")
    entry = [item["message"]["content"][0] for item in play.agent() if item["type"] == "user"][1:]
    assert [item["content"] for item in entry] == [f"{play.work}/sub", f"{play.work}"]
    assert {item["cwd"] for item in play.agent()} == {str(play.work)}
