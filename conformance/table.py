"""Render the rows of a run as a Markdown table."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

from conformance.model import EditVerdict, Mark, Outcome, Skipped, Verdict

Row: TypeAlias = Verdict | EditVerdict | Skipped

HEADS = ("group", "scenario", "resumed", "leaf", "messages", "full", "SDK", "list", "account")
COLUMNS = ("resumed", "leaf", "messages", "full", "sdk", "title", "account")
MANY = "produced"
"""The group whose rows all stand in the table; of the others only sums and differences."""


def table(outcome: Outcome) -> str:
    """Return the tables, with the sum of each group and all that differs."""
    rows = outcome.rows
    edits = [row for row in rows if isinstance(row, EditVerdict)]
    read = [row for row in rows if not isinstance(row, EditVerdict)]
    shown = [as_table([HEADS, *cells(read)])] if read or not edits else []
    if edits:
        operations = tuple(edits[0].marks)
        shown.append(as_table([("edits", "scenario", *operations), *edit_cells(edits)]))
    return "\n\n".join([*shown, "\n".join([*notes(rows), summary(outcome)])])


def as_table(rows: list[tuple[str, ...]]) -> str:
    """Return rows of cells, the first of them the heads, in columns."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [as_line(row, widths) for row in rows]
    lines.insert(1, as_line(tuple("-" * width for width in widths), widths))
    return "\n".join(lines)


def notes(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what a row has to say beside its marks."""
    for row in rows:
        if isinstance(row, Skipped):
            yield f"skipped: {row.group}: {row.why}"
        elif row.why:
            yield f"{row.group}, {row.name}: {row.why}"


def cells(rows: Iterable[Verdict | Skipped]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each line."""
    for group, members in groupby(rows, key=lambda row: row.group):
        found = list(members)
        judged = [row for row in found if isinstance(row, Verdict)]
        if judged:
            shown = [row for row in judged if group == MANY or row.why or not row.is_equal]
            yield from (verdict_cells(row) for row in shown)
            yield sum_cells(group, judged)
        for row in skips(found):
            yield (group, f"skipped: {row.why}", *["-"] * len(COLUMNS))


def edit_cells(rows: Iterable[EditVerdict]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each line about edits: what differs, and the sum of each group."""
    for group, members in groupby(rows, key=lambda row: row.group):
        found = list(members)
        for row in found:
            if not row.is_equal:
                yield (group, row.name, *map(str, row.marks.values()))
        sums = (share([row.marks[one] for row in found]) for one in found[0].marks)
        yield (group, f"all {len(found)}", *sums)


def verdict_cells(row: Verdict) -> tuple[str, ...]:
    """Return the cells of one verdict."""
    return (row.group, row.name, *(str(getattr(row, column)) for column in COLUMNS))


def sum_cells(group: str, judged: list[Verdict]) -> tuple[str, ...]:
    """Return how many of a group are equal, column by column."""
    return (group, f"all {len(judged)}", *(share(marks_of(judged, column)) for column in COLUMNS))


def marks_of(judged: list[Verdict], column: str) -> list[Mark]:
    """Return the marks of one column."""
    return [getattr(row, column) for row in judged]


def share(marks: list[Mark]) -> str:
    """Return how many are equal of those that were asked."""
    asked = [one for one in marks if one is not Mark.NOT_ASKED]
    explained = f" + {asked.count(Mark.EXPLAINED)}" if Mark.EXPLAINED in asked else ""
    return f"{asked.count(Mark.EQUAL)}{explained}/{len(asked)}" if asked else "-"


def skips(rows: Iterable[Row]) -> list[Skipped]:
    """Return what was skipped."""
    return [row for row in rows if isinstance(row, Skipped)]


def as_line(row: tuple[str, ...], widths: list[int]) -> str:
    """Return one line of the table."""
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def summary(outcome: Outcome) -> str:
    """Return the last line: how many agree, and how long it took."""
    judged = [row for row in outcome.rows if isinstance(row, Verdict)]
    different = sum(not row.is_equal for row in judged)
    explained = sum(is_explained(row) for row in judged)
    equal = len(judged) - different - explained
    read = f"{equal} sessions read alike, {explained} explained, {different} different"
    told = [one for one in (read if judged else "", edit_summary(outcome.rows)) if one]
    return f"client {outcome.client}: {'; '.join(told or [read])}, {outcome.seconds:.0f} s"


def edit_summary(rows: Iterable[Row]) -> str:
    """Return what came of the edits, in a few words; nothing where there were none."""
    marks = Counter(
        mark for row in rows if isinstance(row, EditVerdict) for mark in row.marks.values()
    )
    if not marks:
        return ""
    return (
        f"{marks[Mark.EQUAL]} edits hold, {marks[Mark.EXPLAINED]} explained, "
        f"{marks[Mark.DIFFERENT]} different"
    )


def is_explained(row: Verdict) -> bool:
    """Whether a row differs for reasons that are known, and for no other."""
    marks = [getattr(row, column) for column in COLUMNS]
    return Mark.EXPLAINED in marks and Mark.DIFFERENT not in marks
