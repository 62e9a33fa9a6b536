"""A conversation to the questions that the model asked, and what the person chose."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from plait.conversation.model import Called, Conversation, Outcome
from plait.conversation.values import mapping, said
from plait.conversation.walk import calls_of

ASKING = "AskUserQuestion"


class Option(Struct, frozen=True):
    """An answer that was offered."""

    label: str
    description: str | None = None


class Question(Struct, frozen=True):
    """A question with what was offered and what was chosen."""

    text: str
    turn: int
    header: str | None = None
    options: tuple[Option, ...] = ()
    is_multiple: bool = False
    answer: str | None = None
    """As the log has it; None where none was given."""
    chosen: tuple[str, ...] = ()
    """The offered labels that the answer names; empty where the person used own words."""
    notes: str | None = None
    """What the person added."""
    outcome: Outcome = "ok"
    feedback: str | None = None
    time: str | None = None
    answered_at: str | None = None
    uuid: str | None = None
    call: str | None = None


def questions_of(conversation: Conversation) -> tuple[Question, ...]:
    """Returns all questions, in order, each of several that were asked at once."""
    return tuple(
        question
        for turn, called in calls_of(conversation)
        if called.name == ASKING
        for question in asked_by(called, turn)
    )


def asked_by(called: Called, turn: int) -> Iterator[Question]:
    """Yields the questions of one call."""
    view = mapping(called.result.detail if called.result else None)
    given = mapping(called.input)
    answers = mapping(view.get("answers") or given.get("answers"))
    annotations = mapping(view.get("annotations") or given.get("annotations"))
    asked = given.get("questions") or view.get("questions")
    for one in asked if isinstance(asked, list) else ():
        if isinstance(one, Mapping):
            text = said(one, "question") or ""
            answer = answer_in(answers.get(text))
            options = tuple(options_in(one))
            yield Question(
                text,
                turn,
                said(one, "header"),
                options,
                one.get("multiSelect") is True,
                answer,
                chosen(answer, answers.get(text), options),
                said(mapping(annotations.get(text)), "notes"),
                called.outcome,
                called.result.feedback if called.result else None,
                called.time,
                called.answered_at,
                called.uuid,
                called.call,
            )


def options_in(question: Mapping[str, Any]) -> Iterator[Option]:
    """Yields what was offered; older forms offer bare texts."""
    options = question.get("options")
    for one in options if isinstance(options, list) else ():
        if isinstance(one, str):
            yield Option(one)
        elif isinstance(one, Mapping):
            yield Option(said(one, "label") or "", said(one, "description"))


def answer_in(value: object) -> str | None:
    """Returns an answer as text, several of them with commas between."""
    if isinstance(value, list):
        return ", ".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None


def chosen(answer: str | None, value: object, options: tuple[Option, ...]) -> tuple[str, ...]:
    """Returns the labels that an answer names, as offered; the longest first, none twice."""
    if answer is None:
        return ()
    labels = [option.label for option in options if option.label]
    if isinstance(value, list):
        return tuple(label for label in labels if label in value)
    if answer in labels:
        return (answer,)
    rest, found = f", {answer}, ", set[str]()
    for label in sorted(labels, key=len, reverse=True):
        if f", {label}, " in rest:
            rest = rest.replace(f", {label}, ", ", ")
            found.add(label)
    return tuple(label for label in labels if label in found)
