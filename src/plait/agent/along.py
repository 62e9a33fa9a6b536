"""What a person says and what tools return to what goes along with it in the log.

prompt ── files that it names ── instructions of their directories ── instructions of all
results ── instructions of the directories that were worked in
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.agent.instructions import SessionInstructions
from plait.agent.mcp.telling import ServerInstructions
from plait.agent.mentions import SessionMentions
from plait.agent.queue import Asked
from plait.agent.skills.following import note_permissions
from plait.agent.skills.listing import SkillListing
from plait.write import SessionWriter
from plait.write.prompts import words_of


@dataclass(frozen=True, slots=True)
class SessionAlong:
    """Tells the model of a session what it should know besides."""

    writer: SessionWriter
    mentions: SessionMentions
    instructions: SessionInstructions
    listing: SkillListing
    servers: ServerInstructions

    def behind_prompt(self, prompts: Sequence[Asked]) -> Sequence[str]:
        """Logs what goes along with prompts that were just logged; returns what people are told."""
        for asked in prompts:
            if asked.expansion:
                self._mention(asked.expansion.content, is_typed=False)
            elif asked.is_a_persons:
                self._mention(words_of(asked.content), is_typed=True)
        self.servers.tell()
        self.instructions.tell_nested()
        self.listing.tell()
        for asked in prompts:
            if asked.expansion:
                note_permissions(asked.expansion, self.writer, is_of_turn=False)
        notices = [*self.mentions.notices, *self.instructions.tell()]
        self.mentions.notices.clear()
        return notices

    def behind_skill(self, content: str) -> None:
        """Logs what goes along with what a skill says that was just logged."""
        self._mention(content, is_typed=False)

    def _mention(self, text: str, *, is_typed: bool) -> None:
        for path in self.mentions.tell(text, is_typed=is_typed):
            self.instructions.touch(path)

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        self.instructions.touch(path)

    def behind_results(self) -> None:
        """Logs what goes along with the results of a response."""
        self.instructions.tell_nested()
