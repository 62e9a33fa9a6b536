"""What a command makes of a prompt to lines of the log, and to what it lends to the turn."""

from collections.abc import Iterator
from contextlib import contextmanager

from plait.agent.memory import SessionMemory
from plait.agent.model_names import model_named
from plait.agent.parts import Parts
from plait.agent.skills.lending import rules_in
from plait.agent.skills.model import Expansion, Unexpanded
from plait.write import SessionWriter


def begin(parts: Parts) -> None:
    """Takes back what a command lent to the turn before."""
    parts.place.lent = ()
    parts.writer.attribution = {}


def ask(expansion: Expansion, parts: Parts) -> str:
    """Logs a command in a prompt's place, with what it makes of it; returns its message."""
    uuid = parts.writer.custom_command(expansion.name, expansion.arguments, expansion.content)
    _lend(expansion, parts)
    return uuid


def follow(expansion: Expansion, call: str, parts: Parts) -> None:
    """Logs what a skill says that the model asked for."""
    parts.writer.expansion(expansion.content, call=call, **parts.writer.companion)
    parts.along.behind_skill(expansion.content)
    note_permissions(expansion, parts.writer, is_of_turn=True)
    _lend(expansion, parts)


def note_permissions(expansion: Expansion, writer: SessionWriter, *, is_of_turn: bool) -> None:
    """Logs what a command allows; the older form says nothing of it."""
    if writer.setting.is_older:
        return
    model = {"model": expansion.model} if expansion.model else {}
    told = {"type": "command_permissions", "allowedTools": [*expansion.allowed], **model}
    writer.attachment(told, is_of_turn=is_of_turn)


def log_failure(error: Unexpanded, parts: Parts) -> str:
    """Logs a command that could not be followed; returns what the person is told."""
    if parts.writer.is_unseen and not parts.writer.setting.is_older:
        parts.writer.queue("enqueue", f"/{error.name} {error.arguments}".strip())
        parts.writer.queue("dequeue")
    parts.writer.command(error.name, error.arguments, error.text, is_failed=True)
    return error.text


@contextmanager
def asked_of(model: str | None, parts: Parts) -> Iterator[None]:
    """Has another model answer, where a command wants it."""
    memory = parts.memory
    if model is None or not isinstance(memory, SessionMemory):
        yield
        return
    before, memory.model = memory.model, model_named(model)
    try:
        yield
    finally:
        memory.model = before


def _lend(expansion: Expansion, parts: Parts) -> None:
    parts.place.lent = (*parts.place.lent, *rules_in(expansion.allowed))
    place = expansion.name.partition(":")
    plugin = {"attributionPlugin": place[0]} if place[1] else {}
    parts.writer.attribution = {"attributionSkill": expansion.name, **plugin}
