"""Calls of a client to what a person is asked, and answers to what the client is told."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

from plait.agent.permission import Answer, Asker
from plait.agent.permissions import INSTEAD
from plait.agent.tools import Tool, toolbox
from plait.agent.tools.model import Proposal, ToolError, Workplace
from plait.record.codec import mapping, said
from plait.write.transcript import REJECTED

Json: TypeAlias = Mapping[str, Any]
TITLES = ("command", "file_path", "notebook_path", "url", "query", "pattern", "plan", "description")
"""Arguments that say what a call is about, the best first."""
SESSION = "session"


@cache
def _tools() -> Mapping[str, Tool]:
    return toolbox(has_network=True)


def proposal_of(tool: str, given: Json, place: Workplace) -> Proposal:
    """Returns what a call would do, as far as it can be known here."""
    if known := _tools().get(tool):
        try:
            return known.propose(given, place)
        except ToolError:
            return Proposal(tool, given, known.effect, _title(tool, given))
    return Proposal(tool, given, "none", _title(tool, given))


def _title(tool: str, given: Json) -> str:
    return next((text for name in TITLES if (text := said(given, name))), tool)


async def answered(asker: Asker | None, request: Json, place: Workplace) -> dict[str, Any]:
    """Asks about a call; returns what the client is answered to `can_use_tool`."""
    given = mapping(request.get("input"))
    proposal = proposal_of(str(request.get("tool_name")), given, place)
    if asker is None:
        return {"behavior": "deny", "message": REJECTED, "interrupt": False}
    answer = await asker.ask(proposal, str(request.get("tool_use_id")))
    return response_to(answer, request)


def response_to(answer: Answer, request: Json) -> dict[str, Any]:
    """Returns an answer in the client's words."""
    if not answer.is_allowed:
        words = INSTEAD.format(answer.words) if answer.words else REJECTED
        return {"behavior": "deny", "message": words, "interrupt": answer.stops}
    given = mapping(request.get("input"))
    meant = dict(answer.arguments) if answer.arguments is not None else dict(given)
    told: dict[str, Any] = {"behavior": "allow", "updatedInput": meant}
    if answer.is_for_session:
        told["updatedPermissions"] = _for_session(request.get("permission_suggestions"))
    return told


def _for_session(suggested: object) -> list[dict[str, Any]]:
    """Returns what the client suggests to allow with a call, until the session ends.

    Of several things that go further than the call itself, only a rule is taken, if there is one.
    """
    found = [mapping(one) for one in suggested] if isinstance(suggested, list) else []
    rules = [one for one in found if one.get("type") == "addRules"]
    return [{**one, "destination": SESSION} for one in rules or found]
