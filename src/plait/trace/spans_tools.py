"""Calls of tools to spans: what went in, what came out, and how it ended."""

from typing import Any

from plait.conversation.model import Called, Enclosure, Result
from plait.trace.model import Level

STATUS_LENGTH = 300
LEVELS: dict[str, Level] = {
    "failed": "ERROR",
    "rejected": "WARNING",
    "interrupted": "WARNING",
    "missing": "WARNING",
}
WORDS = {
    "failed": "failed",
    "rejected": "rejected by the user",
    "interrupted": "interrupted",
    "missing": "no result is in the log",
}


def tool_facts(call: Called) -> dict[str, Any]:
    """Returns what a span says of a call, but for its place and its times."""
    return {
        "name": call.name,
        "input": call.input,
        "output": output_of(call.result),
        "level": LEVELS.get(call.outcome, "DEFAULT"),
        "status": status_of(call),
        "metadata": metadata_of(call),
        "record": call.uuid,
    }


def output_of(result: Result | None) -> Any:
    """Returns what a tool answered: its words, with what else it gave named beside them."""
    if result is None:
        return None
    if not result.enclosures:
        return result.text
    words = [{"type": "text", "text": result.text}] if result.text else []
    return [*words, *map(enclosed, result.enclosures)]


def enclosed(enclosure: Enclosure) -> dict[str, Any]:
    """Returns a picture or a document by its name and size: its bytes stay in the log."""
    facts = {
        "type": enclosure.kind,
        "media_type": enclosure.media_type,
        "title": enclosure.title,
        "bytes": enclosure.size or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def status_of(call: Called) -> str:
    """Returns what went wrong with a call, "" where nothing did."""
    words = WORDS.get(call.outcome, "")
    result = call.result
    if result is None or not words:
        return words
    said = result.feedback if call.outcome == "rejected" else result.text
    told = first_line(said or "")
    if call.outcome == "failed":
        return told or words
    return f"{words}: {told}" if told and result.feedback else words


def first_line(text: str) -> str:
    """Returns the first line that says something, cut."""
    return next(filter(None, map(str.strip, text.splitlines())), "")[:STATUS_LENGTH]


def metadata_of(call: Called) -> dict[str, Any]:
    """Returns the tool and the call by name, and what is out of the ordinary."""
    result = call.result
    facts = {
        "tool_name": call.name,
        "tool_id": call.call,
        "outcome": call.outcome if call.outcome not in ("ok", "missing") else None,
        "exit_code": result.exit_code if result else None,
        "is_server_side": call.is_server_side or None,
        "persisted": result.persisted.name if result and result.persisted else None,
    }
    return {name: value for name, value in facts.items() if value is not None}
