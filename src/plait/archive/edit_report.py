"""Plans and what became of them to reports, which every face tells from."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from plait.edit.model import Measures, Plan, Violation
from plait.view.edits import (
    BrokenRule,
    CheckReport,
    DifferentLine,
    EditEntry,
    EditReport,
    FateReason,
    NextCost,
    Size,
    Unmended,
    windows,
)

if TYPE_CHECKING:
    from plait.edit.entry import Edit
    from plait.edit.packing import Packing

MOST_DIFFERENCES = 12
LONGEST = 400
"""Characters of a line that differs."""


def report_of(
    plan: Plan, violations: Iterable[Violation] = (), edit: "Edit | None" = None
) -> EditReport:
    """Returns what is told of a plan: with its place in the journal where it was done."""
    return EditReport(
        operation=plan.operation,
        source=plan.source.id,
        session=plan.session,
        path=str(plan.path),
        applied=edit is not None,
        before=size_of(plan.before),
        after=size_of(plan.after),
        kept=plan.lines("kept"),
        dropped=plan.lines("dropped"),
        rewritten=plan.lines("rewritten"),
        added=plan.lines("added"),
        reasons=tuple(FateReason(one.fate, one.lines, one.reason) for one in plan.changes),
        differences=tuple(_differences(plan)),
        notes=plan.notes,
        unmended=tuple(
            Unmended(one.code, one.uuid, one.line, one.sentence) for one in plan.unmended
        ),
        violations=_broken(violations, plan.path),
        undo=edit.id if edit else None,
        break_even_turns=plan.break_even_turns,
        files=len(plan.steps),
    )


def packing_report(packing: "Packing", *, is_done: bool) -> EditReport:
    """Returns what is told of sessions that are packed into a file: nothing of them changes."""
    load, size = packing.load, size_of(packing.size)
    name = load.directory if load.is_project else load.subjects[0].id
    kept = packing.size.lines - packing.redacted
    return EditReport(
        operation="port",
        source=name or load.folder.name,
        session=name or load.folder.name,
        path=str(packing.path),
        applied=is_done,
        before=size,
        after=size,
        kept=kept,
        dropped=0,
        rewritten=packing.redacted,
        added=0,
        reasons=tuple(
            FateReason(fate, count, why)
            for fate, count, why in (
                ("kept", kept, "packed as it is"),
                ("rewritten", packing.redacted, "held what should not be shared"),
            )
            if count
        ),
        notes=packing.notes,
        files=len(packing.members),
    )


def check_report(session: str, path: Path, violations: Iterable[Violation]) -> CheckReport:
    """Returns what is told of a session that was checked."""
    found = _broken(violations, path)
    return CheckReport(session, str(path), not found, found)


def entry_of(edit: "Edit") -> EditEntry:
    """Returns what a list of edits shows of one."""
    return EditEntry(
        edit.id, edit.operation, edit.session, str(edit.path), edit.when.isoformat(), edit.state
    )


def size_of(given: Measures) -> Size:
    """Returns what is told of how large a session is."""
    is_priced = given.warm_usd is not None or given.cold_usd is not None
    cost = NextCost(given.warm_usd, given.cold_usd) if is_priced else None
    return Size(given.lines, given.turns, given.bytes, given.tokens, cost)


def _differences(plan: Plan) -> Iterable[DifferentLine]:
    for one in plan.differences[:MOST_DIFFERENCES]:
        before, after = windows(one.before, one.after, LONGEST)
        yield DifferentLine(one.line, one.uuid, before, after, one.reason)


def _broken(violations: Iterable[Violation], own: Path) -> tuple[BrokenRule, ...]:
    return tuple(
        BrokenRule(one.rule, one.uuid, one.line, one.sentence, _file_name(one.path, own))
        for one in violations
    )


def _file_name(path: Path | None, own: Path) -> str | None:
    return None if path is None or path == own else path.name
