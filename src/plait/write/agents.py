"""Calls that send out agents to logs of their own, beside the session's.

2.1.325  <session>/subagents/agent-<a and 16 hex>.jsonl and .meta.json
2.1.29   agent-<7 hex>.jsonl beside the session
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plait.errors import UserError
from plait.line.folder import OutputFolder
from plait.record.codec import encode
from plait.write.model import Fields, wire_fields
from plait.write.transcript import Transcript

SUBAGENTS = "subagents"


@dataclass(frozen=True, slots=True)
class Errand:
    """What an agent was sent out for."""

    call: str
    kind: str
    description: str
    depth: int = 1
    sender: str | None = None
    """The agent that sent it out; None where the session did."""

    @property
    def fields(self) -> Fields:
        """What is kept beside its log."""
        told = {
            "agentType": self.kind,
            "description": self.description,
            "toolUseId": self.call,
            "parentAgentId": self.sender,
            "spawnDepth": self.depth,
        }
        return {name: value for name, value in told.items() if value is not None}


class AgentWriter(Transcript):
    """The log of an agent: a conversation of its own, of the session that sent it out."""

    def __init__(self, sender: Transcript, log: Path, agent: str, errand: Errand) -> None:
        setting = replace(sender.setting, agent=agent)
        super().__init__(log, setting, sender.ids, is_settled=sender.is_settled)
        self._errand = errand
        self.prompt_id = sender.prompt_id

    @property
    def id(self) -> str:
        """The id of the agent."""
        return self.setting.agent or ""

    def _of_a_response(self) -> Fields:
        return {"attributionAgent": self._errand.kind}

    def agent(
        self,
        call: str,
        *,
        kind: str = "general-purpose",
        description: str = "",
        agent: str | None = None,
        **meta: Any,
    ) -> "AgentWriter":
        """Begins the log of an agent that this one sends out."""
        errand = Errand(call, kind, description, self._errand.depth + 1, self.id)
        return sent_out(self, self.path.parent, errand, agent, meta)


def sent_out(
    sender: Transcript, folder: Path, errand: Errand, agent: str | None, meta: Mapping[str, Any]
) -> AgentWriter:
    """Begins the log of an agent in a folder, with what is known of it beside."""
    if errand.call not in sender.waiting_calls:
        raise UserError(f"no call '{errand.call}' waits for an agent")
    is_older = sender.setting.is_older
    agent = agent or sender.ids.agent(6 if is_older else 16)
    if not is_older:
        told = encode(errand.fields | wire_fields(meta))
        OutputFolder(folder).write(f"agent-{agent}.meta.json", told)
    return AgentWriter(sender, folder / f"agent-{agent}.jsonl", agent, errand)
