"""The rows of a run to a table in Markdown."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from conformance.model import Mark, Outcome, Skipped, Verdict

HEADS = ("group", "scenario", "resumed", "leaf", "messages", "full", "SDK", "list", "account")
COLUMNS = ("resumed", "leaf", "messages", "full", "sdk", "title", "account")
MANY = "produced"
"""The group whose rows all stand in the table; of the others only sums and differences."""


def table(outcome: Outcome) -> str:
    """Returns the table, with the sum of each group and all that differs."""
    rows = [HEADS, *cells(outcome.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADS))]
    lines = [as_line(row, widths) for row in rows]
    lines.insert(1, as_line(tuple("-" * width for width in widths), widths))
    return "\n".join([*lines, "", *notes(outcome.rows), summary(outcome)])


def notes(rows: Iterable[Verdict | Skipped]) -> Iterator[str]:
    """Yields what a row has to say beside its marks."""
    for row in rows:
        if isinstance(row, Skipped):
            yield f"skipped: {row.group}: {row.why}"
        elif row.why:
            yield f"{row.group}, {row.name}: {row.why}"


def cells(rows: Iterable[Verdict | Skipped]) -> Iterator[tuple[str, ...]]:
    """Yields the cells of each line."""
    for group, members in groupby(rows, key=lambda row: row.group):
        found = list(members)
        judged = [row for row in found if isinstance(row, Verdict)]
        if judged:
            shown = [row for row in judged if group == MANY or row.why or not row.is_equal]
            yield from (verdict_cells(row) for row in shown)
            yield sum_cells(group, judged)
        for row in skips(found):
            yield (group, f"skipped: {row.why}", *["-"] * len(COLUMNS))


def verdict_cells(row: Verdict) -> tuple[str, ...]:
    """Returns the cells of one verdict."""
    return (row.group, row.name, *(str(getattr(row, column)) for column in COLUMNS))


def sum_cells(group: str, judged: list[Verdict]) -> tuple[str, ...]:
    """Returns how many of a group are equal, column by column."""
    return (group, f"all {len(judged)}", *(share(judged, column) for column in COLUMNS))


def share(judged: list[Verdict], column: str) -> str:
    """Returns how many are equal of those that were asked."""
    marks = [getattr(row, column) for row in judged]
    asked = [one for one in marks if one is not Mark.NOT_ASKED]
    explained = f" + {asked.count(Mark.EXPLAINED)}" if Mark.EXPLAINED in asked else ""
    return f"{asked.count(Mark.EQUAL)}{explained}/{len(asked)}" if asked else "-"


def skips(rows: Iterable[Verdict | Skipped]) -> list[Skipped]:
    """Returns what was skipped."""
    return [row for row in rows if isinstance(row, Skipped)]


def as_line(row: tuple[str, ...], widths: list[int]) -> str:
    """Returns one line of the table."""
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def summary(outcome: Outcome) -> str:
    """Returns the last line: how many agree, and how long it took."""
    judged = [row for row in outcome.rows if isinstance(row, Verdict)]
    different = len(outcome.differences)
    explained = sum(is_explained(row) for row in judged)
    equal = len(judged) - different - explained
    return (
        f"client {outcome.client}: {equal} sessions read alike, {explained} explained, "
        f"{different} different, {outcome.seconds:.0f} s"
    )


def is_explained(row: Verdict) -> bool:
    """Whether a row differs for reasons that are known, and for no other."""
    marks = [getattr(row, column) for column in COLUMNS]
    return Mark.EXPLAINED in marks and Mark.DIFFERENT not in marks
