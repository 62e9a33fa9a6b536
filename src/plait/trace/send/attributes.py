"""Spans to those that may go out: with or without what was said, and none of it too long."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from plait.conversation.usage import Tokens
from plait.redact.tree import Tree
from plait.trace.model import Content, Convention, Span, SpanKind
from plait.trace.spans.builder import known

TELLING = frozenset({"command", "description", "name"})
"""What metadata says in people's own words."""
SHORT = 200
"""Texts up to here are left whole where others are cut."""
NUL, NO_CHARACTER = "\0", "�"


def outgoing(spans: Iterable[Span], options: Content) -> Iterator[Span]:
    """Yields spans as they may go out. Secrets are gone already: records were redacted."""
    for span in spans:
        yield _within_limit(span, options) if options.has_content else _without_content(span)


def _without_content(span: Span) -> Span:
    return replace(
        span,
        input=None,
        output=None,
        thinking=None,
        status="" if span.level == "DEFAULT" else span.level.lower(),
        metadata={name: value for name, value in span.metadata.items() if name not in TELLING},
    )


def _within_limit(span: Span, options: Content) -> Span:
    limit = options.limit
    thinking = span.thinking if options.has_thinking else None
    return replace(
        span,
        input=shortened(span.input, limit),
        output=shortened(span.output, limit),
        thinking=cut(thinking, limit) if thinking else None,
        metadata={name: shortened(value, limit) for name, value in span.metadata.items()},
    )


def shortened(value: Any, limit: int) -> Any:
    """Returns a value whose JSON is not much longer than the limit.

    Long texts in it are cut; a value that is still too long, of many short parts, becomes the
    beginning of its JSON.
    """
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return cut(value, limit)
    if len(as_json(value)) <= limit:
        return value
    tree = Tree(value)
    long = [n for n, leaf in enumerate(tree.leaves) if len(leaf.text) > SHORT and not leaf.is_key]
    each = max(limit // (len(long) + 1), SHORT)
    changed = {n: cut(tree.leaves[n].text, each) for n in long}
    less = tree.changed(changed) if changed else value
    written = as_json(less)
    return less if len(written) <= limit else cut(written, limit)


def cut(text: str, limit: int) -> str:
    """Returns a text, or its beginning and how much is left out."""
    return text if len(text) <= limit else f"{text[:limit]}… (cut, {len(text) - limit} more)"


def as_json(value: Any) -> str:
    """Returns a value as JSON; a lone surrogate of the log stands as its escape."""
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(value, enc_hook=str))


def as_text(value: Any) -> str:
    """Returns a value as an attribute can hold it: words as they are, anything else as JSON."""
    text = value if isinstance(value, str) else as_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.replace(NUL, NO_CHARACTER)


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


def attributes_of(span: Span, convention: Convention) -> dict[str, Any]:
    """Returns the attributes of a span: what everybody reads, and what each convention adds."""
    found = _own_attributes(span)
    if convention != "genai":
        found |= _langfuse_attributes(span)
    if convention != "langfuse":
        found |= _genai_attributes(span)
    return known(found)


def _own_attributes(span: Span) -> dict[str, Any]:
    return {
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


def _genai_attributes(span: Span) -> dict[str, Any]:
    return {
        "gen_ai.conversation.id": span.session,
        "gen_ai.operation.name": OPERATIONS.get(span.kind),
        **_of_kind(span),
        "error.type": f"{span.kind}_error" if span.level == "ERROR" else None,
    }


def _of_kind(span: Span) -> dict[str, Any]:
    match span.kind:
        case "turn" | "agent":
            return _of_agent(span)
        case "generation":
            return _of_generation(span)
        case "tool":
            return _of_tool(span)
        case "workflow":
            return {"gen_ai.workflow.name": as_text(span.name)}
        case _:
            return {"openinference.span.kind": "CHAIN", **_plain_values(span)}


def _of_agent(span: Span) -> dict[str, Any]:
    return {
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": PRODUCT if span.kind == "turn" else as_text(span.name),
        **_genai_messages(span),
        **_plain_values(span),
        "gen_ai.agent.id": span.metadata.get("agent_id") or None,
    }


def _of_generation(span: Span) -> dict[str, Any]:
    return {
        "gen_ai.provider.name": PROVIDER,
        **_genai_messages(span),
        "output.value": _as_words(span.output),
        "gen_ai.request.model": span.model or None,
        "gen_ai.response.model": span.model or None,
        "gen_ai.response.id": span.response or None,
        "gen_ai.response.finish_reasons": (span.stop_reason,) if span.stop_reason else None,
        **(_genai_usage(span.tokens) if span.tokens else {}),
    }


def _genai_usage(tokens: Tokens) -> dict[str, int]:
    return {
        "gen_ai.usage.input_tokens": tokens.total_input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
    }


def _of_tool(span: Span) -> dict[str, Any]:
    call = span.metadata.get("tool_id")
    return {
        "gen_ai.tool.name": as_text(span.name),
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": as_text(call) if call else None,
        "gen_ai.tool.call.arguments": None if span.input is None else as_text(span.input),
        "gen_ai.tool.call.result": None if span.output is None else as_text(span.output),
    }


def _plain_values(span: Span) -> dict[str, Any]:
    return {"input.value": _as_words(span.input), "output.value": _as_words(span.output)}


def _as_words(value: Any) -> str | None:
    """Returns the words of a message, anything else as it is; None for nothing."""
    return None if value is None else as_text(value["content"] if _is_message(value) else value)


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
    role, text = said["role"] if _is_message(said) else "user", _as_words(said)
    thought = [{"type": "reasoning", "content": thinking}] if thinking else []
    words = [{"type": "text", "content": text}] if text or not thought else []
    return {"role": role, "parts": [*thought, *words]}


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
    tokens, cost = span.tokens, span.cost
    return {
        f"{OBSERVATION}.model.name": span.model or None,
        f"{OBSERVATION}.usage_details": None if tokens is None else as_json(langfuse_usage(tokens)),
        f"{OBSERVATION}.cost_details": None if cost is None else as_json({"total": cost}),
    }


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
