"""`plait diff`: two branches of a session, what they share and where they fork."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from plait.archive import describe_conversation
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.terminal.output import make_text
from plait.terminal.text import align_cells, safe
from plait.view.comparison import (
    Comparison,
    comparison_to_json,
    list_answers,
    list_comparison_rows,
)
from plait.view.formats import (
    format_count,
    format_count_if_any,
    format_duration,
    join_dotted,
)
from plait.view.summaries import to_single_line
from plait.view.text import count_columns, shorten_path, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text
MARKS = ("A", "B")
STYLES = ("cyan", "magenta")
MOST_LINES = 8
"""Lines of a prompt or an answer that are shown unless all are requested."""
WIDEST, LABEL = 96, 18


@command(examples="plait diff latest\nplait diff 3f2a --branch 1 2 --all")
def diff_command(
    request: Request,
    session: str = shared.session,
    branches: tuple[str, str] | None = option(
        "--branch", nargs=2, metavar="A B", help="Two branches, each by id, id prefix or number."
    ),
    is_all: bool = option("--all", help="Show full prompts and answers."),
    as_json: bool = shared.as_json,
) -> None:
    """Compare two branches of SESSION: prompts, answers, files.

    Without `--branch`, the active branch and the newest other branch are compared. Their common
    part is shown once, and the figures count from the fork.
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
        for mark, style, side in zip(MARKS, STYLES, (found.first, found.second), strict=True):
            state = "active" if side.path.is_active else "abandoned"
            words = f"{mark}  {describe_conversation(side.path)}, {state}"
            request.output.print(words, style=style)
        width = min(request.output.width, WIDEST)
        request.output.print_lines(_iter_lines(found, width, facts.cwd, is_all=is_all))


def _iter_lines(
    found: Comparison, width: int, directory: str | None, *, is_all: bool
) -> "Iterator[Text]":
    """Yield what the branches share, their totals, their files, their turns."""
    sides = (found.first, found.second)
    common = [turn for turn in found.first.path.turns[: found.shared] if turn.prompt]
    words = "no common turns"
    if common:
        last = shorten_to_width(to_single_line(common[-1].prompt or ""), width - 32)
        words = f"{format_count(len(common), 'turn')} in common, up to “{safe(last)}”"
    yield make_text(words, style="dim")
    yield make_text()
    rows = [("after the fork", MARKS), *list_comparison_rows(found)]
    yield from _iter_table([(label.lower().ljust(LABEL), cells) for label, cells in rows])
    yield make_text()
    paths = list(dict.fromkeys(path for side in sides for path in side.files))
    if paths:
        changes = [
            tuple(
                "+{} −{}".format(*side.files[path]) if path in side.files else "" for side in sides
            )
            for path in paths
        ]
        cells = max(sum(map(count_columns, pair)) for pair in changes)
        room = max(width - cells - 4, 12)
        folder = f"{directory}/" if directory else ""
        names = [safe(path.removeprefix(folder)) for path in paths]
        labels = ["files changed", *(shorten_path(name, room) for name in names)]
        yield from _iter_table(list(zip(labels, (MARKS, *changes), strict=True)))
    else:
        yield make_text("no files changed", style="dim")
    for pair in zip_longest(*map(found.own_turns, sides)):
        for mark, style, turn in zip(MARKS, STYLES, pair, strict=True):
            if turn is None:
                continue
            figures = (
                format_count_if_any(len(turn.calls), "call"),
                format_duration(turn.working_ms),
            )
            yield make_text()
            heading = make_text(f"{mark} turn {turn.number}", style=style)
            yield heading.append(f"  {join_dotted(*figures)}".rstrip(), "dim")
            if turn.prompt:
                yield from _iter_words(f"{mark} ▌ ", style, turn.prompt, "bold", width, is_all)
            for answer in list_answers(turn):
                yield make_text(mark, style=style)
                yield from _iter_words(f"{mark}   ", style, answer, "", width, is_all)


def _iter_table(rows: Sequence[tuple[str, Sequence[str]]]) -> "Iterator[Text]":
    """Yield a heading and rows; equal figures are dim."""
    aligned = align_cells([(label, *cells) for label, cells in rows], right=(1, 2))
    for place, ((label, *cells), (_, figures)) in enumerate(zip(aligned, rows, strict=True)):
        text = make_text(
            label, style="bold" if place == 0 else "" if len({*figures}) > 1 else "dim"
        )
        for cell, style in zip(cells, STYLES, strict=True):
            text.append("  ").append(cell, style=style)
        text.rstrip()
        yield text


def _iter_words(
    bar: str, style: str, text: str, voice: str, width: int, is_all: bool
) -> "Iterator[Text]":
    lines = [
        part
        for line in safe(text.strip()).split("\n")
        for part in wrap(line, width - len(bar), drop_whitespace=False) or [""]
    ]
    shown = lines if is_all or len(lines) <= MOST_LINES + 1 else lines[:MOST_LINES]
    for line in shown:
        shown_line = make_text(bar, style=style).append(line.rstrip(), style=voice)
        shown_line.rstrip()
        yield shown_line
    if len(shown) < len(lines):
        rest = f"… {format_count(len(lines) - len(shown), 'more line')}, `--all` shows them"
        yield make_text(bar, style=style).append(rest, style="dim")
