"""Spans to attributes, by the conventions that were chosen."""

from typing import Any

from plait.trace.genai import genai_attributes
from plait.trace.langfuse import langfuse_attributes
from plait.trace.model import Convention, Span


def attributes_of(span: Span, convention: Convention) -> dict[str, Any]:
    """Returns the attributes of a span: what everybody reads, and what each convention adds."""
    found = own_attributes(span)
    if convention != "genai":
        found |= langfuse_attributes(span)
    if convention != "langfuse":
        found |= genai_attributes(span)
    return found


def own_attributes(span: Span) -> dict[str, Any]:
    """Returns the session, and what Plait knows that no convention has a name for."""
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
