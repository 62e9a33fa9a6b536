"""Model requests and the events of streamed responses."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

Block: TypeAlias = Mapping[str, Any]
Message: TypeAlias = Mapping[str, Any]
DeltaKind: TypeAlias = Literal["text", "thinking", "signature", "input"]
DELTA_TYPES: dict[DeltaKind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
    "input": ("input_json_delta", "partial_json"),
}
"""The API's name for each kind of delta, and the field that contains it."""
UNPARSED = "__unparsedToolInput"
"""The only argument of a call whose arguments are not JSON, as the client logs it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the model."""

    model: str
    messages: Sequence[Message]
    system: Sequence[Block] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    max_tokens: int = 32_000
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, by their API names."""


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """The response has started."""

    message: str
    model: str
    request: str | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block has started."""

    index: int
    block: Block


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of a block: text, thinking, its signature, or JSON of a call's arguments."""

    index: int
    kind: DeltaKind
    text: str


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """A block is complete."""

    index: int
    block: Block


@dataclass(frozen=True, slots=True)
class ResponseFinished:
    """The response is complete."""

    stop_reason: str | None
    stop_sequence: str | None
    usage: Mapping[str, Any]


StreamEvent: TypeAlias = (
    ResponseStarted | BlockStarted | BlockDelta | BlockFinished | ResponseFinished
)


class ModelError(Exception):
    """The model did not answer, or not completely."""

    def __init__(
        self,
        text: str,
        *,
        status: int | None = None,
        kind: str = "unknown",
        retry_after: float | None = None,
        request: str | None = None,
        body: str | None = None,
        gateway: str | None = None,
        connection: Mapping[str, Any] | None = None,
        is_network_down: bool = False,
        may_retry: bool = False,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.kind = kind
        """The API's name for it (rate_limit_error, overloaded_error …), or `connection`."""
        self.retry_after = retry_after
        self.request = request
        self.body = body
        """The body of the response, after its status."""
        self.gateway = gateway
        """The server that was asked, if not the API itself."""
        self.connection = connection
        """What happened to the connection, as the log records it."""
        self.is_network_down = is_network_down
        self.is_retryable = may_retry


class Model(Protocol):
    """A source of answers: the API, a recorded session, a script."""

    name: str

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer to a request; raise ModelError if that fails."""


@runtime_checkable
class Closeable(Protocol):
    """A model with resources such as connections."""

    async def close(self) -> None:
        """Release them."""
