"""Commands and skills in a session: log lines, permissions, refusals."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import Notice, TurnEnded
from plait.write.lines import Version
from tests.chat.scripted_session import ScriptedSession, kinds

BASH = "---\nallowed-tools: Bash(echo:*)\n---\n"


def call(tool: str, **given: Any) -> Mapping[str, Any]:
    """Return an answer that calls a tool."""
    return {"calls": [{"name": tool, "input": given}]}


# checklist: P41
@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_a_command_is_logged_with_its_expansion(tmp_path: Path, version: Version) -> None:
    """The raw command first, its expansion as a meta line that is its child."""
    session = ScriptedSession(tmp_path, version)
    session.write(".claude/commands/review.md", "Look at $0.\n")
    session.ask("/review the parser")
    prompt, expansion = [line for line in session.new_lines() if line["type"] == "user"]
    assert prompt["message"]["content"] == (
        "<command-message>review</command-message>\\n<command-name>/review</command-name>\\n"
        "<command-args>the parser</command-args>"
    ).replace("\\n", "\n")
    assert expansion["isMeta"] is True
    assert expansion["parentUuid"] == prompt["uuid"]
    assert expansion["message"]["content"] == [{"type": "text", "text": "Look at the.\n"}]
    assert session.messages[0]["content"][-1]["text"].strip() == "Look at the."


def test_newer_version_logs_origin_and_permissions(tmp_path: Path) -> None:
    """No mode and no source stand in a command's line; what it allows has a line of its own."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/plain.md", "Do it.\n")
    session.write("CLAUDE.md", "x")
    session.ask("/plain")
    lines = session.new_lines()
    assert kinds(lines)[:6] == [
        *("user", "user", "skill_listing", "command_permissions", "instructions"),
        "assistant",
    ]
    prompt, expansion, listing, lent, _, answer = lines[:6]
    assert "permissionMode" not in prompt and "promptSource" not in prompt
    assert (prompt["turnOrigin"], prompt["origin"]) == ("human", {"kind": "human"})
    assert prompt["promptId"] == expansion["promptId"]
    assert expansion["turnCompanion"] is True
    assert lent["attachment"] == {"type": "command_permissions", "allowedTools": []}
    assert "rendered" not in lent and "session_id" not in lent
    assert answer["attributionSkill"] == "plain"
    assert listing["attachment"] == {
        "type": "skill_listing",
        "content": "- plain: Do it.",
        "skillCount": 1,
        "isInitial": True,
        "names": ["plain"],
        "digests": listing["attachment"]["digests"],
    }
    assert listing["renderedRole"] == "system"
    [last] = [line for line in session.lines if line["type"] == "last-prompt"]
    assert "lastPrompt" not in last
    session.ask("/plain a b", "and now?")
    results = [line.get("lastPrompt") for line in session.lines if line["type"] == "last-prompt"]
    assert results[-1] == "and now?"
    assert "attributionSkill" not in session.lines[-3]


def test_command_permissions_last_one_turn(tmp_path: Path) -> None:
    """The turn after it asks again, and here nobody is there to ask."""
    session = ScriptedSession(tmp_path)
    session.write(
        ".claude/commands/greet.md", "---\nallowed-tools: Bash(touch:*), (\n---\nGreet.\n"
    )
    touch = call("Bash", command="touch made")
    session.ask("/greet", "And?", answers=[touch, {"text": "a"}, touch, {"text": "b"}])
    results = [line for line in session.lines if "toolUseResult" in line]
    assert [line.get("toolDenialKind") for line in results] == [None, "user-rejected"]
    assert (session.work / "made").exists()


def test_command_output_is_inserted_into_the_text(tmp_path: Path) -> None:
    """Where its head allows it."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/say.md", f"{BASH}It says !`echo hello; echo you`.\n")
    session.ask("/say")
    assert "It says hello\nyou." in session.messages[0]["content"][-1]["text"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("!`touch made`", 'Shell command permission check failed for pattern "!`touch made`": '),
        (
            "!`ls nowhere`",
            'Shell command failed for pattern "!`ls nowhere`": [stderr]\nls: cannot access',
        ),
    ],
)
def test_failing_command_sends_nothing(tmp_path: Path, text: str, why: str) -> None:
    """It is logged as one that failed, and the session goes on."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    session.write(".claude/commands/say.md", f"{text}\n")
    events = session.ask("/say x", "Hello.")
    ended = [event for event in events if isinstance(event, TurnEnded)]
    assert ended[0].text.startswith(why)
    assert [event.text for event in events if isinstance(event, Notice)] == [ended[0].text]
    caveat, called, failed = session.new_lines()[:3]
    assert caveat["isMeta"] is True
    assert "<command-name>/say</command-name>" in called["message"]["content"]
    assert failed["content"].startswith(f"<local-command-stderr>{why[:30]}")
    assert failed["commandOutcome"] == {"kind": "failed"}
    assert failed["commandRun"] == {"command": "say", "args": "x"}
    assert ended[1].text == "ok"
    assert not (session.work / "made").exists()


def test_command_can_choose_a_model(tmp_path: Path) -> None:
    """For its turn alone; short names are known."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/quick.md", "---\nmodel: haiku\n---\nQuick.\n")
    asked: list[str] = []
    session.ask("/quick", "And?", seen=asked.append)
    assert asked == ["claude-haiku-5-5", "script"]
    [lent] = session.attachments("command_permissions")
    assert lent["attachment"]["model"] == "haiku"


def test_text_that_is_not_a_command_is_a_prompt(tmp_path: Path) -> None:
    """A path, a name that nobody has, a name in the middle, another spelling."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/plain.md", "Do it.\n")
    texts = ("/tmp/x is a path", "/none a", "say /plain", " /plain", "/Plain", "//plain")
    session.ask(*texts)
    users = [line["message"]["content"] for line in session.lines if line["type"] == "user"]
    assert users == [*texts]


def test_model_only_skill_cannot_be_typed(tmp_path: Path) -> None:
    """They are told so, and nothing is asked."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/own/SKILL.md", "---\nuser-invocable: false\n---\nx")
    [ended] = [event for event in session.ask("/own") if isinstance(event, TurnEnded)]
    assert ended.text.startswith("This skill can only be invoked by Claude")


def test_model_can_use_a_skill(tmp_path: Path) -> None:
    """Its words come behind the result and name the call."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/look/SKILL.md", "---\ndescription: Looks\n---\nLook at $0.\n")
    session.ask("Go.", answers=[call("Skill", skill="look", args="this")])
    lines = [line for line in session.new_lines() if line["type"] != "system"]
    assert kinds(lines)[3:] == ["user", "user", "command_permissions", "assistant"]
    result, text, lent, answer = lines[3:]
    asked = lines[2]["message"]["content"][0]["id"]
    assert result["message"]["content"][0]["content"] == "Launching skill: look"
    assert result["toolUseResult"] == {"success": True, "commandName": "look"}
    assert result["permissionDecision"] == {"decision": "accept", "source": "config"}
    assert text["sourceToolUseID"] == asked
    assert (text["isMeta"], text["turnCompanion"]) == (True, True)
    folder = session.work / ".claude/skills/look"
    base = f"Base directory for this skill: {folder}\n\n"
    assert text["message"]["content"] == [{"type": "text", "text": f"{base}Look at this.\n"}]
    assert text["parentUuid"] == result["uuid"]
    assert lent["session_id"] == lent["sessionId"]
    assert answer["attributionSkill"] == "look"


def test_skill_with_permissions_needs_approval(tmp_path: Path) -> None:
    """One of words alone is not; one that a rule allows is not either."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/lend/SKILL.md", "---\nallowed-tools: Read\n---\nx")
    session.ask("Go.", answers=[call("Skill", skill="lend")])
    session.ask("Go.", answers=[call("Skill", skill="lend")], allowed=("Skill",))
    first, second = [line for line in session.lines if "toolUseResult" in line]
    assert first["toolDenialKind"] == "user-rejected"
    assert second["toolUseResult"]["allowedTools"] == ["Read"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lok", "Unknown skill: lok. Did you mean look?"),
        ("zzzzz", "Unknown skill: zzzzz."),
        ("mine", "Skill mine cannot be used with Skill tool due to disable-model-invocation."),
        ("bad", 'Shell command permission check failed for pattern "!`touch x`"'),
    ],
)
def test_failing_skill(tmp_path: Path, name: str, text: str) -> None:
    """The model is told why, and goes on."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/look/SKILL.md", "x")
    session.write(".claude/skills/mine/SKILL.md", "---\ndisable-model-invocation: true\n---\nx")
    session.write(".claude/skills/bad/SKILL.md", "!`touch x`")
    session.ask("Go.", answers=[call("Skill", skill=name)])
    [result] = [line for line in session.lines if "toolUseResult" in line]
    [block] = result["message"]["content"]
    assert block["is_error"] is True
    assert text in block["content"]


def test_skills_are_listed_once_and_again_when_changed(tmp_path: Path) -> None:
    """Also when the session goes on; of those that are for people alone it is not told."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/look/SKILL.md", "Looks")
    session.write(".claude/skills/mine/SKILL.md", "---\ndisable-model-invocation: true\n---\nx")
    session.ask("Hello.", "And?")
    session.ask("Again.")
    assert len(session.attachments("skill_listing")) == 1
    session.write(".claude/skills/new/SKILL.md", "News")
    session.ask("Now?")
    attachments = session.attachments("skill_listing")[-1]["attachment"]
    assert (attachments["content"], attachments["isInitial"], attachments["names"]) == (
        "- new: News",
        False,
        ["new"],
    )


def test_without_skills_there_is_no_skill_tool(tmp_path: Path) -> None:
    """Nor with those that the model may not ask for."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/skills/mine/SKILL.md", "---\ndisable-model-invocation: true\n---\nx")
    tools: list[bool] = []
    session.ask("Hello.", offered=lambda names: tools.append("Skill" in names))
    session.write(".claude/skills/look/SKILL.md", "x")
    session.ask("Hello.", offered=lambda names: tools.append("Skill" in names))
    assert tools == [False, True]


def test_the_older_format_lists_skills_in_the_system_prompt(tmp_path: Path) -> None:
    """In the system prompt."""
    session = ScriptedSession(tmp_path, "2.1.29")
    session.write(".claude/skills/look/SKILL.md", "Looks")
    session.ask("Hello.")
    assert "- look: Looks" in session.sent.system[-1]["text"]
    assert not [line for line in session.lines if line["type"] == "attachment"]


def test_command_without_a_shell_says_so(tmp_path: Path) -> None:
    """Where commands are forbidden altogether."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/say.md", f"{BASH}!`echo x`\n")
    [ended] = [
        event for event in session.ask("/say", forbidden=("Bash",)) if isinstance(event, TurnEnded)
    ]
    assert ended.text.endswith("the Bash tool is not available")


def test_command_without_arguments_keeps_the_previous_text(tmp_path: Path) -> None:
    """Also where the session goes on with it, and nobody typed anything else."""
    session = ScriptedSession(tmp_path)
    session.write(".claude/commands/plain.md", "Do it.\n")
    session.ask("/plain first")
    session.ask("/plain")
    results = [line.get("lastPrompt") for line in session.lines if line["type"] == "last-prompt"]
    assert results == ["/plain first", "/plain first"]
