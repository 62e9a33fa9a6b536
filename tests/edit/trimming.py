"""Trims of drawn sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from examples.drawing import Drawing, draw
from plait import Archive
from plait.edit.operations import find_subject
from plait.edit.plan import Plan
from plait.edit.trim import Cut, plan_cuts
from plait.graph.client import Context
from plait.record import Record
from tests.edit.mending import context_of, records_of, result_of, texts_of


@dataclass(frozen=True)
class Trimmed:
    """A session before and after a trim in its place."""

    drawing: Drawing
    plan: Plan
    before: bytes
    after: bytes

    @property
    def picture(self) -> str:
        """The links after the trim, in letters: `A B<A`."""
        names = {uuid: name for name, uuid in self.drawing.uuids.items()}
        result = []
        for record in self.records:
            if record.uuid:
                parent = record.parent_uuid
                name = names[record.uuid]
                result.append(f"{name}<{names.get(parent, '?')}" if parent else name)
        return " ".join(result)

    @property
    def records(self) -> list[Record]:
        """The records after the trim."""
        return records_of(self.after)

    @property
    def context(self) -> Context:
        """What the client sends after the trim."""
        return context_of(self.after)

    @property
    def texts(self) -> list[str]:
        """The words that the client sends after the trim."""
        return texts_of(self.context)

    def record(self, name: str) -> Record:
        """Return the last record of that name after the trim."""
        uuid = self.drawing.uuids[name]
        return next(record for record in reversed(self.records) if record.uuid == uuid)


def trimmed(folder: Path, text: str, **wanted: Any) -> Trimmed:
    """Return what a trim in place makes of a drawn session; no new rule is broken by it."""
    drawing = draw(dedent(text))
    (path, *_) = drawing.write(folder)
    plan = Archive([folder]).plan.trim(drawing.session, in_place=True, **wanted)
    assert plan.check() == ()
    before = path.read_bytes()
    return Trimmed(drawing, plan, before, result_of(plan) if plan.steps else before)


def make_cuts(folder: Path, text: str, *wanted: tuple[Any, ...], in_place: bool = True) -> Trimmed:
    """Return what single cuts make of a drawn session: the name of a record, a block, a text."""
    drawing = draw(dedent(text))
    (path, *_) = drawing.write(folder)
    session = next(item for item in Archive([folder]).sessions if item.id == drawing.session)

    def chosen(records: Sequence[Record], size: int) -> list[Cut]:
        lines = {record.uuid: record.line for record in records}
        return [_cut(lines[drawing.uuids[name]], *rest) for name, *rest in wanted]

    plan = plan_cuts(find_subject(session), chosen, is_in_place=in_place)
    assert plan.check() == ()
    before = path.read_bytes()
    return Trimmed(drawing, plan, before, result_of(plan) if plan.steps else before)


def _cut(line: int, block: int | None = 0, to: str | None = None, inner: int | None = None) -> Cut:
    return Cut(line, block, to, "asked for", inner)
