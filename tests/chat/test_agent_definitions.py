"""Agent definitions in files: which apply, what they contain, what is wrong with some."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.agent_kinds import BUILT_IN_KINDS, MAX_FILE_BYTES, load_agent_kinds
from plait.chat.agents import SpawnAgent
from plait.chat.events import Notice
from plait.chat.model_info import resolve_agent_model
from plait.chat.tools import toolbox
from tests.chat.agent_session import AgentSession, agent_call

COUNTER = """\
---
name: counter
description: "Counts: lines"
tools: Read, Bash(wc *)
model: haiku
color: red
---
You count lines.
"""


def define(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_definition_fields(tmp_path: Path) -> None:
    define(tmp_path / ".claude/agents", "any", COUNTER)
    text = "---\nname: quiet\ndescription: q\ndisallowedTools:\n  - Write\npermissionMode: plan\n"
    define(
        tmp_path / ".claude/agents/deep", "q", f"{text}maxTurns: 2\nbackground: true\n---\nHush."
    )
    kinds = load_agent_kinds(None, tmp_path)[0]
    counter, quiet = kinds["counter"], kinds["quiet"]
    assert (counter.description, counter.prompt) == ("Counts: lines", "You count lines.")
    assert (counter.tools, counter.model, counter.mode) == (("Read", "Bash"), "haiku", None)
    assert (quiet.tools, quiet.excluded_tools, quiet.mode) == (None, ("Write",), "plan")
    assert (quiet.max_turns, quiet.is_background, quiet.is_built_in) == (2, True, False)
    assert [*kinds] == ["counter", "Explore", "general-purpose", "Plan", "quiet"]
    entry = SpawnAgent(kinds).definition["description"]
    assert "- counter: Counts: lines (Read, Bash)" in entry
    assert "- quiet: q (all tools except Write)" in entry


def test_nearest_definition_wins(tmp_path: Path) -> None:
    own, repository, below = tmp_path / "config", tmp_path / "a", tmp_path / "a/b/c"
    (repository / ".git").mkdir(parents=True)
    define(own / "agents", "x", "---\nname: x\ndescription: own\n---\n")
    define(own / "agents", "y", "---\nname: y\ndescription: own\n---\n")
    define(tmp_path / ".claude/agents", "z", "---\nname: z\ndescription: beyond\n---\n")
    define(repository / ".claude/agents", "x", "---\nname: x\ndescription: above\n---\n")
    define(repository / ".claude/agents", "w", "---\nname: w\ndescription: above\n---\n")
    define(below / ".claude/agents", "x", "---\nname: x\ndescription: near\n---\n")
    kinds = load_agent_kinds(own, below)[0]
    found = {name: kinds[name].description for name in "wxyz" if name in kinds}
    assert found == {"w": "above", "x": "near", "y": "own"}
    define(below / ".claude/agents", "p", "---\nname: Plan\ndescription: mine\n---\n")
    assert load_agent_kinds(own, below)[0]["Plan"].description == "mine"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no head", "it has no name"),
        ("---\ndescription: d\n---\n", "it has no name"),
        ("---\nname: n\n---\n", "it has no description"),
        ("---\nname: n", "it has no name"),
        ("x" * (MAX_FILE_BYTES + 1), "it is too large"),
    ],
)
def test_an_invalid_agent_definition_is_reported(tmp_path: Path, text: str, why: str) -> None:
    path = define(tmp_path / ".claude/agents", "x", text)
    found, notices = load_agent_kinds(None, tmp_path)
    assert notices == [f"agent file '{path}' ignored: {why}"]
    assert {*found} == {item.name for item in BUILT_IN_KINDS}


def test_named_pipe_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".claude/agents").mkdir(parents=True)
    os.mkfifo(tmp_path / ".claude/agents/x.md")
    [notice] = load_agent_kinds(None, tmp_path)[1]
    assert "it cannot be read" in notice


@given(st.text(max_size=200))
def test_any_file_is_a_definition_or_a_notice(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    define(folder / ".claude/agents", "x", f"---\nname: n\n{text}\n---\n{text}")
    found, notices = load_agent_kinds(None, folder)
    assert len(found) - len(BUILT_IN_KINDS) + len(notices) in (0, 1)


def test_agent_has_only_the_tools_of_its_type(tmp_path: Path) -> None:
    define(tmp_path / ".claude/agents", "any", COUNTER)
    kinds = load_agent_kinds(None, tmp_path)[0]
    tools = toolbox()
    assert [*kinds["counter"].select_tools(tools, 1)] == ["Bash", "Read"]
    assert not {"Edit", "Write", "NotebookEdit"} & {*kinds["Explore"].select_tools(tools, 1)}
    assert {*kinds["general-purpose"].select_tools(tools, 1)} == {*tools}
    send = {"Agent": SpawnAgent(kinds)}
    assert [*kinds["general-purpose"].select_tools(send, 2)] == ["Agent"]
    assert [*kinds["general-purpose"].select_tools(send, 3)] == []
    server = {"mcp__a__look": tools["Read"], "mcp__b__look": tools["Read"]}
    define(tmp_path / ".claude/agents", "m", "---\nname: m\ndescription: d\ntools: mcp__a\n---\n")
    assert [*load_agent_kinds(None, tmp_path)[0]["m"].select_tools(server, 1)] == ["mcp__a__look"]


def test_definition_used_in_a_session(tmp_path: Path) -> None:
    define(tmp_path / "work/.claude/agents", "any", COUNTER)
    define(tmp_path / "config/agents", "bad", "nothing")
    write = {"calls": [{"name": "Write", "input": {"file_path": "x", "content": "y"}}]}
    rules = [
        {"when": "[go]", "answers": [{"calls": [agent_call("[x]", "counter")]}, {"text": "Done."}]},
        {"when": "[x]", "answers": [write, {"text": "I may not."}]},
    ]
    play = AgentSession(tmp_path, rules, "2.1.325", mode="bypassPermissions")
    events = play.ask("[go]")
    assert not (play.work / "x").exists()
    assert "No such tool available: Write" in json.dumps(play.agent())
    output = play.result["toolUseResult"]
    assert (output["agentType"], output["resolvedModel"]) == ("counter", "claude-haiku-5-5")
    beside = json.loads(play.agents[0].with_suffix(".meta.json").read_bytes())
    assert beside["isBuiltIn"] is False
    assert {item["attributionAgent"] for item in play.agent() if item["type"] == "assistant"} == {
        "counter"
    }
    assert [event.text for event in events if isinstance(event, Notice)] == [
        f"agent file '{tmp_path}/config/agents/bad.md' ignored: it has no name"
    ]


def test_agent_mode_is_not_wider_than_its_session(tmp_path: Path) -> None:
    def written(mode: str, session: str) -> bool:
        place = tmp_path / f"{mode}-{session}"
        head = f"---\nname: w\ndescription: d\npermissionMode: {mode}\n---\n"
        define(place / "work/.claude/agents", "w", head)
        write = {"calls": [{"name": "Write", "input": {"file_path": "x", "content": "y"}}]}
        rules = [
            {"when": "[go]", "answers": [{"calls": [agent_call("[x]", "w")]}, {"text": "Done."}]},
            {"when": "[x]", "answers": [write, {"text": "So."}]},
        ]
        play = AgentSession(place, rules, "2.1.325", mode=session)
        play.ask("[go]")
        return (play.work / "x").exists()

    assert written("acceptEdits", "default") is False
    assert written("bypassPermissions", "default") is False
    assert written("plan", "acceptEdits") is False
    assert written("default", "bypassPermissions") is True
    assert written("acceptEdits", "acceptEdits") is True


@pytest.mark.parametrize(
    ("name", "session", "meant"),
    [
        ("haiku", "claude-opus-5-5", "claude-haiku-5-5"),
        ("opus", "claude-opus-4-1-20250805", "claude-opus-4-1-20250805"),
        ("sonnet", "claude-opus-4-5-20251101", "claude-sonnet-4-5"),
        ("sonnet", "script:x", "claude-sonnet-5-5"),
        ("inherit", "claude-opus-5-5", "claude-opus-5-5"),
        ("claude-other-1", "claude-opus-5-5", "claude-other-1"),
    ],
)
def test_model_aliases(name: str, session: str, meant: str) -> None:
    assert resolve_agent_model(name, session) == meant
