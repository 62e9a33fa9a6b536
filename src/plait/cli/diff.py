"""`plait diff`: two branches of a session, what they share and where they fork."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from plait.archive import describe_conversation
from plait.cli.options import Request, command, json_option, session_argument
from plait.cli.output import Output
from plait.cli.text import join_fitting, safe
from plait.conversation.model import Turn
from plait.view.comparison import (
    Comparison,
    Side,
    comparison_to_json,
    list_answers,
    list_comparison_rows,
)
from plait.view.formats import format_count, format_duration
from plait.view.summaries import to_single_line
from plait.view.text import count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text

MARKS = ("A", "B")
STYLES = ("cyan", "magenta")
MOST_LINES = 8
"""Lines of a prompt or an answer that are shown where not all are wanted."""
WIDEST = 96


@command(
    "diff",
    session_argument,
    click.option(
        "--branch",
        "branches",
        nargs=2,
        metavar="A B",
        help="Two branches: ids, beginnings of ids, or numbers.",
    ),
    click.option("--all", "is_all", is_flag=True, help="Full prompts and answers."),
    json_option,
)
def diff_command(
    request: Request, session: str, branches: tuple[str, str] | None, is_all: bool, as_json: bool
) -> None:
    """Compare two branches of SESSION: prompts, answers, files.

    Without names: the active branch and the newest of the others. What both share is shown once;
    figures count from where they fork.
    """
    archive = request.priced_archive
    meant = archive.session(session, request.settings.directory)
    found = archive.compare(meant, *(branches or ()))
    if as_json:
        request.output.json(comparison_to_json(found))
        return
    with request.output.paged():
        facts = archive.facts(meant)
        request.output.print_heading(facts)
        _DiffPage(request.output, found, facts.cwd, is_all=is_all).print()


class _DiffPage:
    """Print a comparison."""

    def __init__(
        self, output: Output, found: Comparison, directory: str | None, *, is_all: bool
    ) -> None:
        self.output, self.found, self.is_all = output, found, is_all
        self.folder = f"{directory}/" if directory else ""
        self.sides = (found.first, found.second)
        self.width = min(output.width, WIDEST)

    def print(self) -> None:
        """Print who they are, their sums, their files, their turns."""
        for mark, style, side in zip(MARKS, STYLES, self.sides, strict=True):
            state = "active" if side.path.is_active else "abandoned"
            self.output.print(f"{mark}  {describe_conversation(side.path)}, {state}", style=style)
        self.output.print(self._shared(), style="dim")
        self.output.print("")
        self.output.print_lines(self._sums())
        self.output.print_lines(self._files())
        turns = zip_longest(*(self.found.own_turns(side) for side in self.sides))
        for pair in turns:
            self.output.print_lines(self._turns(pair))

    def _shared(self) -> str:
        common = [turn for turn in self.found.first.path.turns[: self.found.shared] if turn.prompt]
        if not common:
            return "no common turns"
        last = shorten_to_width(to_single_line(common[-1].prompt or ""), self.width - 32)
        return f"{format_count(len(common), 'turn')} in common, up to “{safe(last)}”"

    def _sums(self) -> "Iterator[Text]":
        rows = list_comparison_rows(self.found)
        widths = [max(count_columns(cells[at]) for _, cells in rows) for at in (0, 1)]
        yield _row("after the fork", MARKS, widths, 18, "bold")
        for label, cells in rows:
            yield _row(label.lower(), cells, widths, 18, "" if len(set(cells)) > 1 else "dim")

    def _files(self) -> "Iterator[Text]":
        from rich.text import Text

        paths = list(dict.fromkeys(path for side in self.sides for path in side.files))
        yield Text()
        if not paths:
            yield Text("no files changed", style="dim")
            return
        cells = {path: [_format_changes(side, path) for side in self.sides] for path in paths}
        widths = [max(count_columns(found[at]) for found in cells.values()) for at in (0, 1)]
        room = max(self.width - sum(widths) - 4, 12)
        names = {path: path.removeprefix(self.folder) for path in paths}
        label = min(max(count_columns(name) for name in (*names.values(), "files changed")), room)
        yield _row("files changed", MARKS, widths, label, "bold")
        for path, found in cells.items():
            yield _row(_clipped_left(safe(names[path]), label), found, widths, label)

    def _turns(self, pair: "Sequence[Turn | None]") -> "Iterator[Text]":
        from rich.text import Text

        for mark, style, turn in zip(MARKS, STYLES, pair, strict=True):
            if turn is None:
                continue
            yield Text()
            yield Text(f"{mark} turn {turn.number}", style=style).append(_figures(turn), "dim")
            if turn.prompt:
                yield from self._words(f"{mark} ▌ ", style, turn.prompt, "bold")
            for answer in list_answers(turn):
                yield Text(mark, style=style)
                yield from self._words(f"{mark}   ", style, answer, "")

    def _words(self, bar: str, style: str, text: str, voice: str) -> "Iterator[Text]":
        from rich.text import Text

        lines = [
            part
            for line in safe(text.strip()).split("\n")
            for part in wrap(line, self.width - len(bar), drop_whitespace=False) or [""]
        ]
        shown = lines if self.is_all or len(lines) <= MOST_LINES + 1 else lines[:MOST_LINES]
        for line in shown:
            shown_line = Text(bar, style=style).append(line.rstrip(), style=voice)
            shown_line.rstrip()
            yield shown_line
        if len(shown) < len(lines):
            rest = f"… {format_count(len(lines) - len(shown), 'more line')}, `--all` shows them"
            yield Text(bar, style=style).append(rest, style="dim")


def _row(
    label: str, cells: Sequence[str], widths: Sequence[int], room: int, style: str = ""
) -> "Text":
    from rich.text import Text

    text = Text(label + " " * max(room - count_columns(label), 0), style=style)
    for cell, width, colour in zip(cells, widths, STYLES, strict=True):
        text.append("  " + " " * (width - count_columns(cell)))
        text.append(cell, style=colour)
    text.rstrip()
    return text


def _format_changes(side: Side, path: str) -> str:
    found = side.files.get(path)
    return f"+{found[0]} −{found[1]}" if found else ""


def _clipped_left(text: str, room: int) -> str:
    return text if count_columns(text) <= room else "…" + text[1 - room :]


def _figures(turn: Turn) -> str:
    calls = format_count(len(turn.calls), "call") if turn.calls else ""
    figures = join_fitting((calls, format_duration(turn.working_ms)), WIDEST)
    return f"  {figures}" if figures else ""
