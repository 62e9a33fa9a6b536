"""Repairs of drawn sessions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.drawing import Drawing, draw
from plait import Archive
from plait.edit.log import split_lines
from plait.edit.plan import Plan, Write
from plait.graph.client import Context, build_context
from plait.record import Record, parse_entry


@dataclass(frozen=True)
class Mended:
    """A session before and after its repair."""

    drawing: Drawing
    plan: Plan
    before: bytes
    after: bytes

    @property
    def changes(self) -> list[tuple[str, int]]:
        """What became of lines, those left out that stayed as they are."""
        return [
            (change.fate, change.lines) for change in self.plan.changes if change.fate != "kept"
        ]

    @property
    def picture(self) -> str:
        """The links after the repair, in letters: `A B<A`, `+` for a record that was made."""
        names = {uuid: name for name, uuid in self.drawing.uuids.items()}
        result = []
        for record in records_of(self.after):
            if record.uuid:
                name = names.get(record.uuid, "+")
                parent = record.parent_uuid
                result.append(f"{name}<{names.get(parent, '?')}" if parent else name)
        return " ".join(result)

    @property
    def chain(self) -> str:
        """The chain that the client sends, in letters."""
        names = {uuid: name for name, uuid in self.drawing.uuids.items()}
        return " ".join(names.get(uuid, "+") for uuid in context_of(self.after).chain)

    @property
    def texts(self) -> list[str]:
        """The words that the client sends."""
        return texts_of(context_of(self.after))


def repair_drawing(folder: Path, text: str, *, tweak: Any = None) -> Mended:
    """Return what a repair in place makes of a drawn session, whose bytes may be tweaked."""
    drawing = draw(text)
    (path, *_) = drawing.write(folder)
    if tweak:
        path.write_bytes(tweak(path.read_bytes()))
    plan = Archive([folder]).plan.repair(drawing.session, in_place=True)
    before = path.read_bytes()
    return Mended(drawing, plan, before, result_of(plan) if plan.steps else before)


def result_of(plan: Plan) -> bytes:
    """Return the bytes of the log that a plan leaves."""
    (step,) = (item for item in plan.steps if item.path == plan.path)
    assert isinstance(step, Write)
    return b"".join(step.content())


def records_of(data: bytes) -> list[Record]:
    """Return the records in the bytes of a log."""
    entries = [parse_entry(line) for line in split_lines([data])]
    return [entry for entry in entries if isinstance(entry, Record)]


def context_of(data: bytes) -> Context:
    """Return what the client sends of a log."""
    return build_context(records_of(data), size=len(data))


def texts_of(found: Context) -> list[str]:
    """Return the words of what is sent, results among them."""
    result: list[str] = []
    for _, blocks in found.messages:
        for block in blocks:
            words = block.get("text", block.get("content"))
            result.append(words.strip() if isinstance(words, str) else json.dumps(block))
    return result
