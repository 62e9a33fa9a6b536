"""A call that sends out an agent to what the agent reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.agents.kinds import USUAL, Kind
from plait.agent.agents.models import FAMILIES
from plait.agent.parts import Parts
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)

ABOUT = """\
Sends out an agent that does a task by itself, in a conversation of its own, and reports back. It \
knows nothing of this conversation: the prompt says all that it needs, and what it is to report. \
Several that do not need each other go out in one response, and work at the same time.

Kinds of agents:
{}"""
FIELDS = (
    Field("description", "string", "The task in three to five words", is_needed=True),
    Field("prompt", "string", "The task, with all that the agent has to know", is_needed=True),
    Field("subagent_type", "string", "Which kind of agent goes", default=USUAL),
    Field("model", "string", "Another model for this agent", choices=FAMILIES),
    Field("run_in_background", "boolean", "Whether to go on without waiting for its report"),
)


@dataclass(frozen=True, slots=True)
class SendOut:
    """The tool that sends out agents."""

    kinds: Mapping[str, Kind]
    name: str = "Agent"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        lines = (f"- {one.name}: {one.description} ({one.reach})" for one in self.kinds.values())
        return definition(self.name, ABOUT.format("\n".join(lines)), FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the task as it is."""
        taken = checked(self.name, FIELDS, arguments)
        return Proposal(self.name, taken, self.effect, taken["description"])

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Does nothing: an agent needs all that a turn has."""
        raise ToolError("Agents are sent out within a session")

    async def send_out(self, proposal: Proposal, call: str, parts: Parts) -> Outcome:
        """Has an agent do the task."""
        if parts.crew is None:
            raise ToolError("Agents are sent out within a session")
        return await parts.crew.send_out(proposal.arguments, call, parts)
