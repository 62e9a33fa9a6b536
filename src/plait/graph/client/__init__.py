"""Records of a session file to what the real client sends when it resumes that file."""

from plait.graph.client.context import context, last_answer, resumed_leaf
from plait.graph.client.model import Context, LeftOut, Message, Reason

__all__ = ["Context", "LeftOut", "Message", "Reason", "context", "last_answer", "resumed_leaf"]
