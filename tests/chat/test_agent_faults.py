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
from tests.chat.play import COUNTING, Json, Play, lines_of, sends
from tests.chat.sent import complaints, resumed
from tests.chat.stage import picture

BOTH = pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
LOOK = {"calls": [{"name": "Bash", "input": {"command": "true"}}]}
SLEEP = {"calls": [{"name": "Bash", "input": {"command": "tail -f /dev/null"}}]}


def going(*calls: Json) -> Json:
    return {"when": "[go]", "answers": [{"calls": [*calls]}, {"text": "Done."}]}


def words(play: Play) -> str:
    return json.dumps(play.result["message"]["content"], ensure_ascii=False)


@BOTH
def test_endless_agent_is_ended(tmp_path: Path, version: Version) -> None:
    play = Play(tmp_path, [going(sends("[on]")), {"when": "[on]", "answers": [LOOK]}], version)
    assert play.client.runtime.agents
    play.client.runtime.agents.max_responses = 3
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "done"
    assert "this agent stopped at its 3-turn limit before finishing" in words(play)
    assert sum(one["type"] == "assistant" for one in play.agent()) == 3
    assert not any(one["type"] == "attachment" for one in play.agent())


@BOTH
def test_agent_with_failing_requests_says_so(tmp_path: Path, version: Version) -> None:
    broken = {"when": "[break]", "answers": [LOOK, {"error": 400, "message": "bad thing"}]}
    play = Play(tmp_path, [going(sends("[break]")), broken], version)
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
    call = sends("[break]", run_in_background=is_background)
    heard = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}
    play = Play(tmp_path, [], "2.1.325", model=Breaking({"rules": [heard, going(call)]}))
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "done"
    assert "the model broke" in json.dumps(play.lines)
    assert complaints(resumed(play.path)) == []


def test_number_of_running_agents_is_limited(tmp_path: Path) -> None:
    calls = [sends(f"[count] {number}") for number in range(5)]
    play = Play(tmp_path, [going(*calls), COUNTING], "2.1.325")
    assert play.client.runtime.agents
    play.client.runtime.agents.max_concurrent = 2
    play.ask("[go]")
    told = [one for one in play.lines if "toolUseResult" in one]
    refused = [one for one in told if "are running already" in str(one["toolUseResult"])]
    assert (len(told), len(refused), len(play.agents)) == (5, 3, 2)


def test_agent_cost_counts_for_the_budget(tmp_path: Path) -> None:
    dear = {"usage": {"input_tokens": 1_000_000, "output_tokens": 10}}
    rules = [
        going(sends("[dear]")),
        {"when": "[dear]", "answers": [{**LOOK, **dear}]},
    ]
    play = Play(tmp_path, rules, "2.1.325", limits=Limits(dollars=1.0))
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == "max_budget"
    assert sum(one["type"] == "assistant" for one in play.agent()) == 1


def stopped(play: Play, agents: int) -> list[Event]:
    """Stop the turn once so many agents are at something; returns what happened."""

    async def asked() -> list[Event]:
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

    return asyncio.run(asyncio.wait_for(asked(), 60))


@BOTH
def test_interrupt_stops_agents(tmp_path: Path, version: Version) -> None:
    rules = [going(sends("[a]"), sends("[b]"))]
    rules += [{"when": name, "answers": [SLEEP]} for name in ("[a]", "[b]")]
    play = Play(tmp_path, rules, version, mode="bypassPermissions")
    events = stopped(play, 2)
    ends = [one for one in events if isinstance(one, TurnEnded)]
    assert [one.ending for one in ends] == ["interrupted"]
    results = [one for one in play.lines if "toolUseResult" in one]
    assert [one["toolUseResult"] for one in results] == ["User rejected tool use"] * 2
    for log in play.agents:
        *_, result, last = lines_of(log)
        assert result["message"]["content"][0]["content"] == REJECTED
        assert last["message"]["content"][0]["text"] == INTERRUPTED_AT_TOOLS
        beside = log.with_suffix(".meta.json")
        assert version == "2.1.29" or "finished" not in json.loads(beside.read_bytes())
    assert play.client.runtime.agents
    assert play.client.runtime.agents.running_count == 0
    assert complaints(resumed(play.path)) == []


@BOTH
def test_exit_ends_background_agents(tmp_path: Path, version: Version) -> None:
    rules = [
        going(sends("[sleep]", run_in_background=True)),
        {"when": "[sleep]", "answers": [SLEEP]},
    ]
    play = Play(tmp_path, rules, version, entrypoint="cli", mode="bypassPermissions")

    async def asked() -> None:
        async with play.client as client:
            async for _ in client.send("[go]"):
                pass
            assert client.runtime.agents
            for _ in range(2000):
                if len(play.agents) and len(play.agent()) == 2:
                    break
                await asyncio.sleep(0.01)
            assert client.runtime.agents.background_count == 1

    asyncio.run(asyncio.wait_for(asked(), 60))
    assert play.agent()[-1]["message"]["content"][0]["text"] == INTERRUPTED_AT_TOOLS
    ends = [one for one in play.lines if one.get("subtype") == "turn_duration"]
    pending = [one.get("pendingBackgroundAgentCount") for one in ends]
    assert pending == [1 if version == "2.1.325" else None]
    assert not any("<task-notification>" in json.dumps(one) for one in play.lines)


class Silent(ScriptModel):
    """A model that never answers agents."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        if "[hush]" in str(request.messages[0]):
            await asyncio.Event().wait()
        async for piece in super().stream(request):
            yield piece


def test_unanswered_agent_can_be_stopped(tmp_path: Path) -> None:
    play = Play(tmp_path, [], "2.1.325", model=Silent({"rules": [going(sends("[hush]"))]}))

    async def asked() -> list[Event]:
        events = []
        async with play.client as client:
            async for event in client.send("[go]"):
                events.append(event)
                if isinstance(event, AgentEvent):
                    client.interrupt()
        return events

    events = asyncio.run(asyncio.wait_for(asked(), 60))
    [ended] = [one for one in events if isinstance(one, TurnEnded)]
    assert ended.ending == "interrupted"
    assert picture(play.agent()) == f"A<·  user [hush]\nB<A  user {INTERRUPTED}"


@BOTH
def test_unknown_agent_type_lists_the_known_ones(tmp_path: Path, version: Version) -> None:
    play = Play(tmp_path, [going(sends("[x]", "nobody"))], version)
    play.ask("[go]")
    assert play.result["toolUseResult"] == (
        "Error: Agent type 'nobody' not found. Available agents: Explore, general-purpose, Plan"
    )
    assert play.agents == []


@BOTH
def test_agent_tool_accepts_both_names(tmp_path: Path, version: Version) -> None:
    call: dict[str, Any] = {**sends("[count]"), "name": "Task"}
    play = Play(tmp_path, [going(call), COUNTING], version)
    play.ask("[go]")
    assert play.result["toolUseResult"]["status"] == "completed"
    names = [*play.client.runtime.tools]
    assert names[0] == ("Agent" if version == "2.1.325" else "Task")


def test_agents_can_be_denied(tmp_path: Path) -> None:
    play = Play(tmp_path, [going(sends("[count]"))], "2.1.325", forbidden=("Agent",))
    play.ask("[go]")
    assert "Agent" not in play.client.runtime.tools
    assert "No such tool available" in words(play)
    assert play.agents == []


def test_agent_stays_in_the_session_directory(tmp_path: Path) -> None:
    move = {"calls": [{"name": "Bash", "input": {"command": "cd sub && pwd"}}]}
    look = {"calls": [{"name": "Bash", "input": {"command": "pwd"}}]}
    rules = [going(sends("[move]")), {"when": "[move]", "answers": [move, look, {"text": "So."}]}]
    play = Play(tmp_path, rules, "2.1.325", mode="bypassPermissions")
    (play.work / "sub").mkdir()
    play.ask("[go]")
    told = [one["message"]["content"][0] for one in play.agent() if one["type"] == "user"][1:]
    assert [one["content"] for one in told] == [f"{play.work}/sub", f"{play.work}"]
    assert {one["cwd"] for one in play.agent()} == {str(play.work)}
