"""Entries of one file to API messages, as the protocol's description rebuilds them.

This is `load_session` of "Claude Code Session Protocol Schema", appendix C, with its exact
results, quirks included. It reads a file from top to bottom. Four of its points no longer
hold: meta messages are sent too, `summary` lines are titles and replace nothing, a response is
known by its message id, and rewound branches and agents do not go along. What Claude will see
is `plait.context`, which follows the client.
"""

from collections.abc import Iterable
from typing import Any

from plait.record import Record

PREFIX = "[Previous conversation summary]: "


def rebuild_messages(entries: Iterable[Record]) -> list[dict[str, Any]]:
    """Returns the messages of a file: prompts and results as they are, responses merged.

    Lines of one request that follow each other are one message, and so are those that name no
    request. A summary takes the place of all before it. Entries without a message are passed
    over, where the description's own code would stop.
    """
    rebuilding = _Rebuilding()
    for entry in entries:
        message = entry.fields.get("message")
        if entry.type == "summary":
            rebuilding.begin_with(entry.fields.get("summary"))
        elif not isinstance(message, dict):
            continue
        elif entry.type == "user" and not entry.fields.get("isMeta"):
            rebuilding.add_user(message)
        elif entry.type == "assistant":
            rebuilding.add_answer(message, entry.fields.get("requestId"))
    return rebuilding.messages


class _Rebuilding:
    """The messages so far, and the request that the last one answers."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.is_open = False
        self.request: Any = None

    def begin_with(self, summary: Any) -> None:
        self.messages = [{"role": "user", "content": f"{PREFIX}{summary}"}]
        self.is_open = False

    def add_user(self, message: dict[str, Any]) -> None:
        self.messages.append(dict(message))
        self.is_open = False

    def add_answer(self, message: dict[str, Any], request: Any) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if self.is_open and self.request == request:
            self.messages[-1]["content"].extend(blocks)
            return
        self.messages.append({"role": "assistant", "content": list(blocks)})
        self.is_open, self.request = True, request
