"""What became of a plan to lines on the screen: figures, reasons, what to type next."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli.edit.carry_out import Manner, Outcome
from plait.cli.options import Request
from plait.cli.output import Output
from plait.cli.settings import claude_folder, expanded
from plait.cli.text import clipped, counted, safe, safe_line, short, to_type
from plait.view.edits import (
    DifferentLine,
    EditReport,
    done_words,
    fate_rows,
    rule_words,
    saving_words,
    size_rows,
    windows,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

FATES = {"dropped": "red", "rewritten": "yellow", "added": "green", "kept": "dim"}
MOST_SHOWN = 4
MOST_LISTED = 10
LARGE = 50_000_000
IDLE = {"repair": "nothing to mend", "trim": "nothing to trim", "compress": "nothing to compress"}


def print_outcome(request: Request, outcome: Outcome, manner: Manner) -> None:
    """Prints one plan and what became of it."""
    report, output = outcome.report, request.output
    if report is None:
        return
    if report.is_idle:
        output.print(_idle_words(report))
        _print_remarks(output, report)
        return
    output.print(_sizes(report))
    if saving := saving_words(report):
        output.print("")
        output.print(saving, style="bold")
    output.print("")
    output.print(_fates(report))
    _print_differences(output, report)
    _print_remarks(output, report)
    output.print("")
    _print_end(request, report, manner)
    if outcome.proof:
        from plait.cli.prove import proof_words

        style = "" if outcome.proof.is_good else "bold red"
        output.unbroken(f"  {'proof':<8}{proof_words(outcome.proof)}", style)


def print_outcomes(request: Request, outcomes: Sequence[Outcome], manner: Manner) -> None:
    """Prints what became of several plans, a line or two each; what is fine is only counted."""
    output, done, idle = request.output, 0, 0
    for one in outcomes:
        name = short(one.session)
        if one.refusal:
            output.print(f"{name}  refused: {safe_line(one.refusal.message)}", style="red")
        elif one.report and one.report.is_idle:
            idle += 1
        elif one.report:
            done += one.report.applied
            output.print(f"{name}  {_brief(one.report)}")
            if one.report.undo:
                line = to_type("plait", "undo", one.report.undo, *_roots(request, one.report))
                output.unbroken(f"{'':8}  {line}", "dim")
    parts = [counted(len(outcomes), "session"), f"{done} changed"]
    if idle:
        parts.append(f"{idle} with nothing to do")
    if not manner.is_done:
        parts.append(_held_words(manner))
    output.print("")
    output.print(", ".join(parts), style="dim")


def _held_words(manner: Manner) -> str:
    say = "without `--dry-run`" if manner.is_dry else "add `--yes` and"
    return f"nothing was changed: {say} it is done"


def _idle_words(report: EditReport) -> str:
    if report.operation == "port" and not report.unmended:
        return "nothing to do: all of it is here already"
    words = IDLE.get(report.operation, "nothing to do")
    return next((note for note in report.notes if note.startswith(f"{words}:")), words)


def _brief(report: EditReport) -> str:
    what = ", ".join(f"{count} {fate}: {reason}" for count, fate, reason in fate_rows(report))
    state = done_words(report) if report.applied else f"would be {done_words(report)}"
    return f"{state} ({what})" if what else state


def _sizes(report: EditReport) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table.grid("", "", "", padding=(0, 3, 0, 0))
    table.columns[1].justify = table.columns[2].justify = "right"
    table.add_row("", Text("before", style="dim"), Text("after", style="dim"))
    for name, before, after in size_rows(report):
        style = "bold" if before != after else ""
        table.add_row(Text(name, style="dim"), before, Text(after, style=style))
    return table


def _fates(report: EditReport) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table.grid("", "", "", padding=(0, 2, 0, 0))
    table.columns[0].justify = "right"
    for count, fate, reason in fate_rows(report):
        table.add_row(count, Text(fate, style=FATES.get(fate, "")), Text(safe(reason)))
    return table


def _print_differences(output: Output, report: EditReport) -> None:
    if not report.differences:
        return
    output.print("")
    for one in report.differences[:MOST_SHOWN]:
        output.lines(_difference(one, output.width))
    more = len(report.differences) - MOST_SHOWN
    if more > 0:
        output.print(f"… {counted(more, 'more line')} with `--json`", style="dim")


def _difference(one: DifferentLine, width: int) -> Iterator["Text"]:
    from rich.text import Text

    place = f"line {one.line}" if one.line else "new line"
    yield Text(clipped(f"{place}: {safe_line(one.reason)}", width), style="dim")
    before, after = windows(one.before, one.after, width - 4)
    if before is not None:
        yield Text(f"  - {safe_line(before)}", style="red")
    if after is not None:
        yield Text(f"  + {safe_line(after)}", style="green")


def _print_remarks(output: Output, report: EditReport) -> None:
    notes = () if report.is_idle else report.notes  # it was said that there is nothing to do
    rows = [("note:", "bold", note) for note in notes]
    rows += [("stays:", "bold yellow", rule_words(one)) for one in report.unmended]
    rows += [("broken:", "bold red", rule_words(one)) for one in report.violations]
    if not rows:
        return
    output.print("")
    _print_rows(output, rows[:MOST_LISTED])
    if len(rows) > MOST_LISTED:
        output.print(f"… {counted(len(rows) - MOST_LISTED, 'more')} with `--json`", style="dim")


def _print_rows(output: Output, rows: Sequence[tuple[str, str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid("", "", padding=(0, 1, 0, 0))
    for name, style, words in rows:
        grid.add_row(Text(name, style=style), Text(safe(words)))
    output.print(grid)


def _print_end(request: Request, report: EditReport, manner: Manner) -> None:
    output = request.output
    if not report.applied:
        if not report.violations:
            output.print(_held_words(manner), style="bold")
        return
    output.unbroken(done_words(report), style="bold green")
    for name, line in _next_lines(request, report):
        output.unbroken(f"  {name:<8}{safe_line(line)}")


def _next_lines(request: Request, report: EditReport) -> Iterator[tuple[str, str]]:
    if Path(report.path).is_dir():
        yield "folder", report.path
    elif report.operation != "delete":
        yield "file", report.path
        yield from (("resume", line) for line in _resume_line(request, report))
    if report.undo:
        line = to_type("plait", "undo", report.undo, *_roots(request, report))
        yield "undo", line
        if report.operation == "redact" and not report.is_new:
            yield "forget", f"{line} --forget"


def _resume_line(request: Request, report: EditReport) -> Iterator[str]:
    """Yields what continues the session; of a large one, what says so: it is not read for that."""
    if report.after.bytes > LARGE:
        yield to_type("plait", "resume", report.session, *_roots(request, report))
        return
    archive = request.archive.renewed()
    found = archive.session_at(Path(report.path))
    resume = archive.resume(found, default=expanded(claude_folder({}), {}))
    if resume.why_not is None:
        yield resume.line


def _roots(request: Request, report: EditReport) -> list[str]:
    """Returns what to add so that the edit is found: its own root, where it lies under none."""
    beyond = request.archive.journals.root_beyond(report.undo or "", Path(report.path))
    roots = [str(beyond)] if beyond else request.roots
    return [part for root in roots for part in ("--root", root)]
