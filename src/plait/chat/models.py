"""Models: the Messages API, a script, a recorded session.

A script is a TOML or JSON file:

    [[answers]]                                 one answer for each request, in order
    text = "I will look."
    calls = [{ name = "Read", input = { file_path = "README.md" } }]

    [[answers]]
    thinking = "Short."
    text = "A title and nothing else."

    [[rules]]                                   answers for prompts that contain these words
    when = "list the files"
    answers = [{ calls = [{ name = "Bash", input = { command = "ls" } }] }, { text = "Two." }]

An answer may have `stop_reason`, `usage`, `model`, `pause` (seconds between deltas), `blocks` in
the place of `thinking`, `text` and `calls`, or an error: `error` (a status), `message`,
`retry_after` and `after` (deltas that come first). The last answer of a rule repeats; when no rule
matches and no answer is left, `otherwise` is used.

A replay gives each prompt the answers of the next recorded prompt, whatever it says; their tool
calls are executed again. Prompts without an answer, and sub-agents, are skipped.
"""

import asyncio
import json
import re
import tomllib
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from plait.chat.model_info import ALIASES
from plait.chat.responses import CONNECTION, CONNECTION_DROPPED
from plait.chat.streaming import (
    DELTA_TYPES,
    UNPARSED,
    Block,
    BlockDelta,
    BlockFinished,
    BlockStarted,
    DeltaKind,
    Message,
    ModelError,
    Request,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from plait.errors import MissingExtra, UserError
from plait.line import read_small
from plait.record import Record, ToolResult, read
from plait.record.codec import as_mapping
from plait.record.types import get_content_blocks
from plait.write.lines import IdSource
from plait.write.transcript import SYNTHETIC

DELTA_LENGTH = 24
"""Characters in one delta."""
LETTERS_PER_TOKEN = 4
DELTA_KINDS: dict[str, tuple[DeltaKind, ...]] = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "tool_use": ("input",),
}
"""The streamed fields of a block, by its type."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is complete before it is requested."""

    content: tuple[Block, ...] = ()
    stop_reason: str | None = "end_turn"
    usage: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    pause: float = 0
    """Seconds between its chunks."""
    error: ModelError | None = None
    """An error sent instead, or after `fault_after` chunks."""
    error_after: int = 0


async def stream_reply(
    reply: Reply, request: Request, message: str
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the chunks of a reply."""
    for number, piece in enumerate(_iter_events(reply, request, message)):
        if reply.error and number >= reply.error_after:
            raise reply.error
        await asyncio.sleep(reply.pause)
        yield piece


def _iter_events(reply: Reply, request: Request, message: str) -> Iterator[StreamEvent]:
    usage = reply.usage or {
        "input_tokens": _estimate_tokens(request.messages),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": _estimate_tokens(reply.content),
    }
    begun = {**usage, "output_tokens": 1}
    yield ResponseStarted(message, reply.model or request.model, None, begun)
    for index, block in enumerate(reply.content):
        empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
        yield BlockStarted(index, {name: empty.get(name, value) for name, value in block.items()})
        for kind in DELTA_KINDS.get(str(block.get("type")), ()):
            value = block.get(kind, "" if kind != "input" else {})
            text = json.dumps(value) if kind == "input" else str(value)
            for start in range(0, len(text), DELTA_LENGTH):
                yield BlockDelta(index, kind, text[start : start + DELTA_LENGTH])
        yield BlockFinished(index, block)
    yield ResponseFinished(reply.stop_reason, None, usage)


def _estimate_tokens(text: Sequence[Mapping[str, Any]]) -> int:
    return max(1, len(json.dumps(list(map(dict, text)), default=str)) // LETTERS_PER_TOKEN)


Event: TypeAlias = Mapping[str, Any]
OFFICIAL_URL = "https://api.anthropic.com"
RETRYABLE_STATUSES = frozenset({408, 409, 429})
DELTAS = {name: (kind, field) for kind, (name, field) in DELTA_TYPES.items()}
STATUSES = {"rate_limit_error": 429, "api_error": 500, "overloaded_error": 529}
"""The HTTP status an error would have had before the stream began."""
CONNECTION_REFUSED = "Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"
TIMED_OUT = "Request timed out"


class MessagesApi:
    """The Messages API, or a server that speaks it."""

    def __init__(
        self,
        name: str,
        *,
        key: str | None,
        base_url: str | None = None,
        timeout: float = 600.0,
    ) -> None:
        # A prompt is logged before it is sent: an error found only then would leave it in the
        # session, and every retry would add another. So what can be checked is checked now.
        if find_spec("anthropic") is None:  # importing the SDK takes most of a second
            raise MissingExtra("the Anthropic SDK is not installed", "`pip install 'plait[agent]'`")
        if not key:
            raise UserError("no API key", "`plait chat --demo` works without a key")
        if not all("!" <= letter <= "~" for letter in key):
            raise UserError("the API key contains invalid characters", "copy it again")
        if not name.strip() or not name.isprintable():
            raise UserError(f"'{name}' is not a model name", f"for example {', '.join(ALIASES)}")
        if base_url is not None:
            try:
                parts = urlsplit(base_url)
                is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
                is_valid = is_valid and (parts.port is None or parts.port > 0)
            except ValueError:
                is_valid = False
            if not is_valid:
                raise UserError(
                    f"'{base_url}' is not a valid base URL",
                    "set `--base-url`, `ANTHROPIC_BASE_URL` or `base_url` in config.toml to a URL such"
                    " as https://HOST",
                )
        self.name = name
        self._key = key
        self._base_url = base_url or OFFICIAL_URL
        self._timeout = timeout
        self._client: Any = None

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer to a request; retries are up to the caller."""
        pieces = EventParser()
        async with aclosing(self._iter_events(request, pieces)) as events:
            async for event in events:
                for piece in pieces.parse(event):
                    yield piece

    async def _iter_events(
        self, request: Request, pieces: "EventParser"
    ) -> AsyncGenerator[Event, None]:
        import anthropic as sdk  # imported late: most sessions start faster than the SDK loads

        body: dict[str, Any] = {
            "model": request.model,
            "messages": list(request.messages),
            "max_tokens": request.max_tokens,
            **({"system": list(request.system)} if request.system else {}),
            **({"tools": list(request.tools)} if request.tools else {}),
            **({"extra_body": dict(request.extra)} if request.extra else {}),
        }
        try:
            if self._client is None:
                self._client = sdk.AsyncAnthropic(
                    api_key=self._key,
                    base_url=self._base_url,
                    max_retries=0,
                    timeout=self._timeout,
                    open_telemetry=False,
                )
            stream = await self._client.messages.create(**body, stream=True)
            pieces.request = stream.response.headers.get("request-id")
            async with stream:
                async for event in stream:
                    yield event.to_dict()
        except sdk.APIError as error:
            raise self._make_error(error, pieces.request) from error
        except Exception as error:
            if isinstance(error, OSError | ValueError) or type(error).__module__.startswith(
                "httpx"
            ):
                raise _make_connection_error(error) from error
            raise

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _make_error(self, error: Any, request: str | None) -> ModelError:
        """Return the `ModelError` for an error of the SDK."""
        from anthropic import APIConnectionError

        if isinstance(error, APIConnectionError):
            return _make_connection_error(error)
        details = as_mapping(as_mapping(error.body).get("error"))
        kind = str(details.get("type") or "api_error")
        status = getattr(error, "status_code", 200)
        if status < 400:
            status = STATUSES.get(kind, 500)
        response = getattr(error, "response", None)
        headers = response.headers if response is not None else {}
        hint = headers.get("x-should-retry")
        may_retry = status in RETRYABLE_STATUSES or status >= 500
        return ModelError(
            str(details.get("message") or error.message),
            status=status,
            kind=kind,
            retry_after=_parse_retry_after(headers),
            request=getattr(error, "request_id", None) or request,
            body=f"{status} {json.dumps(error.body, ensure_ascii=False, separators=(',', ':'))}",
            gateway=None
            if self._base_url == OFFICIAL_URL
            else f"your inference gateway ({urlsplit(self._base_url).netloc})",
            may_retry=hint == "true" if hint in ("true", "false") else may_retry,
        )


class EventParser:
    """Parses stream events, assembling blocks."""

    def __init__(self) -> None:
        self.request: str | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self._delta: Event = {}

    def parse(self, event: Event) -> Iterator[StreamEvent]:
        """Yield the chunks of an event; unknown kinds have none."""
        match event.get("type"):
            case "message_start":
                message = event["message"]
                self._usage = dict(message.get("usage") or {})
                model = str(message.get("model") or "")
                yield ResponseStarted(
                    str(message.get("id") or ""), model, self.request, dict(self._usage)
                )
            case "content_block_start":
                index, block = event["index"], dict(event["content_block"])
                self._blocks[index] = block
                yield BlockStarted(index, dict(block))
            case "content_block_delta":
                yield from self._add_delta(event["index"], event["delta"])
            case "content_block_stop":
                yield BlockFinished(event["index"], self._finish_block(event["index"]))
            case "message_delta":
                self._delta = event.get("delta") or {}
                self._usage |= {
                    k: v for k, v in (event.get("usage") or {}).items() if v is not None
                }
            case "message_stop":
                reason, sequence = self._delta.get("stop_reason"), self._delta.get("stop_sequence")
                yield ResponseFinished(reason, sequence, dict(self._usage))

    def _add_delta(self, index: int, delta: Event) -> Iterator[BlockDelta]:
        block = self._blocks[index]
        if delta.get("type") == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        known = DELTAS.get(str(delta.get("type")))
        if known is None:
            return
        kind, name = known
        text = str(delta.get(name) or "")
        if kind == "input":
            self._inputs.setdefault(index, []).append(text)
        else:
            block[name] = str(block.get(name) or "") + text
        yield BlockDelta(index, kind, text)

    def _finish_block(self, index: int) -> Block:
        block = self._blocks[index]
        if index in self._inputs:
            text = "".join(self._inputs[index])
            try:
                block["input"] = json.loads(text) if text else {}
            except ValueError:  # logged as the client logs it
                block["input"] = {UNPARSED: {"raw": text, "len": len(text)}}
        return dict(block)


def _make_connection_error(error: Exception) -> ModelError:
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and len(chain) < 8:
        chain.append(cause)
    causes = " ".join(f"{type(cause).__name__} {cause}" for cause in chain)
    is_down = re.search(r"ConnectError|refused|Name or service|getaddrinfo", causes) is not None
    is_late = "Timeout" in causes
    text = TIMED_OUT if is_late else CONNECTION_REFUSED if is_down else CONNECTION_DROPPED
    code = "ETIMEDOUT" if is_late else "ECONNREFUSED" if is_down else "ECONNRESET"
    return ModelError(
        text,
        kind=CONNECTION,
        body="Connection error.",
        connection={"code": code, "message": str(error), "isSSLError": "SSL" in causes},
        is_network_down=is_down,
        may_retry=True,
    )


def _parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the server asks to wait."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
    return None


ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
KEYS = frozenset(
    """
    text thinking calls blocks stop_reason usage model pause error message retry_after after
    """.split()
)
DEFAULT_ANSWER = {"text": "The script has no more answers."}


class ScriptModel:
    """A model that answers from a script."""

    def __init__(
        self, script: Mapping[str, Any], *, name: str = "script", random: Random | None = None
    ) -> None:
        self.name = name
        self._ids = IdSource(random)
        self._answers = _get_list(script, "answers")
        self._rules = _get_list(script, "rules")
        self._otherwise = script.get("otherwise", DEFAULT_ANSWER)
        answers = [answer for rule in self._rules for answer in _get_list(rule, "answers")]
        for answer in (*self._answers, self._otherwise, *answers):
            if not isinstance(answer, dict):
                raise UserError("each answer in the script needs 'text' or 'calls'")
            if unknown := sorted(answer.keys() - KEYS):
                raise UserError(
                    f"unknown key '{unknown[0]}' in an answer in the script",
                    f"known keys: {', '.join(sorted(KEYS))}",
                )
            for block in (*_get_list(answer, "calls"), *_get_list(answer, "blocks")):
                if not isinstance(block, dict):
                    raise UserError("each call in the script needs 'name' and 'input'")

    @classmethod
    def from_file(cls, path: Path) -> "ScriptModel":
        """Return the model for a script file in JSON or TOML."""
        data = read_small(path)
        if data is None:
            raise UserError(f"cannot read the script '{path}'")
        try:
            text = data.decode()
            script = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        except ValueError as error:
            hint = "a script is JSON, or TOML in a .toml file"
            raise UserError(f"'{path}' is not a script: {error}", hint) from None
        if not isinstance(script, dict):
            raise UserError(f"'{path}' is not a script: it has neither 'answers' nor 'rules'")
        return cls(script, name=f"script:{path.name}")

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream the next answer of the script."""
        reply = self._build_reply(self._choose_answer(request.messages))
        async for piece in stream_reply(reply, request, self._ids.message()):
            yield piece

    def _choose_answer(self, messages: Sequence[Message]) -> Mapping[str, Any]:
        """Return the answer of the first rule that matches the newest prompt, else the next one."""
        step = 0
        for message in reversed(messages):
            if message["role"] != "user":  # texts of hooks and reminders are not prompts
                step += message["role"] == "assistant"
                continue
            words = "\n".join(_iter_texts(message))
            for rule in self._rules:
                if str(rule.get("when")) in words:
                    answers: list[Mapping[str, Any]] = rule["answers"]
                    return answers[min(step, len(answers) - 1)]
            if words and not holds_results(message):
                break
        answer: Mapping[str, Any] = self._answers.pop(0) if self._answers else self._otherwise
        return answer

    def _build_reply(self, answer: Mapping[str, Any]) -> Reply:
        content = tuple(self._build_blocks(answer))
        calls = any(block["type"] == "tool_use" for block in content)
        return Reply(
            content,
            answer.get("stop_reason", "tool_use" if calls else "end_turn"),
            answer.get("usage", {}),
            answer.get("model"),
            answer.get("pause", 0),
            _make_error(answer),
            answer.get("after", 0),
        )

    def _build_blocks(self, answer: Mapping[str, Any]) -> Iterator[Block]:
        if "thinking" in answer:
            words = answer["thinking"]
            yield {"type": "thinking", "thinking": words, "signature": f"made-up-{len(words)}"}
        if "text" in answer:
            yield {"type": "text", "text": answer["text"]}
        for block in (*answer.get("calls", ()), *answer.get("blocks", ())):
            is_call = block.get("type", "tool_use") == "tool_use"
            yield {"type": "tool_use", "id": self._ids.call(), **block} if is_call else block


def holds_results(message: Message) -> bool:
    """Return whether a message contains tool results."""
    content = message["content"]
    return not isinstance(content, str) and any(
        block.get("type") == "tool_result" for block in content
    )


def _iter_texts(message: Message) -> Iterator[str]:
    content = message["content"]
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block.get("type") == "text":
            yield str(block.get("text", ""))


def _make_error(answer: Mapping[str, Any]) -> ModelError | None:
    status = answer.get("error")
    if status is None:
        return None
    kind = ERROR_TYPES.get(status, "api_error")
    return ModelError(
        str(answer.get("message", kind)),
        status=status,
        kind=kind,
        retry_after=answer.get("retry_after"),
        may_retry=status in RETRYABLE_STATUSES or status >= 500,
    )


def _get_list(value: Any, name: str) -> list[Any]:
    found = value.get(name, []) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise UserError(f"'{name}' in a script must be a list")
    return [*found]


REPLAY_ENDED = "The recorded conversation is over."
TURN_ENDED = "The recorded turn ends here."
INTERRUPTED = "[Request interrupted by user"


@dataclass(slots=True)
class RecordedTurn:
    """A recorded prompt and its answers, step by step."""

    prompts: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


class ReplayModel:
    """A model that repeats the answers of a recorded session."""

    def __init__(self, path: Path, *, pause: float = 0, random: Random | None = None) -> None:
        self.name = f"replay:{path.stem}"
        self._ids = IdSource(random)
        self._pause = pause
        self._turns = [turn for turn in _iter_turns(read(path)) if turn.replies]
        if not self._turns:
            raise UserError(f"no answers to replay in '{path.name}'")
        self._next_turn = 0
        self._next_step = 0

    @property
    def prompts(self) -> tuple[str, ...]:
        """The recorded prompts."""
        return tuple("\n".join(turn.prompts) for turn in self._turns)

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream the next recorded answer of the turn, or the first of the next turn."""
        async for piece in stream_reply(self._next_reply(request), request, self._ids.message()):
            yield piece

    def _next_reply(self, request: Request) -> Reply:
        goes_on = bool(request.messages) and holds_results(request.messages[-1])
        if not goes_on or self._next_turn == 0:
            self._next_turn += 1
            self._next_step = 0
        if self._next_turn > len(self._turns):
            raise ModelError(REPLAY_ENDED, kind="replay")
        replies = self._turns[self._next_turn - 1].replies
        self._next_step += 1
        if self._next_step > len(replies):  # the recording was stopped there
            return Reply(({"type": "text", "text": TURN_ENDED},))
        reply = replies[self._next_step - 1]
        content = tuple(
            {**block, "id": self._ids.call()} if block.get("type") == "tool_use" else block
            for block in reply.content
        )
        return Reply(content, reply.stop_reason, reply.usage, reply.model, self._pause)


def _iter_turns(records: Iterable[Record]) -> Iterator[RecordedTurn]:
    turn = RecordedTurn()
    lines: dict[str, list[Record]] = {}
    """Log lines of each answer, by message id."""
    for record in records:
        if record.is_sidechain:
            continue
        if record.type == "assistant" and not (
            record.message is None or record.message.model == SYNTHETIC
        ):
            lines.setdefault(record.message_id or record.uuid or "", []).append(record)
        elif record.type == "user" and not any(
            isinstance(block, ToolResult)
            for block in (record.message.content if record.message else ())
        ):
            if lines:
                turn.replies = [*map(_build_reply, lines.values())]
                yield turn
                turn, lines = RecordedTurn(), {}
            is_generated = record.is_meta or record.is_compact_summary
            if not is_generated and not _get_text(record).startswith(INTERRUPTED):
                turn.prompts.append(_get_text(record))
    turn.replies = [*map(_build_reply, lines.values())]
    yield turn


def _get_text(record: Record) -> str:
    return record.message.text if record.message else ""


def _build_reply(lines: list[Record]) -> Reply:
    parts = [as_mapping(line.fields.get("message")) for line in lines]
    content: list[Block] = [block for line in lines for block in get_content_blocks(line)]
    reasons = [message.get("stop_reason") for message in parts if message.get("stop_reason")]

    def count_output(usage: Mapping[str, Any]) -> int:
        count = usage.get("output_tokens")
        return count if isinstance(count, int) else 0

    usage = max((as_mapping(message.get("usage")) for message in parts), key=count_output)
    model = lines[-1].message.model if lines[-1].message else None
    return Reply(tuple(content), reasons[-1] if reasons else None, usage, model)
