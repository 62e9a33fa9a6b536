"""Spans to the attributes of OpenTelemetry's conventions for generative AI.

Input tokens include the cached ones there, unlike in the log. What was asked and answered stands
once more under `input.value` and `output.value`, where many readers look for what to show in a
list; so does what those conventions have no place for: hooks, compactions, events.
"""

from typing import Any

from plait.conversation.tokens import Tokens
from plait.trace.content import as_json, as_text
from plait.trace.model import Span, SpanKind

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


def genai_attributes(span: Span) -> dict[str, Any]:
    """Returns what the conventions for generative AI say of a span."""
    found: dict[str, Any] = {"gen_ai.conversation.id": span.session}
    if span.kind in OPERATIONS:
        found["gen_ai.operation.name"] = OPERATIONS[span.kind]
    match span.kind:
        case "turn" | "agent":
            found |= of_agent(span)
        case "generation":
            found |= of_generation(span)
        case "tool":
            found |= of_tool(span)
        case "workflow":
            found["gen_ai.workflow.name"] = as_text(span.name)
        case _:
            found |= of_other(span)
    if span.level == "ERROR":
        found["error.type"] = f"{span.kind}_error"
    return found


def of_agent(span: Span) -> dict[str, Any]:
    """Returns who was asked what, and the last answer."""
    found = {
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": PRODUCT if span.kind == "turn" else as_text(span.name),
        **messages(span),
        **values(span),
    }
    if agent := span.metadata.get("agent_id"):
        found["gen_ai.agent.id"] = agent
    return found


def of_generation(span: Span) -> dict[str, Any]:
    """Returns the model, what it said, why it stopped and what it took."""
    found: dict[str, Any] = {"gen_ai.provider.name": PROVIDER, **messages(span)}
    if span.output is not None:
        found["output.value"] = as_text(words_of(span.output))
    if span.model:
        found["gen_ai.request.model"] = found["gen_ai.response.model"] = span.model
    if span.response:
        found["gen_ai.response.id"] = span.response
    if span.stop_reason:
        found["gen_ai.response.finish_reasons"] = (span.stop_reason,)
    return found | usage_of(span.tokens) if span.tokens else found


def usage_of(tokens: Tokens) -> dict[str, int]:
    """Returns tokens by kind; what was written to the cache has an older and a newer name."""
    return {
        "gen_ai.usage.input_tokens": tokens.total_input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
    }


def of_tool(span: Span) -> dict[str, Any]:
    """Returns the call of a tool."""
    found = {"gen_ai.tool.name": as_text(span.name), "gen_ai.tool.type": "function"}
    if call := span.metadata.get("tool_id"):
        found["gen_ai.tool.call.id"] = as_text(call)
    if span.input is not None:
        found["gen_ai.tool.call.arguments"] = as_text(span.input)
    if span.output is not None:
        found["gen_ai.tool.call.result"] = as_text(span.output)
    return found


def of_other(span: Span) -> dict[str, Any]:
    """Returns what went in and came out of something that no model did."""
    return {"openinference.span.kind": "CHAIN", **values(span)}


def values(span: Span) -> dict[str, Any]:
    """Returns what went in and came out, a message by its words alone."""
    both = (("input.value", span.input), ("output.value", span.output))
    return {name: as_text(words_of(value)) for name, value in both if value is not None}


def words_of(value: Any) -> Any:
    """Returns the words of a message, anything else as it is."""
    return value["content"] if is_message(value) else value


def is_message(value: Any) -> bool:
    """Tells a message from other values."""
    return isinstance(value, dict) and "role" in value and isinstance(value.get("content"), str)


def messages(span: Span) -> dict[str, Any]:
    """Returns the messages that went in and came out."""
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
    role, text = said["role"] if is_message(said) else "user", as_text(words_of(said))
    thought = [{"type": "reasoning", "content": thinking}] if thinking else []
    words = [{"type": "text", "content": text}] if text or not thought else []
    return {"role": role, "parts": [*thought, *words]}
