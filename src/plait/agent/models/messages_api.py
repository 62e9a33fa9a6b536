"""Requests to the Messages API, through the vendor's SDK: what it streams, and how it fails."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from plait.agent.faults import CONNECTION
from plait.agent.streaming import (
    Began,
    Block,
    BlockBegan,
    BlockEnded,
    Ended,
    ModelFault,
    Piece,
    PieceKind,
    Request,
    Streamed,
)
from plait.errors import MissingExtra, UserError

Event: TypeAlias = Mapping[str, Any]
OFFICIAL = "https://api.anthropic.com"
UNPARSED = "__unparsedToolInput"
MAY_RETRY = frozenset({408, 409, 429})
DELTAS: dict[str, tuple[PieceKind, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}
STATUSES = {"rate_limit_error": 429, "api_error": 500, "overloaded_error": 529}
"""The status that an error would have had, had it come before the stream."""
REFUSED = "Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"
DROPPED = "Connection dropped (ECONNRESET)"
TIMED_OUT = "Request timed out"


class MessagesApi:
    """The API itself, or whoever speaks like it."""

    def __init__(
        self,
        name: str,
        *,
        key: str | None,
        base_url: str | None = None,
        timeout: float = 600.0,
    ) -> None:
        if not key:
            raise UserError("there is no key for the API", "`--demo` shows a session without one")
        self.name = name
        self._key = key
        self._base_url = base_url or OFFICIAL
        self._timeout = timeout
        self._client: Any = None

    async def stream(self, request: Request) -> AsyncGenerator[Streamed, None]:
        """Answers a request piece by piece; nothing is tried twice here."""
        pieces = Pieces()
        async with aclosing(self._events(request, pieces)) as events:
            async for event in events:
                for piece in pieces.of(event):
                    yield piece

    async def _events(self, request: Request, pieces: "Pieces") -> AsyncGenerator[Event, None]:
        sdk = _sdk()
        try:
            stream = await self._connected().messages.create(**_body(request), stream=True)
            pieces.request = stream.response.headers.get("request-id")
            async with stream:
                async for event in stream:
                    yield event.to_dict()
        except sdk.APIError as error:
            raise self._fault(error, pieces.request) from error
        except Exception as error:
            if _is_of_the_line(error):
                raise _connection_fault(error) from error
            raise

    def _connected(self) -> Any:
        if self._client is None:
            self._client = _sdk().AsyncAnthropic(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=0,
                timeout=self._timeout,
                open_telemetry=False,
            )
        return self._client

    async def close(self) -> None:
        """Hangs up."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _fault(self, error: Any, request: str | None) -> ModelFault:
        """Returns what an error of the SDK means."""
        sdk = _sdk()
        if isinstance(error, sdk.APIConnectionError):
            return _connection_fault(error)
        told = _error_in(error.body)
        kind = str(told.get("type") or "api_error")
        status = getattr(error, "status_code", 200)
        if status < 400:
            status = STATUSES.get(kind, 500)
        response = getattr(error, "response", None)
        headers = response.headers if response is not None else {}
        return ModelFault(
            str(told.get("message") or error.message),
            status=status,
            kind=kind,
            retry_after=_seconds(headers),
            request=getattr(error, "request_id", None) or request,
            body=f"{status} {json.dumps(error.body, ensure_ascii=False, separators=(',', ':'))}",
            gateway=None if self._base_url == OFFICIAL else _gateway(self._base_url),
            may_retry=_may_retry(status, headers),
        )


class Pieces:
    """Events of a stream to its pieces, with what has to be put together for them."""

    def __init__(self) -> None:
        self.request: str | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self._delta: Event = {}

    def of(self, event: Event) -> Iterator[Streamed]:
        """Yields what an event brings; kinds that are not known bring nothing."""
        match event.get("type"):
            case "message_start":
                yield self._began(event["message"])
            case "content_block_start":
                index, block = event["index"], dict(event["content_block"])
                self._blocks[index] = block
                yield BlockBegan(index, dict(block))
            case "content_block_delta":
                yield from self._more(event["index"], event["delta"])
            case "content_block_stop":
                yield BlockEnded(event["index"], self._whole(event["index"]))
            case "message_delta":
                self._delta = event.get("delta") or {}
                self._usage |= {
                    k: v for k, v in (event.get("usage") or {}).items() if v is not None
                }
            case "message_stop":
                reason, sequence = self._delta.get("stop_reason"), self._delta.get("stop_sequence")
                yield Ended(reason, sequence, dict(self._usage))

    def _began(self, message: Event) -> Began:
        self._usage = dict(message.get("usage") or {})
        model = str(message.get("model") or "")
        return Began(str(message.get("id") or ""), model, self.request, dict(self._usage))

    def _more(self, index: int, delta: Event) -> Iterator[Piece]:
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
        yield Piece(index, kind, text)

    def _whole(self, index: int) -> Block:
        block = self._blocks[index]
        if index in self._inputs:
            block["input"] = _arguments("".join(self._inputs[index]))
        return dict(block)


def _arguments(text: str) -> Any:
    """Returns the arguments of a call; what is no JSON is kept as the client keeps it."""
    if not text:
        return {}
    try:
        return json.loads(text)
    except ValueError:
        return {UNPARSED: {"raw": text, "len": len(text)}}


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": list(request.messages),
        "max_tokens": request.max_tokens,
    }
    if request.system:
        body["system"] = list(request.system)
    if request.tools:
        body["tools"] = list(request.tools)
    return body | {"extra_body": dict(request.extra)} if request.extra else body


def _sdk() -> Any:
    try:
        import anthropic
    except ImportError:
        raise MissingExtra(
            "the SDK of the API is not installed", "`pip install 'plait[agent]'`"
        ) from None
    return anthropic


def _is_of_the_line(error: Exception) -> bool:
    """Tells what breaks in the middle of a stream: the SDK lets it through as it comes."""
    return isinstance(error, OSError | ValueError) or type(error).__module__.startswith("httpx")


def _error_in(body: object) -> Event:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _connection_fault(error: Exception) -> ModelFault:
    causes = " ".join(f"{type(one).__name__} {one}" for one in _causes(error))
    is_down = re.search(r"ConnectError|refused|Name or service|getaddrinfo", causes) is not None
    is_late = "Timeout" in causes
    text = TIMED_OUT if is_late else REFUSED if is_down else DROPPED
    code = "ETIMEDOUT" if is_late else "ECONNREFUSED" if is_down else "ECONNRESET"
    return ModelFault(
        text,
        kind=CONNECTION,
        body="Connection error.",
        connection={"code": code, "message": str(error), "isSSLError": "SSL" in causes},
        is_network_down=is_down,
        may_retry=True,
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(8):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _may_retry(status: int, headers: Mapping[str, str]) -> bool:
    asked = headers.get("x-should-retry")
    if asked in ("true", "false"):
        return asked == "true"
    return status in MAY_RETRY or status >= 500


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Returns how long the server asks to wait."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
    return None


def _gateway(base_url: str) -> str:
    return f"your inference gateway ({urlsplit(base_url).netloc})"
