"""What hooks get on standard input: the fields of every event, and which events fire."""

from pathlib import Path
from typing import Any

import pytest

from plait.chat.hooks import EVENTS, Hook, HookSettings, load_hooks, matches_matcher
from plait.chat.settings import ClientSettings, SettingsFile
from plait.write.lines import Version
from tests.chat.hooks.theatre import KEEP, RUN, Json, Theatre

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
    theatre = Theatre(folder, dict.fromkeys(EVENTS, KEEP), **manner)
    theatre.play(*prompts)
    told: dict[str, list[Json]] = {}
    for one in theatre.told():
        told.setdefault(one["hook_event_name"], []).append(one)
    return told


def test_hook_input_matches_the_client(tmp_path: Path) -> None:
    told = play(tmp_path, "run", "fail", "write", "/compact")
    for event, fields in FIELDS.items():
        assert [*told[event][0]] == fields.split(), event
    assert [one["source"] for one in told["SessionStart"]] == ["startup", "compact"]
    compaction = told["PreCompact"][0]["prompt_id"]
    assert compaction == told["PostCompact"][0]["prompt_id"]
    assert compaction not in {one["prompt_id"] for one in told["UserPromptSubmit"]}
    assert [*told["SessionStart"][1]] == f"{COMMON} prompt_id hook_event_name source model".split()


def test_hook_input_fields(tmp_path: Path) -> None:
    told = play(tmp_path, "run", "fail", "write")
    prompt = told["UserPromptSubmit"][0]
    assert (prompt["prompt"], prompt["permission_mode"]) == ("run", "default")
    assert prompt["cwd"] == str(tmp_path / "work")
    before, after = told["PreToolUse"][0], told["PostToolUse"][0]
    assert (before["tool_name"], before["tool_input"]) == ("Bash", RUN["input"])
    assert after["tool_use_id"] == before["tool_use_id"]
    assert after["tool_response"]["stdout"] == "hi"
    (failed,) = told["PostToolUseFailure"]
    assert (failed["error"], failed["is_interrupt"]) == ("Exit code 3", False)
    batch = told["PostToolBatch"][0]["tool_calls"]
    assert [(one["tool_name"], one["tool_response"]) for one in batch] == [("Bash", "hi")]
    stop = told["Stop"][0]
    assert (stop["last_assistant_message"], stop["stop_hook_active"]) == ("Done.", False)
    (asked,) = told["PermissionRequest"]
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert asked["permission_suggestions"] == [mode]
    assert told["SessionEnd"][0]["reason"] == "other"


def test_prompt_id_matches_the_log(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, {"UserPromptSubmit": KEEP, "PreToolUse": KEEP, "Stop": KEEP})
    theatre.play("run", "run")
    ids = [one["promptId"] for one in theatre.lines if one.get("promptSource")]
    assert len({*ids}) == 2
    assert [one["prompt_id"] for one in theatre.told()] == [ids[0]] * 3 + [ids[1]] * 3


def test_resumed_session_start_has_its_state(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, {"SessionStart": KEEP})
    theatre.play("run")
    theatre.resumed()
    theatre.play("and then?")
    told = theatre.told()[1]
    assert told["source"] == "resume"
    assert told["prompt_cache_likely_expired"] is False
    assert told["context_tokens"] > 0
    assert 0 <= told["seconds_since_last_response"] < 60


def test_interactive_sessions_send_the_model_and_the_exit_reason(tmp_path: Path) -> None:
    told = play(tmp_path, "hello", entrypoint="cli")
    assert told["SessionStart"][0]["model"] == "script"
    assert told["SessionEnd"][0]["reason"] == "prompt_input_exit"


def test_older_version_has_no_prompt_ids(tmp_path: Path) -> None:
    version: Version = "2.1.29"
    told = play(tmp_path, "run", version=version)
    assert not {"prompt_id", "effort"} & {name for one in told.values() for name in one[0]}


def test_hook_environment(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, {"PreToolUse": "cat > /dev/null; pwd; env | grep ^CLAUDE | sort"})
    theatre.play("run")
    assert theatre.attached[0]["stdout"].splitlines() == [
        str(theatre.work),
        "CLAUDECODE=1",
        "CLAUDE_CODE_ENTRYPOINT=sdk-cli",
        f"CLAUDE_CODE_SESSION_ID={theatre.client.session}",
        "CLAUDE_EFFORT=high",
        f"CLAUDE_PROJECT_DIR={theatre.work}",
    ]


def test_hook_that_ignores_stdin_is_fine(tmp_path: Path) -> None:
    script = {"answers": [{"text": "x" * 300_000}]}
    theatre = Theatre(tmp_path, {"Stop": "exec 0<&-; echo fine"}, script=script)
    theatre.play("hello")
    assert theatre.attached[0]["content"] == "fine"


def test_hooks_of_an_event_run_in_parallel(tmp_path: Path) -> None:
    wait = "for i in $(seq 200); do test -e $HERE/{1} && exit 0; sleep 0.05; done; exit 1"
    meet = f"touch $HERE/{{0}}; {wait}"
    theatre = Theatre(tmp_path, {"Stop": [meet.format("a", "b"), meet.format("b", "a")]})
    theatre.play("hello")
    assert not theatre.attached


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
    assert [one.command for one in HookSettings(hooks).select("Stop", None)] == ["a", "b"]


def test_if_condition_is_a_permission_rule(tmp_path: Path) -> None:
    entries = [
        {"type": "command", "command": f"echo {number}", "if": rule}
        for number, rule in enumerate(("Bash(echo *)", "Bash(git *)", "Bash("))
    ]
    theatre = Theatre(tmp_path, {"PreToolUse": {"matcher": "Bash", "hooks": entries}})
    theatre.play("run")
    assert [one["content"] for one in theatre.attached] == ["0"]


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
    assert [one.command for one in book.hooks] == ["fine"]
    assert [one.partition(" in ")[0] for one in book.notices] == [
        *["a hook for Stop"] * 5,
        "hooks for 'Nothing'",
        "`hooks.PreToolUse`",
    ]


@pytest.mark.parametrize(
    ("event", "told", "seconds"),
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
def test_hook_timeouts(event: str, told: Any, seconds: float) -> None:
    entry = {"type": "command", "command": "x", "timeout": told}
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
    told = play(tmp_path, "[errand]", script=script, allowed=("Bash", "Agent"))
    (stop,) = told["SubagentStop"]
    (begun,) = told["SubagentStart"]
    assert stop["agent_type"] == begun["agent_type"] == "general-purpose"
    assert stop["agent_id"] == begun["agent_id"]
    assert stop["agent_transcript_path"].endswith(f"agent-{stop['agent_id']}.jsonl")
    assert stop["transcript_path"] == told["Stop"][0]["transcript_path"]
    assert stop["last_assistant_message"] == "Seen."
    inner = [one for one in told["PreToolUse"] if "agent_id" in one]
    assert [one["tool_name"] for one in inner] == ["Bash"]
    assert len(told["Stop"]) == 1


def test_a_blocked_compaction_has_its_own_prompt_id(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path, {"PreCompact": f"{KEEP}; exit 2"})
    theatre.play("hello", "/compact", "and then?")
    ids = [one["promptId"] for one in theatre.lines if one.get("promptSource")]
    assert len({*ids, theatre.told()[0]["prompt_id"]}) == 3
