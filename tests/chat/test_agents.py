"""Agents: started, running in a log of their own, and reporting back."""

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import AgentEvent, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.streaming import Request, StreamEvent
from plait.write.lines import Version
from tests.chat.agent_session import COUNTING, AgentSession, Json, agent_call, read_lines
from tests.chat.scripted_client import picture

BOTH = pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])


def one_agent(**more: Any) -> list[Json]:
    return [
        {"when": "[go]", "answers": [{"calls": [agent_call("[count]", **more)]}, {"text": "Two."}]},
        COUNTING,
    ]


@BOTH
def test_agent_has_its_own_log(tmp_path: Path, version: Version) -> None:
    play = AgentSession(tmp_path, one_agent(), version)
    *_, ended = play.ask("[go]")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", "Two.")
    assert (
        picture(play.agent())
        == """\
A<·  user [count]
B<A  assistant I look.
C<B  assistant Bash({'command': 'cat notes.txt'})
D<C  user → one
two
E<D  assistant There are two."""
    )


@BOTH
# checklist: P88
def test_each_agent_has_a_log(tmp_path: Path, version: Version) -> None:
    play = AgentSession(tmp_path, one_agent(), version)
    play.ask("[go]")
    [log] = play.agents
    if version == "2.1.29":
        assert log.parent == play.path.parent
        assert re.fullmatch("agent-a[0-9a-f]{6}", log.stem)
        return
    assert log.parent == play.path.with_suffix("") / "subagents"
    assert re.fullmatch("agent-a[0-9a-f]{16}", log.stem)
    beside = json.loads(log.with_suffix(".meta.json").read_bytes())
    assert {key: beside[key] for key in ("agentType", "description", "spawnDepth", "finished")} == {
        "agentType": "general-purpose",
        "description": "some work",
        "spawnDepth": 1,
        "finished": True,
    }
    assert beside["toolUseId"] == play.result["message"]["content"][0]["tool_use_id"]


@BOTH
# checklist: P90
def test_agent_messages_are_a_sidechain(tmp_path: Path, version: Version) -> None:
    play = AgentSession(tmp_path, one_agent(), version)
    play.ask("[go]")
    [log] = play.agents
    results = {(item["isSidechain"], item["agentId"], item["sessionId"]) for item in play.agent()}
    assert results == {(True, log.stem.removeprefix("agent-"), play.client.session)}
    assert [item["parentUuid"] for item in play.agent()].count(None) == 1
    assert all(line.get("isSidechain") is not True for line in play.lines)


# checklist: P91, P92
def test_report_is_the_result_of_the_call(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, one_agent(), "2.1.325")
    play.ask("[go]")
    [log] = play.agents
    agent = log.stem.removeprefix("agent-")
    [block] = play.result["message"]["content"]
    output = play.result["toolUseResult"]
    usage = play.agent()[-1]["message"]["usage"]
    assert output["status"] == "completed"
    assert (output["agentId"], output["prompt"]) == (agent, "[count]")
    assert [item["text"] for item in output["content"]] == [
        "<tools-used-before-summary>Bash</tools-used-before-summary>\n",
        "There are two.",
    ]
    assert output["totalToolUseCount"] == 1
    assert output["totalTokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert output["usage"]["output_tokens"] == usage["output_tokens"]
    took = output["totalDurationMs"]
    assert isinstance(took, int)
    result = block["content"][0]["text"].split("\n")
    assert result[:2] == ["  <tools-used-before-summary>Bash</tools-used-before-summary>", "  "]
    assert result[2].startswith("[Subagent hand-back] ")
    assert result[3:] == [
        "  There are two.",
        f"agentId: {agent} (use SendMessage with to: '{agent}', summary: '<5-10 word recap>' to"
        " continue this agent)",
        f"<usage>subagent_tokens: {output['totalTokens']}",
        "tool_uses: 1",
        f"duration_ms: {took}</usage>",
    ]


# checklist: P91, P92
def test_report_in_the_older_version(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, one_agent(), "2.1.29")
    play.ask("[go]")
    [log] = play.agents
    [block] = play.result["message"]["content"]
    output = play.result["toolUseResult"]
    assert [item["text"] for item in block["content"]] == [
        "There are two.",
        f"agentId: {log.stem[6:]} (for resuming to continue this agent's work if needed)",
    ]
    assert [*output] == [
        *("status", "prompt", "agentId", "content"),
        *("totalDurationMs", "totalTokens", "totalToolUseCount", "usage"),
    ]
    assert output["content"] == [{"type": "text", "text": "There are two."}]
    assert (output["totalToolUseCount"], output["status"]) == (1, "completed")


# checklist: P98
def test_older_version_logs_progress(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, one_agent(), "2.1.29")
    play.ask("[go]")
    results = [line for line in play.lines if line["type"] == "progress"]
    [sent] = [line for line in play.lines if "Agent" in json.dumps(line.get("message", ""))][:1]
    call = sent["message"]["content"][0]["id"]
    assert {line["parentToolUseID"] for line in results} == {call}
    assert {line["toolUseID"] for line in results} == {f"agent_{sent['message']['id']}"}
    assert [line["data"]["type"] for line in results] == ["agent_progress"] * 3
    kinds = [
        [item["type"] for item in line["data"]["message"]["message"]["content"]] for line in results
    ]
    assert kinds == [["text"], ["tool_use"], ["tool_result"]]
    prompt = results[0]["data"]["message"]
    assert prompt["message"]["content"] == [{"type": "text", "text": "[count]"}]
    assert {line["data"]["agentId"] for line in results} == {play.agents[0].stem[6:]}
    assert results[0]["data"]["prompt"] == "[count]"


def test_agent_usage_counts_for_the_session(tmp_path: Path) -> None:
    play = AgentSession(tmp_path, one_agent(), "2.1.325")
    events = play.ask("[go]")
    answers = {
        line["message"]["id"]: line["message"]["usage"]["output_tokens"]
        for line in (*play.lines, *play.agent())
        if line["type"] == "assistant"
    }
    assert len(answers) == 4
    assert play.client.meter.tokens.output == sum(answers.values())
    [cost] = [line for line in play.lines if line["type"] == "cost-state"]
    assert cost["modelUsage"]["claude-opus-5-5"]["outputTokens"] == sum(answers.values())
    within = [event for event in events if isinstance(event, AgentEvent)]
    assert {item.agent for item in within} == {play.agents[0].stem[6:]}


# checklist: P89
@BOTH
def test_agents_start_agents(tmp_path: Path, version: Version) -> None:
    rules = [
        {"when": "[go]", "answers": [{"calls": [agent_call("[delegate]")]}, {"text": "Back."}]},
        {"when": "[delegate]", "answers": [{"calls": [agent_call("[count]")]}, {"text": "Done."}]},
        COUNTING,
    ]
    play = AgentSession(tmp_path, rules, version)
    play.ask("[go]")
    outer, inner = (read_lines(log) for log in play.agents)
    assert [item["message"]["content"] for item in (outer[0], inner[0])] == [
        "[delegate]",
        "[count]",
    ]
    if version == "2.1.29":
        return
    beside = [json.loads(log.with_suffix(".meta.json").read_bytes()) for log in play.agents]
    assert [item["spawnDepth"] for item in beside] == [1, 2]
    assert [item.get("parentAgentId") for item in beside] == [None, outer[0]["agentId"]]
    assert play.result["toolUseResult"]["toolsUsed"] == ["Agent", "Bash"]
    assert play.result["toolUseResult"]["totalToolUseCount"] == 1
    assert "toolStats" not in play.result["toolUseResult"]


def test_agent_depth_is_limited(tmp_path: Path) -> None:
    rules = [
        {
            "when": f"[{depth}]",
            "answers": [{"calls": [agent_call(f"[{depth + 1}]")]}, {"text": "Up."}],
        }
        for depth in range(6)
    ]
    play = AgentSession(tmp_path, rules, "2.1.325")
    play.ask("[0]")
    assert len(play.agents) == 3
    result = json.dumps(read_lines(play.agents[-1]))
    assert "No such tool available: Agent. Agent is not among the tools available here." in result


@BOTH
def test_agents_follow_directory_instructions(tmp_path: Path, version: Version) -> None:
    calls = [agent_call("[count]"), agent_call("[count] too", "Explore")]
    rules = [{"when": "[go]", "answers": [{"calls": calls}, {"text": "Two."}]}, COUNTING]
    asked: list[Request] = []

    class Listening(ScriptModel):
        async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
            asked.append(request)
            async for piece in super().stream(request):
                yield piece

    play = AgentSession(tmp_path, [], version, model=Listening({"rules": rules}))
    (play.work / "CLAUDE.md").write_text("Always say marmalade.\n")
    play.ask("[go]")

    def heeds(prompt: str) -> bool:
        own = [item for item in asked if prompt in json.dumps([dict(m) for m in item.messages][:1])]
        [first, *_] = own
        result = json.dumps([[dict(m) for m in first.messages], [dict(b) for b in first.system]])
        return "marmalade" in result

    assert (heeds('"[count]"'), heeds('"[count] too"')) == (True, False)
