"""What hooks say to a call before it is done: leave, a question, a refusal, other arguments."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plait.agent.hooks.model import Effect
from plait.agent.parts import Advice, Ruling
from plait.agent.tools.model import Proposal, Tool, ToolError, Workplace

BY_HOOK = {"decision": "reject", "source": "hook", "reasonType": "hook"}
KIND = "permission-rule"
MISFIT = (
    "PreToolUse hook for {} returned updatedInput that failed schema validation: {}\nThe tool input"
    " from the model was valid; the hook's rewrite of it was not."
)


def advice_of(effect: Effect) -> Advice | None:
    """Returns what is to be thought of a call, None where no hook says anything of it."""
    if effect.verdict in ("allow", "ask"):
        return Advice(effect.verdict, effect.reason)
    return None


def refusal_of(effect: Effect, proposal: Proposal, *, is_older: bool) -> Ruling | None:
    """Returns the refusal of hooks, None where they refuse nothing; the last one is told."""
    for one in reversed(effect.said):
        reason = one.blocking.told if one.blocking else one.reason
        if one.blocking or one.verdict == "deny":
            told = f"PreToolUse:{proposal.tool} hook error: {reason}"
            return refused(proposal, told, "PreToolUse", is_older=is_older)
    return None


def refused(
    proposal: Proposal, told: str, event: str, *, is_older: bool, stops: bool = False
) -> Ruling:
    """Returns that hooks do not let a call be done, as the log says it."""
    decision = BY_HOOK | {"reasonCode": f"hook:{event}"}
    fields: Mapping[str, Any] = {"tool_denial_kind": KIND, "permission_decision": decision}
    return Ruling(False, proposal, told, f"Error: {told}", {} if is_older else fields, stops)


def rewritten(
    proposal: Proposal, arguments: Mapping[str, Any], tool: Tool, place: Workplace
) -> Proposal:
    """Returns a call with the arguments that hooks give it; raises ToolError where none fit."""
    try:
        return replace(tool.propose(arguments, place), is_changed=proposal.is_changed)
    except ToolError as error:
        raise ToolError(MISFIT.format(proposal.tool, error.text)) from error
