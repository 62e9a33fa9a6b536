"""Spans to attributes: what everybody reads, what Langfuse reads, what OpenTelemetry agreed on.

In OpenTelemetry's conventions for generative AI input tokens include the cached ones, unlike in
the log. What was asked and answered stands once more under `input.value` and `output.value`,
where many readers look for what to show in a list; so does what those conventions have no place
for: hooks, compactions, events.
"""

from typing import Any

from plait.conversation.tokens import Tokens
from plait.trace.model import Convention, Span, SpanKind
from plait.trace.send.content import as_json, as_text

PROVIDER, PRODUCT = "anthropic", "Claude Code"
OPERATIONS: dict[SpanKind, str] = {
    "turn": "invoke_agent",
    "agent": "invoke_agent",
    "generation": "chat",
    "tool": "execute_tool",
    "workflow": "invoke_workflow",
}
REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_call",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def _genai_attributes(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {"gen_ai.conversation.id": span.session}
    if span.kind in OPERATIONS:
        found["gen_ai.operation.name"] = OPERATIONS[span.kind]
    match span.kind:
        case "turn" | "agent":
            found |= _of_agent(span)
        case "generation":
            found |= _of_generation(span)
        case "tool":
            found |= _of_tool(span)
        case "workflow":
            found["gen_ai.workflow.name"] = as_text(span.name)
        case _:
            found |= _of_other(span)
    if span.level == "ERROR":
        found["error.type"] = f"{span.kind}_error"
    return found


def _of_agent(span: Span) -> dict[str, Any]:
    found = {
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": PRODUCT if span.kind == "turn" else as_text(span.name),
        **_genai_messages(span),
        **_plain_values(span),
    }
    if agent := span.metadata.get("agent_id"):
        found["gen_ai.agent.id"] = agent
    return found


def _of_generation(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {"gen_ai.provider.name": PROVIDER, **_genai_messages(span)}
    if span.output is not None:
        found["output.value"] = as_text(_words_of(span.output))
    if span.model:
        found["gen_ai.request.model"] = found["gen_ai.response.model"] = span.model
    if span.response:
        found["gen_ai.response.id"] = span.response
    if span.stop_reason:
        found["gen_ai.response.finish_reasons"] = (span.stop_reason,)
    return found | _genai_usage(span.tokens) if span.tokens else found


def _genai_usage(tokens: Tokens) -> dict[str, int]:
    return {
        "gen_ai.usage.input_tokens": tokens.total_input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
    }


def _of_tool(span: Span) -> dict[str, Any]:
    found = {"gen_ai.tool.name": as_text(span.name), "gen_ai.tool.type": "function"}
    if call := span.metadata.get("tool_id"):
        found["gen_ai.tool.call.id"] = as_text(call)
    if span.input is not None:
        found["gen_ai.tool.call.arguments"] = as_text(span.input)
    if span.output is not None:
        found["gen_ai.tool.call.result"] = as_text(span.output)
    return found


def _of_other(span: Span) -> dict[str, Any]:
    return {"openinference.span.kind": "CHAIN", **_plain_values(span)}


def _plain_values(span: Span) -> dict[str, Any]:
    both = (("input.value", span.input), ("output.value", span.output))
    return {name: as_text(_words_of(value)) for name, value in both if value is not None}


def _words_of(value: Any) -> Any:
    return value["content"] if _is_message(value) else value


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and isinstance(value.get("content"), str)


def _genai_messages(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if span.input is not None:
        found["gen_ai.input.messages"] = as_json([message(span.input)])
    if span.output is not None or span.thinking:
        answer = message(span.output or {"role": "assistant", "content": ""}, span.thinking)
        reason = REASONS.get(span.stop_reason or "", span.stop_reason or "stop")
        found["gen_ai.output.messages"] = as_json([{**answer, "finish_reason": reason}])
    return found


def message(said: Any, thinking: str | None = None) -> dict[str, Any]:
    """Returns a message in parts; what was cut to a text is one part."""
    role, text = said["role"] if _is_message(said) else "user", as_text(_words_of(said))
    thought = [{"type": "reasoning", "content": thinking}] if thinking else []
    words = [{"type": "text", "content": text}] if text or not thought else []
    return {"role": role, "parts": [*thought, *words]}


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


def _langfuse_attributes(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{OBSERVATION}.type": TYPES[span.kind],
        f"{OBSERVATION}.level": span.level,
    }
    if span.status:
        found[f"{OBSERVATION}.status_message"] = as_text(span.status)
    found |= _observed(OBSERVATION, span)
    if span.kind == "generation":
        found |= _model_usage(span)
    if span.parent is None:
        found |= _of_trace(span)
    elif span.is_abandoned:
        found[f"{OBSERVATION}.metadata.is_abandoned"] = True
    return found


def _observed(prefix: str, span: Span) -> dict[str, Any]:
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


def _model_usage(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if span.model:
        found[f"{OBSERVATION}.model.name"] = span.model
    if span.tokens is not None:
        found[f"{OBSERVATION}.usage_details"] = as_json(langfuse_usage(span.tokens))
    if span.cost is not None:
        found[f"{OBSERVATION}.cost_details"] = as_json({"total": span.cost})
    return found


def langfuse_usage(tokens: Tokens) -> dict[str, int]:
    """Returns tokens by kind; what was cached is counted apart, and the total has all."""
    found = {"input": tokens.input, "output": tokens.output, "total": tokens.total}
    if tokens.cache_read:
        found["cache_read_input_tokens"] = tokens.cache_read
    if tokens.cache_write:
        found["cache_creation_input_tokens"] = tokens.cache_write
    return found


def _of_trace(span: Span) -> dict[str, Any]:
    found = {f"{TRACE}.name": as_text(span.name), **_observed(TRACE, span)}
    if span.is_abandoned:
        found[f"{TRACE}.tags"] = (ABANDONED,)
    return found


def attributes_of(span: Span, convention: Convention) -> dict[str, Any]:
    """Returns the attributes of a span: what everybody reads, and what each convention adds."""
    found = _own_attributes(span)
    if convention != "genai":
        found |= _langfuse_attributes(span)
    if convention != "langfuse":
        found |= _genai_attributes(span)
    return found


def _own_attributes(span: Span) -> dict[str, Any]:
    facts: dict[str, Any] = {
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
    return {name: value for name, value in facts.items() if value is not None}
