"""Hook runs from log entries, each once."""

from __future__ import annotations

from typing import Any

import pytest

from plait.conversation.model import ClientNote
from plait.trace.spans import HookRun, find_hook_runs


def attached(kind: str, **facts: Any) -> ClientNote:
    return ClientNote(
        kind="attachment", subtype=kind, value={"attachment": {"type": kind, **facts}}
    )


def progress(event: str, command: str) -> ClientNote:
    data = {"type": "hook_progress", "hookEvent": event, "hookName": event, "command": command}
    value = {"data": data, "parentToolUseID": "t1"}
    return ClientNote(kind="progress", subtype="hook_progress", value=value)


def summary(*commands: str, errors: tuple[str, ...] = ()) -> ClientNote:
    infos = [{"command": one, "durationMs": 40} for one in commands]
    value = {"hookInfos": infos, "hookErrors": list(errors)}
    return ClientNote(kind="system", subtype="stop_hook_summary", value=value)


def only(*notes: ClientNote) -> HookRun:
    (run,) = find_hook_runs(notes)
    return run


def test_an_attachment_gives_command_output_and_exit_code_of_a_hook() -> None:
    run = only(
        attached("hook_success", hookEvent="PostToolUse", hookName="PostToolUse:Edit",
                 toolUseID="t1", command="lint", stdout="fine\n", exitCode=0, durationMs=12)
    )  # fmt: skip
    assert (run.name, run.event, run.call) == ("PostToolUse:Edit", "PostToolUse", "t1")
    assert (run.command, run.output, run.exit_code, run.milliseconds) == ("lint", "fine\n", 0, 12)
    assert (run.level, run.status) == ("DEFAULT", "")


def test_the_objection_of_a_hook_is_its_status() -> None:
    for note, level, status in [
        (
            attached("hook_blocking_error", blockingError={"blockingError": "no tabs\nplease"}),
            "ERROR",
            "no tabs",
        ),
        (attached("hook_non_blocking_error", stderr="not found"), "WARNING", "not found"),
        (attached("hook_cancelled"), "WARNING", "the hook failed"),
        (summary("notify", errors=("exit 2",)), "WARNING", "exit 2"),
        (attached("hook_additional_context", content=["a", "b"]), "DEFAULT", ""),
    ]:
        run = only(note)
        assert (run.level, run.status) == (level, status)


def test_internal_callbacks_are_not_hooks() -> None:
    assert not list(find_hook_runs([progress("PostToolUse", "callback")]))
    assert only(progress("PreToolUse", "guard")).call == "t1"


def test_the_most_detailed_note_of_a_stop_hook_wins() -> None:
    stop = attached("hook_success", hookEvent="Stop", command="c", durationMs=3)
    assert [run.command for run in find_hook_runs([progress("Stop", "a"), summary("b"), stop])] == [
        "c"
    ]
    assert [run.command for run in find_hook_runs([progress("Stop", "a"), summary("b", "d")])] == [
        "b",
        "d",
    ]
    assert [run.command for run in find_hook_runs([progress("Stop", "a")])] == ["a"]


@pytest.mark.parametrize(
    "value", [None, [], {"attachment": 3}, {"hookInfos": {"x": 1}}, {"data": []}]
)
@pytest.mark.parametrize("subtype", ["hook_success", "hook_progress", "stop_hook_summary"])
def test_odd_notes_are_accepted(subtype: str, value: Any) -> None:
    for run in find_hook_runs([ClientNote(kind="x", subtype=subtype, value=value)]):
        assert run.name
