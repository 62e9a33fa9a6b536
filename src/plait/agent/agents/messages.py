"""A message to an agent to whether it gets it: while it works, or as a new beginning."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.agents.crew import Crew
from plait.agent.parts import Parts
from plait.agent.queue import Asked
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.logged import ONCE_MORE
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
Tells an agent that was sent out something more: one that works gets it at its next step, one that \
has come back goes on from where it stopped, in the background."""
FIELDS = (
    Field("to", "string", "The id of the agent", is_needed=True),
    Field("message", "string", "What it is told", is_needed=True),
    Field("summary", "string", "The message in five to ten words"),
)
QUEUED = (
    "Message queued for delivery to {} at its next tool round. If it finishes first, it is resumed"
    " with the message and notifies again, so wait for that notification before resending."
)
UNKNOWN = (
    'Agent "{0}" could not be resumed: No transcript found for agent ID: {0}. If you read this id'
    " in a message from another Claude Code process (e.g. the lead's subagent, seen from a teammate"
    ' pane), it never ran in this session — reply through "team-lead" or the session that sent it'
    " instead of the raw id."
)


@dataclass(frozen=True, slots=True)
class SendMessage:
    """The tool that tells agents more."""

    name: str = "SendMessage"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the message as it is, without what the log says of it once more."""
        said = {key: value for key, value in arguments.items() if key not in ONCE_MORE}
        taken = checked(self.name, FIELDS, said)
        return Proposal(self.name, taken, self.effect, f"to {taken['to']}")

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Does nothing: agents are those of a session."""
        raise ToolError("Agents are told something within a session")

    async def send_out(self, proposal: Proposal, call: str, parts: Parts) -> Outcome:
        """Has the agent get the message."""
        given = proposal.arguments
        if parts.crew is None:
            raise ToolError("Agents are told something within a session")
        output = _told(parts.crew, given["to"], given["message"], call, parts)
        heard = {name: value for name, value in output.items() if name != "revivedAgentId"}
        words = json.dumps(heard, ensure_ascii=False, separators=(",", ":"))
        return Outcome([{"type": "text", "text": words}], output)


def _told(crew: Crew, agent: str, message: str, call: str, parts: Parts) -> dict[str, Any]:
    work = crew.known.get(agent)
    if work is None:
        return {"success": False, "message": UNKNOWN.format(agent)}
    pin = {"id": agent, "name": agent, "ref": parts.writer.ids.agent(6)[1:]}
    if work.is_busy:
        work.queue.put_message(message)
        return {"success": True, "message": QUEUED.format(agent), "pin": pin}
    crew.leave(work, call, Asked(message, work.writer.ids.time(), "message"))
    named = {"resumedAgentId": agent, "revivedAgentId": agent}
    return {"success": True, "message": f"Resuming agent {agent[:7]}", **named, "pin": pin}
