"""`plait diff`: two branches of a session, what they share and where they part."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from plait.archive import described
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.output import Output
from plait.cli.text import clipped, columns, counted, fitting, safe
from plait.conversation.model import Turn
from plait.view.amounts import time_in_words
from plait.view.comparison import Comparison, Side, answers_of, comparison_object, sums_of
from plait.view.words import one_line

if TYPE_CHECKING:
    from rich.text import Text

MARKS = ("A", "B")
STYLES = ("cyan", "magenta")
MOST_LINES = 8
"""Lines of a prompt or an answer that are shown where not all are wanted."""
WIDEST = 96


@click.command("diff")
@session_argument
@click.option(
    "--branch",
    "branches",
    nargs=2,
    metavar="A B",
    help="Two branches: their ids, the beginnings of those, or their numbers.",
)
@click.option("--all", "is_all", is_flag=True, help="Whole prompts and answers.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request, session: str, branches: tuple[str, str] | None, is_all: bool, as_json: bool
) -> None:
    """Set two branches of SESSION beside each other: prompts, answers, files.

    Without names they are the conversation that goes on and the last of the others. What both
    share is told once; what they came to is counted from where they part.
    """
    archive = request.priced
    meant = archive.session(session, request.settings.directory)
    found = archive.compare(meant, *(branches or ()))
    if as_json:
        request.output.json(comparison_object(found))
        return
    with request.output.paged():
        facts = archive.facts(meant)
        request.output.heading(facts)
        _Page(request.output, found, facts.cwd, is_all=is_all).print()


class _Page:
    """Prints a comparison."""

    def __init__(
        self, output: Output, found: Comparison, directory: str | None, *, is_all: bool
    ) -> None:
        self.output, self.found, self.is_all = output, found, is_all
        self.folder = f"{directory}/" if directory else ""
        self.sides = (found.one, found.two)
        self.width = min(output.width, WIDEST)

    def print(self) -> None:
        """Prints who they are, their sums, their files, their turns."""
        for mark, style, side in zip(MARKS, STYLES, self.sides, strict=True):
            state = "goes on" if side.path.is_active else "abandoned"
            self.output.print(f"{mark}  {described(side.path)}, {state}", style=style)
        self.output.print(self._shared(), style="dim")
        self.output.print("")
        self.output.lines(self._sums())
        self.output.lines(self._files())
        turns = zip_longest(*(self.found.own_turns(side) for side in self.sides))
        for pair in turns:
            self.output.lines(self._turns(pair))

    def _shared(self) -> str:
        common = [turn for turn in self.found.one.path.turns[: self.found.shared] if turn.prompt]
        if not common:
            return "no turn in common"
        last = clipped(one_line(common[-1].prompt or ""), self.width - 32)
        return f"{counted(len(common), 'turn')} in common, up to “{safe(last)}”"

    def _sums(self) -> "Iterator[Text]":
        rows = sums_of(self.found)
        widths = [max(columns(cells[at]) for _, cells in rows) for at in (0, 1)]
        yield _row("after they part", MARKS, widths, 18, "bold")
        for label, cells in rows:
            yield _row(label.lower(), cells, widths, 18, "" if len(set(cells)) > 1 else "dim")

    def _files(self) -> "Iterator[Text]":
        from rich.text import Text

        paths = list(dict.fromkeys(path for side in self.sides for path in side.files))
        yield Text()
        if not paths:
            yield Text("no files changed", style="dim")
            return
        cells = {path: [_changed(side, path) for side in self.sides] for path in paths}
        widths = [max(columns(found[at]) for found in cells.values()) for at in (0, 1)]
        room = max(self.width - sum(widths) - 4, 12)
        names = {path: path.removeprefix(self.folder) for path in paths}
        label = min(max(columns(name) for name in (*names.values(), "files changed")), room)
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
            for answer in answers_of(turn):
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
            rest = f"… {counted(len(lines) - len(shown), 'more line')}, `--all` shows them"
            yield Text(bar, style=style).append(rest, style="dim")


def _row(
    label: str, cells: Sequence[str], widths: Sequence[int], room: int, style: str = ""
) -> "Text":
    from rich.text import Text

    text = Text(label + " " * max(room - columns(label), 0), style=style)
    for cell, width, colour in zip(cells, widths, STYLES, strict=True):
        text.append("  " + " " * (width - columns(cell)))
        text.append(cell, style=colour)
    text.rstrip()
    return text


def _changed(side: Side, path: str) -> str:
    found = side.files.get(path)
    return f"+{found[0]} −{found[1]}" if found else ""


def _clipped_left(text: str, room: int) -> str:
    return text if columns(text) <= room else "…" + text[1 - room :]


def _figures(turn: Turn) -> str:
    calls = counted(len(turn.calls), "call") if turn.calls else ""
    told = fitting((calls, time_in_words(turn.working_ms)), WIDEST)
    return f"  {told}" if told else ""
