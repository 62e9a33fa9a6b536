"""Print mode (`-p`): answering a program in text, JSON or a stream of JSON.

With `--input-format stream-json` a program can interrupt a turn, change model or mode, rename the
session, ask for its cost and rewind files while a turn runs. With `--permission-prompt-tool stdio`
it is asked about tool calls.
"""

import asyncio
import sys
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from uuid import UUID, uuid4

import msgspec

from plait.chat.approval import Approval
from plait.chat.claude_code import UnsupportedRequest
from plait.chat.client import Client
from plait.chat.console.commands import COMMANDS, run_text_command, split_command
from plait.chat.console.keyboard import PlainKeyboard
from plait.chat.console.openers import ApiOpener
from plait.chat.console.options import INTERRUPTED_EXIT_CODE, parse_mode
from plait.chat.events import (
    Ending,
    Event,
    Notice,
    ResponseLogged,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    TurnEnded,
)
from plait.chat.model_info import get_capacity
from plait.chat.streaming import (
    DELTA_TYPES,
    BlockDelta,
    BlockFinished,
    BlockStarted,
    Model,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from plait.chat.streaming import Request as ModelRequest
from plait.chat.tools.base import Proposal
from plait.chat.usage import Meter, format_usage_lines
from plait.errors import UserError
from plait.record.codec import as_mapping, get_text
from plait.terminal.output import escape_json, write_bytes
from plait.terminal.text import safe
from plait.write.lines import Content
from plait.write.transcript import SYNTHETIC

Json: TypeAlias = dict[str, Any]


class InputPrompt(NamedTuple):
    """A prompt from a program."""

    content: Content
    uuid: str | None = None
    """The id for its message; a new one if none was given."""


async def single_prompt(content: str) -> AsyncIterator[InputPrompt]:
    """Yield a single prompt."""
    yield InputPrompt(content)


def parse_object(line: str, number: int) -> Mapping[str, Any]:
    """Return the object in a line; raise UserError if there is none."""
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UserError(f"line {number} of the input is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(f"line {number} of the input is not a JSON object")
    return value


def _get_content(message: object) -> Content | None:
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        return content if content.strip() else None
    is_blocks = isinstance(content, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    )
    return content if is_blocks and content else None


COMPACT_FIELDS = {
    "trigger": "trigger",
    "preTokens": "pre_tokens",
    "postTokens": "post_tokens",
    "cumulativeDroppedTokens": "cumulative_dropped_tokens",
    "durationMs": "duration_ms",
}
ERROR_FIELDS = {
    "error": "error",
    "apiErrorStatus": "api_error_status",
    "apiErrorType": "api_error_type",
}
INTERRUPTED = "[Request interrupted by user"
STDOUT_TAGS = ("<local-command-stdout>", "</local-command-stdout>")


@dataclass
class LogTranslator:
    """Turns each log line into stream messages as it is written."""

    uuid: Callable[[], str]
    replays_prompts: bool = False
    """Whether prompts are echoed."""
    _tools: dict[str, str] = field(default_factory=dict)
    """Tool names by call id."""

    def translate(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yield the messages of a log line; most kinds have none."""
        match line.get("type"):
            case "assistant" if (
                line.get("madeBy") != "other"
            ):  # added for a turn that ended long ago
                message = line["message"]
                for block in message["content"]:
                    if block.get("type") == "tool_use":
                        self._tools[block["id"]] = block["name"]
                fields = {**message, "context_management": None}
                if message["model"] != SYNTHETIC:  # blocks are reported before the message ends
                    fields |= {"stop_reason": None, "stop_sequence": None}
                    fields.pop("stop_details", None)
                error: Json = {}
                if line.get("isApiErrorMessage"):
                    error = {name: line[key] for key, name in ERROR_FIELDS.items() if key in line}
                    error["is_api_error_message"] = True
                yield _build_message(line, fields) | error
            case "user" if not line.get("isMeta"):
                yield from self._translate_user(line)
            case "system" if line.get("subtype") == "compact_boundary":
                metadata = line.get("compactMetadata", {})
                yield {
                    "type": "system",
                    "subtype": "compact_boundary",
                    "session_id": line["sessionId"],
                    "uuid": line["uuid"],
                    "compact_metadata": {
                        name: metadata[key]
                        for key, name in COMPACT_FIELDS.items()
                        if key in metadata
                    },
                    "logical_parent_uuid": line.get("logicalParentUuid"),
                }
            case "system" if line.get("subtype") == "local_command":
                yield from self._translate_command(line)
            case _:
                pass

    def _translate_command(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yield a command's output in the form of an answer."""
        source = str(line.get("content", ""))
        if not source.startswith(STDOUT_TAGS[0]):
            return
        text = source.removeprefix(STDOUT_TAGS[0]).removesuffix(STDOUT_TAGS[1])
        message = {
            "id": line["uuid"],
            "type": "message",
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
            "context_management": None,
        }
        yield {**_build_message(line, message), "type": "assistant", "local_command_source": source}

    def _translate_user(self, line: Mapping[str, Any]) -> Iterator[Json]:
        content = line["message"]["content"]
        blocks = [block for block in content if isinstance(block, dict)]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if not results:
            first = str(blocks[0].get("text", "")) if blocks else ""
            if line.get("isCompactSummary"):
                yield _build_message(line, line["message"]) | {
                    "isReplay": False,
                    "isSynthetic": True,
                }
            elif first.startswith(INTERRUPTED):
                yield _build_message(line, line["message"])
            elif self.replays_prompts or str(content).startswith(STDOUT_TAGS[0]):
                yield _build_message(line, line["message"]) | {"isReplay": True}
            return
        denial, decision = line.get("toolDenialKind"), line.get("permissionDecision")
        meta = {"non_execution_kind": denial} if denial else {}
        if decision:
            names = {"reasonType": "reason_type"}
            meta["permission_decision"] = {names.get(key, key): decision[key] for key in decision}
        for item in results if denial else ():
            yield {
                "type": "system",
                "subtype": "permission_denied",
                "tool_name": self._tools.get(item["tool_use_id"], ""),
                "tool_use_id": item["tool_use_id"],
                "message": item.get("content"),
                "uuid": self.uuid(),
                "session_id": line["sessionId"],
            }
        yield _build_message(line, line["message"]) | {
            "tool_use_result": line.get("toolUseResult"),
            "tool_result_meta": [{"id": item["tool_use_id"], **meta} for item in results],
        }


def _build_message(line: Mapping[str, Any], message: Mapping[str, Any]) -> Json:
    request = {"request_id": line["requestId"]} if line.get("requestId") else {}
    return {
        "type": line["type"],
        "message": message,
        "parent_tool_use_id": None,
        "session_id": line["sessionId"],
        "uuid": line["uuid"],
        "timestamp": line["timestamp"],
        **request,
    }


EMPTY_FIELDS = {"text": "", "thinking": "", "signature": "", "input": {}}


@dataclass
class TappedModel:
    """A model that passes its stream on as partial messages."""

    model: Model
    on_event: Callable[[Json], None]

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    @name.setter
    def name(self, value: str) -> None:
        self.model.name = value

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer a request; a block's end is passed on once its line is logged."""
        async with aclosing(self.model.stream(request)) as pieces:
            async for piece in pieces:
                is_end = isinstance(piece, BlockFinished)
                if is_end:
                    yield piece
                for event in to_api_events(piece):
                    self.on_event(event)
                if not is_end:
                    yield piece

    async def close(self) -> None:
        """Close the model."""
        close = getattr(self.model, "close", None)
        if close:
            await close()


def to_api_events(piece: StreamEvent) -> list[Json]:
    """Return a chunk as the events of the API."""
    match piece:
        case ResponseStarted():
            message: Json = {
                "id": piece.message,
                "type": "message",
                "role": "assistant",
                "model": piece.model,
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": dict(piece.usage),
            }
            return [{"type": "message_start", "message": message}]
        case BlockStarted():
            block = {name: EMPTY_FIELDS.get(name, value) for name, value in piece.block.items()}
            return [{"type": "content_block_start", "index": piece.index, "content_block": block}]
        case BlockDelta():
            kind, name = DELTA_TYPES[piece.kind]
            delta = {"type": kind, name: piece.text}
            return [{"type": "content_block_delta", "index": piece.index, "delta": delta}]
        case BlockFinished():
            return [{"type": "content_block_stop", "index": piece.index}]
        case ResponseFinished():
            how = {"stop_reason": piece.stop_reason, "stop_sequence": piece.stop_sequence}
            end: Mapping[str, Any] = {"type": "message_delta", "delta": how}
            return [{**end, "usage": dict(piece.usage)}, {"type": "message_stop"}]


USAGE_BY_FIELD = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}
USAGE = tuple(USAGE_BY_FIELD.values())
CACHE_FIELDS = ("ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens")
CONSTANT_USAGE = {
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
}
"""Usage fields that the client always reports with the same value."""
SUBTYPES: dict[Ending, str] = {
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
    "interrupted": "error_during_execution",
}
"""Endings without a result; all others have one, errors included."""
REASONS: dict[Ending, str] = {
    "done": "completed",
    "refused": "completed",
    "failed": "api_error",
    "max_turns": "max_turns",
    "max_budget": "budget_exhausted",
    "interrupted": "aborted",
}


@dataclass
class ResultBuilder:
    """Builds the result of a run: figures of one turn, cost and models of all."""

    session: Callable[[], str]
    """The session id, which a command may change."""
    uuid: Callable[[], str]
    clock: Callable[[], float] = time.monotonic
    price: Callable[[str, Mapping[str, Any]], float | None] = lambda model, usage: None
    limits: Mapping[str, Any] = field(default_factory=dict)
    models: dict[str, Json] = field(default_factory=dict)
    cost: float = 0.0
    results: int = 0
    _usage: Json = field(default_factory=dict)
    _cache_writes: Json = field(default_factory=dict)
    """Tokens written to the cache, by lifetime."""
    _denials: list[Json] = field(default_factory=list)
    _arguments: dict[str, Any] = field(default_factory=dict)
    _stop_reason: str | None = None
    _started_at: float = 0.0
    _asked_at: float = 0.0
    """When the running request began."""
    _api_seconds: float = 0.0
    """Seconds of API time in all."""
    _status: int | None = None
    """The API's error status."""
    _first_token_at: float | None = None

    def start_turn(self) -> None:
        """Reset the figures of a turn."""
        self._usage, self._cache_writes = dict.fromkeys(USAGE, 0), dict.fromkeys(CACHE_FIELDS, 0)
        self._denials, self._arguments = [], {}
        self._stop_reason, self._first_token_at, self._status = None, None, None
        self._started_at = self._asked_at = self.clock()
        self._api_seconds = 0.0

    @property
    def took_ms(self) -> int:
        """Milliseconds since the turn began."""
        return round((self.clock() - self._started_at) * 1000)

    def build_command_result(self, event: TurnEnded, name: str) -> Json:
        """Return the result of a command that did not involve the model."""
        return {**self._build_result(event), "local_command": name}

    def note_line(self, line: Mapping[str, Any]) -> None:
        """Note the API error in a log line, if it has one."""
        if line.get("isApiErrorMessage"):
            self._status = line.get("apiErrorStatus")
            self._stop_reason = line["message"].get("stop_reason")

    def add(self, event: Event) -> Json | None:
        """Add an event; return the result if it ends the turn."""
        if isinstance(event, ToolFinished):
            self._asked_at = self.clock()
        match event:
            case TextDelta() | ThinkingDelta():
                self._first_token_at = self._first_token_at or self.clock()
            case ResponseLogged():
                self._record_response(event)
            case ToolFinished(is_denied=True):
                given = self._arguments.get(event.call, {})
                self._denials.append(
                    {"tool_name": event.tool, "tool_use_id": event.call, "tool_input": given}
                )
            case TurnEnded():
                return self._build_result(event)
            case _:
                pass
        return None

    def _record_response(self, event: ResponseLogged) -> None:
        self._stop_reason = event.stop_reason
        self._api_seconds += self.clock() - self._asked_at
        for block in event.content:
            if block.get("type") == "tool_use":
                self._arguments[str(block.get("id"))] = block.get("input")
        if event.model == SYNTHETIC:
            return
        capacity = get_capacity(event.model)
        model = self.models.setdefault(
            event.model,
            {
                **dict.fromkeys(USAGE_BY_FIELD, 0),
                "webSearchRequests": 0,
                "costUSD": 0.0,
                "contextWindow": capacity.window,
                "maxOutputTokens": capacity.max_output,
            },
        )
        for name, wire in USAGE_BY_FIELD.items():
            count = event.usage.get(wire) or 0
            self._usage[wire] += count
            model[name] += count
        kept = event.usage.get("cache_creation") or {}
        for name in CACHE_FIELDS:
            self._cache_writes[name] += kept.get(name) or 0
        model["costUSD"] += self.price(event.model, event.usage) or 0.0

    def _build_result(self, event: TurnEnded) -> Json:
        self.cost += event.cost or 0.0
        self.results += 1
        is_error = event.ending not in ("done", "refused")
        why = event.text or "Request was aborted."
        if event.ending == "max_turns":
            why = f"Reached maximum number of turns ({self.limits.get('max_turns')})"
        elif event.ending == "max_budget":
            why = f"Reached maximum budget (${self.limits.get('max_budget_usd')})"
        return {
            "type": "result",
            "subtype": SUBTYPES.get(event.ending, "success"),
            "is_error": is_error,
            "api_error_status": self._status,
            "duration_ms": event.duration_ms,
            "duration_api_ms": round(self._api_seconds * 1000),
            "num_turns": event.responses + (event.ending == "max_turns"),
            **({"errors": [why]} if event.ending in SUBTYPES else {"result": event.text}),
            "stop_reason": self._stop_reason,
            "session_id": self.session(),
            "total_cost_usd": self.cost,
            "usage": {**self._usage, "cache_creation": dict(self._cache_writes), **CONSTANT_USAGE},
            "modelUsage": {name: dict(figures) for name, figures in self.models.items()},
            "permission_denials": list(self._denials),
            "terminal_reason": REASONS[event.ending],
            **(
                {}
                if self._first_token_at is None
                else {"ttft_ms": round((self._first_token_at - self._started_at) * 1000)}
            ),
            "result_index": self.results - 1,
            "uuid": self.uuid(),
        }


Form: TypeAlias = Literal["text", "json", "stream-json"]
TEXT_COMMANDS = ("compact", "context", "cost", "rename")
"""Commands that programs may send."""
FAILED_EXIT_CODE = 1
STDIN_TIMEOUT = 3.0
"""Seconds to wait for standard input if there is a prompt already."""
COMPACTED = "compacted: conversation replaced by a summary"
ENDING_TEXTS = {
    "max_turns": "Error: Reached max turns ({max_turns})",
    "max_budget": "Error: Exceeded USD budget ({max_budget_usd})",
    "interrupted": "Error: stopped",
}


@dataclass
class PrintMode:
    """Answers prompts one after the other and prints the results."""

    client: Client
    form: Form
    results: ResultBuilder
    translator: LogTranslator
    init_message: Mapping[str, Any]
    """The object at the start of each turn in a stream."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    _last_result: Json = field(default_factory=dict)
    _last_event: TurnEnded | None = None
    _is_unread: bool = False

    @classmethod
    def create(
        cls, client: Client, opener: ApiOpener, form: Form, *, replays: bool = False
    ) -> Self:
        """Return the print mode for a client."""
        writer, choice = client.runtime.writer, opener.chat_options
        ids = writer.ids
        prices = opener.prices

        def price(model: str, usage: Mapping[str, Any]) -> float | None:
            meter = Meter(prices)
            meter.add(model, usage, ids.moment())
            return meter.cost

        init_message = {
            "type": "system",
            "subtype": "init",
            "cwd": str(opener.directory),
            "session_id": client.session,
            "tools": list(client.runtime.tools),
            "mcp_servers": [],
            "model": opener.model_name,
            "permissionMode": choice.mode,
            "slash_commands": [*(command.name for command in COMMANDS), *client.commands],
            "apiKeySource": (choice.key_from if choice.asks_api else None) or "none",
            "claude_code_version": choice.version,
            "output_style": "default",
            "agents": [],
            "skills": [],
            "plugins": [],
            "uuid": ids.uuid(),
            "original_cwd": str(opener.directory),
            "additional_directories": [str(other) for other in choice.others],
        }
        result_builder = ResultBuilder(
            lambda: client.session, ids.uuid, price=price, limits=choice.limits
        )
        return cls(
            client,
            form,
            result_builder,
            LogTranslator(ids.uuid, replays),
            init_message,
            choice.limits,
        )

    async def run(self, prompts: AsyncIterator[InputPrompt]) -> int:
        """Answer all prompts; return the exit code."""
        self._watch_log()
        async for answer in prompts:
            await self._run_turn(answer)
            if self._is_unread:
                raise BrokenPipeError
        if self._last_event is None:
            raise UserError("no prompt on standard input")
        if self.form == "json":
            write_bytes(encode_json(self._last_result))
        elif self.form == "text":
            words = ENDING_TEXTS.get(self._last_event.ending)
            text = words.format(**self.limits) if words else self._last_event.text
            if not text and self._last_result.get("local_command") == "compact":
                text = COMPACTED  # the JSON formats leave it empty, as Claude Code does
            sys.stdout.write(f"{safe(text)}\n")
            sys.stdout.flush()
        if self._last_event.ending == "interrupted":
            return INTERRUPTED_EXIT_CODE
        return FAILED_EXIT_CODE if self._last_result.get("is_error") else 0

    async def _run_turn(self, text: InputPrompt) -> None:
        content = text.content
        now = {"permissionMode": self.client.mode, "model": self.client.model}
        self.emit({**self.init_message, **now})
        self.results.start_turn()
        if (
            isinstance(content, str)
            and content.startswith("/")
            and await self._run_command(content)
        ):
            return
        async for event in self.client.send(content, uuid=text.uuid):
            result = self.results.add(event)
            if result is not None and isinstance(event, TurnEnded):
                self._last_result, self._last_event = result, event
                self.emit(result)

    async def _run_command(self, text: str) -> bool:
        """Run a command; return whether it was one. Other lines with a slash go to the model."""
        name, focus = split_command(text)
        writer = self.client.runtime.writer
        if name not in TEXT_COMMANDS:
            return False
        if not writer.setting.is_older:
            writer.queue("enqueue", text)
            writer.queue("dequeue")
        words = ""
        ending: Ending = "done"
        if name == "compact":
            async for event in self.client.compact(focus):
                if isinstance(event, Notice):
                    words, ending = event.text, "failed"
        else:
            words = "\n".join(await run_text_command(self.client, text) or ())
        ended = TurnEnded(ending, words, self.results.took_ms, 0, {}, None)
        self._last_result = self.results.build_command_result(ended, name)
        self._last_event = ended
        self.emit(self._last_result)
        return True

    def emit_deltas(self) -> None:
        """Emit answers piece by piece as well."""
        runtime = self.client.runtime
        runtime.model = TappedModel(runtime.model, self._emit_delta)

    def _emit_delta(self, event: Json) -> None:
        whose = {"session_id": self.client.session, "parent_tool_use_id": None}
        uuid = self.client.runtime.writer.ids.uuid()
        self.emit({"type": "stream_event", "event": event, **whose, "uuid": uuid})

    def _watch_log(self) -> None:
        """Report each line of the log as it is written, after earlier listeners."""
        writer = self.client.runtime.writer
        earlier = writer.on_line

        def on_line(line: bytes) -> None:
            if earlier:
                earlier(line)
            value = msgspec.json.decode(line)
            self.results.note_line(value)
            for item in self.translator.translate(value):
                self.emit(item)

        writer.on_line = on_line

    def emit(self, value: Mapping[str, Any]) -> None:
        """Print an object while the reader is there; otherwise stop the turn."""
        if self.form != "stream-json" or self._is_unread:
            return
        try:
            write_bytes(encode_json(value))
        except BrokenPipeError:
            self._is_unread = True
            self.client.interrupt()


def encode_json(value: Mapping[str, Any]) -> bytes:
    """Return a value as one line of JSON without terminal escapes."""
    return escape_json(msgspec.json.encode(value)) + b"\n"


async def read_prompt(lines: PlainKeyboard, prompt: str | None) -> str:
    """Return the prompt argument followed by standard input."""
    has_more = not (sys.stdin is not None and sys.stdin.isatty())
    if has_more and prompt:
        has_more = await lines.has_input_within(STDIN_TIMEOUT)
    words = "\n".join(filter(None, (prompt, await lines.read_all() if has_more else "")))
    if not words.strip():
        raise UserError("no prompt", "pass it after `-p` or on standard input")
    return words


Emit: TypeAlias = Callable[[Mapping[str, Any]], None]
SESSION_DESTINATION = "session"
UNSUPPORTED_CODE = "unsupported_request"
NO_CHECKPOINT = "No file checkpoint found for this message."
BYPASS_NOT_ALLOWED = (
    "Cannot set permission mode to bypassPermissions because the session was not launched with"
    " --permission-mode bypassPermissions"
)


@dataclass
class Controls:
    """Reads a program's input in the background and answers its requests."""

    lines: PlainKeyboard
    may_bypass: bool = False
    """Whether the program may turn permissions off."""
    client: Client = field(init=False)
    emit: Emit = field(init=False)
    _prompts: asyncio.Queue[InputPrompt | BaseException | None] = field(
        default_factory=asyncio.Queue
    )
    _queued: set[str] = field(default_factory=set)
    """The ids of queued prompts."""
    _pending_questions: dict[str, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)

    def attach(self, client: Client, say: Emit) -> None:
        """Answer for a session from now on, through `say`."""
        self.client, self.emit = client, say

    async def prompts(self) -> AsyncIterator[InputPrompt]:
        """Yield prompts as they arrive."""
        reader = asyncio.ensure_future(self._read_lines())
        try:
            while (found := await self._prompts.get()) is not None:
                if isinstance(found, BaseException):
                    raise found
                if found.uuid is None or found.uuid in self._queued:
                    self._queued.discard(found.uuid or "")
                    yield found
        finally:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader

    async def _read_lines(self) -> None:
        number = 0
        try:
            while (line := await self.lines.read_line()) is not None:
                number += 1
                if line.strip():
                    await self._handle_line(parse_object(line, number), number)
        except UserError as error:
            self._prompts.put_nowait(error)
        for answer in self._pending_questions.values():
            if not answer.done():
                answer.set_result({})  # the program is gone
        self._prompts.put_nowait(None)

    async def _handle_line(self, value: Mapping[str, Any], number: int) -> None:
        match value.get("type"):
            case "user":
                content = _get_content(value.get("message"))
                if content is None:
                    form = '{"type":"user","message":{"role":"user","content":"words"}}'
                    raise UserError(
                        f"line {number} of the input has no text", f"expected a line like {form}"
                    )
                uuid: str | None = None
                with suppress(ValueError):
                    uuid = str(UUID(get_text(value, "uuid") or ""))
                    self._queued.add(uuid)
                self._prompts.put_nowait(InputPrompt(content, uuid))
            case "control_request":
                await self._answer_request(value)
            case "control_response":
                response = as_mapping(value.get("response"))
                answer = self._pending_questions.get(str(response.get("request_id")))
                if answer and not answer.done():
                    answer.set_result(as_mapping(response.get("response")))
            case _:
                pass

    async def _answer_request(self, value: Mapping[str, Any]) -> None:
        request = as_mapping(value.get("request"))
        try:
            fields: Json = {"subtype": "success", "response": await self._handle_request(request)}
        except UnsupportedRequest as error:
            fields = {"subtype": "error", "error": str(error), "error_code": UNSUPPORTED_CODE}
        except UserError as error:
            fields = {"subtype": "error", "error": error.message}
        fields["request_id"] = value.get("request_id")
        self.emit({"type": "control_response", "response": fields})

    async def _handle_request(self, request: Mapping[str, Any]) -> Json:
        """Do what a program requests and return the response; raise UnsupportedRequest."""
        client = self.client
        match request.get("subtype"):
            case "initialize":
                commands = [
                    {
                        "name": command.name,
                        "description": command.help,
                        "argumentHint": command.argument_hint,
                    }
                    for command in COMMANDS
                ]
                styles = {"output_style": "default", "available_output_styles": ["default"]}
                return {"commands": commands, "agents": [], **styles, "models": [], "account": {}}
            case "interrupt":
                client.interrupt()
                return {"still_queued": []}
            case "set_model":
                model = get_text(request, "model")
                if not model:
                    raise UserError("no model name given")
                await client.switch(model=model)
                return {"model": model}
            case "set_permission_mode":
                mode = parse_mode(str(request.get("mode")))
                if mode == "bypassPermissions" and not self.may_bypass:
                    raise UserError(BYPASS_NOT_ALLOWED)
                await client.switch(mode=mode)
                status = {"type": "system", "subtype": "status", "status": None}
                ids = {"uuid": str(uuid4()), "session_id": client.session}
                self.emit({**status, "permissionMode": mode, **ids})
                return {"mode": mode}
            case "rename_session":
                await client.rename(get_text(request, "title") or "")
                return {}
            case "get_context_usage":
                fill = client.context_fill
                if fill is None:
                    raise UserError("context size unknown")
                return {
                    "categories": [],
                    "totalTokens": fill.tokens,
                    "maxTokens": fill.window,
                    "rawMaxTokens": fill.window,
                    "percentage": round(100 * fill.tokens / fill.window),
                    "model": client.model,
                }
            case "get_session_cost":
                return {"text": "\n".join(format_usage_lines(client.cost.fields))}
            case "cancel_async_message":
                uuid = str(request.get("message_uuid"))
                is_queued = uuid in self._queued
                self._queued.discard(uuid)
                return {"cancelled": is_queued}
            case "rewind_files":
                return self._rewind_files(request)
            case name:
                raise UnsupportedRequest(f"Unsupported control request subtype: {name}")

    def _rewind_files(self, request: Mapping[str, Any]) -> Json:
        uuid = str(request.get("user_message_id"))
        point = next((point for point in self.client.rewind_points() if point.uuid == uuid), None)
        plan = self.client.plan_file_rewind(point) if point else None
        if plan is None:
            raise UserError(NO_CHECKPOINT)
        if request.get("dry_run") is True:
            counts = [step.changed_lines for step in plan.steps]
            conflicts = [str(step.path) for step in plan.conflicting_steps]
            return {
                "canRewind": True,
                "filesChanged": [str(step.path) for step in plan.steps],
                "insertions": sum(more for more, _ in counts),
                "deletions": sum(fewer for _, fewer in counts),
                **({"leftAlone": conflicts} if conflicts else {}),
            }
        done = plan.apply(overwrite=request.get("over") is True)
        left = [str(step.path) for step in plan.steps if step not in done]
        return {"canRewind": True, "skippedLinks": 0, **({"leftAlone": left} if left else {})}

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Ask the program for permission; an invalid answer rejects the call."""
        name = str(uuid4())
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending_questions[name] = answer
        self.emit(
            {
                "type": "control_request",
                "request_id": name,
                "request": build_permission_request(proposal, call),
            }
        )
        try:
            return parse_approval(await answer, proposal)
        except asyncio.CancelledError:
            self.emit({"type": "control_cancel_request", "request_id": name})
            raise
        finally:
            self._pending_questions.pop(name, None)


def build_permission_request(proposal: Proposal, call: str) -> Json:
    """Return the permission request for a call."""
    is_change = proposal.effect == "write"
    rule = {"toolName": proposal.tool, "ruleContent": proposal.title}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": SESSION_DESTINATION}
    rules = {
        "type": "addRules",
        "rules": [rule],
        "behavior": "allow",
        "destination": SESSION_DESTINATION,
    }
    return {
        "subtype": "can_use_tool",
        "tool_name": proposal.tool,
        "display_name": proposal.tool,
        "input": dict(proposal.arguments),
        "description": proposal.title,
        "permission_suggestions": [mode if is_change else rules],
        "tool_use_id": call,
    }


def parse_approval(response: Mapping[str, Any], proposal: Proposal) -> Approval:
    """Return the program's answer as an approval."""
    if response.get("behavior") != "allow":
        words = get_text(response, "message") or ""
        stops = response.get("interrupt") is True or not words
        return Approval(False, "" if stops else words, ends_turn=stops, is_verbatim=True)
    meant = response.get("updatedInput")
    is_other = isinstance(meant, Mapping) and dict(meant) != dict(proposal.arguments)
    return Approval(
        True,
        arguments=meant if is_other else None,
        is_for_session=bool(response.get("updatedPermissions")),
    )
