"""The arguments of a call to how the client logs them, where it says more than the model did."""

from collections.abc import Mapping
from typing import Any

from plait.agent.tools import edit
from plait.agent.tools.model import Workplace

ONCE_MORE = ("type", "recipient", "recipient_kind", "content")
"""What is said once more of a message to an agent, in other words."""


def as_logged(tool: str, given: Mapping[str, Any], place: Workplace) -> Mapping[str, Any]:
    """Returns the arguments of a call as they are logged."""
    match tool:
        case "Edit":
            return edit.as_logged(given, place)
        case "SendMessage":
            return _message(given)
        case _:
            return given


def _message(given: Mapping[str, Any]) -> Mapping[str, Any]:
    to, message = given.get("to"), given.get("message")
    if not isinstance(to, str) or not isinstance(message, str):
        return given
    told = ("message", to, "agent", message)
    return {**given, **dict(zip(ONCE_MORE, told, strict=True))}
