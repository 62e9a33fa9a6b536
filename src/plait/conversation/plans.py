"""A conversation to the plans that were put to the person, and what became of them."""

from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Conversation, Outcome
from plait.conversation.values import mapping, said
from plait.conversation.walk import calls_of

PLANNING = frozenset({"ExitPlanMode", "exit_plan_mode"})
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
    return tuple(plan_of(c, turn) for turn, c in calls_of(conversation) if c.name in PLANNING)


def plan_of(called: Called, turn: int) -> ProposedPlan:
    """Returns one plan; what was accepted is believed before what was proposed."""
    given = mapping(called.input)
    view = mapping(called.result.detail if called.result else None)
    proposed, accepted = said(given, "plan"), said(view, "plan") or told_after(called)
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


def told_after(called: Called) -> str | None:
    """Returns the plan that stands in the answer, where the call holds none."""
    text = called.result.text if called.result and called.outcome == "ok" else ""
    for heading in APPROVED:
        _, found, plan = text.partition(heading)
        if found:
            return plan.strip()
    return None
