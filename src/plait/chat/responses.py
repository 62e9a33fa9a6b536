"""Model requests: streaming, logging, retrying and describing errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from random import Random
from time import monotonic
from typing import Any, Final, TypeAlias

from plait.chat.events import ResponseLogged, RetryScheduled, TextDelta, ThinkingDelta
from plait.chat.runtime import Emit, Runtime
from plait.chat.streaming import (
    Block,
    BlockDelta,
    BlockFinished,
    BlockStarted,
    ModelError,
    Request,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from plait.chat.tools.base import Workplace
from plait.chat.tools.edit import normalize_arguments
from plait.write import Response, SessionWriter

FIRST_DELAY, LONGEST_DELAY = 0.5, 32.0
"""Seconds before the first retry, and the longest delay."""
SPREAD = 0.25
LONGEST_RETRY_AFTER = 6 * 3600.0
"""The longest wait in seconds that a server may ask for; longer ones are ignored."""


def compute_retry_delay(error: ModelError, attempt: int, random: Random) -> float:
    """Return the seconds before a retry: what the server asks for, else doubling each time.

    Jitter of a quarter spreads out clients that failed together.
    """
    prompt = error.retry_after
    if prompt is not None and 0 <= prompt <= LONGEST_RETRY_AFTER:
        return prompt
    plain = min(FIRST_DELAY * 2.0 ** min(attempt - 1, 16), LONGEST_DELAY)
    return plain * (1 + SPREAD * random.random())


TOO_LONG = "prompt is too long"
NO_CREDIT = "credit balance is too low"
SERVER_SIDE = (
    "API Error: {}. This is a server-side issue, usually temporary — try again in a moment. If it"
    " persists, check {}."
)
STATUS_PAGE = "https://status.claude.com"
NO_MODEL = (
    "There's an issue with the selected model ({}). It may not exist or you may not have access to"
    " it. Run --model to pick a different model."
)
TOO_LARGE = (
    "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed"
    " the request over the limit. Remove older images or compact the conversation."
)
CONNECTION = "connection"
CONTEXT_FULL = "no_room"
"""The context is full and cannot be compacted."""


def is_too_long(error: ModelError) -> bool:
    """Return whether the input was too long for the model."""
    return error.status == 413 or (error.status == 400 and TOO_LONG in error.text.lower())


def describe_error(error: ModelError, model: str) -> tuple[str, str, Mapping[str, Any]]:
    """Return the client's text for an error, its kind, and further fields of its log line."""
    text = f"API Error: {format_error(error)}"
    if error.kind == CONTEXT_FULL:
        return error.text, "invalid_request", {}
    match error.status:
        case None:
            failed = {"api_error": "connection_failed"} if error.kind == CONNECTION else {}
            return text, "server_error", failed
        case 400 if is_too_long(error):
            details = {"error_details": error.body or format_error(error)}
            fields = {**details, "resend_cannot_cure": True}
            return "Prompt is too long", "invalid_request", fields
        case 400 if NO_CREDIT in error.text.lower():
            fields = {"resend_cannot_cure": True}
            return "Credit balance is too low", "billing_error", fields
        case 401:
            return "Invalid API key · Fix external API key", "authentication_failed", {}
        case 403:
            text = f"Failed to authenticate. API Error: 403 {error.text}"
            return text, "authentication_failed", {}
        case 404:
            return NO_MODEL.format(model), "model_not_found", {}
        case 413:
            details = {"error_details": f"request_too_large: {error.body or error.text}"}
            return TOO_LARGE, "invalid_request", details
        case 429:
            text = f"API Error: Request rejected (429) · {error.text}"
            return text, "rate_limit", {"api_error_is_transient": False}
        case status if status >= 500:
            place = error.gateway or STATUS_PAGE
            return SERVER_SIDE.format(format_error(error), place), "server_error", {}
        case _:
            return text, "unknown", {}


def format_error(error: ModelError) -> str:
    """Return an error as one line: its status and the server's message."""
    return f"{error.status} {error.text}" if error.status else error.text


def log_model_error(writer: SessionWriter, error: ModelError, model: str) -> str:
    """Log an error in place of a response; return its text."""
    text, kind, more = describe_error(error, model)
    fields: dict[str, Any] = {}
    if not writer.setting.is_older:
        fields = {"failed_response_had_no_tool_call": True, **more}
        if error.status:
            fields |= {"api_error_status": error.status, "api_error_type": error.kind}
    writer.api_error(text, error=kind, request=error.request, **fields)
    return text


Sleep: TypeAlias = Callable[[float], Awaitable[None]]
CACHE_TTL: Final = "5m"
"""How long the API caches the content before a cache mark."""
CONNECTION_DROPPED: Final = "Connection dropped (ECONNRESET)"


class ResponseClient:
    """Sends requests until one is answered or retrying is useless."""

    def __init__(
        self,
        runtime: Runtime,
        emit: Emit,
        *,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._runtime = runtime
        self._emit = emit
        self._sleep = sleep
        self._random = random or Random()

    async def request(self) -> ResponseLogged:
        """Return the answer to a request; raise the last ModelError if there is none."""
        definitions = [tool.definition for tool in self._runtime.tools.values()]
        request = self._runtime.requests.build(definitions)
        attempt = 0
        while True:
            try:
                return await self._request_once(request)
            except ModelError as fault:
                attempt += 1
                if not fault.is_retryable or attempt > self._runtime.limits.retries:
                    raise
                await self._wait_to_retry(fault, attempt)

    async def _request_once(self, request: Request) -> ResponseLogged:
        draft = ResponseLog(self._runtime.writer, self._emit, self._runtime.place)
        try:
            async with aclosing(self._runtime.model.stream(request)) as pieces:
                async for piece in pieces:
                    draft.add_event(piece)
            answer = draft.finish()
        except ModelError:
            draft.discard()
            raise
        except asyncio.CancelledError:
            draft.break_off()
            raise
        self._emit(answer)
        return answer

    async def _wait_to_retry(self, error: ModelError, attempt: int) -> None:
        writer, most = self._runtime.writer, self._runtime.limits.retries
        seconds = compute_retry_delay(error, attempt, self._random)
        self._emit(RetryScheduled(format_error(error), attempt, most, seconds))
        if writer.setting.entrypoint != "cli":  # at a terminal the client logs no retries
            named = {"status": error.status, "requestId": error.request} if error.status else {}
            is_cut = error.kind == CONNECTION and not error.is_network_down
            writer.system(
                "api_error",
                error={
                    "message": error.body or format_error(error),
                    **named,
                    "formatted": format_error(error),
                    "connection": error.connection,
                    "isNetworkDown": error.is_network_down,
                    "rateLimits": None,
                    "noResponse": None,
                },
                retry_in_ms=round(seconds * 1000),
                retry_attempt=attempt,
                max_retries=most,
                source="connection_retry" if is_cut else "request_retry",
            )
        await self._sleep(seconds)


class ResponseLog:
    """A streaming answer: shown as it arrives, logged block by block."""

    def __init__(self, writer: SessionWriter, emit: Emit, place: Workplace) -> None:
        self._writer = writer
        self._emit = emit
        self._place = place
        self._response: Response | None = None
        self._content: list[Block] = []
        self._started_at: dict[int, float] = {}
        self._open_texts: dict[int, str] = {}
        """The text of unfinished blocks."""
        self._finish_event: ResponseFinished | None = None

    def add_event(self, piece: StreamEvent) -> None:
        """Process the next event."""
        match piece:
            case ResponseStarted():
                self._response = self._writer.response(
                    message=piece.message,
                    request=piece.request,
                    model=piece.model,
                    usage=piece.usage,
                )
            case BlockStarted():
                self._started_at[piece.index] = monotonic()
                if self._response:
                    self._response.goes_on()
            case BlockDelta():
                if piece.kind == "text":
                    self._open_texts[piece.index] = (
                        self._open_texts.get(piece.index, "") + piece.text
                    )
                    self._emit(TextDelta(piece.text))
                elif piece.kind == "thinking":
                    self._emit(ThinkingDelta(piece.text))
            case BlockFinished():
                if self._response is None:
                    raise ModelError("a content block arrived before its response", may_retry=True)
                took = round((monotonic() - self._started_at.get(piece.index, monotonic())) * 1000)
                given = piece.block.get("input")
                if piece.block.get("type") != "tool_use" or not isinstance(given, Mapping):
                    block = piece.block
                else:
                    normalized = normalize_arguments(
                        str(piece.block.get("name")), given, self._place
                    )
                    block = (
                        piece.block if normalized is given else {**piece.block, "input": normalized}
                    )
                fields = self._cache_fields
                if fields and block.get("type") == "thinking":
                    fields["thinking_duration_ms"] = took
                elif fields and block.get("type") == "tool_use":
                    fields["tool_input_stream_ms"] = took
                self._response.add(block, **fields)
                self._content.append(block)
                self._open_texts.pop(piece.index, None)
            case ResponseFinished():
                self._finish_event = piece

    @property
    def _cache_fields(self) -> dict[str, Any]:
        """How long the beginning of the request is cached; nothing in the older format."""
        return {} if self._writer.setting.is_older else {"prompt_cache_requested": CACHE_TTL}

    def finish(self) -> ResponseLogged:
        """Log how it ended; raise ModelError if it did not end."""
        response, ended = self._response, self._finish_event
        if response is None or ended is None:
            raise ModelError(
                CONNECTION_DROPPED,
                kind=CONNECTION,
                body="Connection error.",
                connection={
                    "code": "ECONNRESET",
                    "message": CONNECTION_DROPPED,
                    "isSSLError": False,
                },
                may_retry=True,
            )
        if ended.stop_reason is None:
            response.break_off(usage=ended.usage)
        else:
            response.end(ended.stop_reason, usage=ended.usage, stop_sequence=ended.stop_sequence)
        return ResponseLogged(
            response.id,
            response.request,
            response.model,
            tuple(self._content),
            ended.stop_reason,
            ended.usage,
        )

    def break_off(self) -> None:
        """Log the complete blocks, and the text of unfinished ones."""
        if self._response:
            for words in filter(str.strip, self._open_texts.values()):
                self._content.append({"type": "text", "text": words})
                self._response.add(
                    self._content[-1],
                    **self._cache_fields,
                    **{} if self._writer.setting.is_older else {"is_aborted_mid_stream": True},
                )
            self._response.break_off()

    def discard(self) -> None:
        """Discard it: the request is repeated."""
        if self._response:
            self._response.discard()
