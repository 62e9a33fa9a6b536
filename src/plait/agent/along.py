"""What a person says and what tools return to what goes along with it in the log.

prompt ── files that it names ── instructions of their directories ── instructions of all
results ── instructions of the directories that were worked in
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.agent.instructions import SessionInstructions
from plait.agent.mcp.telling import ServerInstructions
from plait.agent.queue import Asked
from plait.agent.skills.following import note_permissions
from plait.agent.skills.listing import SkillListing
from plait.write import SessionWriter


@dataclass(frozen=True, slots=True)
class SessionAlong:
    """Tells the model of a session what it should know besides."""

    writer: SessionWriter
    instructions: SessionInstructions
    listing: SkillListing
    servers: ServerInstructions

    def behind_prompt(self, prompts: Sequence[Asked]) -> Sequence[str]:
        """Logs what goes along with prompts that were just logged; returns what people are told."""
        self.servers.tell()
        self.listing.tell()
        for asked in prompts:
            if asked.expansion:
                note_permissions(asked.expansion, self.writer, is_of_turn=False)
        return self.instructions.tell()

    def behind_skill(self, content: str) -> None:
        """Logs what goes along with what a skill says that was just logged."""

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        self.instructions.touch(path)

    def behind_results(self) -> None:
        """Logs what goes along with the results of a response."""
        self.instructions.tell_nested()
