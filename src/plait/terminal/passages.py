"""Conversations on the terminal: headings, prompts, answers, tool calls, agents."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote

from rich.cells import chop_cells
from rich.segment import Segment, Segments
from rich.text import Text

from plait.archive import Facts, Session, describe_conversation, shorten_name
from plait.conversation.costs import Totals
from plait.conversation.model import BranchPoint, Conversation, Conversations, Outcome
from plait.terminal.output import Output
from plait.terminal.text import (
    format_stamp,
    join_fitting,
    local_time,
    safe,
    shell_command,
    short_id,
)
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
from plait.view.text import COLOUR, count_columns, shorten_path, shorten_to_width, strip_escapes

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


Overflow: TypeAlias = Literal[
    "cut",  # lines are truncated
    "wrap",  # lines wrap
    "as is",  # no limit
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
"""The bar at the left of a text, its style, and the style of the text."""
LABELS: dict[Voice, str] = {"plan": "plan", "summary": "summary", "synthetic": "by Claude Code"}
BELOW = (OutputBlock, DiffBlock, TodoBlock, QuestionBlock)
APART = (SpeechBlock, CompactionBlock, BranchBlock, TurnHeaderBlock)


@dataclass
class PassagePrinter:
    """Prints passages one below the other."""

    output: Output
    session: str
    beyond: Overflow = "cut"
    hint: str = HINT
    """The command that shows what is folded; printed once."""
    before: AnyBlock | None = None
    width: int = field(init=False)
    is_plain: bool = field(init=False)
    rails: str = field(init=False, default="")
    """The bars at the left of the current passage: one for each agent it is in."""

    def __post_init__(self) -> None:
        console = self.output.console
        self.width = min(console.width, WIDEST_PAGE)
        self.is_plain = not (console.is_terminal or console.color_system)
        self.beyond = "as is" if self.is_plain else self.beyond

    @property
    def room(self) -> int:
        """The width inside the bars."""
        return self.width - len(self.rails)

    def print(self, passages: Iterable[AnyBlock]) -> None:
        """Print all passages."""
        for passage in passages:
            if self._is_apart(passage):
                level = min(passage.level, self.before.level if self.before else 0)
                self.rails = RAIL * min(level, MOST_RAILS)
                self._print_lines([Text()])
            self.rails = RAIL * min(passage.level, MOST_RAILS)
            if isinstance(passage, SpeechBlock):
                self._print_words(passage)
            else:
                self._print_lines(self._iter_lines(passage))
            if isinstance(passage, OutputBlock | DiffBlock | SpeechBlock) and passage.hidden:
                self.hint = ""
            self.before = passage

    def _is_apart(self, passage: AnyBlock) -> bool:
        """Return whether a blank line precedes a passage."""
        before = self.before
        if before is None or isinstance(before, TurnHeaderBlock) or passage.level > before.level:
            return False
        if isinstance(passage, BELOW) and not isinstance(before, CompactionBlock | BranchBlock):
            return isinstance(before, SpeechBlock) and before.voice not in ("command", "bash")
        if isinstance(passage, BranchBlock) and isinstance(before, BranchBlock):
            return False
        return isinstance(passage, APART) or isinstance(before, APART)

    def _print_lines(self, lines: Iterable[Text]) -> None:
        """Print lines after the bars, all at once: thousands are common."""
        console = self.output.console
        if self.is_plain:
            plain = (f"{self.rails}{line.plain}".rstrip() + "\n" for line in lines)
            self.output.write_plain("".join(plain))
            return
        marks = [Segment(self.rails, console.get_style("dim"))] if self.rails else []
        segments: list[Segment] = []
        for line in lines:
            segments += marks
            if line.spans:
                segments += line.render(console, end="\n")
            else:  # the base style of a text is not rendered without spans
                segments += (Segment(line.plain, console.get_style(line.style)), Segment.line())
        console.print(Segments(segments), end="", soft_wrap=True)

    def _print_words(self, words: SpeechBlock) -> None:
        """Print a prompt or an answer: formatted on a screen, unchanged in a pipe."""
        bar, bar_style, style = BARS[words.voice]
        parts = [LABELS.get(words.voice), words.name, words.note]
        if notes := " · ".join(safe(part) for part in parts if part):
            self._print_lines([Text.assemble((bar, bar_style), (notes, "dim"))])
        if not words.text.strip():
            return
        text = safe(("! " if words.voice == "bash" else "") + words.text).expandtabs(4)
        later = " " * len(bar) if bar.startswith("✗") else bar
        if self.is_plain:
            bars = [bar, *[later] * text.count("\n")]
            self._print_lines(map(Text, map("".join, zip(bars, text.split("\n"), strict=True))))
        else:
            body: RenderableType = Text(text, style=style)
            if words.is_markdown:
                from plait.terminal.markdown import Themed, render_markdown

                body = Themed(render_markdown(text))
            first = Text.assemble((self.rails, "dim"), (bar, bar_style))
            rest = Text.assemble((self.rails, "dim"), (later, bar_style))
            width = min(self.width, WIDEST_PROSE + first.cell_len)
            self.output.console.print(WithRails(body, first, rest, width), end="", crop=False)
        if words.hidden:
            more = self._describe_fold(words.hidden, words.hidden_size)
            lines = [more] if self.is_plain else wrap(more, max(self.room - len(bar), 12))
            self._print_lines(Text.assemble((bar, bar_style), (line, "dim")) for line in lines)

    def _describe_fold(self, lines: int, bytes_: int = 0) -> str:
        """Return how much is left out, and how to see it."""
        large = f" ({format_bytes(bytes_)})" if bytes_ else ""
        return f"… {format_count(lines, 'more line')}{large}{self.hint}"

    def _iter_lines(self, passage: AnyBlock) -> Iterator[Text]:
        """Yield the lines of a passage other than speech."""
        match passage:
            case TurnHeaderBlock():
                yield self._format_turn(passage)
            case CallLine():
                call = self._format_call(passage)
                yield from self._fit(call) if self.beyond == "wrap" else (call,)
            case OutputBlock():
                style, is_full = TONES[passage.tone], passage.has_full_lines
                for line in passage.lines:
                    yield from self._cut_body(line, is_full, lambda text: _colour(text, style))
                if passage.hidden:
                    more = self._describe_fold(passage.hidden, passage.hidden_size)
                    yield from self._indent(more, "dim italic")
                for line in passage.last:
                    yield from self._cut_body(line, is_full, lambda text: _colour(text, style))
            case DiffBlock():
                digits = max((len(str(line.number or "")) for line in passage.lines), default=0)
                for change in passage.lines:
                    draw = partial(_draw_change, change, digits)
                    yield from self._cut_body(change.text, passage.has_full_lines, draw)
                if passage.hidden:
                    yield from self._indent(self._describe_fold(passage.hidden), "dim italic")
            case TodoBlock():
                for status, words in passage.items:
                    sign, style = TODOS.get(status, TODOS["pending"])
                    yield from self._fit(Text(f"{INDENT}{sign} {to_safe_line(words)}", style))
            case QuestionBlock():
                for question, answer in passage.pairs:
                    yield from self._indent(f"? {to_safe_line(question)}", "none")
                    words = "no answer" if answer is None else to_safe_line(answer)
                    yield from self._indent(f"→ {words}", "dim" if answer is None else "bold")
            case CompactionBlock():
                moment = local_time(passage.time)
                time = f" • {format_second(moment)}" if moment else ""
                words = f"📦 {to_safe_line(passage.text)}{time}"
                yield from self._fit(Text(words, style="bold magenta"))
                if passage.details:
                    yield from self._indent(", ".join(passage.details), "dim")
            case BranchBlock():
                yield from self._iter_branch(passage.left)
            case RemarkBlock():
                yield from self._fit(Text(to_safe_line(passage.text), style=TONES[passage.tone]))

    def _format_turn(self, head: TurnHeaderBlock) -> Text:
        """Return the rule at the start of a turn, its figures at the right."""
        name, spent = f"─── {head.number} ", head.spent
        cost = format_money(spent.cost) if spent.cost else ""
        facts = [
            format_stamp(head.time),
            "interrupted" if head.is_interrupted else "",
            head.unseen,
            format_turn_duration(spent.duration_ms, spent.asking_ms),
            cost + ("+" if cost and spent.is_partly_priced else ""),
            format_output_tokens(spent.written),
        ]
        margin = join_fitting(facts, max(self.room - len(name) - 4, 8))
        rule = "─" * max(self.room - count_columns(name) - count_columns(margin) - 1, 1)
        return Text.assemble((name, "bold"), (rule, "dim"), (f" {margin}", "dim"))

    def _format_call(self, call: CallLine) -> Text:
        """Return a call; its subject is truncated if there is too little space."""
        sign, style = SIGNS[call.outcome]
        tool, is_cut = safe(call.tool), self.beyond == "cut"
        tool = shorten_to_width(tool, min(LONGEST_TOOL, self.room // 2)) if is_cut else tool
        head = Text.assemble((f"{LATE if call.is_late else sign} ", style), (tool, "bold"))
        result = f"  → {safe(call.result)}" if call.result else ""
        took = format_duration(call.duration_ms)
        margin = count_columns(took) + 2 if took else 0
        room = self.room - head.cell_len - 2 - count_columns(result) - margin
        if room < LEAST_SUBJECT and took:
            room, took, margin = room + margin, "", 0
        if call.subject:
            subject = safe(call.subject)
            shorten = shorten_path if call.link and "://" not in call.link else shorten_to_width
            subject = shorten(subject, max(room, LEAST_SUBJECT)) if is_cut else subject
            style_of_link = ""
            if call.link and ADDRESS.fullmatch(call.link):
                address = quote(call.link, safe=":/?#@!$&()*+,;=%~-._", errors="replace")
                style_of_link = f"link {address}"
            elif call.link and call.link.startswith("/"):
                style_of_link = f"link file://{quote(call.link, errors='replace')}"
            head.append("  ").append(subject, style_of_link)
        left = self.room - head.cell_len - margin
        result = shorten_to_width(result, max(left, 4)) if is_cut else result
        head.append(result, "dim" if call.outcome == "ok" else style)
        gap = self.room - head.cell_len - count_columns(took)
        return head.append(" " * gap + took, "dim") if took and gap >= 2 else head

    def _iter_branch(self, left: BranchPoint) -> Iterator[Text]:
        """Yield where a branch leaves, and the command that shows it."""
        name = to_safe_line(shorten_name(left.to))
        state = "active" if left.is_active else "abandoned"
        words = f": “{shorten_to_width(to_safe_line(left.label), 60)}”" if left.label else ""
        what = "branch" if left.kind == "branch" else f"{left.kind} session"
        sign = "├─●" if left.is_active else "├─○"
        yield from self._fit(
            Text.assemble((f"{sign} {what} {name}", "yellow"), words, (f", {state}", "dim"))
        )
        session, roots = short_id(self.session), self.output.root_options
        typed = shell_command("plait", "show", session, "--branch", name, *roots)
        yield Text(f"│    {typed}" if len(typed) < self.room - 5 else typed, style="dim")

    def _cut_body(self, line: str, is_full: bool, draw: Callable[[str], Text]) -> Iterator[Text]:
        """Yield a line of output or of a change, without the end of a very long one."""
        shown, rest = (line, "") if is_full else cut_line(line)
        yield from self._fit(draw(shown))
        if rest:
            hint = ", `--depth all` shows it" if self.hint else ""
            yield from self._indent(f"… {rest}{hint}", "dim italic")

    def _indent(self, words: str, style: str) -> Iterator[Text]:
        room = max(self.room - len(INDENT), LEAST_SUBJECT)
        lines = [words] if self.beyond == "as is" else wrap(words, room, subsequent_indent="  ")
        for line in lines:
            yield Text(INDENT + line, style=style)

    def _fit(self, line: Text) -> Iterator[Text]:
        """Yield a line, truncated or wrapped at the edge."""
        if self.beyond == "as is" or line.cell_len <= self.room:
            yield line
        elif self.beyond == "cut":
            line.truncate(self.room, overflow="ellipsis")
            yield line
        else:
            ends, end = [], len(INDENT)
            for piece in chop_cells(line.plain[end:], max(self.room - len(INDENT), LEAST_SUBJECT)):
                end += len(piece)
                ends.append(end)
            for place, part in enumerate(line.divide(ends[:-1])):
                yield Text.assemble(INDENT, part) if place else part


def to_safe_line(text: str | None) -> str:
    """Return a text on one line, safe to print."""
    return safe(" ".join(strip_escapes(text or "").split()))


def _colour(line: str, style: str) -> Text:
    """Return an indented line of output in its own colours."""
    line = line.expandtabs(4)
    if "\x1b" not in line:
        return Text(INDENT + safe(line), style=style)
    parts = COLOUR.split(line)
    kept = [f"\x1b[{part}m" if place % 2 else safe(part) for place, part in enumerate(parts)]
    return Text.assemble(INDENT, Text.from_ansi("".join(kept)))


def _draw_change(line: DiffLine, digits: int, text: str) -> Text:
    if line.kind == "gap":
        return Text(f"{INDENT}{'⋮':>{max(digits, 1)}}", style="dim")
    sign, style = CHANGES[line.kind]
    number = "" if line.number is None else str(line.number)
    place = f"{INDENT}{number:>{digits}} " if digits else INDENT
    words = safe(strip_escapes(text)).expandtabs(4)
    return Text.assemble((place, "dim"), (f"{sign} {words}", style))


@dataclass(frozen=True)
class WithRails:
    """Anything that can be drawn, with bars at the left of each line."""

    body: "RenderableType"
    first: Text
    later: Text
    width: int

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        width = max(self.width - self.first.cell_len, 12)
        marks = list(self.first.render(console, end=""))
        lines = console.render_lines(self.body, options.update(width=width), pad=False)
        for line in lines:
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
        places = [place for place, line in enumerate(lines) if line]
        for line in lines[places[0] : places[-1] + 1] if places else ():
            yield from marks
            yield from line
            yield Segment.line()
            marks = list(self.later.render(console, end=""))


TITLE_LINES = 2


def print_heading(
    output: Output, session: Session, facts: Facts, found: Conversations, shown: Conversation
) -> None:
    """Print the heading of a conversation."""
    title = shown.title if shown.id != found.main else facts.title or shown.title
    words = to_safe_line(title or facts.title or "(no title)")
    output.print(shorten_to_width(words, TITLE_LINES * output.width), style="bold")
    place = f"{session.id}  {facts.cwd or session.project}"
    output.print(f"{place}  {facts.mark}" if facts.mark else place, style="dim")
    print_state(output, found, shown)


def print_state(output: Output, found: Conversations, shown: Conversation) -> None:
    """Print what kind of branch it is, where it is not the active one."""
    parent, name = found.by_line.get(shown.parent or ""), shorten_name(shown.id)
    if shown.id == found.main:
        branches = sum(line.kind == "branch" for line in found.by_line.values())
        words = f"active, {format_count(branches, 'branch', 'branches')}" if branches else ""
    elif shown.kind in ("agent", "service"):
        kind = "background request" if shown.kind == "service" else "agent"
        by = f", started by {describe_conversation(parent)}" if parent and shown.call else ""
        words = f"{kind} {name}{by}"
    else:
        words = f"{shown.kind} {name}, {'active' if shown.is_active else 'abandoned'}"
        words += f": forks from {describe_conversation(parent)}" if parent else ""
        for turn in parent.turns if parent else ():
            if any(isinstance(item, BranchPoint) and item.to == shown.id for item in turn.items):
                words += f" after turn {turn.number}"
                break
    if words:
        output.print(words, style="yellow")


def print_totals(output: Output, shown: Conversation, totals: Totals) -> None:
    """Print the period, models and usage of a conversation."""
    line = ""
    for fact in _facts_of(shown, totals):
        longer = f"{line} · {fact}" if line else fact
        if count_columns(longer) > output.width and line:
            output.print(line, style="dim")
            longer = fact
        line = longer
    output.print(line, style="dim")
    output.print("")


def _facts_of(shown: Conversation, totals: Totals) -> Iterator[str]:
    responses = [each for each in shown.responses if not each.is_synthetic]
    if models := dict.fromkeys(each.model for each in responses if each.model):
        yield shorten_to_width(to_safe_line(format_models(models)), 60)
    first, last = local_time(shown.started), local_time(shown.ended)
    if first:
        yield format_time_range(first, last) if last else format_minute(first)
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
