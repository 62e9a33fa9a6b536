"""Hook output and exit codes, and the lines they leave in the log."""

from pathlib import Path
from typing import Any

import pytest

from plait.write.lines import Version
from tests.chat.hooks.hook_session import SCRIPT, HookSession, Json, event_command, json_command

REMINDED = "<system-reminder>\n{}\n</system-reminder>"


def kinds(session: HookSession) -> list[str]:
    return [attachment["type"].removeprefix("hook_") for attachment in session.attachments]


def without_times(entry: Json) -> Json:
    return {name: value for name, value in entry.items() if name != "durationMs"}


def test_silent_hooks_leave_only_the_stop_summary(tmp_path: Path) -> None:
    events = "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolBatch Stop SessionEnd"
    session = HookSession(tmp_path, dict.fromkeys(events.split(), "true"))
    session.play("run")
    assert (
        session.picture
        == """\
A<·  user run
B<A  assistant I run.
C<B  assistant Bash({'command': 'echo hi'})
D<C  user → hi
E<D  assistant Done.
F<E  system stop_hook_summary"""
    )
    result = without_times(session.lines[-1])
    assert [without_times(item) for item in result["hookInfos"]] == [{"command": "true"}]
    assert (result["hookErrors"], result["hasOutput"], result["preventedContinuation"]) == (
        [],
        False,
        False,
    )


def test_plain_hook_output_is_logged_at_its_event(tmp_path: Path) -> None:
    events = "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolBatch Stop"
    session = HookSession(tmp_path, {event: f"echo {event}" for event in events.split()})
    session.play("run")
    assert (
        session.picture
        == """\
A<·  attachment hook_success
B<A  user run
C<B  attachment hook_success
D<C  assistant I run.
E<D  assistant Bash({'command': 'echo hi'})
F<E  attachment hook_success
G<E  user → hi
H<G  attachment hook_success
I<H  attachment hook_success
J<I  assistant Done.
K<J  attachment hook_success
L<K  system stop_hook_summary"""
    )
    heard = [line["rendered"] for line in session.lines if "rendered" in line]
    assert heard == [
        [{"content": REMINDED.format("SessionStart:startup hook success: SessionStart")}],
        [{"content": REMINDED.format("UserPromptSubmit hook success: UserPromptSubmit")}],
    ]
    assert session.lines[-1]["hasOutput"] is True
    for event in ("SessionStart", "UserPromptSubmit"):
        assert f"hook success: {event}" in session.sent


NAMES = {
    "SessionStart": "SessionStart:startup",
    "PreToolUse": "PreToolUse:Bash",
    "PostToolUse": "PostToolUse:Bash",
}
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")


@pytest.mark.parametrize("event", EVENTS)
def test_a_failing_hook_is_reported_and_has_no_effect(tmp_path: Path, event: str) -> None:
    command = "echo out; echo bad >&2; exit 1"
    session = HookSession(tmp_path, {event: command})
    ended = session.play("run")
    (attachment,) = session.attachments
    call = session.results[0]["message"]["content"][0]["tool_use_id"]
    at_tool = event in ("PreToolUse", "PostToolUse")
    assert without_times(attachment) == {
        "type": "hook_non_blocking_error",
        "hookName": NAMES.get(event, event),
        "toolUseID": call if at_tool else attachment["toolUseID"],
        "hookEvent": event,
        "stderr": "Failed with non-blocking status code: bad",
        "stdout": "out\n",
        "exitCode": 1,
        "command": command,
    }
    assert ended.text == "Done."
    assert session.notices == [f"{event} hook [{command}]: bad"]


@pytest.mark.parametrize("event", EVENTS)
def test_hanging_hook_is_killed(tmp_path: Path, event: str) -> None:
    entry = {"type": "command", "command": "sleep 30 & sleep 30", "timeout": 0.2}
    session = HookSession(tmp_path, {event: {"hooks": [entry]}})
    assert session.play("run").text == "Done."
    (attachment,) = session.attachments
    assert attachment["type"] == "hook_cancelled"
    if event != "PostToolUse":
        assert (attachment["timedOut"], attachment["timeoutMs"], attachment["command"]) == (
            True,
            200,
            entry["command"],
        )
    assert session.notices == [f"{event} hook [sleep 30 & sleep 30]: timed out after 0.2 seconds"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("garbage", ['{"decision": bad', "[1]", "\\377\\000", '"word"'])
def test_invalid_json_is_text(tmp_path: Path, event: str, garbage: str) -> None:
    session = HookSession(tmp_path, {event: f"printf '{garbage}'"})
    assert session.play("run").text == "Done."
    assert kinds(session) == ["success"]


@pytest.mark.parametrize(
    ("fields", "trouble"),
    [
        ({"decision": 7}, 'decision: Invalid option: expected one of "approve"|"block"'),
        ({"continue": "no"}, "continue: expected boolean, received string"),
        ({"hookSpecificOutput": []}, "hookSpecificOutput: expected object, received array"),
        (
            {"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "maybe"}},
            "hookSpecificOutput.permissionDecision: Invalid option: expected one of"
            ' "allow"|"deny"|"ask"|"defer"',
        ),
    ],
)
def test_invalid_hook_output_is_reported(tmp_path: Path, fields: Json, trouble: str) -> None:
    session = HookSession(tmp_path, {"Stop": json_command(**fields)})
    session.play("hello")
    (found,) = session.attachments
    assert found["type"] == "hook_non_blocking_error"
    assert found["stderr"].startswith(f"Hook JSON output validation failed — {trouble}\n\n")


def test_misplaced_and_malformed_hook_decisions(tmp_path: Path) -> None:
    twice = """printf '{"continue": true}\\n{"continue": true}'"""
    session = HookSession(
        tmp_path, {"PreToolUse": [event_command("Stop", additionalContext="x"), twice]}
    )
    assert session.play("run").text == "Done."
    troubles = sorted(attachment["stderr"] for attachment in session.attachments)
    assert troubles[0].startswith(
        "Failed to run: Hook returned incorrect event name: expected 'PreToolUse' but got 'Stop'."
    )
    assert troubles[1].startswith("Hook output looks like a JSON object but is not valid JSON — ")


def test_long_hook_output_goes_to_a_file(tmp_path: Path) -> None:
    long = "head -c 12000 /dev/zero | tr '\\0' x"
    session = HookSession(tmp_path, {"UserPromptSubmit": long})
    session.play("hello")
    (attachment,) = session.attachments
    assert attachment["content"].startswith("<persisted-output>\nOutput too large (11.7KB).")
    (kept,) = (session.client.path.with_suffix("") / "tool-results").iterdir()
    assert kept.read_text(encoding="utf-8") == "x" * 12_000
    assert str(kept) in attachment["content"]


def test_endless_hook_output_is_cut(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"Stop": "yes"})
    assert session.play("hello").text == "ok"
    (attachment,) = session.attachments
    assert len(attachment["stdout"]) <= 4 * 1024 * 1024


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("SessionStart", "SessionStart hook additional context: more"),
        ("UserPromptSubmit", "UserPromptSubmit hook additional context: more"),
        ("PreToolUse", "PreToolUse:Bash hook additional context: more"),
        ("PostToolUse", "PostToolUse:Bash hook additional context: more"),
    ],
)
@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_context_reaches_the_model(tmp_path: Path, event: str, text: str, version: Version) -> None:
    session = HookSession(
        tmp_path, {event: event_command(event, additionalContext="more")}, version=version
    )
    session.play("run")
    (line,) = [item for item in session.lines if item.get("rendered")]
    assert line["rendered"] == [{"content": REMINDED.format(text)}]
    assert line["attachment"]["content"] == ["more"]
    assert text in session.sent


def test_session_start_contexts_are_logged_together(tmp_path: Path) -> None:
    results = [event_command("SessionStart", additionalContext=word) for word in ("one", "two")]
    session = HookSession(tmp_path, {"SessionStart": [results[0], f"sleep 0.2; {results[1]}"]})
    session.play("hello")
    found = session.attachments[-1]
    assert found == {
        "type": "hook_additional_context",
        "content": ["one", "two"],
        "hookName": "SessionStart",
        "toolUseID": "SessionStart",
        "hookEvent": "SessionStart",
    }


@pytest.mark.parametrize("event", EVENTS)
def test_system_message_is_shown_to_the_user(tmp_path: Path, event: str) -> None:
    session = HookSession(tmp_path, {event: json_command(systemMessage="a warning")})
    session.play("run")
    assert f"{event} hook: a warning" in session.notices
    assert session.attachments[-1]["content"] == "a warning"
    assert "a warning" not in session.sent


# checklist: P99
def test_older_version_logs_progress_lines(tmp_path: Path) -> None:
    events = "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop"
    session = HookSession(tmp_path, dict.fromkeys(events.split(), "true"), version="2.1.29")
    session.play("run")
    progress = [line for line in session.lines if line["type"] == "progress"]
    call = session.results[0]["message"]["content"][0]["tool_use_id"]
    assert [item["data"] for item in progress] == [
        {"type": "hook_progress", "hookEvent": event, "hookName": NAMES.get(event, event)}
        | {"command": "true"}
        for event in events.split()
    ]
    assert [item["toolUseID"] == call for item in progress] == [False, False, True, True, False]
    assert all(item["parentToolUseID"] == item["toolUseID"] for item in progress)
    assert not session.attachments
    assert [line["type"] for line in session.lines if "subtype" in line] == ["system", "system"]


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_session_with_hooks_can_be_continued(tmp_path: Path, version: Version) -> None:
    begin = "test -e here && echo resumed || { touch here; echo begun; }"
    hooks: dict[str, Any] = {"SessionStart": begin, "Stop": "echo stopped"}
    session = HookSession(tmp_path, hooks, version=version)
    session.play("run")
    session.resume()
    session.play("and then?")
    assert "SessionStart:startup hook success: begun" in session.sent
    assert "SessionStart:resume hook success: resumed" in session.sent


def test_unchanged_output_of_a_start_hook_is_not_logged_again(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"SessionStart": "echo begun"})
    session.play("run")
    session.resume()
    session.play("and then?")
    assert [item["hookName"] for item in session.attachments] == ["SessionStart:startup"]
    assert session.sent.count("begun") == 1


def test_hooks_do_not_get_secrets_of_the_environment(tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"
    environment = {"PATH": "/usr/bin:/bin", "MY_TOKEN": secret}
    hooks = {"UserPromptSubmit": f"echo [$MY_TOKEN] {secret[:8]}{secret[8:]}"}
    session = HookSession(tmp_path, hooks, environment=environment)
    session.play("hello")
    assert session.attachments[0]["content"] == "[] [secret from the environment]"


def test_hooks_do_not_run_for_invalid_calls(tmp_path: Path) -> None:
    calls = [{"name": "Nothing", "input": {}}, {"name": "Bash", "input": {"command": 7}}]
    script = {"answers": [{"calls": calls}, {"text": "Done."}]}
    session = HookSession(
        tmp_path, {"PreToolUse": "echo pre", "PostToolUseFailure": "echo post"}, script=script
    )
    session.play("hello")
    assert not session.attachments
    assert SCRIPT["otherwise"] == {"text": "ok"}
