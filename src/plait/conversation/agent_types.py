"""Conversations to the types of their agents, as the calls say that sent them out."""

from plait.conversation.model import Called, Conversations
from plait.conversation.tools import tool_named
from plait.conversation.walk import calls_of
from plait.record.codec import mapping, said

AGENTS = frozenset({"agent", "service"})
UNKNOWN = "unknown"


def agent_types(conversations: Conversations) -> dict[str, str]:
    """Returns the type of each agent by its line; "unknown" where no call names it."""
    known = {
        name: _agent_type(call)
        for conversation in conversations.by_line.values()
        for _, call in calls_of(conversation)
        for name in call.agents
    }
    return {
        one.id: one.kind if one.kind == "service" else known.get(one.id, UNKNOWN)
        for one in conversations.by_line.values()
        if one.kind in AGENTS
    }


def _agent_type(called: Called) -> str:
    view = mapping(called.result.detail if called.result else None)
    asked = said(mapping(called.input), "subagent_type") or said(view, "agentType")
    return asked or tool_named(called.name).agent or called.name
