"""A session's file to its inventory: how much of what it holds.

The tables of a format study: lines, versions with their entries, types, human turns, tool
calls, stop reasons and content blocks.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from plait.line import lines
from plait.record.chain import Assistant
from plait.record.prompt import is_human_prompt
from plait.record.read import entries
from plait.record.record import Record, content_of


@dataclass(slots=True)
class Inventory:
    """Counts over the lines of one file."""

    lines: int = 0
    human_turns: int = 0
    tool_calls: int = 0
    versions: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    stop_reasons: Counter[str] = field(default_factory=Counter)
    blocks: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Counts one record."""
        self.types[record.kind] += 1
        if record.version is not None:
            self.versions[record.version] += 1
        self.human_turns += is_human_prompt(record)
        if isinstance(record, Assistant):
            message = record.envelope.message
            self.stop_reasons[(message.stop_reason if message else None) or "null"] += 1
        self._add_blocks(record)

    def _add_blocks(self, record: Record) -> None:
        if record.envelope.message is None:
            return
        content = content_of(record.envelope)
        if isinstance(content, list):
            self.blocks.update(head.type or "untyped" for head in content)
            self.tool_calls += sum(head.type == "tool_use" for head in content)


def inventory(path: Path) -> Inventory:
    """Returns the inventory of one file."""
    result = Inventory()
    for entry in entries(lines(path)):
        result.lines += 1
        if isinstance(entry, Record):
            result.add(entry)
    return result
