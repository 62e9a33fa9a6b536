"""A conversation to what the model put to the person, questions and plans, and the answers."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Conversation, Outcome
from plait.conversation.tools import is_plan, tool_named
from plait.conversation.values import mapping, said
from plait.conversation.walk import calls_of


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
        if tool_named(called.name).kind == "ask"
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
            answer = _answer_in(answers.get(text))
            options = tuple(_options_in(one))
            yield Question(
                text,
                turn,
                said(one, "header"),
                options,
                one.get("multiSelect") is True,
                answer,
                _chosen(answer, answers.get(text), options),
                said(mapping(annotations.get(text)), "notes"),
                called.outcome,
                called.result.feedback if called.result else None,
                called.time,
                called.answered_at,
                called.uuid,
                called.call,
            )


def _options_in(question: Mapping[str, Any]) -> Iterator[Option]:
    options = question.get("options")
    for one in options if isinstance(options, list) else ():
        if isinstance(one, str):
            yield Option(one)
        elif isinstance(one, Mapping):
            yield Option(said(one, "label") or "", said(one, "description"))


def _answer_in(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None


def _chosen(answer: str | None, value: object, options: tuple[Option, ...]) -> tuple[str, ...]:
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


APPROVED = ("## Approved Plan:\n", "## Approved Plan (edited by user):\n")
Verdict: TypeAlias = Literal["accepted", "rejected", "open"]
VERDICTS: dict[Outcome, Verdict] = {"ok": "accepted", "rejected": "rejected"}


class ProposedPlan(Struct, frozen=True):
    """A plan, as it was put to the person."""

    text: str
    verdict: Verdict
    turn: int
    time: str | None = None
    answered_at: str | None = None
    uuid: str | None = None
    call: str | None = None
    path: str | None = None
    """The file that it was written to."""
    feedback: str | None = None
    """What the person said who rejected it."""
    is_edited: bool = False
    """True where what was accepted is not what was proposed."""
    is_of_agent: bool = False


def plans_of(conversation: Conversation) -> tuple[ProposedPlan, ...]:
    """Returns the plans of a conversation, in order."""
    return tuple(_plan_of(c, turn) for turn, c in calls_of(conversation) if is_plan(c.name))


def _plan_of(called: Called, turn: int) -> ProposedPlan:
    given = mapping(called.input)
    view = mapping(called.result.detail if called.result else None)
    proposed, accepted = said(given, "plan"), said(view, "plan") or _told_after(called)
    return ProposedPlan(
        accepted or proposed or "",
        VERDICTS.get(called.outcome, "open"),
        turn,
        called.time,
        called.answered_at,
        called.uuid,
        called.call,
        said(view, "filePath") or said(given, "planFilePath"),
        called.result.feedback if called.result else None,
        is_edited=bool(proposed and accepted and proposed.strip() != accepted.strip()),
        is_of_agent=view.get("isAgent") is True,
    )


def _told_after(called: Called) -> str | None:
    text = called.result.text if called.result and called.outcome == "ok" else ""
    for heading in APPROVED:
        _, found, plan = text.partition(heading)
        if found:
            return plan.strip()
    return None
