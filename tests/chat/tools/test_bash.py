"""Bash: output, working directory, and ending commands."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from plait.chat.tools import shell
from plait.chat.tools.shell import (
    ShellTask,
    format_duration,
    format_preview,
    stop_all,
    trim_output,
    truncate_middle,
)
from tests.chat.tools.workspace import ToolWorkspace

QUIET = "(Bash completed with no output)"


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that only waits to be counted does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for_end(pid: int) -> bool:
    """Wait until a process has ended, within bounds."""
    for _ in range(400):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


# checklist: P84, P85, P86, P112
def test_command_output(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool(
        "Bash", command="echo out; echo err >&2", description="Say", timeout=9000
    )
    assert outcome.content == "out\nerr"
    assert outcome.is_error is False
    assert outcome.output == {
        "stdout": "out\nerr",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("true", QUIET),
        ("", QUIET),
        ("printf '\\n\\n  lead\\n\\ntrail  \\n\\n'", "  lead\n\ntrail"),
        ("printf '\\xff\\x00a'", "\ufffd\0a"),
        ("printf '\\033[31mred\\r\\n\\a'; echo .", "\x1b[31mred\r\n\a."),
        ("cat; tty", "Exit code 1\nnot a tty"),
        ("exit 5", "Exit code 5"),
        ("echo o; echo e >&2; exit 2", "Exit code 2\no\ne"),
        ("kill -9 $$", "Exit code 137"),
        ("nosuchcommand", "Exit code 127\n/bin/bash: line 1: nosuchcommand: command not found"),
        ("X=1; echo $X", "1"),
        ("echo $X", QUIET),
        ('echo $0; echo "$@"', "/bin/bash"),
    ],
)
def test_pictures(workspace: ToolWorkspace, command: str, expected: str) -> None:
    outcome = workspace.run_tool("Bash", command=command)
    assert outcome.content == expected
    assert bool(outcome.is_error) == expected.startswith("Exit code")
    if outcome.is_error:
        assert outcome.output == f"Error: {expected}"


@pytest.mark.parametrize(
    ("command", "key", "value"),
    [
        ("grep zzz a.txt", "returnCodeInterpretation", "No matches found"),
        ("diff a.txt b.txt", "returnCodeInterpretation", "Files differ"),
        ("test -f zz", "returnCodeInterpretation", "Condition is false"),
        ("[ 1 = 2 ]", "returnCodeInterpretation", "Condition is false"),
        ("cat a.txt | grep zzz", "returnCodeInterpretation", "No matches found"),
        ("mkdir sub", "noOutputExpected", True),
        ("cp a.txt c.txt; touch d", "noOutputExpected", True),
        ("mkdir sub && ls", "noOutputExpected", False),
        ("echo a >> a.txt", "noOutputExpected", False),
    ],
)
def test_exit_messages(workspace: ToolWorkspace, command: str, key: str, value: object) -> None:
    workspace.put("a.txt", "a\n")
    workspace.put("b.txt", "b\n")
    outcome = workspace.run_tool("Bash", command=command)
    assert outcome.is_error is False
    assert outcome.output[key] == value


@pytest.mark.parametrize(
    "command", ["false | grep a; false", "grep a nowhere.txt", "ls zzz", "find ("]
)
def test_other_failures_are_failures(workspace: ToolWorkspace, command: str) -> None:
    assert workspace.run_tool("Bash", command=command).is_error is True


def test_working_directory_is_kept(workspace: ToolWorkspace) -> None:
    (workspace.root / "sub").mkdir()
    workspace.run_tool("Bash", command="cd sub")
    assert workspace.result_text("Bash", command="pwd") == "./sub"
    assert workspace.run_tool("Bash", command="cd ..; false").is_error
    assert workspace.result_text("Bash", command="pwd") == "./sub"
    outcome = workspace.run_tool("Bash", command="cd / && pwd")
    assert outcome.output["stdout"] == "/"
    assert outcome.output["stderr"] == f"\nShell cwd was reset to {workspace.root}"
    assert outcome.content == f"/\nShell cwd was reset to {workspace.root}"
    assert workspace.result_text("Bash", command="pwd") == "."


def test_missing_working_directory_is_left(workspace: ToolWorkspace) -> None:
    (workspace.root / "sub").mkdir()
    workspace.run_tool("Bash", command="cd sub")
    (workspace.root / "sub").rmdir()
    assert workspace.result_text("Bash", command="pwd") == "."


def test_image_output_is_an_image(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Bash", command="echo 'data:image/png;base64,aGk='")
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert outcome.content == [{"type": "image", "source": source}]
    assert outcome.output["isImage"] is True


# checklist: P86, P112
def test_long_output_is_stored_beside_the_log(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Bash", command="seq 1 10000")
    kept = Path(outcome.output["persistedOutputPath"])
    assert kept.parent == workspace.place.results_folder
    assert kept.read_text().split() == [str(number) for number in range(1, 10001)]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert outcome.output["persistedOutputSize"] == 48_894
    assert len(outcome.output["stdout"]) <= 30_000
    assert str(outcome.content).startswith(
        f"<persisted-output>\nOutput too large (47.7KB). Full output saved to: {kept}\n\n"
        "Preview (first 2KB):\n1\n2\n3\n"
    )
    assert str(outcome.content).endswith("\n...\n</persisted-output>")


@pytest.mark.parametrize(("letters", "is_kept"), [(30_000, False), (30_001, True)])
def test_output_limit(workspace: ToolWorkspace, letters: int, is_kept: bool) -> None:
    outcome = workspace.run_tool("Bash", command=f"head -c {letters} /dev/zero | tr '\\0' x")
    assert ("persistedOutputPath" in outcome.output) == is_kept


def test_long_output_is_cut_without_storage(workspace: ToolWorkspace) -> None:
    workspace.place.results_folder = None
    text = str(workspace.run_tool("Bash", command="seq 1 10000").content)
    assert "characters truncated] ..." in text
    assert len(text) < 31_000


def test_failed_output_is_cut_in_the_middle(workspace: ToolWorkspace) -> None:
    text = str(workspace.run_tool("Bash", command="seq 1 10000; exit 1").content)
    assert text.startswith("Exit code 1\n1\n2\n")
    assert "\n\n... [20012 characters truncated] ...\n\n" in text
    assert len(text) == 10_040


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 10, "a" * 10),
        ("a" * 47, "a" * 47),
        ("a" * 48, "aaaaa\n\n... [38 characters truncated] ...\n\naaaaa"),
    ],
)
def test_middle_is_only_cut_if_shorter(text: str, expected: str) -> None:
    assert truncate_middle(text, 10) == expected


def test_preview_ends_at_a_line(tmp_path: Path) -> None:
    lines = "\n".join(["x" * 99] * 30)
    assert format_preview(lines, 2999, tmp_path).count("x" * 99 + "\n") == 20
    assert "x" * 2000 + "\n..." in format_preview("x" * 3000, 3000, tmp_path)
    assert "..." not in format_preview("short", 5, tmp_path)


@pytest.mark.parametrize(
    ("ms", "expected"),
    [(100, "0s"), (1500, "2s"), (59_400, "59s"), (60_000, "1m"), (90_000, "1m 30s")],
)
def test_times(ms: float, expected: str) -> None:
    assert format_duration(ms) == expected


def test_leading_blank_lines_are_removed() -> None:
    assert trim_output("\n  \n\n  a \n\n b \n \n") == "  a \n\n b"


def test_sleeping_command_times_out(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Bash", command="sleep 60", timeout=100)
    assert outcome.content == "Exit code 143\nCommand timed out after 0s"
    assert outcome.output == "Error: Exit code 143\nCommand timed out after 0s"


def test_other_commands_continue_in_the_background(workspace: ToolWorkspace) -> None:
    async def play() -> None:
        outcome = await workspace.call(
            "Bash", command="echo started; sleep 60 & echo $!; wait", timeout=300
        )
        name = outcome.output["backgroundTaskId"]
        assert outcome.output["timedOutAfterMs"] == 300
        assert str(outcome.content).startswith("started\n")
        assert f"was moved to the background (ID: {name})" in str(outcome.content)
        pid = int(outcome.output["stdout"].split()[1])
        assert is_alive(pid)
        stopped = await workspace.call("TaskStop", task_id=name)
        assert stopped.output["message"].startswith(f"Successfully stopped task: {name} (echo")
        assert wait_for_end(pid)
        assert workspace.place.background[name].status == "killed"

    asyncio.run(play())


def test_background_command_is_reported_when_it_ends(workspace: ToolWorkspace) -> None:
    results: list[ShellTask] = []
    workspace.place.on_task_done = results.append

    async def play() -> None:
        outcome = await workspace.call(
            "Bash", command="echo hi; exit 3", run_in_background=True, description="a <b>"
        )
        name = outcome.output["backgroundTaskId"]
        output = workspace.place.scratch and workspace.place.scratch / "tasks" / f"{name}.output"
        assert outcome.content == (
            f"Command running in background with ID: {name}. Output is being written to: {output}."
            " You will be notified when it completes. To check interim output, use Read on that"
            " file path."
        )
        shown = await workspace.call("TaskOutput", task_id=name)
        assert shown.content == (
            f"<retrieval_status>success</retrieval_status>\n\n<task_id>{name}</task_id>\n\n"
            "<task_type>local_bash</task_type>\n\n<status>failed</status>\n\n"
            "<exit_code>3</exit_code>\n\n<output>\nhi\n</output>"
        )
        assert shown.output["task"]["exitCode"] == 3
        assert (await workspace.call("Read", file_path=str(output))).content == "1\thi\n2\t"
        assert [task.id for task in results] == [name]
        results[0].call = "toolu_1"
        assert results[0].notification.words == (
            f"<task-notification>\n<task-id>{name}</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n"
            f"<output-file>{output}</output-file>\n<status>failed</status>\n<summary>Background"
            ' command "a &lt;b&gt;" failed with exit code 3</summary>\n</task-notification>'
        )
        late = await workspace.call("TaskStop", task_id=name)
        assert late.content == (
            f"<tool_use_error>Task {name} is not running (status: failed)</tool_use_error>"
        )

    asyncio.run(play())


def test_end_of_a_stopped_task_is_not_reported_again(workspace: ToolWorkspace) -> None:
    results: list[ShellTask] = []
    workspace.place.on_task_done = results.append

    async def play() -> None:
        outcome = await workspace.call("Bash", command="exec sleep 60", run_in_background=True)
        await workspace.call("TaskStop", task_id=outcome.output["backgroundTaskId"])
        await asyncio.sleep(0)

    asyncio.run(play())
    assert results == []


def test_waiting_for_output_is_reported_and_bounded(workspace: ToolWorkspace) -> None:
    async def play() -> None:
        outcome = await workspace.call("Bash", command="exec sleep 60", run_in_background=True)
        name = outcome.output["backgroundTaskId"]
        shown = await workspace.call("TaskOutput", task_id=name, timeout=50)
        assert shown.output["retrieval_status"] == "timeout"
        assert workspace.reports == [
            {
                "type": "waiting_for_task",
                "taskDescription": "exec sleep 60",
                "taskType": "local_bash",
            }
        ]
        looked = await workspace.call("TaskOutput", task_id=name, block=False)
        assert looked.output["retrieval_status"] == "success"
        assert looked.output["task"]["status"] == "running"
        await stop_all(workspace.place)

    asyncio.run(play())


@pytest.mark.parametrize("tool", ["TaskOutput", "TaskStop"])
def test_unknown_task(workspace: ToolWorkspace, tool: str) -> None:
    text = workspace.result_text(tool, task_id="nope")
    assert text == "<tool_use_error>No task found with ID: nope</tool_use_error>"


def test_task_id_is_required(workspace: ToolWorkspace) -> None:
    text = workspace.result_text("TaskStop")
    assert text == "<tool_use_error>Missing required parameter: task_id</tool_use_error>"


STUBBORN = "trap '' TERM; echo $$; (trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & wait"


@pytest.mark.parametrize("how", ["cancelled", "session over", "too late"])
def test_child_processes_are_killed(
    workspace: ToolWorkspace, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "TERMINATE_GRACE", 0.2)
    monkeypatch.setattr(shell, "MAX_BACKGROUND_SECONDS", 0.2)
    file = workspace.root / "pids"

    async def play() -> None:
        command = f"({STUBBORN}) > pids"
        is_left = how != "cancelled"
        timeout = 200 if how == "too late" else 60_000
        work = asyncio.create_task(
            workspace.call(
                "Bash",
                command=command,
                timeout=timeout,
                run_in_background=is_left and timeout > 200,
            )
        )
        for _ in range(500):
            await asyncio.sleep(0.01)
            if file.exists() and len(file.read_text().split()) == 2:
                break
        if how == "cancelled":
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        await asyncio.wait([work])
        if how == "too late":
            task: Any = next(iter(workspace.place.background.values()))
            await asyncio.wait([task.process.pump], timeout=10)
            assert task.status == "killed"
        await stop_all(workspace.place)

    asyncio.run(play())
    pids = [int(word) for word in file.read_text().split()]
    assert len(pids) == 2
    assert all(wait_for_end(pid) for pid in pids)


def test_endless_output_is_killed(
    workspace: ToolWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "MAX_OUTPUT", 1 << 20)
    outcome = workspace.run_tool("Bash", command="yes")
    assert outcome.is_error
    assert str(outcome.content).startswith("Exit code 137\ny\ny\n")


def test_ten_megabytes_of_output_are_stored(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Bash", command="head -c 10000000 /dev/zero | tr '\\0' x")
    assert outcome.output["persistedOutputSize"] == 10_000_000
    assert len(str(outcome.content)) < 3000
    assert len(outcome.output["stdout"]) == 30_000


def test_detached_processes_are_not_awaited(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Bash", command="sleep 60 & echo $!")
    pid = int(str(outcome.content))
    assert is_alive(pid)
    os.kill(pid, 9)


def test_progress_is_reported(workspace: ToolWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.chat.tools.shell.PROGRESS_DELAY", 0.05)
    workspace.run_tool("Bash", command="seq 1 8; sleep 0.4")
    report = dict(workspace.reports[0])
    assert report.pop("elapsedTimeSeconds") in (0, 1)
    assert report == {
        "type": "bash_progress",
        "output": "5\n6\n7\n8\n",
        "fullOutput": "1\n2\n3\n4\n5\n6\n7\n8\n",
        "totalLines": 9,
    }


def test_output_files_are_deleted_with_the_session(workspace: ToolWorkspace) -> None:
    workspace.place.scratch = None
    workspace.run_tool("Bash", command="echo hi")
    (tasks,) = workspace.place_folder().iterdir()
    folder = tasks.parent
    assert list(tasks.iterdir()) == []
    asyncio.run(stop_all(workspace.place))
    assert not folder.exists()


def test_foreign_folder_stays(workspace: ToolWorkspace) -> None:
    workspace.run_tool("Bash", command="echo hi")
    asyncio.run(stop_all(workspace.place))
    assert workspace.place.scratch and workspace.place.scratch.is_dir()


def test_null_byte_or_too_long_command_is_refused(workspace: ToolWorkspace) -> None:
    assert "null bytes" in workspace.result_text("Bash", command="echo \0")
    assert workspace.result_text("Bash", command="#" * 3_000_000).startswith(
        "Cannot run the command: "
    )
