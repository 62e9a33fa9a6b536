"""Instructions of a session to what an agent is told of them in its own log."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.agent.along import SessionAlong
from plait.agent.context import LiveContext
from plait.agent.instructions import SessionInstructions
from plait.agent.parts import Alone, Along
from plait.agent.queue import Asked
from plait.write import AgentWriter


@dataclass(frozen=True, slots=True)
class AgentAlong:
    """Tells an agent how to work here, as its session was told."""

    instructions: SessionInstructions

    def behind_prompt(self, prompts: Sequence[Asked]) -> Sequence[str]:
        """Logs what counts in this directory; whoever sent it out knows what people are told."""
        self.instructions.tell()
        return ()

    def behind_skill(self, content: str) -> None:
        """Logs nothing."""

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        self.instructions.touch(path)

    def behind_results(self) -> None:
        """Logs what goes along with the results of a response."""
        self.instructions.tell_nested()


def along_of(sender: Along, writer: AgentWriter, context: LiveContext) -> Along:
    """Returns what goes along in the log of an agent, given what does in its sender's."""
    if not isinstance(sender, SessionAlong | AgentAlong):
        return Alone()
    return AgentAlong(sender.instructions.of_agent(writer, context))
