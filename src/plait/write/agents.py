"""Calls that send out agents to logs of their own, beside the session's.

2.1.325  <session>/subagents/agent-<a and 16 hex>.jsonl and .meta.json
2.1.29   agent-<7 hex>.jsonl beside the session
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plait.errors import UserError
from plait.line.folder import OutputFolder
from plait.record.codec import encode
from plait.write.model import Block, Fields, wire_fields
from plait.write.writer import SessionWriter

SUBAGENTS = "subagents"
BESIDE = """
    agentType isBuiltIn launchedWithDefaults description toolUseId parentAgentId spawnDepth
    requestShape requestNonInteractive pickedEffortModel
""".split()
"""What is kept beside a log, in the client's order; anything else stands behind it."""


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


class AgentWriter(SessionWriter):
    """The log of an agent: a conversation of its own, of the session that sent it out.

    What an agent has to say of the whole session stands in the session's log.
    """

    def __init__(self, sender: SessionWriter, log: Path, agent: str, errand: Errand) -> None:
        setting = replace(sender.setting, agent=agent)
        super().__init__(
            log, setting, sender.ids, has_snapshots=False, is_settled=sender.is_settled
        )
        self.errand = errand
        self.sender = sender
        self._beside = errand.fields
        self.prompt_id = sender.prompt_id

    @property
    def id(self) -> str:
        """The id of the agent."""
        return self.setting.agent or ""

    def say(self, line: bytes) -> None:
        """Adds a line that is said of the whole session."""
        self.sender.say(line)

    def before_change(self, path: str | Path, call: str | None = None) -> None:
        """Keeps a file that a call is about to change, for the prompt of the session."""
        self.sender.before_change(path)

    def result(
        self,
        call: str,
        content: str | Sequence[Block],
        output: Any = None,
        *,
        is_error: bool | None = None,
        **fields: Any,
    ) -> str:
        """Writes what became of a call; what the client shows of it, 2.1.325 leaves out."""
        kept = output if self.setting.is_older or isinstance(output, str) else None
        return super().result(call, content, kept, is_error=is_error, **fields)

    def note_beside(self, **fields: Any) -> None:
        """Adds to what is kept beside the log; the older version keeps nothing there."""
        if self.setting.is_older:
            return
        self._beside |= wire_fields(fields)
        names = (*BESIDE, *(name for name in self._beside if name not in BESIDE))
        told = {name: self._beside[name] for name in names if name in self._beside}
        OutputFolder(self.path.parent).write(f"{self.path.stem}.meta.json", encode(told))

    def last_prompt(self) -> None:
        """Writes nothing: nobody goes on with an agent by a line of its log."""

    def _of_a_response(self) -> Fields:
        return {"attributionAgent": self.errand.kind}

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
        errand = Errand(call, kind, description, self.errand.depth + 1, self.id)
        return sent_out(self, self.path.parent, errand, agent, meta)


def sent_out(
    sender: SessionWriter, folder: Path, errand: Errand, agent: str | None, meta: Mapping[str, Any]
) -> AgentWriter:
    """Begins the log of an agent in a folder, with what is known of it beside."""
    if errand.call not in sender.waiting_calls:
        raise UserError(f"no call '{errand.call}' waits for an agent")
    agent = agent or sender.ids.agent(6 if sender.setting.is_older else 16)
    writer = AgentWriter(sender, folder / f"agent-{agent}.jsonl", agent, errand)
    writer.note_beside(**meta)
    return writer
