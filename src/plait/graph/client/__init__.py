"""What Claude Code sends when it resumes a session: the chain it loads, and its messages."""

from plait.graph.client.context import (
    build_chain,
    build_context,
    find_last_answer,
    find_refusal,
    find_resume_point,
    find_resumed_leaf,
    list_contributions,
    resumes_at,
)
from plait.graph.client.entries import Context, LeftOut, Message, Reason, ResumePoint

__all__ = [
    "Context",
    "LeftOut",
    "Message",
    "Reason",
    "ResumePoint",
    "build_chain",
    "build_context",
    "find_last_answer",
    "find_refusal",
    "find_resume_point",
    "find_resumed_leaf",
    "list_contributions",
    "resumes_at",
]
