"""The `message` of a record: typed blocks, usage and text.

Blocks of unknown kinds, and known ones of an unexpected form, stay as they were in `UnknownBlock`;
fields beyond the typed ones stay in the record's `fields`.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from plait.record.codec import convert_leniently, convert_or_none

NO_RESPONSE = "No response requested."
"""What the client writes in place of an answer that is no longer awaited."""


class Text(Struct, frozen=True, tag="text"):
    """Text of the user or the model."""

    text: str
    citations: list[Any] | None = None


class Thinking(Struct, frozen=True, tag="thinking"):
    """The model's thinking; newer versions often log only the signature."""

    thinking: str
    signature: str | None = None


class RedactedThinking(Struct, frozen=True, tag="redacted_thinking"):
    """Thinking that the API returned encrypted."""

    data: str


class ToolUse(Struct, frozen=True, tag="tool_use"):
    """A tool call."""

    id: str
    name: str
    input: Any = None
    caller: Any = None


class ServerToolUse(Struct, frozen=True, tag="server_tool_use"):
    """A call of a tool that ran on the provider's side."""

    id: str
    name: str
    input: Any = None


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """The result of a call: a string, or blocks."""

    tool_use_id: str
    content: Any = None
    is_error: bool | None = None


class ToolReference(Struct, frozen=True, tag="tool_reference"):
    """A tool that a tool search found."""

    tool_name: str


class Image(Struct, frozen=True, tag="image"):
    """An image, usually as base64 data."""

    source: dict[str, Any]


class Document(Struct, frozen=True, tag="document"):
    """A file sent to the model."""

    source: dict[str, Any]
    title: str | None = None


class Fallback(Struct, frozen=True, rename={"from_": "from"}, tag="fallback"):
    """The change to another model in mid-response."""

    from_: dict[str, Any]
    to: dict[str, Any]


class AdvisorToolResult(Struct, frozen=True, tag="advisor_tool_result"):
    """The answer of a model that was asked for advice."""

    tool_use_id: str
    content: Any = None


class UnknownBlock(Struct, frozen=True):
    """A block of an unknown type, or of a form that does not fit its type."""

    type: str | None
    value: Any


KnownBlock: TypeAlias = (
    Text
    | Thinking
    | RedactedThinking
    | ToolUse
    | ServerToolUse
    | ToolResult
    | ToolReference
    | Image
    | Document
    | Fallback
    | AdvisorToolResult
)
Block: TypeAlias = KnownBlock | UnknownBlock

BLOCKS: dict[str, type[Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(KnownBlock)
}


class CacheCreation(Struct, frozen=True):
    """Tokens written to the cache, by lifetime."""

    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class ServerTools(Struct, frozen=True):
    """Uses of the provider's own tools."""

    web_search_requests: int = 0
    web_fetch_requests: int = 0


class Usage(Struct, frozen=True):
    """The token usage of a response, as its line says."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerTools | None = None
    output_tokens_details: Any = None
    service_tier: str | None = None
    inference_geo: str | None = None
    speed: str | None = None
    iterations: Any = None
    fallback_credit: Any = None

    @property
    def in_context(self) -> int:
        """The tokens in the context after the response, including it."""
        cached = self.cache_creation_input_tokens + self.cache_read_input_tokens
        return self.input_tokens + cached + self.output_tokens


class MessageFacts(Struct, frozen=True):
    """What a message says about itself."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None
    diagnostics: Any = None
    container: Any = None
    context_management: Any = None


class Message(MessageFacts, frozen=True):
    """An API message with its blocks; a string as content is one text block."""

    content: tuple[Block, ...] = ()
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """The text of its text blocks, separated by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))


class WireMessage(MessageFacts, frozen=True):
    """A message of the expected form, decoded directly from a line."""

    content: str | tuple[KnownBlock, ...] | UnsetType | None = UNSET
    usage: Usage | None = None


class WireLine(Struct, frozen=True, rename="camel"):
    """A line with a message of the expected form, and what is read with it."""

    message: WireMessage
    tool_use_result: Any = None
    effort: Any = None
    cost_usd: Any = msgspec.field(default=None, name="costUSD")
    tool_denial_kind: Any = None


class MessageLine(Struct, frozen=True):
    """A message with what the client wrote around it."""

    message: Message
    tool_use_result: Any
    effort: str | None
    cost_usd: float | None
    tool_denial_kind: str | None = None


_line = msgspec.json.Decoder(WireLine).decode


def decode_message_line(raw: bytes) -> MessageLine | None:
    """Return the message of a line in one typed pass; None if it has another form."""
    try:
        line = _line(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    wire = line.message
    if isinstance(wire.content, UnsetType):
        return None
    content = (Text(wire.content),) if isinstance(wire.content, str) else wire.content or ()
    effort, cost, denial = line.effort, line.cost_usd, line.tool_denial_kind
    return MessageLine(
        Message(*(*_facts(wire), content, wire.usage)),
        line.tool_use_result,
        effort if isinstance(effort, str) else None,
        cost if isinstance(cost, float | int) else None,
        denial if isinstance(denial, str) else None,
    )


_facts = attrgetter(*MessageFacts.__struct_fields__)


def make_message(value: Mapping[str, Any]) -> Message:
    """Return the typed message; what does not fit is left out."""
    facts = convert_leniently(value, MessageFacts)
    usage = value.get("usage")
    return Message(
        **asdict(facts),
        content=make_blocks(value.get("content")),
        usage=convert_leniently(usage, Usage) if isinstance(usage, Mapping) else None,
    )


def make_blocks(content: object) -> tuple[Block, ...]:
    """Return the blocks of a message or of a tool result."""
    match content:
        case None:
            return ()
        case str():
            return (Text(content),)
        case Sequence():
            return tuple(_make_block(block) for block in content)
        case _:
            return (UnknownBlock(None, content),)


def _make_block(value: object) -> Block:
    if isinstance(value, str):
        return Text(value)
    kind = value.get("type") if isinstance(value, Mapping) else None
    known = BLOCKS.get(kind) if isinstance(kind, str) else None
    block = convert_or_none(value, known) if known else None
    return block or UnknownBlock(kind if isinstance(kind, str) else None, value)  # type: ignore[return-value]
