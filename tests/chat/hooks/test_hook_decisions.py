"""What hooks may decide: blocked prompts, denied and changed calls, continued turns."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plait.chat.approval import Approval
from plait.chat.tools.base import Proposal
from plait.chat.turn import MAX_STOP_BLOCKS
from plait.write.lines import Version
from tests.chat.hooks.hook_session import KEEP, RUN, HookSession, Json, event_command, json_command


class Person:
    """Allows everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Allows a call."""
        self.asked.append(proposal.title)
        return Approval(is_allowed=True)


REFUSED = {
    "decision": "reject",
    "source": "hook",
    "reasonType": "hook",
    "reasonCode": "hook:PreToolUse",
}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            event_command("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
            "no",
        ),
        (json_command(decision="block", reason="no"), "no"),
        ("echo no >&2; exit 2", "[echo no >&2; exit 2]: no\n"),
        ("exit 2", "[exit 2]: No stderr output"),
    ],
)
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_hook_denies_a_call(tmp_path: Path, command: str, reason: str, mode: str) -> None:
    session = HookSession(tmp_path, {"PreToolUse": command, "PostToolUse": "echo post"}, mode=mode)
    session.play("run")
    (line,) = session.results
    result = f"PreToolUse:Bash hook error: {reason}"
    assert line["message"]["content"][0]["content"] == result
    assert line["toolUseResult"] == f"Error: {result}"
    assert (line["toolDenialKind"], line["permissionDecision"]) == ("permission-rule", REFUSED)
    assert not session.attachments


def test_the_last_denial_wins_over_permission(tmp_path: Path) -> None:
    deny = [
        event_command("PreToolUse", permissionDecision="deny", permissionDecisionReason=word)
        for word in ("one", "two")
    ]
    allow = event_command("PreToolUse", permissionDecision="allow")
    session = HookSession(tmp_path, {"PreToolUse": [f"sleep 0.3; {deny[0]}", deny[1], allow]})
    session.play("run")
    (block,) = session.results[0]["message"]["content"]
    assert block["content"] == "PreToolUse:Bash hook error: one"


def test_allow_skips_the_question(tmp_path: Path) -> None:
    allow = event_command("PreToolUse", permissionDecision="allow")
    session = HookSession(tmp_path, {"PreToolUse": allow}, allowed=())
    session.play("write")
    assert (session.work / "new.txt").read_text() == "x"
    assert session.results[0]["permissionDecision"] == {
        "decision": "accept",
        "source": "hook",
        "reasonType": "hook",
    }


@pytest.mark.parametrize(
    ("manner", "code"),
    [
        ({"forbidden": ("Write",)}, None),
        ({"forbidden": ("Edit(/**)",)}, "rule:cliArg"),
        ({"mode": "plan"}, "mode:plan"),
    ],
)
def test_hook_cannot_override_a_deny_rule(
    tmp_path: Path, manner: dict[str, Any], code: str | None
) -> None:
    session = HookSession(tmp_path, {"PreToolUse": json_command(decision="approve")}, **manner)
    session.play("write")
    assert not (session.work / "new.txt").exists()
    assert (session.results[0].get("permissionDecision") or {}).get("reasonCode") == code


def test_ask_decision_asks_the_user(tmp_path: Path) -> None:
    ask = event_command("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")
    person = Person()
    session = HookSession(tmp_path, {"PreToolUse": ask}, asker=person)
    session.play("run")
    assert person.asked == ["echo hi"]
    assert session.results[0]["permissionDecision"]["reasonCode"] == "hook:PreToolUse"
    alone = HookSession(tmp_path / "alone", {"PreToolUse": ask}) if _made(tmp_path) else None
    assert alone
    alone.play("run")
    (line,) = alone.results
    assert line["message"]["content"][0]["content"] == "sure?"
    assert line["permissionDecision"] == {
        "decision": "reject",
        "source": "config",
        "reasonCode": "hook:PreToolUse",
    }


def _made(folder: Path) -> bool:
    (folder / "alone").mkdir()
    return True


def test_dont_ask_mode_denies_what_hooks_would_ask(tmp_path: Path) -> None:
    ask = event_command("PreToolUse", permissionDecision="ask")
    session = HookSession(tmp_path, {"PreToolUse": ask}, mode="dontAsk")
    session.play("run")
    assert session.results[0]["permissionDecision"]["reasonCode"] == "mode:dontAsk"


def test_updated_input_is_validated(tmp_path: Path) -> None:
    change = event_command("PreToolUse", updatedInput={"command": "echo changed"})
    session = HookSession(tmp_path, {"PreToolUse": change})
    session.play("run")
    assert session.results[0]["message"]["content"][0]["content"] == "changed"
    (tmp_path / "wrong").mkdir()
    wrong = HookSession(
        tmp_path / "wrong", {"PreToolUse": event_command("PreToolUse", updatedInput={"x": 1})}
    )
    wrong.play("run")
    entry = wrong.results[0]["message"]["content"][0]["content"]
    assert entry.startswith("PreToolUse hook for Bash returned updatedInput that failed schema")
    assert wrong.results[0]["permissionDecision"] == REFUSED


def test_updated_input_is_checked_against_rules(tmp_path: Path) -> None:
    change = event_command(
        "PreToolUse", permissionDecision="allow", updatedInput={"command": "rm x"}
    )
    session = HookSession(tmp_path, {"PreToolUse": change}, forbidden=("Bash(rm:*)",))
    session.play("run")
    assert "has been denied" in session.results[0]["message"]["content"][0]["content"]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolBatch"])
def test_continue_false_ends_the_turn_after_results(tmp_path: Path, event: str) -> None:
    stop = json_command(**{"continue": False, "stopReason": "enough"})
    session = HookSession(tmp_path, {event: stop})
    ended = session.play("run")
    assert (ended.ending, ended.text, ended.responses) == ("done", "", 1)
    assert session.results[0]["message"]["content"][0]["content"] == "hi"
    last = session.attachments[-1]
    assert (last["type"], last["message"]) == ("hook_stopped_continuation", "enough")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (json_command(decision="block", reason="because"), "because"),
        ("echo because >&2; exit 2", "[echo because >&2; exit 2]: because\n"),
    ],
)
@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_reason_is_sent_to_the_model(tmp_path: Path, command: str, text: str, event: str) -> None:
    session = HookSession(tmp_path, {event: command})
    session.play("run" if event == "PostToolUse" else "fail")
    (found,) = session.attachments
    assert found["blockingError"] == {"blockingError": text, "command": command}
    assert f"{event}:Bash hook blocking error from command" in session.sent


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_blocked_prompt_is_not_sent(tmp_path: Path, version: Version) -> None:
    block = json_command(decision="block", reason="not so")
    session = HookSession(tmp_path, {"UserPromptSubmit": [block, "echo more"]}, version=version)
    ended = session.play("run")
    result = "UserPromptSubmit operation blocked by hook:\nnot so\n\nOriginal prompt: run"
    assert (ended.ending, ended.text, ended.responses) == ("done", result, 0)
    assert session.notices == [result]
    (line,) = session.lines
    assert (line["subtype"], line["level"], line["content"]) == ("informational", "warning", result)
    if version == "2.1.325":
        ending = {"kind": "blocked_by_hook", "reason": "not so"}
        assert line["promptSubmitEnding"] == {"ending": ending, "promptKept": False}
        assert line["preventContinuation"] is True
    assert not session.model.requests


def test_stopped_prompt_is_kept_unanswered(tmp_path: Path) -> None:
    stop = json_command(**{"continue": False, "stopReason": "enough"})
    session = HookSession(tmp_path, {"UserPromptSubmit": stop})
    assert session.play("run").text == "Operation stopped by hook: enough"
    assert (
        session.picture
        == """\
A<·  user run
B<A  user Operation stopped by hook: enough
C<B  system informational"""
    )
    assert session.lines[1]["isMeta"] is True
    assert "turnCompanion" not in session.lines[1]
    assert session.lines[2]["promptSubmitEnding"]["ending"]["kind"] == "stopped_by_hook"


def test_reworded_prompt_after_a_block(tmp_path: Path) -> None:
    once = f"test -e once || {{ touch once; {json_command(decision='block', reason='no')}; }}"
    session = HookSession(tmp_path, {"UserPromptSubmit": once})
    assert session.play("run", "run").text == "Done."
    assert session.picture.splitlines()[0] == "A<·  system informational"


ONCE = "test -e once && exit 0; touch once; "


@pytest.mark.parametrize(
    ("command", "text", "kinds"),
    [
        (
            ONCE + "echo more >&2; exit 2",
            f"[{ONCE}echo more >&2; exit 2]: more\n",
            [],
        ),
        (ONCE + json_command(decision="block", reason="more"), "more", ["hook_blocking_error"]),
    ],
)
def test_a_stop_hook_continues_the_turn(
    tmp_path: Path, command: str, text: str, kinds: list[str]
) -> None:
    session = HookSession(tmp_path, {"Stop": command})
    assert session.play("run").text == "ok"
    (note,) = [line for line in session.lines if line.get("isMeta") and line["type"] == "user"]
    assert note["message"]["content"] == f"Stop hook feedback:\n{text}"
    assert [attachment["type"] for attachment in session.attachments] == kinds
    first, last = [line for line in session.lines if line.get("subtype") == "stop_hook_summary"]
    assert (first["hookErrors"], last["hookErrors"]) == ([text], [])
    assert first["hookInfos"] == [{"command": command}]
    assert first["toolUseID"] != last["toolUseID"]


def test_stop_hook_loop_is_bounded(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"Stop": f"{KEEP}; exit 2"})
    assert session.play("hello").responses == MAX_STOP_BLOCKS
    assert [item["stop_hook_active"] for item in session.inputs()] == [False] + [True] * 8
    assert session.lines[-1]["content"].startswith(
        "A hook blocked the turn from ending 9 consecutive times — overriding and ending turn."
    )


def test_stop_hook_context_continues_the_turn(tmp_path: Path) -> None:
    more = event_command("Stop", additionalContext="more")
    session = HookSession(tmp_path, {"Stop": ONCE + more})
    assert session.play("hello").responses == 2
    summary = next(line for line in session.lines if line.get("subtype") == "stop_hook_summary")
    assert summary["hookAdditionalContext"] == ["more"]


def test_continue_false_overrides_other_stop_hooks(tmp_path: Path) -> None:
    stop = json_command(**{"continue": False, "stopReason": "enough"})
    session = HookSession(tmp_path, {"Stop": [stop, "sleep 0.1; exit 2"]})
    assert session.play("hello").responses == 1
    summary = session.lines[-1]
    assert (summary["preventedContinuation"], summary["stopReason"]) == (True, "enough")


@pytest.mark.parametrize(
    ("decision", "is_done"),
    [({"behavior": "allow"}, True), ({"behavior": "deny", "message": "no way"}, False)],
)
def test_permission_request_hook_answers(tmp_path: Path, decision: Json, is_done: bool) -> None:
    person = Person()
    hooks = {"PermissionRequest": event_command("PermissionRequest", decision=decision)}
    session = HookSession(tmp_path, hooks, asker=person)
    session.play("write")
    assert (session.work / "new.txt").exists() == is_done
    assert person.asked == []
    (attachment,) = session.attachments
    assert attachment["type"] == "hook_permission_decision"
    found = session.results[0]["permissionDecision"]
    assert (found["source"], found["reasonType"]) == ("hook", "hook")
    assert found["reasonCode"] == ("unknown" if is_done else "hook:PermissionRequest")


def test_without_a_hook_decision_the_user_is_asked(tmp_path: Path) -> None:
    person = Person()
    session = HookSession(tmp_path, {"PermissionRequest": "true"}, asker=person)
    session.play("write")
    assert len(person.asked) == 1


def test_notification_hook_runs_while_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.chat.permissions.REMINDER_DELAY", 0.0)
    heard = "cat > $HERE/told.new; mv $HERE/told.new $HERE/told"

    class Slow(Person):
        async def ask(self, proposal: Proposal, call: str) -> Approval:
            """Answer once the hook was told."""
            for _ in range(500):
                if (tmp_path / "told").exists():
                    break
                await asyncio.sleep(0.02)
            return Approval(is_allowed=True)

    session = HookSession(tmp_path, {"Notification": heard}, asker=Slow())
    session.play("write")
    (text,) = session.inputs()
    assert text["message"] == "Claude needs your permission"
    assert text["notification_type"] == "permission_prompt"


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_precompact_hook_blocks_compaction(tmp_path: Path, version: Version) -> None:
    session = HookSession(tmp_path, {"PreCompact": "echo no >&2; exit 2"}, version=version)
    session.play("hello", "/compact")
    result = "Compaction blocked by PreCompact hook: [echo no >&2; exit 2]: no"
    assert session.notices == [result]
    assert not any(line.get("isCompactSummary") for line in session.lines)
    if version == "2.1.325":
        assert result in session.lines[-1]["content"]


def test_precompact_hook_adds_instructions(tmp_path: Path) -> None:
    hooks = {
        "PreCompact": "echo the numbers",
        "PostCompact": "echo done",
        "SessionStart": "echo on",
    }
    session = HookSession(tmp_path, hooks)
    session.play("hello", "/compact")
    assert "the numbers" in session.sent
    words = (str(line.get("message")) for line in session.lines)
    (printed,) = [word for word in words if "Compacted (" in word]
    assert "PreCompact [echo the numbers] completed successfully: the numbers" in printed
    assert "PostCompact [echo done] completed successfully: done" in printed
    results = [
        attachment
        for attachment in session.attachments
        if attachment["hookEvent"] == "SessionStart"
    ]
    assert [item["hookName"] for item in results] == [
        "SessionStart:startup",
        "SessionStart:compact",
    ]


def test_interrupted_turn_kills_its_hooks(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"PreToolUse": "echo $$ > $HERE/pid; sleep 30"})

    async def run() -> list[Any]:
        async with session.client as client:
            asyncio.get_running_loop().call_later(0.5, client.interrupt)
            return [event async for event in client.send("run")]

    assert asyncio.run(run())[-1].ending == "interrupted"
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()
    assert "User rejected" in session.results[0]["toolUseResult"]


def test_interrupt_during_session_start(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"SessionStart": "sleep 30"})

    async def run() -> list[Any]:
        async with session.client as client:
            asyncio.get_running_loop().call_later(0.3, client.interrupt)
            return [event async for event in client.send("run")]

    (ended,) = asyncio.run(run())
    assert ended.ending == "interrupted"
    assert not session.client.path.exists()


def test_session_end_errors_are_logged(tmp_path: Path) -> None:
    session = HookSession(tmp_path, {"SessionEnd": ["echo bad >&2; exit 1", "true"]})
    session.play("hello")
    assert session.notes == ["SessionEnd hook [echo bad >&2; exit 1] failed: bad"]


def test_parallel_calls_run_their_own_hooks(tmp_path: Path) -> None:
    script = {
        "answers": [
            {"calls": [RUN, {"name": "Read", "input": {"file_path": "a"}}]},
            {"text": "Done."},
        ]
    }
    session = HookSession(tmp_path, {"PreToolUse": KEEP}, script=script)
    (session.work / "a").write_text("a")
    session.play("hello")
    assert sorted(item["tool_name"] for item in session.inputs()) == ["Bash", "Read"]
