"""Passages that are made of single lines to those lines, as wide as there is room."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal, TypeAlias
from urllib.parse import quote

from rich.cells import chop_cells
from rich.text import Text

from plait.archive import short_name
from plait.cli.text import clipped, columns, counted, fitting, local, safe, short, size, to_type
from plait.conversation.model import Left, Outcome
from plait.view.amounts import (
    duration_in_words,
    money_in_words,
    time_in_words,
)
from plait.view.costs import Figures
from plait.view.forms import minute_of, second_of, tokens_out
from plait.view.passages.tools import CallLine
from plait.view.terminal.model import (
    Changed,
    ChangedLine,
    Choices,
    Landmark,
    Leaving,
    Printed,
    Remark,
    Todos,
    Tone,
    TurnHead,
    cut,
)
from plait.view.text import COLOUR, without_escapes

InLines: TypeAlias = (
    TurnHead | CallLine | Printed | Changed | Todos | Choices | Remark | Landmark | Leaving
)
Beyond: TypeAlias = Literal[
    "cut",  # lines end at the edge
    "wrap",  # what is beyond it stands below
    "as is",  # there is no edge
]
SIGNS: dict[Outcome, tuple[str, str]] = {
    "ok": ("●", "green"),
    "failed": ("✗", "bold red"),
    "rejected": ("⊘", "yellow"),
    "interrupted": ("■", "yellow"),
    "launched": ("◐", "cyan"),
    "missing": ("○", "yellow"),
}
LATE = "╰"
TONES: dict[Tone, str] = {"quiet": "dim", "plain": "none", "trouble": "red"}
TODOS = {
    "completed": ("✓", "dim"),
    "in_progress": ("▸", "bold"),
    "pending": ("○", "none"),
}
CHANGES = {"added": ("+", "green"), "removed": ("-", "red"), "same": (" ", "dim")}
INDENT = "    "
LEAST_SUBJECT = 12
LONGEST_TOOL = 40
ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lays out one passage."""

    width: int
    session: str
    beyond: Beyond = "cut"
    hint: str = ""
    """What to type to see what is folded."""
    roots: Sequence[str] = ()
    """What to add to a command so that it looks where this one does."""

    def of(self, passage: InLines) -> Iterator[Text]:
        """Yields the lines of a passage."""
        match passage:
            case TurnHead():
                yield self.turn(passage)
            case CallLine():
                yield from self.call(passage)
            case Printed():
                yield from self._printed(passage)
            case Changed():
                yield from self._changed(passage)
            case Todos():
                yield from self.todos(passage)
            case Choices():
                yield from self._choices(passage)
            case Landmark():
                yield from self._landmark(passage)
            case Leaving():
                yield from self._leaving(passage.left)
            case Remark():
                yield from self._within(Text(pieces(passage.text), style=TONES[passage.tone]))

    def turn(self, head: TurnHead) -> Text:
        """Returns the rule that a turn begins with, its figures at the right."""
        name = f"─── {head.number} "
        interrupted = "interrupted" if head.is_interrupted else ""
        facts = [_day_and_time(head.time), interrupted, head.unseen]
        margin = fitting([*facts, *_figures(head.spent)], max(self.width - len(name) - 4, 8))
        rule = "─" * max(self.width - columns(name) - columns(margin) - 1, 1)
        return Text.assemble((name, "bold"), (rule, "dim"), (f" {margin}", "dim"))

    def call(self, call: CallLine) -> Iterator[Text]:
        """Yields a call: what it was about is cut where there is no room for all."""
        sign, style = SIGNS[call.outcome]
        tool, is_cut = safe(call.tool), self.beyond == "cut"
        tool = clipped(tool, min(LONGEST_TOOL, self.width // 2)) if is_cut else tool
        head = Text.assemble((f"{LATE if call.is_late else sign} ", style), (tool, "bold"))
        result = f"  → {safe(call.result)}" if call.result else ""
        took = time_in_words(call.duration_ms)
        room = self.width - head.cell_len - 2 - columns(result) - (columns(took) + 2 if took else 0)
        if room < LEAST_SUBJECT and took:
            room, took = room + columns(took) + 2, ""
        if call.subject:
            subject = safe(call.subject)
            clip = _cut_at_the_front if call.link and "://" not in call.link else clipped
            subject = clip(subject, max(room, LEAST_SUBJECT)) if is_cut else subject
            head.append("  ").append(subject, _link_style(call.link))
        left = self.width - head.cell_len - (columns(took) + 2 if took else 0)
        head.append(
            clipped(result, max(left, 4)) if is_cut else result,
            "dim" if call.outcome == "ok" else style,
        )
        line = _with_margin(head, took, self.width)
        yield from self._within(line) if self.beyond == "wrap" else (line,)

    def _printed(self, printed: Printed) -> Iterator[Text]:
        style, is_whole = TONES[printed.tone], printed.is_whole
        yield from self._bodies(printed.lines, style, is_whole=is_whole)
        if printed.hidden:
            yield from self._phrased(self.fold(printed.hidden, printed.hidden_size), "dim italic")
        yield from self._bodies(printed.last, style, is_whole=is_whole)

    def fold(self, lines: int, bytes_: int = 0) -> str:
        """Says how much is left out, and how to see it."""
        large = f" ({size(bytes_)})" if bytes_ else ""
        return f"… {counted(lines, 'more line')}{large}{self.hint}"

    def _bodies(self, lines: tuple[str, ...], style: str, *, is_whole: bool) -> Iterator[Text]:
        for line in lines:
            shown, rest = (line, "") if is_whole else cut(line)
            yield from self._within(_coloured(shown.expandtabs(4), style))
            yield from self._rest(rest)

    def _rest(self, size: str) -> Iterator[Text]:
        if size:
            hint = ", `--depth all` shows it" if self.hint else ""
            yield from self._phrased(f"… {size}{hint}", "dim italic")

    def _changed(self, change: Changed) -> Iterator[Text]:
        numbers = [line.number for line in change.lines if line.number is not None]
        digits = len(str(max(numbers, default=0))) if numbers else 0
        for line in change.lines:
            shown, rest = (line.text, "") if change.is_whole else cut(line.text)
            kept = ChangedLine(line.kind, shown, line.number)
            yield from self._within(_changed_line(kept, digits))
            yield from self._rest(rest)
        if change.hidden:
            yield from self._phrased(self.fold(change.hidden), "dim italic")

    def todos(self, todos: Todos) -> Iterator[Text]:
        """Yields a list of things to do."""
        for status, words in todos.items:
            sign, style = TODOS.get(status, TODOS["pending"])
            yield from self._within(Text(f"{INDENT}{sign} {pieces(words)}", style=style))

    def _choices(self, choices: Choices) -> Iterator[Text]:
        for question, answer in choices.pairs:
            yield from self._phrased(f"? {pieces(question)}", "none")
            words = pieces(answer) if answer is not None else "no answer"
            yield from self._phrased(f"→ {words}", "bold" if answer is not None else "dim")

    def _phrased(self, words: str, style: str) -> Iterator[Text]:
        room = max(self.width - len(INDENT), LEAST_SUBJECT)
        lines = [words] if self.beyond == "as is" else wrap(words, room, subsequent_indent="  ")
        for line in lines:
            yield Text(INDENT + line, style=style)

    def _landmark(self, mark: Landmark) -> Iterator[Text]:
        time = f" • {_moment_of(mark.time)}" if mark.time else ""
        yield from self._within(Text(f"📦 {pieces(mark.text)}{time}", style="bold magenta"))
        if mark.details:
            yield from self._phrased(", ".join(mark.details), "dim")

    def _leaving(self, left: Left) -> Iterator[Text]:
        name = pieces(short_name(left.to))
        state = "active" if left.is_active else "abandoned"
        words = f": “{clipped(pieces(left.label), 60)}”" if left.label else ""
        what = "branch" if left.kind == "branch" else f"{left.kind} session"
        sign = "├─●" if left.is_active else "├─○"
        line = Text.assemble((f"{sign} {what} {name}", "yellow"), words, (f", {state}", "dim"))
        yield from self._within(line)
        typed = to_type("plait", "show", short(self.session), "--branch", name, *self.roots)
        yield Text(f"│    {typed}" if len(typed) < self.width - 5 else typed, style="dim")

    def _within(self, line: Text) -> Iterator[Text]:
        if self.beyond == "as is" or line.cell_len <= self.width:
            yield line
        elif self.beyond == "wrap":
            yield from _wrapped(line, self.width)
        else:
            line.truncate(self.width, overflow="ellipsis")
            yield line


def _wrapped(line: Text, width: int) -> Iterator[Text]:
    room = max(width - len(INDENT), LEAST_SUBJECT)
    ends, end = [], len(INDENT)
    for piece in chop_cells(line.plain[len(INDENT) :], room):
        end += len(piece)
        ends.append(end)
    for place, part in enumerate(line.divide(ends[:-1])):
        yield Text.assemble(INDENT, part) if place else part


def _cut_at_the_front(path: str, width: int) -> str:
    """Shortens a path so that its end stays: that is what it is known by."""
    if columns(path) <= width:
        return path
    kept = path[-(width - 1) :]
    while columns(kept) > width - 1:
        kept = kept[1:]
    rest = kept.partition("/")[2]
    return f"…/{rest}" if len(rest) > len(kept) * 0.6 else f"…{kept}"


def pieces(text: str | None) -> str:
    """Returns a text on one line, safe to print."""
    return safe(" ".join(without_escapes(text or "").split()))


def _coloured(line: str, style: str) -> Text:
    if "\x1b" not in line:
        return Text(INDENT + safe(line), style=style)
    parts = COLOUR.split(line)
    kept = [f"\x1b[{part}m" if place % 2 else safe(part) for place, part in enumerate(parts)]
    text = Text.from_ansi("".join(kept))
    return Text.assemble(INDENT, text)


def _changed_line(line: ChangedLine, digits: int) -> Text:
    if line.kind == "gap":
        return Text(f"{INDENT}{'⋮':>{max(digits, 1)}}", style="dim")
    sign, style = CHANGES[line.kind]
    shown = "" if line.number is None else str(line.number)
    text = safe(without_escapes(line.text)).expandtabs(4)
    place = f"{INDENT}{shown:>{digits}} " if digits else INDENT
    return Text.assemble((place, "dim"), (f"{sign} {text}", style))


def _with_margin(line: Text, margin: str, width: int) -> Text:
    gap = width - line.cell_len - columns(margin)
    return line.append(" " * gap + margin, "dim") if margin and gap >= 2 else line


def _link_style(link: str | None) -> str:
    if not link:
        return ""
    if ADDRESS.fullmatch(link):
        return f"link {quote(link, safe=':/?#@!$&()*+,;=%~-._', errors='replace')}"
    return f"link file://{quote(link, errors='replace')}" if link.startswith("/") else ""


def _figures(spent: Figures) -> list[str]:
    cost = money_in_words(spent.cost) if spent.cost else ""
    return [
        duration_in_words(spent.duration_ms, spent.asking_ms),
        cost + ("+" if cost and spent.is_partly_priced else ""),
        tokens_out(spent.written),
    ]


def _day_and_time(stamp: str | None) -> str:
    time = local(stamp)
    return minute_of(time) if time else ""


def _moment_of(stamp: str | None) -> str:
    time = local(stamp)
    return second_of(time) if time else ""
