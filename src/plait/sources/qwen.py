"""Qwen."""

from collections.abc import Iterable
from pathlib import Path

from plait.sources.base import Source, SourceLog
from plait.sources.places import ROOTS
from plait.sources.translation import Translation


class Qwen(Source):
    """The logs of Qwen."""

    name = "qwen"
    title = "Qwen"
    roots = ROOTS["qwen"]

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        return []

    def translate(self, log: SourceLog, out: Translation) -> None:
        pass

    def resume_command(self, log: SourceLog) -> list[str]:
        return []
