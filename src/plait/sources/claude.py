"""Claude Code, as one row of the table of sources: its logs are read as they are.

Every other source is translated into its form, so nothing is found or translated here; what stands
here is where its logs lie, how a session is resumed, and the version that was checked.
"""

from collections.abc import Iterable
from pathlib import Path

from plait.sources.base import Source, SourceLog
from plait.sources.places import ROOTS


class ClaudeCode(Source):
    """The logs of Claude Code."""

    name = "claude"
    title = "Claude Code"
    suffixes = ()
    roots = ROOTS["claude"]
    verified = "2.1.327"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return nothing: files that no other source claims are its logs."""
        return ()

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in Claude Code."""
        return ["claude", "--resume", log.id]
