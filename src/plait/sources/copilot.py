"""Copilot."""

from collections.abc import Iterable
from pathlib import Path

from plait.sources.base import ROOTS, Source, SourceLog
from plait.sources.translation import Translation


class Copilot(Source):
    """The logs of Copilot."""

    name = "copilot"
    title = "Copilot"
    roots = ROOTS["copilot"]

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        return []

    def translate(self, log: SourceLog, out: Translation) -> None:
        pass

    def resume_command(self, log: SourceLog) -> list[str]:
        return []
