"""Conversations on the terminal: headings, prompts, answers, tool calls, agents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote

from rich.cells import chop_cells
from rich.segment import Segment, Segments
from rich.text import Text

from plait.archive import Facts, Session, describe_conversation, shorten_name
from plait.cli.output import Output
from plait.cli.text import join_fitting, local_time, safe, shell_command, short_id
from plait.conversation.costs import CostFigures, Totals
from plait.conversation.model import BranchPoint, Conversation, Conversations, Outcome
from plait.view.calls import CallLine
from plait.view.formats import (
    format_bytes,
    format_count,
    format_duration,
    format_minute,
    format_models,
    format_money,
    format_output_tokens,
    format_second,
    format_time_range,
    format_tokens,
    format_turn_duration,
)
from plait.view.terminal import (
    AnyBlock,
    BranchBlock,
    CompactionBlock,
    DiffBlock,
    DiffLine,
    OutputBlock,
    QuestionBlock,
    RemarkBlock,
    SpeechBlock,
    TodoBlock,
    Tone,
    TurnHeaderBlock,
    Voice,
    cut_line,
)
from plait.view.text import COLOUR, count_columns, shorten_to_width, strip_escapes

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


InLines: TypeAlias = (
    TurnHeaderBlock
    | CallLine
    | OutputBlock
    | DiffBlock
    | TodoBlock
    | QuestionBlock
    | RemarkBlock
    | CompactionBlock
    | BranchBlock
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
class PassageLines:
    """Lay out one passage."""

    width: int
    session: str
    beyond: Beyond = "cut"
    hint: str = ""
    """What to type to see what is folded."""
    roots: Sequence[str] = ()
    """What to add to a command so that it looks where this one does."""

    def of(self, passage: InLines) -> Iterator[Text]:
        """Yield the lines of a passage."""
        match passage:
            case TurnHeaderBlock():
                yield self.turn(passage)
            case CallLine():
                yield from self.call(passage)
            case OutputBlock():
                yield from self._printed(passage)
            case DiffBlock():
                yield from self._changed(passage)
            case TodoBlock():
                yield from self.todos(passage)
            case QuestionBlock():
                yield from self._choices(passage)
            case CompactionBlock():
                yield from self._landmark(passage)
            case BranchBlock():
                yield from self._leaving(passage.left)
            case RemarkBlock():
                yield from self._within(
                    Text(one_safe_line(passage.text), style=TONES[passage.tone])
                )

    def turn(self, head: TurnHeaderBlock) -> Text:
        """Return the rule that a turn begins with, its figures at the right."""
        name = f"─── {head.number} "
        interrupted = "interrupted" if head.is_interrupted else ""
        facts = [_day_and_time(head.time), interrupted, head.unseen]
        margin = join_fitting([*facts, *_figures(head.spent)], max(self.width - len(name) - 4, 8))
        rule = "─" * max(self.width - count_columns(name) - count_columns(margin) - 1, 1)
        return Text.assemble((name, "bold"), (rule, "dim"), (f" {margin}", "dim"))

    def call(self, call: CallLine) -> Iterator[Text]:
        """Yield a call: what it was about is cut where there is no room for all."""
        sign, style = SIGNS[call.outcome]
        tool, is_cut = safe(call.tool), self.beyond == "cut"
        tool = shorten_to_width(tool, min(LONGEST_TOOL, self.width // 2)) if is_cut else tool
        head = Text.assemble((f"{LATE if call.is_late else sign} ", style), (tool, "bold"))
        result = f"  → {safe(call.result)}" if call.result else ""
        took = format_duration(call.duration_ms)
        room = (
            self.width
            - head.cell_len
            - 2
            - count_columns(result)
            - (count_columns(took) + 2 if took else 0)
        )
        if room < LEAST_SUBJECT and took:
            room, took = room + count_columns(took) + 2, ""
        if call.subject:
            subject = safe(call.subject)
            clip = _cut_at_the_front if call.link and "://" not in call.link else shorten_to_width
            subject = clip(subject, max(room, LEAST_SUBJECT)) if is_cut else subject
            head.append("  ").append(subject, _link_style(call.link))
        left = self.width - head.cell_len - (count_columns(took) + 2 if took else 0)
        head.append(
            shorten_to_width(result, max(left, 4)) if is_cut else result,
            "dim" if call.outcome == "ok" else style,
        )
        line = _with_margin(head, took, self.width)
        yield from self._within(line) if self.beyond == "wrap" else (line,)

    def _printed(self, printed: OutputBlock) -> Iterator[Text]:
        style, is_whole = TONES[printed.tone], printed.has_full_lines
        yield from self._bodies(printed.lines, style, is_whole=is_whole)
        if printed.hidden:
            yield from self._phrased(self.fold(printed.hidden, printed.hidden_size), "dim italic")
        yield from self._bodies(printed.last, style, is_whole=is_whole)

    def fold(self, lines: int, bytes_: int = 0) -> str:
        """Say how much is left out, and how to see it."""
        large = f" ({format_bytes(bytes_)})" if bytes_ else ""
        return f"… {format_count(lines, 'more line')}{large}{self.hint}"

    def _bodies(self, lines: tuple[str, ...], style: str, *, is_whole: bool) -> Iterator[Text]:
        for line in lines:
            shown, rest = (line, "") if is_whole else cut_line(line)
            yield from self._within(_coloured(shown.expandtabs(4), style))
            yield from self._rest(rest)

    def _rest(self, size: str) -> Iterator[Text]:
        if size:
            hint = ", `--depth all` shows it" if self.hint else ""
            yield from self._phrased(f"… {size}{hint}", "dim italic")

    def _changed(self, change: DiffBlock) -> Iterator[Text]:
        numbers = [line.number for line in change.lines if line.number is not None]
        digits = len(str(max(numbers, default=0))) if numbers else 0
        for line in change.lines:
            shown, rest = (line.text, "") if change.has_full_lines else cut_line(line.text)
            kept = DiffLine(line.kind, shown, line.number)
            yield from self._within(_changed_line(kept, digits))
            yield from self._rest(rest)
        if change.hidden:
            yield from self._phrased(self.fold(change.hidden), "dim italic")

    def todos(self, todos: TodoBlock) -> Iterator[Text]:
        """Yield a list of things to do."""
        for status, words in todos.items:
            sign, style = TODOS.get(status, TODOS["pending"])
            yield from self._within(Text(f"{INDENT}{sign} {one_safe_line(words)}", style=style))

    def _choices(self, choices: QuestionBlock) -> Iterator[Text]:
        for question, answer in choices.pairs:
            yield from self._phrased(f"? {one_safe_line(question)}", "none")
            words = one_safe_line(answer) if answer is not None else "no answer"
            yield from self._phrased(f"→ {words}", "bold" if answer is not None else "dim")

    def _phrased(self, words: str, style: str) -> Iterator[Text]:
        room = max(self.width - len(INDENT), LEAST_SUBJECT)
        lines = [words] if self.beyond == "as is" else wrap(words, room, subsequent_indent="  ")
        for line in lines:
            yield Text(INDENT + line, style=style)

    def _landmark(self, mark: CompactionBlock) -> Iterator[Text]:
        time = f" • {_moment_of(mark.time)}" if mark.time else ""
        yield from self._within(Text(f"📦 {one_safe_line(mark.text)}{time}", style="bold magenta"))
        if mark.details:
            yield from self._phrased(", ".join(mark.details), "dim")

    def _leaving(self, left: BranchPoint) -> Iterator[Text]:
        name = one_safe_line(shorten_name(left.to))
        state = "active" if left.is_active else "abandoned"
        words = f": “{shorten_to_width(one_safe_line(left.label), 60)}”" if left.label else ""
        what = "branch" if left.kind == "branch" else f"{left.kind} session"
        sign = "├─●" if left.is_active else "├─○"
        line = Text.assemble((f"{sign} {what} {name}", "yellow"), words, (f", {state}", "dim"))
        yield from self._within(line)
        typed = shell_command(
            "plait", "show", short_id(self.session), "--branch", name, *self.roots
        )
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
    """Shorten a path so that its end stays: that is what it is known by."""
    if count_columns(path) <= width:
        return path
    kept = path[-(width - 1) :]
    while count_columns(kept) > width - 1:
        kept = kept[1:]
    rest = kept.partition("/")[2]
    return f"…/{rest}" if len(rest) > len(kept) * 0.6 else f"…{kept}"


def one_safe_line(text: str | None) -> str:
    """Return a text on one line, safe to print."""
    return safe(" ".join(strip_escapes(text or "").split()))


def _coloured(line: str, style: str) -> Text:
    if "\x1b" not in line:
        return Text(INDENT + safe(line), style=style)
    parts = COLOUR.split(line)
    kept = [f"\x1b[{part}m" if place % 2 else safe(part) for place, part in enumerate(parts)]
    text = Text.from_ansi("".join(kept))
    return Text.assemble(INDENT, text)


def _changed_line(line: DiffLine, digits: int) -> Text:
    if line.kind == "gap":
        return Text(f"{INDENT}{'⋮':>{max(digits, 1)}}", style="dim")
    sign, style = CHANGES[line.kind]
    shown = "" if line.number is None else str(line.number)
    text = safe(strip_escapes(line.text)).expandtabs(4)
    place = f"{INDENT}{shown:>{digits}} " if digits else INDENT
    return Text.assemble((place, "dim"), (f"{sign} {text}", style))


def _with_margin(line: Text, margin: str, width: int) -> Text:
    gap = width - line.cell_len - count_columns(margin)
    return line.append(" " * gap + margin, "dim") if margin and gap >= 2 else line


def _link_style(link: str | None) -> str:
    if not link:
        return ""
    if ADDRESS.fullmatch(link):
        return f"link {quote(link, safe=':/?#@!$&()*+,;=%~-._', errors='replace')}"
    return f"link file://{quote(link, errors='replace')}" if link.startswith("/") else ""


def _figures(spent: CostFigures) -> list[str]:
    cost = format_money(spent.cost) if spent.cost else ""
    return [
        format_turn_duration(spent.duration_ms, spent.asking_ms),
        cost + ("+" if cost and spent.is_partly_priced else ""),
        format_output_tokens(spent.written),
    ]


def _day_and_time(stamp: str | None) -> str:
    time = local_time(stamp)
    return format_minute(time) if time else ""


def _moment_of(stamp: str | None) -> str:
    time = local_time(stamp)
    return format_second(time) if time else ""


WIDEST_PAGE, WIDEST_PROSE = 120, 96
RAIL = "│ "
MOST_RAILS = 8
HINT = ", `--depth all` shows them"
BARS: dict[Voice, tuple[str, str, str]] = {
    "prompt": ("▌ ", "bold cyan", "bold"),
    "queued": ("▌ ", "cyan", "bold"),
    "command": ("▌ ", "bold cyan", "bold"),
    "bash": ("▌ ", "bold cyan", "bold"),
    "task": ("▌ ", "dim", "none"),
    "message": ("▌ ", "magenta", "none"),
    "summary": ("┊ ", "dim", "none"),
    "plan": ("┃ ", "blue", "none"),
    "thinking": ("┊ ", "dim", "dim italic"),
    "answer": ("", "", "none"),
    "synthetic": ("", "", "dim italic"),
    "error": ("✗ ", "bold red", "red"),
}
"""What stands at the left of words, its style, and the style of the words."""
LABELS: dict[Voice, str] = {"plan": "plan", "summary": "summary", "synthetic": "by Claude Code"}
BELOW = (OutputBlock, DiffBlock, TodoBlock, QuestionBlock)
APART = (SpeechBlock, CompactionBlock, BranchBlock, TurnHeaderBlock)


@dataclass
class PassagePrinter:
    """Print passages one below the other."""

    output: Output
    session: str
    beyond: Beyond = "cut"
    hint: str = HINT
    before: AnyBlock | None = None
    width: int = field(init=False)
    is_plain: bool = field(init=False)

    def __post_init__(self) -> None:
        console = self.output.console
        self.width = min(console.width, WIDEST_PAGE)
        self.is_plain = not (console.is_terminal or console.color_system)

    def print(self, passages: Iterable[AnyBlock]) -> None:
        """Print all passages."""
        for passage in passages:
            if self._is_apart(passage):
                self._lines([Text()], min(passage.level, self.before.level if self.before else 0))
            self._print(passage)
            self.before = passage

    def _is_apart(self, passage: AnyBlock) -> bool:
        """Return whether a blank line stands before a passage."""
        before = self.before
        if before is None or isinstance(before, TurnHeaderBlock) or passage.level > before.level:
            return False
        if isinstance(passage, BELOW) and not isinstance(before, CompactionBlock | BranchBlock):
            return isinstance(before, SpeechBlock) and before.voice not in ("command", "bash")
        if isinstance(passage, BranchBlock) and isinstance(before, BranchBlock):
            return False
        return isinstance(passage, APART) or isinstance(before, APART)

    def _print(self, passage: AnyBlock) -> None:
        if isinstance(passage, SpeechBlock):
            self._words(passage)
            self._note_fold(passage)
            return
        width = self.width - len(RAIL) * min(passage.level, MOST_RAILS)
        beyond = "as is" if self.is_plain else self.beyond
        lines = PassageLines(width, self.session, beyond, self.hint, self.output.root_options)
        self._lines(lines.of(passage), passage.level)
        self._note_fold(passage)

    def _note_fold(self, passage: AnyBlock) -> None:
        """Keep the hint to the first fold: a reader needs it once."""
        if isinstance(passage, OutputBlock | DiffBlock | SpeechBlock) and passage.hidden:
            self.hint = ""

    def _lines(self, lines: Iterable[Text], level: int) -> None:
        """Print lines behind the rails of their level, all at once: a thousand are common."""
        rails, console = RAIL * min(level, MOST_RAILS), self.output.console
        if self.is_plain:
            self.output.write_plain(
                "".join(f"{rails}{line.plain}".rstrip() + "\n" for line in lines)
            )
            return
        marks = [Segment(rails, console.get_style("dim"))] if rails else []
        segments: list[Segment] = []
        for line in lines:
            segments += marks
            if line.spans:
                segments += line.render(console, end="\n")
            else:  # a style of the whole is not rendered without parts
                segments += (Segment(line.plain, console.get_style(line.style)), Segment.line())
        console.print(Segments(segments), end="", soft_wrap=True)

    def _words(self, words: SpeechBlock) -> None:
        """Print what somebody said: laid out on a screen, as it is in a pipe."""
        bar, bar_style, style = BARS[words.voice]
        for note in _notes_of(words):
            self._lines([Text.assemble((bar, bar_style), (note, "dim"))], words.level)
        sign = {"bash": "! "}.get(words.voice, "")
        text = safe(sign + words.text).expandtabs(4)
        if not words.text.strip():
            return
        if self.is_plain:
            rails, later = RAIL * min(words.level, MOST_RAILS), _later_bar(bar)
            lines = (f"{rails}{later if n else bar}{x}" for n, x in enumerate(text.split("\n")))
            self.output.write_plain("".join(line.rstrip() + "\n" for line in lines))
        else:
            self._laid_out(words, text, style)
        if words.hidden:
            more = PassageLines(self.width, self.session, hint=self.hint).fold(
                words.hidden, words.hidden_size
            )
            room = max(self.width - len(RAIL) * min(words.level, MOST_RAILS) - len(bar), 12)
            said = [more] if self.is_plain else wrap(more, room)
            self._lines([Text.assemble((bar, bar_style), (x, "dim")) for x in said], words.level)

    def _laid_out(self, words: SpeechBlock, text: str, style: str) -> None:
        bar, bar_style, _ = BARS[words.voice]
        body: RenderableType = Text(text, style=style)
        if words.is_markdown:
            from plait.cli.markdown import Themed, render_markdown

            body = Themed(render_markdown(text))
        rails = (RAIL * min(words.level, MOST_RAILS), "dim")
        first = Text.assemble(rails, (bar, bar_style))
        later = Text.assemble(rails, (_later_bar(bar), bar_style))
        width = min(self.width, WIDEST_PROSE + first.cell_len)
        self.output.console.print(WithRails(body, first, later, width), end="", crop=False)


def _notes_of(words: SpeechBlock) -> list[str]:
    parts = [LABELS.get(words.voice), words.name, words.note]
    notes = " · ".join(safe(part) for part in parts if part)
    return [notes] if notes else []


def _later_bar(bar: str) -> str:
    return " " * len(bar) if bar.startswith("✗") else bar


@dataclass(frozen=True)
class WithRails:
    """Anything that can be drawn, with marks at the left of each of its lines."""

    body: "RenderableType"
    first: Text
    later: Text
    width: int

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        width = max(self.width - self.first.cell_len, 12)
        marks = list(self.first.render(console, end=""))
        lines = console.render_lines(self.body, options.update(width=width), pad=False)
        shown = [_trim(line) for line in lines]
        told = [place for place, line in enumerate(shown) if line]
        for line in shown[told[0] : told[-1] + 1] if told else ():
            yield from marks
            yield from line
            yield Segment.line()
            marks = list(self.later.render(console, end=""))


def _trim(line: list[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept


TITLE_LINES = 2


def print_heading(
    output: Output, session: Session, facts: Facts, found: Conversations, shown: Conversation
) -> None:
    """Print which conversation it is."""
    title = shown.title if shown.id != found.main else facts.title or shown.title
    words = one_safe_line(title or facts.title or "(no title)")
    output.print(shorten_to_width(words, TITLE_LINES * output.width), style="bold")
    place = f"{session.id}  {facts.cwd or session.project}"
    output.print(f"{place}  {facts.mark}" if facts.mark else place, style="dim")
    if state := _state_of(found, shown):
        output.print(state, style="yellow")


def print_totals(output: Output, shown: Conversation, totals: Totals) -> None:
    """Print when it was, with which models, and what it took."""
    line = ""
    for fact in _facts_of(shown, totals):
        longer = f"{line} · {fact}" if line else fact
        if count_columns(longer) > output.width and line:
            output.print(line, style="dim")
            longer = fact
        line = longer
    output.print(line, style="dim")
    output.print("")


def _state_of(found: Conversations, shown: Conversation) -> str:
    if shown.id == found.main:
        branches = sum(line.kind == "branch" for line in found.by_line.values())
        return f"active, {format_count(branches, 'branch', 'branches')}" if branches else ""
    if shown.kind in ("agent", "service"):
        sender = found.by_line.get(shown.parent or "")
        kind = "service agent" if shown.kind == "service" else "agent"
        by = f", started by {describe_conversation(sender)}" if sender and shown.call else ""
        return f"{kind} {shorten_name(shown.id)}{by}"
    state = "active" if shown.is_active else "abandoned"
    return f"{shown.kind} {shorten_name(shown.id)}, {state}{_leaves(found, shown)}"


def _leaves(found: Conversations, shown: Conversation) -> str:
    parent = found.by_line.get(shown.parent or "")
    if parent is None:
        return ""
    for turn in parent.turns:
        for item in turn.items:
            if isinstance(item, BranchPoint) and item.to == shown.id:
                return f": leaves {describe_conversation(parent)} after turn {turn.number}"
    return f": leaves {describe_conversation(parent)}"


def _facts_of(shown: Conversation, totals: Totals) -> Iterator[str]:
    models = dict.fromkeys(
        response.model
        for response in shown.responses
        if response.model and not response.is_synthetic
    )
    if models:
        yield shorten_to_width(one_safe_line(format_models(models)), 60)
    if when := _span_of(shown):
        yield when
    yield format_count(sum(turn.number > 0 for turn in shown.turns), "turn")
    if took := format_duration(totals.working_ms):
        yield f"{took} of work"
    if totals.conversations > 1:
        yield format_count(totals.conversations - 1, "agent")
    if totals.tokens.total:
        yield f"{format_tokens(totals.tokens.total)} tokens"
    if totals.cost_usd:
        more = f" and {format_count(sum(totals.unpriced.values()), 'response')} without a price"
        yield format_money(totals.cost_usd) + (more if totals.unpriced else "")


def _span_of(shown: Conversation) -> str:
    first, last = local_time(shown.started), local_time(shown.ended)
    if first is None or last is None:
        return format_minute(first) if first else ""
    return format_time_range(first, last)
