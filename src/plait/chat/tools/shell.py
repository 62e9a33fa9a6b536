"""The Bash tool and commands in the background, with the tools that watch and stop them."""

import asyncio
import json
import os
import re
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import SystemRandom
from shlex import quote
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic
from typing import Any, Literal, Protocol, TypeAlias
from xml.sax.saxutils import escape

from plait.chat.tools.base import (
    SECRET_PLACEHOLDER,
    BuiltInTool,
    Field,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
)
from plait.chat.tools.commands import expects_no_output, explain_exit_code, is_wait
from plait.chat.tools.files import format_size
from plait.write.transcript import TaskNotification

SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")
CHUNK = 64 * 1024
MAX_OUTPUT = 64 * 1024 * 1024
"""Output kept of one command, in bytes; a command that prints more is killed."""
TERMINATE_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
LINGER_SECONDS = 0.2
"""Seconds in which output is still read after the shell has ended but left processes running."""
HEAD_BYTES = 512 * 1024
"""Bytes of output kept in memory."""


@dataclass(slots=True)
class ShellProcess:
    """A command that is running or has ended."""

    command: str
    process: Process
    reading: int
    """The file descriptor of its output."""
    output: Path
    """The file its output is written to."""
    cwd_file: Path
    """The file it writes its last working directory to."""
    started_at: float = field(default_factory=monotonic)
    head: bytearray = field(default_factory=bytearray)
    size: int = 0
    is_stopped: bool = False
    """Whether it was killed by us."""
    pump: "asyncio.Task[int] | None" = None

    @property
    def text(self) -> str:
        """The beginning of its output so far."""
        return self.head.decode("utf-8", "replace")

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return monotonic() - self.started_at

    @property
    def exit_code(self) -> int | None:
        """Its exit code as a shell reports it; None while it runs."""
        code = self.process.returncode
        return 128 - code if code is not None and code < 0 else code

    async def copy_output(self) -> int:
        """Copy its output to its file until it ends; return the exit code."""
        stream = asyncio.StreamReader()
        pipe = os.fdopen(self.reading, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), pipe
        )
        with self.output.open("ab", buffering=0) as file:

            async def read() -> None:
                while chunk := await stream.read(CHUNK):
                    with suppress(OSError):  # a full disk loses output, not the turn
                        file.write(chunk[: max(MAX_OUTPUT - self.size, 0)])
                    self.head += chunk[: max(HEAD_BYTES - len(self.head), 0)]
                    self.size += len(chunk)
                    if self.size >= MAX_OUTPUT:
                        self.kill()

            reader = asyncio.create_task(read())
            try:
                code = await self.process.wait()
                await asyncio.wait([reader], timeout=LINGER_SECONDS)
            finally:
                reader.cancel()
                transport.close()
        return code

    async def wait(self, seconds: float, report: ProgressCallback) -> None:
        """Wait until it ends, or for a timeout; report progress meanwhile."""
        assert self.pump is not None
        pause = PROGRESS_DELAY
        while (left := seconds - self.seconds) > 0:
            done, _ = await asyncio.wait([self.pump], timeout=min(pause, left))
            if done:
                return
            if left > pause:
                lines = self.text.split("\n")
                report(
                    {
                        "type": "bash_progress",
                        "output": "\n".join(lines[-5:]),
                        "fullOutput": self.text[-MAX_SHOWN:],
                        "elapsedTimeSeconds": round(self.seconds),
                        "totalLines": len(lines),
                    }
                )
            pause = 1.0

    async def stop(self) -> None:
        """Terminate it and its process group, and wait for them."""
        self.is_stopped = True
        _signal(self.process, signal.SIGTERM)
        if self.pump:
            done, _ = await asyncio.wait([self.pump], timeout=TERMINATE_GRACE)
            _signal(self.process, signal.SIGKILL)
            if not done:
                await asyncio.wait([self.pump])

    def kill(self) -> None:
        """Kill it and its process group without waiting for them."""
        self.is_stopped = True
        _signal(self.process, signal.SIGKILL)


async def start(
    command: str, cwd: Path, environment: Mapping[str, str], folder: Path, name: str
) -> ShellProcess:
    """Start a command without standard input, its output and errors in one stream."""
    output, where = folder / f"{name}.output", folder / f"{name}.cwd"
    shell = next((shell for shell in SHELLS if Path(shell).exists()), "sh")
    script = f"eval {quote(command)} < /dev/null && pwd -P >| {quote(str(where))}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise ToolError(f"Cannot save the output of the command: {error}") from error
    reading, writing = os.pipe()
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            shell,
            "-c",
            script,
            cwd=cwd,
            env=dict(environment),
            stdin=DEVNULL,
            stdout=writing,
            stderr=STDOUT,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        os.close(reading)
        with suppress(OSError, ValueError):  # it may have started children by now
            process = await starting
            _signal(process, signal.SIGKILL)
            await process.wait()
        raise
    except (OSError, ValueError) as error:
        os.close(reading)
        raise ToolError(f"Cannot run the command: {error}") from error
    finally:
        os.close(writing)
    running = ShellProcess(command, process, reading, output, where)
    running.pump = asyncio.create_task(running.copy_output())
    return running


def _signal(process: Process, which: signal.Signals) -> None:
    # the group outlives its first process, so this also reaches what that left running
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)


MAX_SHOWN = 30_000
"""Characters of output that the model gets."""
MAX_ERROR_SHOWN = 10_000
PREVIEW_LENGTH = 2000


def _save_output(output: Path, target: Path, secrets: tuple[str, ...]) -> None:
    """Copy output to a file of the session, with secrets hidden."""
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        data = output.read_bytes()
        for secret in secrets:
            data = data.replace(
                secret.encode("utf-8", "surrogateescape"), SECRET_PLACEHOLDER.encode()
            )
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise ToolError(
            f"The command has ended, but its output could not be saved: {error}"
        ) from error


def format_preview(text: str, size: int, place: Path) -> str:
    """Return the beginning of an output that was saved to a file, with a note saying where."""
    head = text[:PREVIEW_LENGTH]
    if len(text) > PREVIEW_LENGTH and (at := head.rfind("\n")) > PREVIEW_LENGTH // 2:
        head = head[:at]
    more = "\n..." if len(text) > len(head) else ""
    return (
        f"<persisted-output>\nOutput too large ({format_size(size)}). Full output saved to: {place}\n\n"
        f"Preview (first 2KB):\n{head}{more}\n</persisted-output>"
    )


def truncate_middle(text: str, most: int = MAX_ERROR_SHOWN) -> str:
    """Return a text with its middle cut out if it is too long."""
    half = most // 2
    note = f"\n\n... [{len(text) - 2 * half} characters truncated] ...\n\n"
    return text if len(text) <= 2 * half + len(note) else text[:half] + note + text[-half:]


Status: TypeAlias = Literal["running", "completed", "failed", "killed"]
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
MAX_BACKGROUND_SECONDS = 600.0
"""Seconds that a command moved to the background may run."""


class BackgroundTask(Protocol):
    """A command or an agent in the background."""

    id: str
    description: str
    is_reported: bool
    """Whether the model knows that it has ended."""
    call: str | None
    """The ID of the call that started it."""

    @property
    def kind(self) -> str:
        """Its kind, as it is logged."""

    @property
    def subject(self) -> str:
        """The command, or the task of the agent."""

    @property
    def status(self) -> Status:
        """Whether it is running, or how it ended."""

    @property
    def text(self) -> str:
        """Its output so far."""

    @property
    def exit_code(self) -> int | None:
        """The exit code of a command that has ended."""

    @property
    def notification(self) -> TaskNotification:
        """The message to the model about its end."""

    async def wait(self, seconds: float) -> None:
        """Wait for its end, or for a timeout in seconds."""

    async def stop(self) -> None:
        """Stop it and wait until it has ended."""


@dataclass(slots=True)
class ShellTask:
    """A `BackgroundTask` that is a command."""

    id: str
    process: ShellProcess
    description: str
    kind: str = "local_bash"
    call: str | None = None
    """The ID of the call that started it."""
    is_reported: bool = False
    """Whether the model knows that it has ended."""

    @property
    def status(self) -> Status:
        if self.process.pump is None or not self.process.pump.done():
            return "running"
        if self.process.is_stopped:
            return "killed"
        return "failed" if self.process.exit_code else "completed"

    @property
    def subject(self) -> str:
        return self.process.command

    @property
    def text(self) -> str:
        return self.process.text

    @property
    def exit_code(self) -> int | None:
        return self.process.exit_code

    async def wait(self, seconds: float) -> None:
        if self.process.pump:
            await asyncio.wait([self.process.pump], timeout=seconds)

    async def stop(self) -> None:
        self.is_reported = True
        await self.process.stop()

    @property
    def notification(self) -> TaskNotification:
        endings = {
            "completed": "completed (exit code 0)",
            "failed": f"failed with exit code {self.process.exit_code}",
            "killed": "was stopped",
            "running": "is running",
        }
        summary = f'Background command "{self.description}" {endings[self.status]}'
        call = f"<tool-use-id>{self.call}</tool-use-id>\n" if self.call else ""
        return TaskNotification(
            f"<task-notification>\n<task-id>{self.id}</task-id>\n{call}"
            f"<output-file>{self.process.output}</output-file>\n<status>{self.status}</status>\n"
            f"<summary>{escape(summary)}</summary>\n</task-notification>"
        )


def get_scratch_folder(place: Workplace) -> Path:
    """Return the folder for output of running commands; create it if there is none."""
    if place.scratch is None:
        place.scratch = Path(mkdtemp(prefix="plait-")).resolve()
        place.is_scratch_own = True
    folder = place.scratch / "tasks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def run_in_background(
    place: Workplace, name: str, running: ShellProcess, description: str, seconds: float
) -> ShellTask:
    """Let a command continue in the background until it ends or a time limit is reached."""
    task = ShellTask(name, running, description or running.command)
    place.background[name] = task

    async def stop_late() -> None:
        await asyncio.sleep(seconds)
        await asyncio.shield(running.stop())

    def report_end(_: object) -> None:
        watch.cancel()
        if not task.is_reported:
            task.is_reported = True
            place.on_task_done(task)

    if running.pump:
        watch = asyncio.create_task(stop_late())
        running.pump.add_done_callback(report_end)
    return task


async def stop_all(place: Workplace) -> None:
    """Stop all background tasks and delete temporary output at the end of a session."""
    place.on_task_done = lambda task: None
    tasks = [item for item in place.background.values() if item.status == "running"]
    await asyncio.gather(*(task.stop() for task in tasks))
    if place.scratch and place.is_scratch_own:
        rmtree(place.scratch, ignore_errors=True)
        place.scratch, place.is_scratch_own = None, False


DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS = 120_000, 600_000
MAX_BACKGROUND_MS = 7_200_000
PROGRESS_DELAY = 3.0
"""Seconds before progress is reported for the first time; then once a second."""
IMAGE = re.compile(r"data:(image/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)\Z", re.IGNORECASE)
RUNNING_IN_BACKGROUND = (
    "Command running in background with ID: {id}. Output is being written to: {file}. You will be"
    " notified when it completes. To check interim output, use Read on that file path."
)
MOVED_TO_BACKGROUND = (
    "Command did not complete within its {timeout} timeout and was moved to the background (ID:"
    " {id}). Output is being written to: {file}. You will be notified when it completes. If it is"
    " still running after {limit} in the background, it will be stopped and you will be notified."
    " It is running now: do not start a second copy while it runs. If it is no longer needed, stop"
    " it with TaskStop.{note} To check interim output, use Read on that file path."
)
NO_OUTPUT_YET = (
    " No output had been read from it when it was moved. A program that buffers its output, or a"
    " pipe into one such as tail, can keep the output file empty until the command finishes."
)


class Bash(BuiltInTool):
    """The tool that runs a command."""

    name = "Bash"
    effect = "execute"
    title = "{command}"
    description = (
        "Runs a command in bash and returns its output. The working directory persists between"
        " commands; variables do not. There is no terminal and no input. A command that exceeds its"
        " timeout continues in the background."
    )
    fields = (
        Field("command", "string", "The command to run", is_required=True),
        Field("timeout", "number", "Timeout in milliseconds, at most 600000 in the foreground"),
        Field("description", "string", "What the command does, in a few words"),
        Field("run_in_background", "boolean", "Run it in the background"),
        Field("dangerouslyDisableSandbox", "boolean", "Ignored: there is no sandbox"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        if "\0" in proposal.arguments["command"]:
            raise ToolError("A command cannot contain null bytes (\\0).", is_misuse=True)
        return proposal

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        arguments = proposal.arguments
        description = str(arguments.get("description") or "")
        name = "b" + "".join(SystemRandom().choices(LETTERS, k=8))
        folder = get_scratch_folder(place)
        cwd = place.cwd if place.cwd.is_dir() else place.root
        environment = {**place.environment, "GIT_EDITOR": "true"}
        running = await start(arguments["command"], cwd, environment, folder, name)
        assert running.pump is not None
        timeout = float(arguments.get("timeout") or 0)
        try:
            if arguments.get("run_in_background"):
                limit = min(timeout if timeout > 0 else MAX_TIMEOUT_MS, MAX_BACKGROUND_MS)
                run_in_background(place, name, running, description, limit / 1000)
                text = RUNNING_IN_BACKGROUND.format(id=name, file=running.output)
                return Outcome(text, _build_unfinished_output(running, name), is_error=False)
            limit = min(timeout, MAX_TIMEOUT_MS) if timeout > 0 else DEFAULT_TIMEOUT_MS
            await running.wait(limit / 1000, report)
            if running.pump.done():
                return _finish(arguments["command"], running, name, place)
            if not is_wait(arguments["command"]):
                run_in_background(place, name, running, description, MAX_BACKGROUND_SECONDS)
                text = trim_output(running.text)
                message = MOVED_TO_BACKGROUND.format(
                    timeout=format_duration(limit),
                    id=name,
                    file=running.output,
                    limit=format_duration(MAX_BACKGROUND_SECONDS * 1000),
                    note="" if text else NO_OUTPUT_YET,
                )
                output = _build_unfinished_output(running, name, timedOutAfterMs=int(limit))
                parts = (truncate_middle(text, MAX_SHOWN), message)
                return Outcome("\n".join(filter(None, parts)), output, is_error=False)
            await running.stop()
            running.output.unlink(missing_ok=True)
            lines = (
                "Exit code 143",
                f"Command timed out after {format_duration(limit)}",
                trim_output(running.text),
            )
            raise ToolError(truncate_middle("\n".join(filter(None, lines))))
        except asyncio.CancelledError:
            await asyncio.shield(running.stop())
            raise


def _finish(command: str, running: ShellProcess, name: str, place: Workplace) -> Outcome:
    """Return the result of a command that has ended; raise ToolError if it failed."""
    text, code = trim_output(running.text), running.exit_code or 0
    note = _follow_cwd(running, place)
    try:
        interpretation = explain_exit_code(command, code)
        if code and interpretation is None:
            parts = (f"Exit code {code}", text[:MAX_SHOWN], note.strip())
            raise ToolError(truncate_middle("\n".join(filter(None, parts))))
        image = IMAGE.match(text)
        output: dict[str, Any] = {
            "stdout": text if image else trim_output(running.text[:MAX_SHOWN]),
            "stderr": note,
            "interrupted": False,
            "isImage": image is not None,
        }
        if interpretation:
            output["returnCodeInterpretation"] = interpretation
        output["noOutputExpected"] = expects_no_output(command)
        saved: Path | None = None
        if len(text) > MAX_SHOWN and place.results_folder is not None:
            saved = place.results_folder / f"{name}.txt"
            _save_output(running.output, saved, place.secrets)
        if image:
            source = {"type": "base64", "media_type": image[1], "data": "".join(image[2].split())}
            return Outcome([{"type": "image", "source": source}], output)
        if saved:
            size = saved.stat().st_size
            output |= {"persistedOutputPath": str(saved), "persistedOutputSize": size}
            return Outcome(format_preview(text, size, saved), output, is_error=False)
        message = "\n".join(filter(None, (truncate_middle(text, MAX_SHOWN), note.strip())))
        return Outcome(message or "(Bash completed with no output)", output, is_error=False)
    finally:
        running.output.unlink(missing_ok=True)


def trim_output(text: str) -> str:
    """Return output without blank lines before it and blanks after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _follow_cwd(running: ShellProcess, place: Workplace) -> str:
    """Adopt the working directory a command ended in; return a note if it is not allowed."""
    try:
        text = running.cwd_file.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
        running.cwd_file.unlink()
    except OSError:
        return ""
    cwd = Path(text).resolve()
    if not place.keeps_cwd:
        return ""
    if place.contains(cwd):
        place.cwd = cwd
        return ""
    place.cwd = place.root
    return f"\nShell cwd was reset to {place.root}"


def _build_unfinished_output(running: ShellProcess, name: str, **more: Any) -> dict[str, Any]:
    return {
        "stdout": trim_output(running.text),
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
        "backgroundTaskId": name,
        **more,
    }


def format_duration(ms: float) -> str:
    """Return a duration as Claude Code writes it: 2s, 10m, 1m 30s."""
    seconds = int(ms / 1000 + 0.5)
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return f"{rest}s"
    return f"{minutes}m {rest}s" if rest else f"{minutes}m"


DEFAULT_WAIT_MS, MAX_WAIT_MS = 30_000, 600_000


class TaskOutput(BuiltInTool):
    """The tool that shows the output of a background task."""

    name = "TaskOutput"
    description = "Shows the output of a background command or agent, and whether it has finished."
    fields = (
        Field("task_id", "string", "ID of the background task", is_required=True),
        Field("block", "boolean", "Wait until it finishes", default=True),
        Field("timeout", "number", "Maximum wait in milliseconds"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        task = _find_task(proposal.arguments["task_id"], place)
        return replace(proposal, title=task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        arguments = proposal.arguments
        task = _find_task(arguments["task_id"], place)
        if arguments["block"] and task.status == "running":
            waits = {"taskDescription": task.description, "taskType": task.kind}
            report({"type": "waiting_for_task", **waits})
            ms = min(max(float(arguments.get("timeout", DEFAULT_WAIT_MS)), 0), MAX_WAIT_MS)
            await task.wait(ms / 1000)
        is_late = arguments["block"] and task.status == "running"
        status = "timeout" if is_late else "success"
        text = task.text[-MAX_SHOWN:]
        fields: dict[str, Any] = {
            "task_id": task.id,
            "task_type": task.kind,
            "status": task.status,
            "description": task.description,
            "output": text,
            **({"exitCode": task.exit_code} if task.kind == "local_bash" else {}),
        }
        task.is_reported = task.is_reported or task.status != "running"
        parts = [
            f"<retrieval_status>{status}</retrieval_status>",
            f"<task_id>{task.id}</task_id>",
            f"<task_type>{task.kind}</task_type>",
            f"<status>{task.status}</status>",
        ]
        if task.exit_code is not None:
            parts.append(f"<exit_code>{task.exit_code}</exit_code>")
        if text.strip():
            parts.append(f"<output>\n{text.rstrip()}\n</output>")
        return Outcome("\n\n".join(parts), {"retrieval_status": status, "task": fields})


def _find_task(name: str, place: Workplace) -> BackgroundTask:
    task: BackgroundTask | None = place.background.get(name)
    if task is None:
        raise ToolError(f"No task found with ID: {name}", is_misuse=True)
    return task


class TaskStop(BuiltInTool):
    """The tool that stops a background task."""

    name = "TaskStop"
    description = "Stops a background command or agent and everything it started."
    fields = (
        Field("task_id", "string", "ID of the background task"),
        Field("shell_id", "string", "Older name for task_id"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        name = proposal.arguments.get("task_id") or proposal.arguments.get("shell_id")
        if not name:
            raise ToolError("Missing required parameter: task_id", is_misuse=True)
        task = _find_task(name, place)
        if task.status != "running":
            text = f"Task {name} is not running (status: {task.status})"
            raise ToolError(text, is_misuse=True)
        return replace(proposal, title=task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        arguments = proposal.arguments
        task = _find_task(arguments.get("task_id") or arguments["shell_id"], place)
        await task.stop()
        output = {
            "message": f"Successfully stopped task: {task.id} ({task.subject})",
            "task_id": task.id,
            "task_type": task.kind,
            "command": task.subject,
        }
        return Outcome(json.dumps(output, ensure_ascii=False, separators=(",", ":")), output)
