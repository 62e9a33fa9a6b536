"""Spans to the attributes that Langfuse reads, by its own names."""

from typing import Any

from plait.conversation.tokens import Tokens
from plait.trace.content import as_json, as_text
from plait.trace.model import Span, SpanKind

TYPES: dict[SpanKind, str] = {
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


def langfuse_attributes(span: Span) -> dict[str, Any]:
    """Returns what Langfuse shows of a span; the root speaks for its trace too."""
    found: dict[str, Any] = {
        f"{OBSERVATION}.type": TYPES[span.kind],
        f"{OBSERVATION}.level": span.level,
    }
    if span.status:
        found[f"{OBSERVATION}.status_message"] = as_text(span.status)
    found |= said(OBSERVATION, span)
    if span.kind == "generation":
        found |= spent(span)
    if span.parent is None:
        found |= of_trace(span)
    elif span.is_abandoned:
        found[f"{OBSERVATION}.metadata.is_abandoned"] = True
    return found


def said(prefix: str, span: Span) -> dict[str, Any]:
    """Returns input, output and metadata under a prefix."""
    found: dict[str, Any] = {
        f"{prefix}.{name}": as_text(value)
        for name, value in (("input", span.input), ("output", span.output))
        if value is not None
    }
    for name, value in span.metadata.items():
        found[f"{prefix}.metadata.{name}"] = value if isinstance(value, int) else as_text(value)
    if span.thinking:
        found[f"{prefix}.metadata.thinking"] = as_text(span.thinking)
    return found


def spent(span: Span) -> dict[str, Any]:
    """Returns the model, the tokens and the cost of a response."""
    found: dict[str, Any] = {}
    if span.model:
        found[f"{OBSERVATION}.model.name"] = span.model
    if span.tokens is not None:
        found[f"{OBSERVATION}.usage_details"] = as_json(usage_of(span.tokens))
    if span.cost is not None:
        found[f"{OBSERVATION}.cost_details"] = as_json({"total": span.cost})
    return found


def usage_of(tokens: Tokens) -> dict[str, int]:
    """Returns tokens by kind; what was cached is counted apart, and the total has all."""
    found = {"input": tokens.input, "output": tokens.output, "total": tokens.total}
    if tokens.cache_read:
        found["cache_read_input_tokens"] = tokens.cache_read
    if tokens.cache_write:
        found["cache_creation_input_tokens"] = tokens.cache_write
    return found


def of_trace(span: Span) -> dict[str, Any]:
    """Returns what Langfuse shows of the whole trace."""
    found = {f"{TRACE}.name": as_text(span.name), **said(TRACE, span)}
    if span.is_abandoned:
        found[f"{TRACE}.tags"] = (ABANDONED,)
    return found
