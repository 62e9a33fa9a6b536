"""Passages to the words that name them in every sink: turns, agents, folds, compactions, notes."""

from collections.abc import Mapping

from plait.conversation.model import (
    Compacted,
    Conversation,
    Enclosure,
    Folded,
    Noted,
    Said,
    Standing,
    Told,
    Turn,
)
from plait.graph.paths import SPOKEN
from plait.view.amounts import bytes_in_words, many, time_in_words
from plait.view.costs import working_time
from plait.view.passages.call_view import first_text, text_field, whole_number
from plait.view.text import short, when
from plait.view.words import one_line, plain_words

THOUSAND = 1000
MOST = 100
FOLDED = {"retracted": "retracted", "resent": "sent again", "replay": "written twice"}
APART: dict[Standing, str] = {
    "own": "answers a call that is not shown",
    "repeat": "answered once more",
    "foreign": "answers a call of another conversation",
    "orphan": "answers a call that is in no file",
}
"""What is said of a result that stands apart from its call."""


def turn_words(turn: Turn) -> str:
    """Returns what a turn is about: the words it was opened with."""
    opener = turn.opener
    if opener is None:
        return "(goes on)"
    if opener.kind == "command":
        return f"{opener.name or ''} {opener.arguments or ''}".strip() or opener.text
    if opener.kind == "bash":
        return f"! {opener.text}"
    if opener.text.strip():
        return opener.text
    return ", ".join(one.kind for one in opener.enclosures) or f"({opener.kind})"


def speaker_of(conversation: Conversation, said: Said) -> str:
    """Returns who said something: the model, the client in its place, the API in trouble."""
    response = conversation.responses[said.response]
    return "error" if response.is_error else "client" if response.is_synthetic else "model"


def agent_words(agent: Conversation, *, is_called: bool = True) -> str:
    """Returns an agent in a line: what it was to do, how long that took."""
    if agent.kind in SPOKEN:
        return "Recovered from broken lines"
    name = agent.agent or agent.id.rpartition("#")[2]
    label = agent.label or agent.title or ""
    who = "Agent" if agent.kind == "agent" else "Service agent"
    is_lost = not is_called and agent.kind == "agent"
    first = f"{who} {name} (no call names it)" if is_lost else f"{who} {name}"
    words = f": {short(plain_words(label), MOST)}" if label else ""
    took = time_in_words(working_time(agent))
    return f"{first}{words}" + (f" · {took}" if took else "")


def fold_words(fold: Folded) -> str:
    """Returns folded records in a line: why they are, and what was said."""
    told = first_told(fold)
    words = short(told.text, MOST) if told else many(len(fold.items), "item")
    return f"{FOLDED.get(fold.reason, fold.reason)}: {words}"


def first_told(fold: Folded) -> Told | None:
    """Returns the first words among folded records."""
    return next((one for one in fold.items if isinstance(one, Told) and one.text), None)


def compaction_words(compacted: Compacted) -> str:
    """Returns the label of a compaction: how large the conversation was, and when."""
    label = short(compacted.text, MOST) or "Conversation compacted"
    size = compacted.pre_tokens
    if size and size > 0:
        label += f" ({size // THOUSAND}k tokens)" if size >= THOUSAND else f" ({size} tokens)"
    time = when(compacted.time)
    return f"{label} • {time}" if time else label


def enclosure_words(one: Enclosure) -> str:
    """Returns a picture or a document in a few words."""
    size = bytes_in_words(one.size) if one.size else None
    return ", ".join(filter(None, (one.title or one.kind, one.media_type, size)))


def note_line(item: Noted, times: int = 1) -> str:
    """Returns a note of the client in a line; the same trouble several times as one."""
    if item.subtype == "api_error":
        again = f", {times} times" if times > 1 else ""
        return f"API error{_api_error(item.value)}{again}"
    words = one_line(_note_words(item))
    if item.kind == "gone":
        return words
    size = len(item.text.encode("utf-8", "replace"))
    large = f" ({bytes_in_words(size)})" if size > len(words) * 2 else ""
    return f"{note_name(item)}{large}" + (f"  {words}" if words else "")


def note_name(item: Noted) -> str:
    """Returns what kind of note it is."""
    return " ".join(filter(None, (item.kind, item.subtype)))


def note_body(item: Noted) -> Mapping[str, object]:
    """Returns what a note holds, without the kind that its line begins with."""
    value = item.value if isinstance(item.value, Mapping) else {"value": item.value}
    inner = value.get("attachment" if item.kind == "attachment" else "data")
    body = inner if isinstance(inner, Mapping) else value
    return {name: one for name, one in body.items() if name not in ("type", "subtype")}


def _note_words(item: Noted) -> str:
    """Returns the words of a note, those of a hook behind its name and exit code."""
    said = note_body(item)
    name, code = text_field(said, "hookName"), whole_number(said.get("exitCode"))
    if name:
        ended = f", exit {code}" if code is not None else ""
        return f"{name}{ended}" + (f": {item.text}" if item.text else "")
    figures = (f"{name} {one}" for name, one in said.items() if isinstance(one, int | float))
    return item.text or first_text(said) or ", ".join(figures)


def _api_error(value: object) -> str:
    error = value.get("error") if isinstance(value, Mapping) else None
    status = whole_number(error.get("status")) if isinstance(error, Mapping) else None
    inner = error.get("error") if isinstance(error, Mapping) else None
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    words = (
        text_field(inner, "message")
        or text_field(error, "message")
        or text_field(error, "formatted")
    )
    return (f" {status}" if status else "") + (f": {one_line(words)}" if words else "")
