"""Codex."""

from collections.abc import Iterable
from pathlib import Path

from plait.sources.base import ROOTS, Source, SourceLog
from plait.sources.translation import Translation


class Codex(Source):
    """The logs of Codex."""

    name = "codex"
    title = "Codex"
    roots = ROOTS["codex"]

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        return []

    def translate(self, log: SourceLog, out: Translation) -> None:
        pass

    def resume_command(self, log: SourceLog) -> list[str]:
        return []
