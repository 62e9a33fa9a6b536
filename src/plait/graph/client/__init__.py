"""Records of a session file to what the real client sends when it resumes that file."""

from plait.graph.client.context import (
    chain_at,
    context,
    contributions,
    last_answer,
    refusal,
    resumed_leaf,
    resumption,
    stands_at,
)
from plait.graph.client.model import Context, LeftOut, Message, Reason, Resumption

__all__ = [
    "Context",
    "LeftOut",
    "Message",
    "Reason",
    "Resumption",
    "chain_at",
    "context",
    "contributions",
    "last_answer",
    "refusal",
    "resumed_leaf",
    "resumption",
    "stands_at",
]
