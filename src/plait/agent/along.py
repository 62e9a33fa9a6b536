"""What a person says and what tools return to what goes along with it in the log.

prompt ── files that it names ── instructions of their directories ── instructions of all
results ── instructions of the directories that were worked in
"""

from collections.abc import Sequence
from pathlib import Path

from plait.agent.instructions import SessionInstructions
from plait.write.model import Content


class SessionAlong:
    """Tells the model of a session what it should know besides."""

    def __init__(self, instructions: SessionInstructions) -> None:
        self._instructions = instructions

    def behind_prompt(self, prompts: Sequence[Content]) -> Sequence[str]:
        """Logs what goes along with prompts that were just logged; returns what people are told."""
        return self._instructions.tell()

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        self._instructions.touch(path)

    def behind_results(self) -> None:
        """Logs what goes along with the results of a response."""
        self._instructions.tell_nested()
