"""What hooks get on standard input: the fields of every event, and which events fire."""

from pathlib import Path
from typing import Any

import pytest

from plait.chat.hooks import EVENTS, Hook, HookSettings, load_hooks, matches_matcher
from plait.chat.settings import ClientSettings, SettingsFile
from plait.write.lines import Version
from tests.chat.hooks.hook_session import KEEP, RUN, HookSession, Json

COMMON = "session_id transcript_path cwd"
FIELDS = {
    "SessionStart": f"{COMMON} hook_event_name source",
    "UserPromptSubmit": f"{COMMON} prompt_id permission_mode hook_event_name prompt",
    "PreToolUse": f"{COMMON} prompt_id permission_mode effort hook_event_name tool_name tool_input"
    " tool_use_id",
    "PermissionRequest": f"{COMMON} prompt_id permission_mode effort hook_event_name tool_name"
    " tool_input permission_suggestions",
    "PostToolUse": f"{COMMON} prompt_id permission_mode effort hook_event_name tool_name tool_input"
    " tool_response tool_use_id duration_ms",
    "PostToolUseFailure": f"{COMMON} prompt_id permission_mode effort hook_event_name tool_name"
    " tool_input tool_use_id error is_interrupt duration_ms",
    "PostToolBatch": f"{COMMON} prompt_id permission_mode effort hook_event_name tool_calls",
    "Stop": f"{COMMON} prompt_id permission_mode effort hook_event_name stop_hook_active"
    " last_assistant_message background_tasks session_crons",
    "PreCompact": f"{COMMON} prompt_id hook_event_name trigger custom_instructions",
    "PostCompact": f"{COMMON} prompt_id hook_event_name trigger compact_summary",
    "SessionEnd": f"{COMMON} prompt_id hook_event_name reason",
}
"""As 2.1.325 tells them in print mode, in its order."""


def play(folder: Path, *prompts: str, **manner: Any) -> dict[str, list[Json]]:
    """Return what hooks of all events were told, by event."""
    session = HookSession(folder, dict.fromkeys(EVENTS, KEEP), **manner)
    session.play(*prompts)
    found: dict[str, list[Json]] = {}
    for item in session.inputs():
        found.setdefault(item["hook_event_name"], []).append(item)
    return found


def test_hook_input_matches_the_client(tmp_path: Path) -> None:
    events = play(tmp_path, "run", "fail", "write", "/compact")
    for event, fields in FIELDS.items():
        assert [*events[event][0]] == fields.split(), event
    assert [item["source"] for item in events["SessionStart"]] == ["startup", "compact"]
    compaction = events["PreCompact"][0]["prompt_id"]
    assert compaction == events["PostCompact"][0]["prompt_id"]
    assert compaction not in {item["prompt_id"] for item in events["UserPromptSubmit"]}
    assert [
        *events["SessionStart"][1]
    ] == f"{COMMON} prompt_id hook_event_name source model".split()


def test_hook_input_fields(tmp_path: Path) -> None:
    events = play(tmp_path, "run", "fail", "write")
    prompt = events["UserPromptSubmit"][0]
    assert (prompt["prompt"], prompt["permission_mode"]) == ("run", "default")
    assert prompt["cwd"] == str(tmp_path / "work")
    before, after = events["PreToolUse"][0], events["PostToolUse"][0]
    assert (before["tool_name"], before["tool_input"]) == ("Bash", RUN["input"])
    assert after["tool_use_id"] == before["tool_use_id"]
    assert after["tool_response"]["stdout"] == "hi"
    (failed,) = events["PostToolUseFailure"]
    assert (failed["error"], failed["is_interrupt"]) == ("Exit code 3", False)
    batch = events["PostToolBatch"][0]["tool_calls"]
    assert [(item["tool_name"], item["tool_response"]) for item in batch] == [("Bash", "hi")]
    stop = events["Stop"][0]
    assert (stop["last_assistant_message"], stop["stop_hook_active"]) == ("Done.", False)
    (asked,) = events["PermissionRequest"]
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert asked["permission_suggestions"] == [mode]
    assert events["SessionEnd"][0]["reason"] == "other"


def test_prompt_id_matches_the_log(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"UserPromptSubmit": KEEP, "PreToolUse": KEEP, "Stop": KEEP})
    session.play("run", "run")
    ids = [line["promptId"] for line in session.lines if line.get("promptSource")]
    assert len({*ids}) == 2
    assert [item["prompt_id"] for item in session.inputs()] == [ids[0]] * 3 + [ids[1]] * 3


def test_resumed_session_start_has_its_state(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"SessionStart": KEEP})
    session.play("run")
    session.resume()
    session.play("and then?")
    text = session.inputs()[1]
    assert text["source"] == "resume"
    assert text["prompt_cache_likely_expired"] is False
    assert text["context_tokens"] > 0
    assert 0 <= text["seconds_since_last_response"] < 60


def test_interactive_sessions_send_the_model_and_the_exit_reason(tmp_path: Path) -> None:
    events = play(tmp_path, "hello", entrypoint="cli")
    assert events["SessionStart"][0]["model"] == "script"
    assert events["SessionEnd"][0]["reason"] == "prompt_input_exit"


def test_older_version_has_no_prompt_ids(tmp_path: Path) -> None:
    version: Version = "2.1.29"
    events = play(tmp_path, "run", version=version)
    assert not {"prompt_id", "effort"} & {name for value in events.values() for name in value[0]}


def test_hook_environment(tmp_path: Path) -> None:
    session = HookSession(
        tmp_path, {"PreToolUse": "cat > /dev/null; pwd; env | grep ^CLAUDE | sort"}
    )
    session.play("run")
    assert session.attachments[0]["stdout"].splitlines() == [
        str(session.work),
        "CLAUDECODE=1",
        "CLAUDE_CODE_ENTRYPOINT=sdk-cli",
        f"CLAUDE_CODE_SESSION_ID={session.client.session}",
        "CLAUDE_EFFORT=high",
        f"CLAUDE_PROJECT_DIR={session.work}",
    ]


def test_hook_that_ignores_stdin_is_fine(tmp_path: Path) -> None:
    script = {"answers": [{"text": "x" * 300_000}]}
    session = HookSession(tmp_path, {"Stop": "exec 0<&-; echo fine"}, script=script)
    session.play("hello")
    assert session.attachments[0]["content"] == "fine"


def test_hooks_of_an_event_run_in_parallel(tmp_path: Path) -> None:
    wait = "for i in $(seq 200); do test -e $HERE/{1} && exit 0; sleep 0.05; done; exit 1"
    meet = f"touch $HERE/{{0}}; {wait}"
    session = HookSession(tmp_path, {"Stop": [meet.format("a", "b"), meet.format("b", "a")]})
    session.play("hello")
    assert not session.attachments


@pytest.mark.parametrize(
    ("matcher", "subject", "is_due"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Ba", "Bash", False),
        ("bash", "Bash", False),
        ("Edit|Bash", "Bash", True),
        ("Edit, Bash", "Bash", True),
        (" Bash ", "Bash", True),
        ("Bash|", "Bash", True),
        ("Ba.*", "Bash", True),
        ("^Bash$", "Bash", True),
        ("Ba(sh)?", "Bash", True),
        ("Bash(echo *)", "Bash", False),
        ("[", "Bash", False),
        ("mcp__.*", "mcp__files__list", True),
        ("startup|resume", "startup", True),
        ("start", "startup", False),
        ("anything", None, True),
    ],
)
def test_matchers(matcher: str, subject: str | None, is_due: bool) -> None:
    assert matches_matcher(matcher, subject) == is_due


def test_same_command_runs_once_per_event() -> None:
    hooks = (
        Hook("Stop", "a"),
        Hook("Stop", "b"),
        Hook("Stop", "a"),
        Hook("SessionEnd", "a"),
    )
    assert [item.command for item in HookSettings(hooks).select("Stop", None)] == ["a", "b"]


def test_if_condition_is_a_permission_rule(tmp_path: Path) -> None:
    entries = [
        {"type": "command", "command": f"echo {number}", "if": rule}
        for number, rule in enumerate(("Bash(echo *)", "Bash(git *)", "Bash("))
    ]
    session = HookSession(tmp_path, {"PreToolUse": {"matcher": "Bash", "hooks": entries}})
    session.play("run")
    assert [attachment["content"] for attachment in session.attachments] == ["0"]


def settings(**values: Any) -> ClientSettings:
    file = SettingsFile("userSettings", Path("settings.json"), Path(), values)
    return ClientSettings((file,))


def test_invalid_hooks_are_reported() -> None:
    book = load_hooks(
        settings(
            hooks={
                "Stop": [
                    {"hooks": [{"type": "http", "url": "x"}, {"type": "command", "command": " "}]},
                    {"hooks": 7},
                    7,
                    {"matcher": 7, "hooks": []},
                    {"hooks": [{"type": "command", "command": "fine"}]},
                ],
                "Nothing": [],
                "PreToolUse": "x",
            }
        )
    )
    assert [hook.command for hook in book.hooks] == ["fine"]
    assert [notice.partition(" in ")[0] for notice in book.notices] == [
        *["a hook for Stop"] * 5,
        "hooks for 'Nothing'",
        "`hooks.PreToolUse`",
    ]


@pytest.mark.parametrize(
    ("event", "timeout", "seconds"),
    [
        ("Stop", None, 60),
        ("Stop", 5, 5),
        ("Stop", 0.5, 0.5),
        ("Stop", -1, 60),
        ("Stop", True, 60),
        ("Stop", "5", 60),
        ("Stop", 1e9, 3600),
        ("SessionEnd", None, 1.5),
        ("SessionEnd", 10, 10),
    ],
)
def test_hook_timeouts(event: str, timeout: Any, seconds: float) -> None:
    entry = {"type": "command", "command": "x", "timeout": timeout}
    (hook,) = load_hooks(settings(hooks={event: [{"hooks": [entry]}]})).hooks
    assert hook.seconds == seconds


def test_all_hooks_can_be_disabled() -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}
    assert len(load_hooks(settings(hooks=hooks)).hooks) == 1
    assert load_hooks(settings(hooks=hooks, disableAllHooks=True)) == HookSettings()


def test_agent_hooks(tmp_path: Path) -> None:
    errand = {
        "description": "Look",
        "subagent_type": "general-purpose",
        "prompt": "look around",
        "run_in_background": False,
    }
    script = {
        "rules": [
            {
                "when": "[errand]",
                "answers": [{"calls": [{"name": "Agent", "input": errand}]}, {"text": "Done."}],
            },
            {"when": "look around", "answers": [{"calls": [RUN]}, {"text": "Seen."}]},
        ]
    }
    events = play(tmp_path, "[errand]", script=script, allowed=("Bash", "Agent"))
    (stop,) = events["SubagentStop"]
    (text,) = events["SubagentStart"]
    assert stop["agent_type"] == text["agent_type"] == "general-purpose"
    assert stop["agent_id"] == text["agent_id"]
    assert stop["agent_transcript_path"].endswith(f"agent-{stop['agent_id']}.jsonl")
    assert stop["transcript_path"] == events["Stop"][0]["transcript_path"]
    assert stop["last_assistant_message"] == "Seen."
    inner = [item for item in events["PreToolUse"] if "agent_id" in item]
    assert [item["tool_name"] for item in inner] == ["Bash"]
    assert len(events["Stop"]) == 1


def test_a_blocked_compaction_has_its_own_prompt_id(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"PreCompact": f"{KEEP}; exit 2"})
    session.play("hello", "/compact", "and then?")
    ids = [line["promptId"] for line in session.lines if line.get("promptSource")]
    assert len({*ids, session.inputs()[0]["prompt_id"]}) == 3
