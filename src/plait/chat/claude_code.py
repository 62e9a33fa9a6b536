"""Driving the installed Claude Code client as an engine of the console.

The client reads and writes lines of JSON and writes the log itself. Text arrives in deltas
(`stream_event`), complete blocks as `assistant`, one block per line and before the message ends;
the stop reason comes with the last deltas. Tool results come as `user`, and `result` ends a turn.
What a sub-agent does is shown as progress of the call that started it.
"""

import asyncio
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from shutil import which
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from uuid import uuid4

import msgspec

from plait.chat.approval import Approval, Approver, Mode
from plait.chat.context import load_chain
from plait.chat.events import (
    Compacted,
    Ending,
    Event,
    Notice,
    PromptLogged,
    ResponseLogged,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from plait.chat.model_info import ContextFill, get_capacity
from plait.chat.permissions import REJECTED_WITH_FEEDBACK
from plait.chat.rewind import FileRewindPlan, RewindPoint, list_rewind_points, plan_rewind_from_log
from plait.chat.tools import toolbox
from plait.chat.tools.base import Outcome, Proposal, ToolError, Workplace
from plait.chat.usage import TOKEN_FIELDS, Meter
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.line import iter_lines, read_file_stamp
from plait.line.discovery import get_session_file
from plait.record import Record, iter_client_records
from plait.record.codec import as_mapping, get_text
from plait.write.lines import Content, get_prompt_text, utc_now
from plait.write.resume import select_forked_chain
from plait.write.transcript import REJECTED, SYNTHETIC

OLDEST_VERSION = (2, 0, 0)
"""The first version that asks for permissions on its standard output."""
VERSION_TIMEOUT = 20.0
"""Seconds to wait for its version."""
INSTALL_PATHS = (".local/bin/claude", ".claude/local/claude")
"""Where installers put it, relative to the home folder."""
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
INSTALL_HINT = (
    "https://claude.com/claude-code explains how to install it; `--engine api` needs an API key"
)


def find_claude(environment: Mapping[str, str], named: str | None = None) -> Path | None:
    """Return the path of the client, or None; `named` is a path from the settings."""
    found = which(named or "claude", path=environment.get("PATH"))
    if found or named:
        return Path(found) if found else None
    home = environment.get("HOME")
    usual = [Path(home) / install_path for install_path in INSTALL_PATHS] if home else []
    return next((path for path in usual if path.is_file()), None)


def check_claude(
    executable: Path | None, environment: Mapping[str, str], named: str | None
) -> Path:
    """Return a client that can be driven; raise UserError if there is none."""
    if executable is None:
        where = (
            f"'{named}' is not a Claude Code executable"
            if named
            else "Claude Code is not installed"
        )
        raise UserError(where, INSTALL_HINT)
    try:
        done = subprocess.run(  # noqa: S603
            [str(executable), "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"cannot run '{executable}': {error}", INSTALL_HINT) from error
    text = VERSION.search(done.stdout)
    if not text:
        raise UserError(f"'{executable} --version' printed no version number", INSTALL_HINT)
    version = tuple(map(int, text.groups()))
    if version < OLDEST_VERSION:
        current, wanted = (".".join(map(str, item)) for item in (version, OLDEST_VERSION))
        raise UserError(
            f"Claude Code {current} is too old: {wanted} or newer is required",
            "run `claude update`",
        )
    return executable


STREAM_OPTIONS = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
    *("--verbose", "--include-partial-messages", "--replay-user-messages"),
    *("--permission-prompt-tool", "stdio"),
)
CHECKPOINT_ENVIRONMENT = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}
HIDDEN_ENVIRONMENT = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
"""Variables that would tell the client that it runs inside another client."""
UNSUPPORTED_TOOL = "AskUserQuestion"
"""A tool whose questions cannot be shown here; the model asks in text instead."""
CONFIG_VARIABLE = "CLAUDE_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class ClaudeOptions:
    """Options for starting the client."""

    executable: Path
    root: Path
    """The configuration folder it logs to."""
    directory: Path
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    mode: Mode | None = None
    options: tuple[str, ...] = ()
    """Further command-line options."""
    denied: tuple[str, ...] = ()
    """Tools that are disabled."""
    session: str | None = None
    """The id of a new session."""
    resumed: str | None = None
    """The session to resume."""
    is_fork: bool = False
    title: str | None = None
    at: str | None = None
    """The message to resume from; None for the newest."""

    def print_command(self, form: str, given: str, *, replays: bool = False) -> list[str]:
        """Return the command line for print mode with an output format."""
        words = [str(self.executable), "-p", "--output-format", form, "--input-format", given]
        words += ["--verbose"] if form == "stream-json" else []
        words += ["--replay-user-messages"] if replays else []
        return [*words, *self._session_options()]

    def _session_options(self, *unasked: str) -> list[str]:
        """Return the options that choose the session."""
        words = [*self.options]
        if denied := (*unasked, *self.denied):
            words += ["--disallowedTools", *denied]
        for name, value in (("--model", self.model), ("--permission-mode", self.mode)):
            words += [name, value] if value else []
        if self.resumed:
            words += ["--resume", self.resumed, *(["--fork-session"] if self.is_fork else [])]
            words += ["--resume-session-at", self.at] if self.at else []
        is_new = self.is_fork or not self.resumed
        return [*words, *(["--session-id", self.session] if is_new and self.session else [])]

    @property
    def process_environment(self) -> dict[str, str]:
        """The environment of the client: the user's own, with the same configuration folder."""
        kept = {
            name: item for name, item in self.environment.items() if name not in HIDDEN_ENVIRONMENT
        }
        usual = Path(kept.get("HOME", "/")) / ".claude"
        where = {} if self.root == usual else {CONFIG_VARIABLE: str(self.root)}
        return {**kept, **where, **CHECKPOINT_ENVIRONMENT}


Json: TypeAlias = dict[str, Any]
Reply: TypeAlias = Callable[[Json], Awaitable[Json]]
"""Answers a request of the client; raises UnsupportedRequest if it cannot."""
MAX_LINE_BYTES = 64 << 20
MAX_STDERR_LINES = 20
"""Lines of its error output that are kept for an error message."""
EXIT_TIMEOUT = 8.0
"""Seconds it has to exit by itself."""
REQUEST_TIMEOUT = 60.0
"""Seconds to wait for the answer to a request."""


class UnsupportedRequest(Exception):
    """A control request that is not supported."""


class ClaudeProcess:
    """The running client: `send` and `objects`, and `control` for requests."""

    def __init__(self, process: asyncio.subprocess.Process, reply: Reply) -> None:
        self._process = process
        self._reply = reply
        self._numbers = count(1)
        self._pending: dict[str, asyncio.Future[Json]] = {}
        self._replies: dict[str, asyncio.Task[None]] = {}
        self._stderr_lines: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        self._errors = asyncio.ensure_future(self._read_stderr())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        reply: Reply,
    ) -> "ClaudeProcess":
        """Start the client in a directory, in its own process group."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=directory,
                env=dict(environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MAX_LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start '{command[0]}': {error.strerror or error}") from error
        return cls(process, reply)

    @property
    def has_ended(self) -> bool:
        """Whether it has exited."""
        return self._process.returncode is not None

    @property
    def exit_message(self) -> str:
        """Its exit status and last error output."""
        code = self._process.returncode
        how = f"exit {code}" if code is None or code >= 0 else f"signal {-code}"
        text = next((line for line in reversed(self._stderr_lines) if line.strip()), "")
        return f"Claude Code has exited ({how})" + (f": {text.strip()}" if text else "")

    async def send(self, value: Mapping[str, Any]) -> None:
        """Send an object."""
        stdin = self._process.stdin
        assert stdin
        with suppress(ConnectionError):  # a closed pipe is noticed by the reader
            stdin.write(msgspec.json.encode(value) + b"\n")
            await stdin.drain()

    async def control(self, subtype: str, **request: Any) -> Json:
        """Send a control request; return the response, raise UserError if it is refused."""
        name = f"plait-{next(self._numbers)}"
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._pending[name] = answer
        fields = {"subtype": subtype, **request}
        await self.send({"type": "control_request", "request_id": name, "request": fields})
        try:
            response = await asyncio.wait_for(answer, REQUEST_TIMEOUT)
        except TimeoutError:
            raise UserError(f"Claude Code did not answer '{subtype}'") from None
        finally:
            self._pending.pop(name, None)
        if response.get("subtype") != "success":
            raise UserError(f"Claude Code rejected the request: {response.get('error') or subtype}")
        found = response.get("response")
        return found if isinstance(found, dict) else {}

    async def objects(self) -> AsyncIterator[Json]:
        """Yield its objects until it exits; requests are answered on the way."""
        while (value := await self._next_object()) is not None:
            match value.get("type"):
                case "control_response":
                    response = value.get("response")
                    if isinstance(response, dict):
                        answer = self._pending.get(str(response.get("request_id")))
                        if answer and not answer.done():
                            answer.set_result(response)
                case "control_request":
                    name = str(value.get("request_id"))
                    request = value.get("request")
                    work = self._send_reply(name, request if isinstance(request, dict) else {})
                    self._replies[name] = task = asyncio.ensure_future(work)
                    task.add_done_callback(partial(self._replies.pop, name))
                case "control_cancel_request":
                    if waiting := self._replies.get(str(value.get("request_id"))):
                        waiting.cancel()
                case _:
                    yield value
        await self._process.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._errors), 1)
        for answer in self._pending.values():  # a client that has exited needs no answer
            if not answer.done():
                answer.set_result({"subtype": "error", "error": self.exit_message})
        for task in self._replies.values():
            task.cancel()

    async def _next_object(self) -> Json | None:
        """Return the next object, None at the end; other lines count as error output."""
        stdout = self._process.stdout
        assert stdout
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                self._stderr_lines.append("a line of output was too long to read")
                return None
            if not line:
                return None
            with suppress(msgspec.DecodeError):
                value = msgspec.json.decode(line)
                if isinstance(value, dict):
                    return value
            self._stderr_lines.append(line.decode(errors="replace")[:500])

    async def _send_reply(self, name: str, request: Json) -> None:
        try:
            fields: Json = {"subtype": "success", "response": await self._reply(request)}
        except UnsupportedRequest as error:
            fields = {"subtype": "error", "error": str(error)}
        response = {**fields, "request_id": name}
        await self.send({"type": "control_response", "response": response})

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr
        while True:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._stderr_lines.append(line.decode(errors="replace")[:500])

    async def close(self) -> None:
        """Let it exit by itself; kill its process group if it does not."""
        for task in [*self._replies.values()]:
            task.cancel()
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        stdout = self._process.stdout
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(EXIT_TIMEOUT):
                    # a full pipe would keep it from exiting; RuntimeError: another reader is active
                    with suppress(RuntimeError):
                        while stdout and await stdout.read(1 << 16):
                            pass
                    await self._process.wait()
                    break
        self._errors.cancel()


LOG_CHECKS, LOG_CHECK_INTERVAL = 60, 0.05
"""How often the log is checked for a reported message, and the seconds between."""
LOG_TAIL_BYTES = 1 << 20
"""Bytes at the end of the log that are searched."""


JsonMapping: TypeAlias = Mapping[str, Any]
TITLE_ARGUMENTS = (
    "command",
    "file_path",
    "notebook_path",
    "url",
    "query",
    "pattern",
    "plan",
    "description",
)
"""Arguments that describe a call best, in order."""
built_in_tools = cache(partial(toolbox, has_network=True))


def build_proposal(tool: str, given: JsonMapping, place: Workplace) -> Proposal:
    """Return what a call would do, as far as it is known here."""
    if known := built_in_tools().get(tool):
        try:
            return known.propose(given, place)
        except ToolError:
            return Proposal(tool, given, known.effect, _get_title(tool, given))
    return Proposal(tool, given, "none", _get_title(tool, given))


def _get_title(tool: str, given: JsonMapping) -> str:
    return next((text for name in TITLE_ARGUMENTS if (text := get_text(given, name))), tool)


ENDINGS: dict[str, Ending] = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "max_budget",
}
LOGIN = "/login"
COMMAND_MARKERS = ("<local-command-", "<command-name>")
"""How the client marks commands in a prompt."""
MAX_HELP_LENGTH = 100


@dataclass
class PartialResponse:
    """A response that is still streaming."""

    message: str
    model: str
    request: str | None = None
    content: list[JsonMapping] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    started_blocks: int = 0
    """Blocks that have begun; each is reported again when complete."""
    has_ended: bool = False
    stop_reason: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all of it has arrived."""
        return self.has_ended and len(self.content) >= self.started_blocks


@dataclass
class EventTranslator:
    """Turns the client's objects into events, and remembers what it reported about itself."""

    place: Workplace
    on_prompt_accepted: Callable[[str], None] = lambda uuid: None
    """Called for each prompt that the client has accepted."""
    session: str = ""
    model: str = ""
    mode: str = ""
    tools: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    last_uuid: str = ""
    """The last message that will be in the log."""
    tokens: int = 0
    """Tokens of the last response, including its whole context."""
    dollars: float = 0.0
    """The total cost since the client was started, as it reports it."""
    _response: PartialResponse | None = None
    _calls: dict[str, str] = field(default_factory=dict)
    """Tool names by call id."""
    denied: set[str] = field(default_factory=set)
    """Calls that were rejected."""

    def translate(self, value: JsonMapping) -> Iterator[Event]:
        """Yield the events of an object; most kinds have none."""
        self.session = get_text(value, "session_id") or self.session
        if parent := get_text(value, "parent_tool_use_id"):
            for block in _get_blocks(as_mapping(value.get("message")).get("content")):
                words = block.get("text") or block.get("name")
                if value.get("type") == "assistant" and isinstance(words, str):
                    yield ToolProgress(parent, {"type": "agent_progress", "message": words})
            return
        logged = as_mapping(value.get("message"))
        is_message = value.get("type") in ("assistant", "user") and logged.get("model") != SYNTHETIC
        text = get_prompt_text(logged.get("content") or "")
        if is_message and not text.startswith(COMMAND_MARKERS):
            self.last_uuid = get_text(value, "uuid") or self.last_uuid
        match value.get("type"):
            case "stream_event":
                event = as_mapping(value.get("event"))
                match event.get("type"):
                    case "message_start":
                        message = as_mapping(event.get("message"))
                        name, model = str(message.get("id", "")), str(message.get("model", ""))
                        self._response = PartialResponse(
                            name, model, usage=dict(as_mapping(message.get("usage")))
                        )
                    case "content_block_delta":
                        delta = as_mapping(event.get("delta"))
                        if words := get_text(delta, "text"):
                            yield TextDelta(words)
                        elif words := get_text(delta, "thinking"):
                            yield ThinkingDelta(words)
                    case "content_block_start" if self._response:
                        self._response.started_blocks += 1
                    case "message_delta" if self._response:
                        self._response.usage |= as_mapping(event.get("usage"))
                        self._response.stop_reason = get_text(
                            as_mapping(event.get("delta")), "stop_reason"
                        )
                        self._response.has_ended = True
                        yield from self._flush_response(only_complete=True)
                    case _:
                        pass
            case "assistant":
                yield from self._translate_block(value)
            case "user":
                yield from self._translate_user(value)
            case "system":
                yield from self._translate_system(value)
            case "command_lifecycle" if value.get("state") != "queued":
                self.on_prompt_accepted(str(value.get("command_uuid")))
            case "result":
                yield from self._flush_response()
                yield self._translate_turn_end(value)
            case _:
                pass

    def _flush_response(self, *, only_complete: bool = False) -> Iterator[Event]:
        """Yield the streaming response, complete or not."""
        answer = self._response
        if answer and (answer.is_complete or not only_complete):
            self._response = None
            yield from self._finish_response(answer)

    def _translate_block(self, value: JsonMapping) -> Iterator[Event]:
        message = as_mapping(value.get("message"))
        blocks = _get_blocks(message.get("content"))
        name, model = str(message.get("id", "")), str(message.get("model", ""))
        if model != SYNTHETIC and self._response and self._response.message == name:
            self._response.content += blocks
            self._response.request = get_text(value, "request_id")
            yield from self._flush_response(only_complete=True)
            return
        usage = dict(as_mapping(message.get("usage")))
        response = PartialResponse(name, model, get_text(value, "request_id"), blocks, usage)
        response.stop_reason = get_text(message, "stop_reason")
        yield from self._finish_response(response)

    def _finish_response(self, answer: PartialResponse) -> Iterator[Event]:
        if answer.model != SYNTHETIC:
            self.tokens = sum(_get_count(answer.usage, name) for name in TOKEN_FIELDS)
        yield ResponseLogged(
            answer.message,
            answer.request,
            answer.model,
            tuple(answer.content),
            answer.stop_reason,
            answer.usage,
        )
        for block in answer.content:
            if block.get("type") == "tool_use":
                name, tool = str(block.get("id")), str(block.get("name"))
                self._calls[name] = tool
                yield ToolStarted(
                    name, build_proposal(tool, as_mapping(block.get("input")), self.place)
                )

    def _translate_user(self, value: JsonMapping) -> Iterator[Event]:
        content = as_mapping(value.get("message")).get("content")
        results = [block for block in _get_blocks(content) if block.get("type") == "tool_result"]
        for block in results:
            yield self._translate_result(value, block)
        if results or value.get("isSynthetic"):
            return
        uuid, text = get_text(value, "uuid") or "", get_prompt_text(content or "")
        if value.get("isReplay"):
            self.on_prompt_accepted(uuid)
            if not text.startswith(COMMAND_MARKERS):
                yield PromptLogged(uuid, text)

    def _translate_result(self, value: JsonMapping, block: JsonMapping) -> ToolFinished:
        name = str(block.get("tool_use_id"))
        metas = [as_mapping(item) for item in value.get("tool_result_meta") or ()]
        refusals = [meta.get("non_execution_kind") for meta in metas if meta.get("id") == name]
        is_denied = name in self.denied or any(refusals)
        is_error = block.get("is_error")
        outcome = Outcome(
            block.get("content") or "",
            value.get("tool_use_result"),
            is_error if isinstance(is_error, bool) else None,
        )
        return ToolFinished(name, self._calls.pop(name, ""), outcome, is_denied)

    def _translate_system(self, value: JsonMapping) -> Iterator[Event]:
        match value.get("subtype"):
            case "init":
                self.model = get_text(value, "model") or self.model
                self.mode = get_text(value, "permissionMode") or self.mode
                self.tools = _get_names(value.get("tools")) or self.tools
                self.commands = _get_names(value.get("slash_commands")) or self.commands
            case "status" if get_text(value, "permissionMode"):
                self.mode = str(value["permissionMode"])
            case "permission_denied":
                self.denied.add(str(value.get("tool_use_id")))
            case "api_retry":
                status, error = value.get("error_status"), get_text(value, "error") or "unknown"
                yield RetryScheduled(
                    f"API error {status}" if status else f"API error: {error}",
                    _get_count(value, "attempt"),
                    _get_count(value, "max_retries"),
                    _get_count(value, "retry_delay_ms") / 1000,
                )
            case "compact_boundary":
                metadata = as_mapping(value.get("compact_metadata"))
                trigger: Literal["auto", "manual"] = "auto"
                if metadata.get("trigger") == "manual":
                    trigger = "manual"
                yield Compacted(trigger, _get_count(metadata, "pre_tokens"), "")
            case "informational" if text := get_text(value, "content"):
                yield Notice(text, is_error=value.get("level") == "error")
            case "task_notification" if text := get_text(value, "summary"):
                yield Notice(text)
            case _:
                pass

    def _translate_turn_end(self, value: JsonMapping) -> TurnEnded:
        total, before = value.get("total_cost_usd"), self.dollars
        self.dollars = float(total) if isinstance(total, int | float) else before
        usage, errors = as_mapping(value.get("usage")), value.get("errors")
        ending: Ending = "failed" if value.get("is_error") else "done"
        if named := ENDINGS.get(str(value.get("subtype"))):
            ending = named
        elif str(value.get("terminal_reason", "")).startswith("aborted"):
            ending = "interrupted"
        elif value.get("stop_reason") == "refusal":
            ending = "refused"
        text = get_text(value, "result") or ""
        if not text and isinstance(errors, list):
            text = "\n".join(map(str, errors))
        elif value.get("is_error") and LOGIN in text:
            text += " (in `claude`)"
        return TurnEnded(
            ending,
            "" if ending == "interrupted" else text,
            _get_count(value, "duration_ms"),
            _get_count(value, "num_turns"),
            {name: _get_count(usage, name) for name in TOKEN_FIELDS},
            max(0.0, self.dollars - before),
        )


def _get_count(value: JsonMapping, name: str) -> int:
    found = value.get(name)
    return round(found) if isinstance(found, int | float) else 0


def _get_names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _get_blocks(content: object) -> list[JsonMapping]:
    found = content if isinstance(content, list) else []
    return [item for item in found if isinstance(item, Mapping)]


class PromptAccepted(NamedTuple):
    """A prompt that the client has accepted; reported in order with other events."""

    uuid: str


class ClaudeEngine:
    """A session run by the installed client, with the methods of `Client`; it starts when needed."""

    def __init__(
        self,
        options: ClaudeOptions,
        *,
        approver: Approver | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.options = options
        self.approver = approver
        self.meter = Meter(prices or Prices())
        """Usage since the session was opened."""
        self.place = Workplace(options.directory, cwd=options.directory)
        known = options.session or (None if options.is_fork else options.resumed)
        self._translator = EventTranslator(
            self.place,
            lambda uuid: self._events.put_nowait(PromptAccepted(uuid)),
            session=known or str(uuid4()),
        )
        self.options = replace(options, session=self._translator.session)
        self._process: ClaudeProcess | None = None
        self._reader: asyncio.Task[None] | None = None
        self._events: asyncio.Queue[Event | PromptAccepted | None] = asyncio.Queue()
        self._commands: dict[str, str] = {}
        self._starting = asyncio.Lock()
        self._turn_started = asyncio.Event()
        self._queued: dict[str, Content] = {}
        self._is_busy = self._is_closed = self._has_spoken = False
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def session(self) -> str:
        return self._translator.session

    @property
    def path(self) -> Path:
        return get_session_file(self.options.root, self.options.directory.resolve(), self.session)

    @property
    def model(self) -> str:
        """The model that answers; before the first answer, the one that was requested."""
        return self._translator.model or self.options.model or "claude"

    @property
    def mode(self) -> Mode:
        return self._translator.mode or self.options.mode or "default"  # type: ignore[return-value]

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools that the client has reported."""
        return self._translator.tools

    @property
    def commands(self) -> Mapping[str, str]:
        """The client's own slash commands, with descriptions."""
        commands = dict.fromkeys(self._translator.commands, "Claude Code command")
        return {**commands, **self._commands}

    @property
    def total_dollars(self) -> float | None:
        """The total cost of a resumed session, if the client reports one."""
        is_more = self._translator.dollars > self.meter.dollars and self.options.resumed
        return self._translator.dollars if is_more else None

    @property
    def context_fill(self) -> ContextFill | None:
        if not self._translator.tokens:
            return None
        capacity = get_capacity(self.model)
        return ContextFill(self._translator.tokens, capacity.window, capacity.compaction_threshold)

    @property
    def is_busy(self) -> bool:
        return self._is_busy

    @property
    def has_events(self) -> bool:
        return self._is_busy and not self._events.empty()

    def warm_up(self) -> None:
        """Start the client before the first prompt, so that problems show early."""
        self._run_detached(self._get_process())

    async def send(self, content: Content) -> AsyncGenerator[Event, None]:
        """Send a prompt; yield events until nothing is queued. Closed early, the turn is stopped."""
        if self.is_busy:
            raise UserError("a turn is running", "`queue` adds a prompt to it")
        if self._is_closed:
            raise UserError("the session is closed")
        self._is_busy = True
        self._turn_started.clear()
        self._events = asyncio.Queue()
        try:
            first = await self._send_prompt(content)
            async with aclosing(self._follow_events(first)) as events:
                async for event in events:
                    yield event
        finally:
            self._is_busy = False

    async def wait_for_background(self) -> None:
        """Wait until the client begins a turn by itself because something in the background ended."""
        while self.is_busy or not self._turn_started.is_set():
            self._turn_started.clear()
            await self._turn_started.wait()

    async def continue_turns(self) -> AsyncGenerator[Event, None]:
        self._turn_started.clear()
        self._is_busy = True
        try:
            async with aclosing(self._follow_events("")) as events:
                async for event in events:
                    yield event
        finally:
            self._is_busy = False

    async def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        async with aclosing(self.send(f"/compact {focus}".strip())) as events:
            async for event in events:
                if not isinstance(event, TurnEnded) or event.ending != "done":
                    yield event

    def queue(self, content: Content) -> None:
        if not self.is_busy:
            raise UserError("no turn is running", "use `send` instead")
        self._run_detached(self._send_prompt(content))

    def take_back(self) -> list[Content]:
        queued = dict(self._queued)
        self._queued.clear()
        for uuid in queued:
            self._run_detached(self._control("cancel_async_message", message_uuid=uuid))
        return [*queued.values()]

    def interrupt(self) -> bool:
        if self.is_busy:
            self._run_detached(self._control("interrupt"))
        return self.is_busy

    def rewind_points(self) -> list[RewindPoint]:
        return list_rewind_points(self._load_chain())

    def plan_file_rewind(self, point: RewindPoint) -> FileRewindPlan | None:
        return plan_rewind_from_log(self.path, point.uuid, self.options.directory.resolve())

    async def rewind(self, point: RewindPoint) -> None:
        """Continue from before a prompt in a new process of the client; files stay as they are.

        The client cannot go back to before the first prompt: there a new session begins.
        """
        if self.is_busy:
            raise UserError("a turn is running", "stop it first")
        old = self.session
        await self._shut_down()
        if point.before is None:
            self._translator.session = str(uuid4())
            self.options = replace(
                self.options, resumed=None, at=None, is_fork=False, session=self.session
            )
        else:
            self.options = replace(self.options, resumed=old, at=point.before, is_fork=False)

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        if model:
            await self._control("set_model", model=model)
            self.options, self._translator.model = replace(self.options, model=model), model
        if mode:
            await self._control("set_permission_mode", mode=mode)
            self.options, self._translator.mode = replace(self.options, mode=mode), mode

    @property
    def rules(self) -> Sequence[str]:
        """A note about permission rules: the client has its own."""
        return ("permission rules are managed in Claude Code: run `claude`, then /permissions",)

    async def servers(self, approve: str = "") -> list[str]:
        """Return a line for each MCP server in use; the client itself approves servers."""
        if approve:
            raise UserError("MCP servers are approved in Claude Code", "run `claude`, then /mcp")
        found = _get_blocks((await self._control("mcp_status")).get("mcpServers"))
        return [f"{item.get('name')}: {item.get('status')}" for item in found] or ["no MCP servers"]

    async def rename(self, title: str) -> str:
        """Rename the session; return the message for the user."""
        name = " ".join(title.split())
        if not name:
            raise UserError("a title cannot be empty", "for example `/rename Parser fixes`")
        await self._control("rename_session", title=name, source="host")
        return f"Session renamed to: {name}"

    def log_command(self, name: str, rest: str, lines: list[str]) -> list[str]:
        """Return the lines to show for a command; the client's log does not record it."""
        return lines

    def log_unknown_command(self, name: str, rest: str) -> None:
        """Do nothing: the log belongs to the client."""

    async def close(self) -> None:
        """Stop the running turn and the client."""
        if not self._is_closed:
            self._is_closed = True
            await self._shut_down()

    async def _send_prompt(self, content: Content) -> str:
        uuid = str(uuid4())
        self._queued[uuid] = content
        process = await self._get_process()
        message = {"role": "user", "content": content}
        fields = {"type": "user", "message": message, "parent_tool_use_id": None, "uuid": uuid}
        self._has_spoken = True
        await process.send({**fields, "session_id": self.session})
        return uuid

    async def _get_process(self) -> ClaudeProcess:
        """Return the running client; start it if there is none."""
        async with self._starting:
            if self._process and not self._process.has_ended:
                return self._process
            if self._has_spoken:  # it has exited since
                self.options = replace(self.options, resumed=self.session, at=None, is_fork=False)
            start = self.options
            self._process = process = await ClaudeProcess.start(
                [str(start.executable), *STREAM_OPTIONS, *start._session_options(UNSUPPORTED_TOOL)],
                directory=start.directory,
                environment=start.process_environment,
                reply=self._reply,
            )
            self._reader = asyncio.ensure_future(self._read(process))
            response = await process.control("initialize", hooks=None)
            for command in _get_blocks(response.get("commands")):
                lines = str(command.get("description", "")).splitlines()
                help_text = lines[0][:MAX_HELP_LENGTH] if lines else ""
                self._commands[str(command.get("name"))] = help_text
            if start.title:
                await process.control("rename_session", title=start.title, source="host")
                self.options = replace(self.options, title=None)
            return process

    async def _read(self, process: ClaudeProcess) -> None:
        async for value in process.objects():
            for event in self._translator.translate(value):
                if isinstance(event, ResponseLogged) and event.model != SYNTHETIC:
                    self.meter.add(event.model, event.usage, utc_now())
                self._events.put_nowait(event)
                if isinstance(event, TextDelta | ResponseLogged) and not self.is_busy:
                    self._turn_started.set()
        self._events.put_nowait(None)

    async def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("subtype") != "can_use_tool":
            raise UnsupportedRequest(f"unsupported control request '{request.get('subtype')}'")
        given, call = as_mapping(request.get("input")), str(request.get("tool_use_id"))
        proposal = build_proposal(str(request.get("tool_name")), given, self.place)
        answer = Approval(is_allowed=False)
        if self.approver is not None:
            answer = await self.approver.ask(proposal, call)
        if not answer.is_allowed:
            self._translator.denied.add(call)
            words = REJECTED_WITH_FEEDBACK.format(answer.feedback) if answer.feedback else REJECTED
            return {"behavior": "deny", "message": words, "interrupt": answer.ends_turn}
        meant = given if answer.arguments is None else answer.arguments
        response: Json = {"behavior": "allow", "updatedInput": dict(meant)}
        if answer.is_for_session:
            suggested = _get_blocks(request.get("permission_suggestions"))
            rules = [item for item in suggested if item.get("type") == "addRules"] or suggested
            response["updatedPermissions"] = [{**rule, "destination": "session"} for rule in rules]
        return response

    async def _control(self, subtype: str, **request: Any) -> dict[str, Any]:
        return await (await self._get_process()).control(subtype, **request)

    def _run_detached(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a task that is not awaited; errors become notices."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_detached_done)

    def _on_detached_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, UserError):
            self._events.put_nowait(Notice(error.message, is_error=True))

    async def _follow_events(self, first: str) -> AsyncGenerator[Event, None]:
        has_ended = False
        try:
            while (event := await self._events.get()) is not None:
                if isinstance(event, PromptAccepted):
                    self._queued.pop(event.uuid, None)
                    continue
                yield event
                has_ended = isinstance(event, TurnEnded)
                if has_ended:
                    self._queued.pop(first, None)  # the client does not confirm commands
                if has_ended and not self._queued:
                    await self._wait_until_logged(self._translator.last_uuid)
                    return
            self._queued.clear()
            words = self._process.exit_message if self._process else "Claude Code has exited"
            yield Notice(words, is_error=True)
            yield TurnEnded("failed", "", 0, 0, {}, None)
            has_ended = True
        finally:
            if not has_ended:
                self._queued.clear()
            if not has_ended and self._process and not self._process.has_ended:
                with suppress(UserError, TimeoutError):
                    await self._process.control("interrupt")
                    async with asyncio.timeout(5):
                        while not isinstance(await self._events.get(), TurnEnded | None):
                            pass

    async def _wait_until_logged(self, uuid: str) -> None:
        """Wait until a message is in the log: the client reports it a moment before writing it."""
        mark = f'"{uuid}"'.encode()
        for _ in range(LOG_CHECKS if uuid else 0):
            with suppress(OSError), self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - LOG_TAIL_BYTES))
                if mark in file.read():
                    return
            await asyncio.sleep(LOG_CHECK_INTERVAL)

    async def _shut_down(self) -> None:
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        process, self._process = self._process, None
        if process:
            await process.close()
        if self._reader:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        self._has_spoken = False

    def _load_chain(self) -> list[Record]:
        """Return the messages up to the current end of the session."""
        path, tip = self.path, self._translator.last_uuid
        if not self._has_spoken:
            tip, resumed = self.options.at or "", self.options.resumed
            path = path.with_stem(resumed) if resumed else path
        if tip:
            return load_chain(path, tip)
        stamp = read_file_stamp(path)
        return (
            select_forked_chain(list(iter_client_records(iter_lines(path))), stamp.size)
            if stamp
            else []
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
