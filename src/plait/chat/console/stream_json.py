"""The `stream-json` format: parsing prompts and translating log lines."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import msgspec

from plait.chat.streaming import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    DeltaKind,
    Model,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from plait.chat.streaming import Request as Asked
from plait.errors import UserError
from plait.record.codec import get_text
from plait.write.lines import Content


class InputPrompt(NamedTuple):
    """A prompt of a program."""

    content: Content
    uuid: str | None = None
    """The id that its message shall have; one is made up where none is said."""


async def single_prompt(content: str) -> AsyncIterator[InputPrompt]:
    """Yield a single prompt."""
    yield InputPrompt(content)


def parse_object(line: str, number: int) -> Mapping[str, Any]:
    """Return the object of a line; says what is wrong with one that is none."""
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UserError(f"line {number} of the input is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(f"line {number} of the input is not an object")
    return value


def parse_prompt(value: Mapping[str, Any], number: int) -> InputPrompt:
    """Return the prompt of an object; says what is wrong with it."""
    content = _get_content(value.get("message"))
    if content is None:
        form = '{"type":"user","message":{"role":"user","content":"words"}}'
        raise UserError(f"line {number} of the input has no text", f"it looks like {form}")
    return InputPrompt(content, _parse_uuid(get_text(value, "uuid")))


def _parse_uuid(text: str | None) -> str | None:
    try:
        return str(UUID(text)) if text else None
    except ValueError:
        return None


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


Json: TypeAlias = dict[str, Any]
SYNTHETIC = "<synthetic>"
COMPACT_FIELDS = {
    "trigger": "trigger",
    "preTokens": "pre_tokens",
    "postTokens": "post_tokens",
    "cumulativeDroppedTokens": "cumulative_dropped_tokens",
    "durationMs": "duration_ms",
}
INTERRUPTED = "[Request interrupted by user"
STDOUT_TAGS = ("<local-command-stdout>", "</local-command-stdout>")


def build_init_message(
    *,
    session: str,
    uuid: str,
    cwd: str,
    model: str,
    version: str,
    permission_mode: str,
    tools: Sequence[str],
    commands: Sequence[str],
    key_from: str | None,
    others: Sequence[str] = (),
) -> Json:
    """Return the object that every turn begins with."""
    return {
        "type": "system",
        "subtype": "init",
        "cwd": cwd,
        "session_id": session,
        "tools": list(tools),
        "mcp_servers": [],
        "model": model,
        "permissionMode": permission_mode,
        "slash_commands": list(commands),
        "apiKeySource": key_from or "none",
        "claude_code_version": version,
        "output_style": "default",
        "agents": [],
        "skills": [],
        "plugins": [],
        "uuid": uuid,
        "original_cwd": cwd,
        "additional_directories": list(others),
    }


@dataclass
class LogTranslator:
    """Tells each message of the log as soon as it is there."""

    uuid: Callable[[], str]
    replays_prompts: bool = False
    """Whether prompts are told back to whoever sent them."""
    _tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call."""

    def translate(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yield what is told of a line; of most kinds nothing."""
        match line.get("type"):
            case "assistant" if line.get("madeBy") != "other":  # made up for a turn long over
                message = line["message"]
                for block in message["content"]:
                    if block.get("type") == "tool_use":
                        self._tools[block["id"]] = block["name"]
                fields = {**message, "context_management": None}
                if message["model"] != SYNTHETIC:  # blocks are told before the message ends
                    fields |= {"stop_reason": None, "stop_sequence": None}
                    fields.pop("stop_details", None)
                yield (_build_message(line, fields) | _api_error_fields(line))
            case "user" if not line.get("isMeta"):
                yield from self._translate_user(line)
            case "system" if line.get("subtype") == "compact_boundary":
                yield self._translate_boundary(line)
            case "system" if line.get("subtype") == "local_command":
                yield from self._translate_command(line)
            case _:
                pass

    def _translate_command(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yield what a command printed, as if it were an answer."""
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
        results = [
            item
            for item in content
            if (isinstance(item, dict) and item.get("type") == "tool_result")
        ]
        if not results:
            if line.get("isCompactSummary"):
                yield _build_message(line, line["message"]) | {
                    "isReplay": False,
                    "isSynthetic": True,
                }
            elif _is_interruption(content):
                yield _build_message(line, line["message"])
            elif self.replays_prompts or str(content).startswith(STDOUT_TAGS[0]):
                yield _build_message(line, line["message"]) | {"isReplay": True}
            return
        denial = line.get("toolDenialKind")
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
            "tool_result_meta": [_result_meta(line, item["tool_use_id"]) for item in results],
        }

    def _translate_boundary(self, line: Mapping[str, Any]) -> Json:
        metadata = line.get("compactMetadata", {})
        return {
            "type": "system",
            "subtype": "compact_boundary",
            "session_id": line["sessionId"],
            "uuid": line["uuid"],
            "compact_metadata": {
                name: metadata[wire] for wire, name in COMPACT_FIELDS.items() if wire in metadata
            },
            "logical_parent_uuid": line.get("logicalParentUuid"),
        }


def _is_interruption(content: object) -> bool:
    """Return whether a message says that the turn was stopped."""
    first = content[0] if isinstance(content, list) and content else {}
    return isinstance(first, Mapping) and str(first.get("text", "")).startswith(INTERRUPTED)


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


def _api_error_fields(line: Mapping[str, Any]) -> Json:
    if not line.get("isApiErrorMessage"):
        return {}
    names = {
        "error": "error",
        "apiErrorStatus": "api_error_status",
        "apiErrorType": "api_error_type",
    }
    fields = {name: line[wire] for wire, name in names.items() if wire in line}
    return {**fields, "is_api_error_message": True}


def _result_meta(line: Mapping[str, Any], call: str) -> Json:
    meta: Json = {"id": call}
    if denial := line.get("toolDenialKind"):
        meta["non_execution_kind"] = denial
    if decision := line.get("permissionDecision"):
        names = {"reasonType": "reason_type"}
        meta["permission_decision"] = {names.get(name, name): x for name, x in decision.items()}
    return meta


DELTA_TYPES: dict[DeltaKind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
    "input": ("input_json_delta", "partial_json"),
}
EMPTY_FIELDS = {"text": "", "thinking": "", "signature": "", "input": {}}


@dataclass
class TappedModel:
    """A model whose answers are told on, piece by piece."""

    model: Model
    on_event: Callable[[Json], None]

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    @name.setter
    def name(self, value: str) -> None:
        self.model.name = value

    async def stream(self, request: Asked) -> AsyncGenerator[StreamEvent, None]:
        """Answer a request; a block is told to be over once its line is written."""
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
        """Let go of what the model holds."""
        close = getattr(self.model, "close", None)
        if close:
            await close()


def to_api_events(piece: StreamEvent) -> list[Json]:
    """Return a piece as the API sends it."""
    match piece:
        case ResponseStarted():
            return [{"type": "message_start", "message": _build_message_start(piece)}]
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


def _build_message_start(piece: ResponseStarted) -> Json:
    return {
        "id": piece.message,
        "type": "message",
        "role": "assistant",
        "model": piece.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": dict(piece.usage),
    }
