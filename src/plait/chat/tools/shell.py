"""The Bash tool and commands in the background, with the tools that watch and stop them."""

import asyncio
import json
import os
import re
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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
    Arguments,
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
"""Bytes of output that are kept of one command; one that says more is ended."""
TERMINATE_GRACE = 2.0
"""Seconds between being asked to end and being made to."""
LINGER_SECONDS = 0.2
"""Seconds in which a shell that has ended is still listened to, through what it left running."""
HEAD_BYTES = 512 * 1024
"""Bytes of output that are kept at hand."""


@dataclass(slots=True)
class ShellProcess:
    """A command that runs, or ran."""

    command: str
    process: Process
    reading: int
    """The end of the pipe that its output comes out of."""
    output: Path
    """The file that its output goes to as it comes."""
    cwd_file: Path
    """The file that says in which folder it ended."""
    started_at: float = field(default_factory=monotonic)
    head: bytearray = field(default_factory=bytearray)
    size: int = 0
    is_stopped: bool = False
    """Whether it was ended from here."""
    pump: "asyncio.Task[int] | None" = None

    @property
    def text(self) -> str:
        """The beginning of what it said so far."""
        return self.head.decode("utf-8", "replace")

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return monotonic() - self.started_at

    @property
    def exit_code(self) -> int | None:
        """How it ended, as a shell says it; None while it runs."""
        found = self.process.returncode
        return 128 - found if found is not None and found < 0 else found


async def start(
    command: str, cwd: Path, environment: Mapping[str, str], folder: Path, name: str
) -> ShellProcess:
    """Start a command, with nothing to read from and one stream to speak to."""
    output, where = folder / f"{name}.output", folder / f"{name}.cwd"
    shell = next((shell for shell in SHELLS if Path(shell).exists()), "sh")
    script = f"eval {quote(command)} < /dev/null && pwd -P >| {quote(str(where))}"
    _create_output(output)
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
        await _kill_started(starting)
        raise
    except (OSError, ValueError) as error:
        os.close(reading)
        raise ToolError(f"Cannot run the command: {error}") from error
    finally:
        os.close(writing)
    running = ShellProcess(command, process, reading, output, where)
    running.pump = asyncio.create_task(_copy_output(running))
    return running


async def _kill_started(starting: "asyncio.Future[Process]") -> None:
    """End a command that was stopped while it started, with what it has started by then."""
    with suppress(OSError, ValueError):
        process = await starting
        _signal(process, signal.SIGKILL)
        await process.wait()


def _create_output(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise ToolError(f"Cannot keep the output of the command: {error}") from error


async def _copy_output(running: ShellProcess) -> int:
    """Take what a command says to its file until it ends; ends one that never stops talking."""
    stream = asyncio.StreamReader()
    pipe = os.fdopen(running.reading, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), pipe
    )
    with running.output.open("ab", buffering=0) as file:
        listener = asyncio.create_task(_read_output(running, stream, file.write))
        try:
            code = await running.process.wait()
            await asyncio.wait([listener], timeout=LINGER_SECONDS)
        finally:
            listener.cancel()
            transport.close()
    return code


async def _read_output(
    running: ShellProcess, stream: asyncio.StreamReader, write: Callable[[bytes], object]
) -> None:
    while chunk := await stream.read(CHUNK):
        room = max(MAX_OUTPUT - running.size, 0)
        with suppress(OSError):  # a full disk loses output, not the turn
            write(chunk[:room])
        running.head += chunk[: max(HEAD_BYTES - len(running.head), 0)]
        running.size += len(chunk)
        if running.size >= MAX_OUTPUT:
            kill(running)


async def stop(running: ShellProcess) -> None:
    """End a command and all that it started in its group."""
    running.is_stopped = True
    _signal(running.process, signal.SIGTERM)
    if running.pump:
        done, _ = await asyncio.wait([running.pump], timeout=TERMINATE_GRACE)
        _signal(running.process, signal.SIGKILL)
        if not done:
            await asyncio.wait([running.pump])


def kill(running: ShellProcess) -> None:
    """End a command and its group at once, without waiting for it."""
    running.is_stopped = True
    _signal(running.process, signal.SIGKILL)


def _signal(process: Process, which: signal.Signals) -> None:
    # The group outlives its first process: what that left running is ended too.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)


MAX_SHOWN = 30_000
"""Letters of output that the model is told."""
MAX_ERROR_SHOWN = 10_000
PREVIEW_LENGTH = 2000


def save_output(output: Path, place: Path, secrets: tuple[str, ...] = ()) -> Path:
    """Keep a file of output where the session keeps such files, without secrets."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        data = output.read_bytes()
        for secret in secrets:
            data = data.replace(
                secret.encode("utf-8", "surrogateescape"), SECRET_PLACEHOLDER.encode()
            )
        with os.fdopen(handle, "wb") as target:
            target.write(data)
    except OSError as error:
        raise ToolError(f"The command has ended, but its output cannot be kept: {error}") from error
    return place


def format_preview(text: str, size: int, place: Path) -> str:
    """Return what is told of output that is kept elsewhere."""
    head = text[:PREVIEW_LENGTH]
    if len(text) > PREVIEW_LENGTH and (at := head.rfind("\n")) > PREVIEW_LENGTH // 2:
        head = head[:at]
    more = "\n..." if len(text) > len(head) else ""
    return (
        f"<persisted-output>\nOutput too large ({format_size(size)}). Full output saved to: {place}\n\n"
        f"Preview (first 2KB):\n{head}{more}\n</persisted-output>"
    )


def truncate_middle(text: str, most: int = MAX_ERROR_SHOWN) -> str:
    """Return a text without its middle where it is too long."""
    half = most // 2
    note = f"\n\n... [{len(text) - 2 * half} characters truncated] ...\n\n"
    return text if len(text) <= 2 * half + len(note) else text[:half] + note + text[-half:]


Status: TypeAlias = Literal["running", "completed", "failed", "killed"]
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
MAX_BACKGROUND_SECONDS = 600.0
"""Seconds that a command may go on in the background."""


class BackgroundTask(Protocol):
    """What goes on in the background: a command, or an agent."""

    id: str
    description: str
    is_reported: bool
    """Whether its end was told to the model."""
    call: str | None
    """The call that started it, for whoever knows it."""

    @property
    def kind(self) -> str:
        """What it is, in the words of the log."""
        ...

    @property
    def subject(self) -> str:
        """What it does: the command, or the task."""
        ...

    @property
    def status(self) -> Status:
        """How it stands."""
        ...

    @property
    def text(self) -> str:
        """What it said so far."""
        ...

    @property
    def exit_code(self) -> int | None:
        """The exit code of a command that has ended."""
        ...

    @property
    def news(self) -> TaskNotification:
        """What the model is told when it has ended."""
        ...

    async def wait(self, seconds: float) -> None:
        """Wait for its end, not longer than some seconds."""
        ...

    async def stop(self) -> None:
        """End it, and waits until it has ended."""
        ...


@dataclass(slots=True)
class ShellTask:
    """A command in the background."""

    id: str
    process: ShellProcess
    description: str
    kind: str = "local_bash"
    call: str | None = None
    """The call that started it, for whoever knows it."""
    is_reported: bool = False
    """Whether its end was told to the model."""

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.process.pump is None or not self.process.pump.done():
            return "running"
        if self.process.is_stopped:
            return "killed"
        return "failed" if self.process.exit_code else "completed"

    @property
    def subject(self) -> str:
        """What it does: the command."""
        return self.process.command

    @property
    def text(self) -> str:
        """What it said so far."""
        return self.process.text

    @property
    def exit_code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self.process.exit_code

    async def wait(self, seconds: float) -> None:
        """Wait for its end, not longer than some seconds."""
        if self.process.pump:
            await asyncio.wait([self.process.pump], timeout=seconds)

    async def stop(self) -> None:
        """End it, and waits until it has ended."""
        self.is_reported = True
        await stop(self.process)

    @property
    def news(self) -> TaskNotification:
        """What the model is told when it has ended."""
        return TaskNotification(self.notification)

    @property
    def notification(self) -> str:
        """The words of that."""
        prompt = f"<tool-use-id>{self.call}</tool-use-id>\n" if self.call else ""
        return (
            f"<task-notification>\n<task-id>{self.id}</task-id>\n{prompt}"
            f"<output-file>{self.process.output}</output-file>\n<status>{self.status}</status>\n"
            f"<summary>{escape(self._summary)}</summary>\n</task-notification>"
        )

    @property
    def _summary(self) -> str:
        text = f'Background command "{self.description}"'
        match self.status:
            case "completed":
                return f"{text} completed (exit code 0)"
            case "failed":
                return f"{text} failed with exit code {self.process.exit_code}"
            case "killed":
                return f"{text} was stopped"
            case _:
                return f"{text} is running"


def get_scratch_folder(place: Workplace) -> Path:
    """Return the folder that output goes to, and makes it where there is none."""
    if place.scratch is None:
        place.scratch = Path(mkdtemp(prefix="plait-")).resolve()
        place.is_scratch_own = True
    folder = place.scratch / "tasks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def run_in_background(
    place: Workplace, name: str, running: ShellProcess, description: str, seconds: float
) -> ShellTask:
    """Go on with a command in the background, no longer than it may."""
    task = ShellTask(name, running, description or running.command)
    place.background[name] = task
    if running.pump:
        watch = asyncio.create_task(_stop_after(running, seconds))
        running.pump.add_done_callback(lambda _: watch.cancel())
        running.pump.add_done_callback(lambda _: _report_end(task, place))
    return task


def _report_end(task: ShellTask, place: Workplace) -> None:
    """Have the end of a task told, unless a tool has told it."""
    if not task.is_reported:
        task.is_reported = True
        place.on_task_done(task)


async def _stop_after(running: ShellProcess, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await asyncio.shield(stop(running))


async def stop_all(place: Workplace) -> None:
    """End all that runs in the background, and takes away what it wrote: the session is over."""
    place.on_task_done = lambda task: None
    tasks = [item for item in place.background.values() if item.status == "running"]
    await asyncio.gather(*(task.stop() for task in tasks))
    if place.scratch and place.is_scratch_own:
        rmtree(place.scratch, ignore_errors=True)
        place.scratch, place.is_scratch_own = None, False


DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS = 120_000, 600_000
MAX_BACKGROUND_MS = 7_200_000
PROGRESS_DELAY = 3.0
"""Seconds before a command that goes on is reported of, once a second."""
IMAGE = re.compile(r"data:(image/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)\Z", re.IGNORECASE)
NO_OUTPUT_YET = (
    " No output had been read from it when it was moved. A program that buffers its output, or a"
    " pipe into one such as tail, can keep the output file empty until the command finishes."
)
BASH_FIELDS = (
    Field("command", "string", "The command to run", is_required=True),
    Field("timeout", "number", "Milliseconds it may take, at most 600000 in the foreground"),
    Field("description", "string", "What the command does, in a few words for the user"),
    Field("run_in_background", "boolean", "Go on without waiting for it to end"),
    Field("dangerouslyDisableSandbox", "boolean", "Taken and ignored: there is no sandbox"),
)
BASH_DESCRIPTION = (
    "Runs a command in bash and returns what it says. Each command starts anew in the working"
    " directory that the last one left; variables are not kept. It has no terminal and nothing to"
    " read from. One that takes longer than its timeout goes on in the background."
)


class Bash(BuiltInTool):
    """The tool that runs a command."""

    name = "Bash"
    effect = "execute"
    description = BASH_DESCRIPTION
    fields = BASH_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Take the command as it is."""
        checked = self.check(arguments)
        if "\0" in checked["command"]:
            raise ToolError("A command cannot contain null bytes (\\0).", is_misuse=True)
        return Proposal(self.name, checked, self.effect, checked["command"])

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Run it; cancelled, it ends all that the command started."""
        arguments = proposal.arguments
        name, folder = (
            ("b" + "".join(SystemRandom().choices(LETTERS, k=8))),
            get_scratch_folder(place),
        )
        cwd = place.cwd if place.cwd.is_dir() else place.root
        environment = {**place.environment, "GIT_EDITOR": "true"}
        running = await start(arguments["command"], cwd, environment, folder, name)
        try:
            if arguments.get("run_in_background"):
                prompt = float(arguments.get("timeout") or MAX_TIMEOUT_MS)
                seconds = min(prompt if prompt > 0 else MAX_TIMEOUT_MS, MAX_BACKGROUND_MS) / 1000
                run_in_background(
                    place, name, running, str(arguments.get("description") or ""), seconds
                )
                text = (
                    f"Command running in background with ID: {name}. Output is being written to:"
                    f" {running.output}. You will be notified when it completes. To check interim output, use"
                    " Read on that file path."
                )
                return Outcome(text, _build_unfinished_output(running, name), is_error=False)
            if await _wait_with_progress(running, _get_timeout_ms(arguments) / 1000, report):
                return _finish(arguments, running, name, place)
            return await _handle_timeout(arguments, running, name, place)
        except asyncio.CancelledError:
            await asyncio.shield(stop(running))
            raise


def _get_timeout_ms(arguments: Arguments) -> float:
    prompt = float(arguments.get("timeout") or DEFAULT_TIMEOUT_MS)
    return min(prompt, MAX_TIMEOUT_MS) if prompt > 0 else DEFAULT_TIMEOUT_MS


async def _wait_with_progress(
    running: ShellProcess, seconds: float, report: ProgressCallback
) -> bool:
    """Wait for a command to end, and reports of it meanwhile; tells whether it has."""
    assert running.pump is not None
    pause = PROGRESS_DELAY
    while (left := seconds - running.seconds) > 0:
        done, _ = await asyncio.wait([running.pump], timeout=min(pause, left))
        if done:
            return True
        if left > pause:
            lines = running.text.split("\n")
            report(
                {
                    "type": "bash_progress",
                    "output": "\n".join(lines[-5:]),
                    "fullOutput": running.text[-MAX_SHOWN:],
                    "elapsedTimeSeconds": round(running.seconds),
                    "totalLines": len(lines),
                }
            )
        pause = 1.0
    return running.pump.done()


def _finish(arguments: Arguments, running: ShellProcess, name: str, place: Workplace) -> Outcome:
    text, code = trim_output(running.text), running.exit_code or 0
    moved = _follow_cwd(running, place)
    complete = running.output
    try:
        interpreted = explain_exit_code(arguments["command"], code)
        if code and interpreted is None:
            parts = (f"Exit code {code}", text[:MAX_SHOWN], moved.strip())
            message = "\n".join(part for part in parts if part)
            raise ToolError(truncate_middle(message))
        return _build_outcome(
            arguments,
            running.text,
            moved,
            interpreted,
            _save_long_output(running, text, name, place),
        )
    finally:
        complete.unlink(missing_ok=True)


def trim_output(text: str) -> str:
    """Return output without blank lines before it and blanks after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _save_long_output(running: ShellProcess, text: str, name: str, place: Workplace) -> Path | None:
    """Return where output is kept that is too long to be told, None where it is not."""
    if len(text) <= MAX_SHOWN or place.results_folder is None:
        return None
    return save_output(running.output, place.results_folder / f"{name}.txt", place.secrets)


def _build_outcome(
    arguments: Arguments, raw: str, moved: str, interpreted: str | None, kept: Path | None
) -> Outcome:
    text = trim_output(raw)
    image = IMAGE.match(text)
    output: dict[str, Any] = {
        "stdout": text if image else trim_output(raw[:MAX_SHOWN]),
        "stderr": moved,
        "interrupted": False,
        "isImage": image is not None,
    }
    if interpreted:
        output["returnCodeInterpretation"] = interpreted
    output["noOutputExpected"] = expects_no_output(arguments["command"])
    if image:
        source = {"type": "base64", "media_type": image[1], "data": "".join(image[2].split())}
        return Outcome([{"type": "image", "source": source}], output)
    if kept:
        size = kept.stat().st_size
        output |= {"persistedOutputPath": str(kept), "persistedOutputSize": size}
        return Outcome(format_preview(text, size, kept), output, is_error=False)
    message = "\n".join(part for part in (truncate_middle(text, MAX_SHOWN), moved.strip()) if part)
    return Outcome(message or "(Bash completed with no output)", output, is_error=False)


def _follow_cwd(running: ShellProcess, place: Workplace) -> str:
    """Follow a command to where it went; returns what is said where it may not stay there."""
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


async def _handle_timeout(
    arguments: Arguments, running: ShellProcess, name: str, place: Workplace
) -> Outcome:
    """End a command that only waits; goes on with any other in the background."""
    ms = _get_timeout_ms(arguments)
    if is_wait(arguments["command"]):
        await stop(running)
        text = trim_output(running.text)
        running.output.unlink(missing_ok=True)
        end = ("Exit code 143", f"Command timed out after {format_duration(ms)}", text)
        raise ToolError(truncate_middle("\n".join(part for part in end if part)))
    run_in_background(
        place, name, running, str(arguments.get("description") or ""), MAX_BACKGROUND_SECONDS
    )
    answer = trim_output(running.text)
    silent = "" if answer else NO_OUTPUT_YET
    message = (
        f"Command did not complete within its {format_duration(ms)} timeout and was moved to the background"
        f" (ID: {name}). Output is being written to: {running.output}. You will be notified when it"
        f" completes. If it is still running after {format_duration(MAX_BACKGROUND_SECONDS * 1000)} in the"
        " background, it will be stopped and you will be notified. It is running now: do not start"
        " a second copy while it runs. If it is no longer needed, stop it with"
        f" TaskStop.{silent} To check interim output, use Read on that file path."
    )
    output = _build_unfinished_output(running, name, timedOutAfterMs=int(ms))
    parts = (truncate_middle(answer, MAX_SHOWN), message)
    return Outcome("\n".join(part for part in parts if part), output, is_error=False)


def format_duration(ms: float) -> str:
    """Return a time as the client writes it: 2s, 10m, 1m 30s."""
    seconds = int(ms / 1000 + 0.5)
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return f"{rest}s"
    return f"{minutes}m {rest}s" if rest else f"{minutes}m"


DEFAULT_WAIT_MS, MAX_WAIT_MS = 30_000, 600_000
OUTPUT_FIELDS = (
    Field("task_id", "string", "The id of what runs in the background", is_required=True),
    Field("block", "boolean", "Whether to wait for its end", default=True),
    Field("timeout", "number", "Milliseconds to wait at most"),
)
STOP_FIELDS = (
    Field("task_id", "string", "The id of what runs in the background"),
    Field("shell_id", "string", "The same, by its older name"),
)


class TaskOutput(BuiltInTool):
    """The tool that shows what a command or an agent in the background said."""

    name = "TaskOutput"
    description = "Shows what a command or agent in the background said, and whether it has ended."
    fields = OUTPUT_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the command."""
        checked = self.check(arguments)
        task = _find_task(checked["task_id"], place)
        return Proposal(self.name, checked, self.effect, task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Wait for its end, if asked to, and shows what it said."""
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
    """The tool that ends a command or an agent in the background."""

    name = "TaskStop"
    description = "Ends a command or agent in the background, with all that it started."
    fields = STOP_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the command."""
        checked = self.check(arguments)
        name = checked.get("task_id") or checked.get("shell_id")
        if not name:
            raise ToolError("Missing required parameter: task_id", is_misuse=True)
        task = _find_task(name, place)
        if task.status != "running":
            text = f"Task {name} is not running (status: {task.status})"
            raise ToolError(text, is_misuse=True)
        return Proposal(self.name, checked, self.effect, task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """End it, and waits until it has ended."""
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
