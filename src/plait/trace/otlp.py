"""OTLP: attributes of spans by the conventions of Langfuse and OpenTelemetry, requests, files.

The OpenTelemetry SDK is imported here and nowhere above, when the first span is encoded. The JSON
is protobuf's with two differences that OTLP prescribes: ids are hexadecimal instead of base64, and
kinds are numbers instead of names. A `.json` file holds one request, a `.jsonl` file one per line.
"""

import json
import os
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from plait.conversation.usage import Tokens
from plait.errors import MissingExtra, UserError
from plait.line.output import make_write_error
from plait.record.codec import drop_none
from plait.redact.texts import Tree
from plait.trace.model import Content, Convention, Span, SpanKind
from plait.trace.spans import resolve_times

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace import ReadableSpan

# What may be sent

CONTENT_METADATA = frozenset({"command", "description", "name"})
"""Metadata in people's own words."""
SHORT_TEXT = 200
"""Texts up to this length are never cut inside a larger value."""
NUL, REPLACEMENT = "\0", "�"


def prepare_spans(spans: Iterable[Span], options: Content) -> Iterator[Span]:
    """Yield spans as they may be sent; records were redacted before."""
    for span in spans:
        if options.has_content:
            limit = options.limit
            thinking = span.thinking if options.has_thinking else None
            yield replace(
                span,
                input=shorten(span.input, limit),
                output=shorten(span.output, limit),
                thinking=truncate(thinking, limit) if thinking else None,
                metadata={name: shorten(value, limit) for name, value in span.metadata.items()},
            )
        else:
            metadata = {
                name: value for name, value in span.metadata.items() if name not in CONTENT_METADATA
            }
            status = "" if span.level == "DEFAULT" else span.level.lower()
            yield replace(
                span, input=None, output=None, thinking=None, status=status, metadata=metadata
            )


def shorten(value: Any, limit: int) -> Any:
    """Return a value whose JSON is not much longer than a limit.

    Long texts in it are cut; a value of many short parts that is still too long becomes the
    beginning of its JSON.
    """
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return truncate(value, limit)
    if len(encode_json(value)) <= limit:
        return value
    tree = Tree(value)
    long_leaves = {
        number: leaf.text
        for number, leaf in enumerate(tree.leaves)
        if len(leaf.text) > SHORT_TEXT and not leaf.is_key
    }
    share = max(limit // (len(long_leaves) + 1), SHORT_TEXT)
    changed = {number: truncate(text, share) for number, text in long_leaves.items()}
    shortened = tree.replace(changed) if changed else value
    text = encode_json(shortened)
    return shortened if len(text) <= limit else truncate(text, limit)


def truncate(text: str, limit: int) -> str:
    """Return a text, or its beginning and how much is left out."""
    return text if len(text) <= limit else f"{text[:limit]}… (cut, {len(text) - limit} more)"


def encode_json(value: Any) -> str:
    """Return a value as JSON; a lone surrogate of the log becomes an escape."""
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, enc_hook=str))


def encode_text(value: Any) -> str:
    """Return a value as an attribute can hold it: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else encode_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.replace(NUL, REPLACEMENT)


# Attributes

PROVIDER, PRODUCT = "anthropic", "Claude Code"
OPERATIONS: dict[SpanKind, str] = {
    "turn": "invoke_agent",
    "agent": "invoke_agent",
    "generation": "chat",
    "tool": "execute_tool",
    "workflow": "invoke_workflow",
}
FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_call",
    "max_tokens": "length",
    "refusal": "content_filter",
}
OBSERVATION_TYPES: dict[SpanKind, str] = {
    "turn": "agent",
    "agent": "agent",
    "generation": "generation",
    "tool": "tool",
    "compaction": "span",
    "workflow": "chain",
    "hook": "span",
    "event": "event",
}
OBSERVATION, TRACE = "langfuse.observation", "langfuse.trace"
ABANDONED = "abandoned"


def build_attributes(span: Span, convention: Convention) -> dict[str, Any]:
    """Return the attributes of a span: Plait's own, and those of the conventions."""
    attributes = {
        "session.id": span.session,
        "plait.kind": span.kind,
        "plait.turn": span.turn,
        "plait.conversation": span.conversation,
        "plait.project": span.project or None,
        "plait.record": span.record,
        "plait.cost_usd": span.cost,
        "plait.is_abandoned": span.is_abandoned or None,
        "plait.level": span.level if span.level != "DEFAULT" else None,
    }
    if convention != "genai":
        attributes |= _build_langfuse_attributes(span)
    if convention != "langfuse":
        attributes |= {
            "gen_ai.conversation.id": span.session,
            "gen_ai.operation.name": OPERATIONS.get(span.kind),
            **_build_genai_attributes(span),
            "error.type": f"{span.kind}_error" if span.level == "ERROR" else None,
        }
    return drop_none(attributes)


def _build_genai_attributes(span: Span) -> dict[str, Any]:
    """Return the attributes of OpenTelemetry's GenAI convention for a kind of span."""
    plain_values = {
        "input.value": _encode_message(span.input),
        "output.value": _encode_message(span.output),
    }
    match span.kind:
        case "turn" | "agent":
            return {
                "gen_ai.provider.name": PROVIDER,
                "gen_ai.agent.name": PRODUCT if span.kind == "turn" else encode_text(span.name),
                **_build_genai_messages(span),
                **plain_values,
                "gen_ai.agent.id": span.metadata.get("agent_id") or None,
            }
        case "generation":
            usage = {}
            if tokens := span.tokens:
                usage = {
                    "gen_ai.usage.input_tokens": tokens.total_input,
                    "gen_ai.usage.output_tokens": tokens.output,
                    "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
                    # The convention renamed this; servers read one name or the other.
                    "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
                    "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
                }
            return {
                "gen_ai.provider.name": PROVIDER,
                **_build_genai_messages(span),
                "output.value": _encode_message(span.output),
                "gen_ai.request.model": span.model or None,
                "gen_ai.response.model": span.model or None,
                "gen_ai.response.id": span.response or None,
                "gen_ai.response.finish_reasons": (span.stop_reason,) if span.stop_reason else None,
                **usage,
            }
        case "tool":
            call = span.metadata.get("tool_id")
            return {
                "gen_ai.tool.name": encode_text(span.name),
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": encode_text(call) if call else None,
                "gen_ai.tool.call.arguments": None
                if span.input is None
                else encode_text(span.input),
                "gen_ai.tool.call.result": None
                if span.output is None
                else encode_text(span.output),
            }
        case "workflow":
            return {"gen_ai.workflow.name": encode_text(span.name)}
        case _:
            return {"openinference.span.kind": "CHAIN", **plain_values}


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and isinstance(value.get("content"), str)


def _encode_message(value: Any) -> str | None:
    """Return the text of a message, anything else encoded; None for nothing."""
    if value is None:
        return None
    return encode_text(value["content"] if _is_message(value) else value)


def _build_genai_messages(span: Span) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if span.input is not None:
        attributes["gen_ai.input.messages"] = encode_json([build_genai_message(span.input)])
    if span.output is not None or span.thinking:
        output = span.output or {"role": "assistant", "content": ""}
        answer = build_genai_message(output, span.thinking)
        reason = FINISH_REASONS.get(span.stop_reason or "", span.stop_reason or "stop")
        messages = [{**answer, "finish_reason": reason}]
        attributes["gen_ai.output.messages"] = encode_json(messages)
    return attributes


def build_genai_message(message: Any, thinking: str | None = None) -> dict[str, Any]:
    """Return a message in parts; a message that was cut to a text is one part."""
    role = message["role"] if _is_message(message) else "user"
    text = _encode_message(message)
    parts = [{"type": "reasoning", "content": thinking}] if thinking else []
    if text or not parts:
        parts.append({"type": "text", "content": text or ""})
    return {"role": role, "parts": parts}


def _build_langfuse_attributes(span: Span) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        f"{OBSERVATION}.type": OBSERVATION_TYPES[span.kind],
        f"{OBSERVATION}.level": span.level,
    }
    if span.status:
        attributes[f"{OBSERVATION}.status_message"] = encode_text(span.status)
    attributes |= _build_langfuse_content(OBSERVATION, span)
    if span.kind == "generation":
        usage = None if span.tokens is None else encode_json(langfuse_usage(span.tokens))
        cost = None if span.cost is None else encode_json({"total": span.cost})
        attributes |= {
            f"{OBSERVATION}.model.name": span.model or None,
            f"{OBSERVATION}.usage_details": usage,
            f"{OBSERVATION}.cost_details": cost,
        }
    if span.parent is None:
        attributes |= {
            f"{TRACE}.name": encode_text(span.name),
            **_build_langfuse_content(TRACE, span),
        }
        if span.is_abandoned:
            attributes[f"{TRACE}.tags"] = (ABANDONED,)
    elif span.is_abandoned:
        attributes[f"{OBSERVATION}.metadata.is_abandoned"] = True
    return attributes


def _build_langfuse_content(prefix: str, span: Span) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        f"{prefix}.{name}": encode_text(value)
        for name, value in (("input", span.input), ("output", span.output))
        if value is not None
    }
    for name, value in span.metadata.items():
        is_number = isinstance(value, int)
        attributes[f"{prefix}.metadata.{name}"] = value if is_number else encode_text(value)
    if span.thinking:
        attributes[f"{prefix}.metadata.thinking"] = encode_text(span.thinking)
    return attributes


def langfuse_usage(tokens: Tokens) -> dict[str, int]:
    """Return tokens by kind; cached ones have kinds of their own, and the total has all."""
    usage = {"input": tokens.input, "output": tokens.output, "total": tokens.total}
    if tokens.cache_read:
        usage["cache_read_input_tokens"] = tokens.cache_read
    if tokens.cache_write:
        usage["cache_creation_input_tokens"] = tokens.cache_write
    return usage


# Requests

SERVICE, SCOPE = "claude-code", "plait"
HEX = 16
IDS = ("traceId", "spanId", "parentSpanId")
JSON_LINES = ".jsonl"


@cache
def find_own_version() -> str | None:
    """Return the version of Plait; None if it runs without having been installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(SCOPE)
    except PackageNotFoundError:
        return None


def sdk_spans(spans: Sequence[Span], *, convention: Convention = "both") -> "list[ReadableSpan]":
    """Return prepared spans as the SDK's exporters take them."""
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    except ImportError as error:
        raise MissingExtra(
            "traces need the OpenTelemetry SDK", "run `pip install 'plait[trace]'`"
        ) from error
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    resource = Resource({"service.name": SERVICE})
    scope = InstrumentationScope(SCOPE, find_own_version())
    unset = trace.Status(trace.StatusCode.UNSET)

    def make_context(trace_id: str, span_id: str) -> trace.SpanContext:
        return trace.SpanContext(int(trace_id, HEX), int(span_id, HEX), False, flags)

    times = resolve_times(spans, otherwise=time.time_ns())
    sdk = []
    for span in spans:
        status = unset
        if span.level == "ERROR":
            status = trace.Status(trace.StatusCode.ERROR, encode_text(span.status) or None)
        sdk.append(
            ReadableSpan(
                encode_text(span.name),
                context=make_context(span.trace, span.id),
                parent=make_context(span.trace, span.parent) if span.parent else None,
                resource=resource,
                attributes=build_attributes(span, convention),
                kind=trace.SpanKind.CLIENT
                if span.kind == "generation"
                else trace.SpanKind.INTERNAL,
                instrumentation_scope=scope,
                status=status,
                start_time=times[span.id][0],
                end_time=times[span.id][1],
            )
        )
    return sdk


def build_request(
    spans: Sequence[Span], *, convention: Convention = "both"
) -> "ExportTraceServiceRequest":
    """Return prepared spans as an OTLP request."""
    sdk = sdk_spans(spans, convention=convention)
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    return encode_spans(sdk)


def request_to_json(request: "ExportTraceServiceRequest") -> dict[str, Any]:
    """Return a request as the JSON of OTLP."""
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    value: dict[str, Any] = MessageToDict(request, use_integers_for_enums=True)
    for span in iter_request_spans(value):
        for holder in (span, *span.get("links", ())):
            for name in IDS:
                if name in holder:
                    holder[name] = b64decode(holder[name]).hex()
    return value


def iter_request_spans(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans of a request in JSON."""
    for resource in request.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def write_spans(path: Path, batches: Iterable[list[Span]], *, convention: Convention) -> int:
    """Write spans to a new file, batch by batch; return how many there were."""
    is_lines = path.suffix == JSON_LINES
    count = 0
    with _open_new_file(path) as file:
        file.write(b"" if is_lines else b'{"resourceSpans":[')
        for number, batch in enumerate(batches):
            request = request_to_json(build_request(batch, convention=convention))
            if is_lines:
                file.write(msgspec.json.encode(request) + b"\n")
            else:
                parts = map(msgspec.json.encode, request["resourceSpans"])
                file.write((b"," if number else b"") + b",".join(parts))
            count += len(batch)
        file.write(b"" if is_lines else b"]}\n")
    return count


@contextmanager
def _open_new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that only its owner can read; delete it if writing fails."""

    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise UserError(f"'{path}' already exists", "choose another name") from None
    except OSError as error:
        raise make_write_error(path, error) from error
    try:
        with file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise
