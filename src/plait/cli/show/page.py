"""Passages to lines on the screen: rails for agents, bars for prompts, figures in the margin."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.segment import Segment, Segments
from rich.text import Text

from plait.archive import Facts, Session, described, short_name
from plait.cli.output import Output
from plait.cli.show.lines import Beyond, Lines, pieces
from plait.cli.text import clipped, columns, counted, local, safe
from plait.conversation.model import Conversation, Conversations, Left
from plait.conversation.totals import Totals
from plait.view.amounts import money_in_words, time_in_words, tokens_in_words
from plait.view.forms import minute_of, model_names, span_of
from plait.view.terminal.model import (
    AnyBlock,
    Changed,
    Choices,
    Landmark,
    Leaving,
    Printed,
    Todos,
    TurnHead,
    Voice,
    Words,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


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
LABELS: dict[Voice, str] = {"plan": "plan", "summary": "summary", "synthetic": "by the client"}
BELOW = (Printed, Changed, Todos, Choices)
APART = (Words, Landmark, Leaving, TurnHead)


@dataclass
class Page:
    """Prints passages one below the other."""

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
        """Prints all passages."""
        for passage in passages:
            if self._is_apart(passage):
                self._lines([Text()], min(passage.level, self.before.level if self.before else 0))
            self._print(passage)
            self.before = passage

    def _is_apart(self, passage: AnyBlock) -> bool:
        """Tells whether a blank line stands before a passage."""
        before = self.before
        if before is None or isinstance(before, TurnHead) or passage.level > before.level:
            return False
        if isinstance(passage, BELOW) and not isinstance(before, Landmark | Leaving):
            return isinstance(before, Words) and before.voice not in ("command", "bash")
        if isinstance(passage, Leaving) and isinstance(before, Leaving):
            return False
        return isinstance(passage, APART) or isinstance(before, APART)

    def _print(self, passage: AnyBlock) -> None:
        if isinstance(passage, Words):
            self._words(passage)
            self._note_fold(passage)
            return
        width = self.width - len(RAIL) * min(passage.level, MOST_RAILS)
        beyond = "as is" if self.is_plain else self.beyond
        lines = Lines(width, self.session, beyond, self.hint, self.output.root_options)
        self._lines(lines.of(passage), passage.level)
        self._note_fold(passage)

    def _note_fold(self, passage: AnyBlock) -> None:
        """Keeps the hint to the first fold: a reader needs it once."""
        if isinstance(passage, Printed | Changed | Words) and passage.hidden:
            self.hint = ""

    def _lines(self, lines: Iterable[Text], level: int) -> None:
        """Prints lines behind the rails of their level, all at once: a thousand are common."""
        rails, console = RAIL * min(level, MOST_RAILS), self.output.console
        if self.is_plain:
            self.output.plain("".join(f"{rails}{line.plain}".rstrip() + "\n" for line in lines))
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

    def _words(self, words: Words) -> None:
        """Prints what somebody said: laid out on a screen, as it is in a pipe."""
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
            self.output.plain("".join(line.rstrip() + "\n" for line in lines))
        else:
            self._laid_out(words, text, style)
        if words.hidden:
            more = Lines(self.width, self.session, hint=self.hint).fold(
                words.hidden, words.hidden_size
            )
            room = max(self.width - len(RAIL) * min(words.level, MOST_RAILS) - len(bar), 12)
            said = [more] if self.is_plain else wrap(more, room)
            self._lines([Text.assemble((bar, bar_style), (x, "dim")) for x in said], words.level)

    def _laid_out(self, words: Words, text: str, style: str) -> None:
        bar, bar_style, _ = BARS[words.voice]
        body: RenderableType = Text(text, style=style)
        if words.is_markdown:
            from plait.cli.show.markdown import Themed, laid_out

            body = Themed(laid_out(text))
        rails = (RAIL * min(words.level, MOST_RAILS), "dim")
        first = Text.assemble(rails, (bar, bar_style))
        later = Text.assemble(rails, (_later_bar(bar), bar_style))
        width = min(self.width, WIDEST_PROSE + first.cell_len)
        self.output.console.print(Railed(body, first, later, width), end="", crop=False)


def _notes_of(words: Words) -> list[str]:
    parts = [LABELS.get(words.voice), words.name, words.note]
    said = " · ".join(safe(part) for part in parts if part)
    return [said] if said else []


def _later_bar(bar: str) -> str:
    return " " * len(bar) if bar.startswith("✗") else bar


@dataclass(frozen=True)
class Railed:
    """Anything that can be drawn, with marks at the left of each of its lines."""

    body: "RenderableType"
    first: Text
    later: Text
    width: int

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        width = max(self.width - self.first.cell_len, 12)
        marks = list(self.first.render(console, end=""))
        lines = console.render_lines(self.body, options.update(width=width), pad=False)
        shown = [_trimmed(line) for line in lines]
        told = [place for place, line in enumerate(shown) if line]
        for line in shown[told[0] : told[-1] + 1] if told else ():
            yield from marks
            yield from line
            yield Segment.line()
            marks = list(self.later.render(console, end=""))


def _trimmed(line: list[Segment]) -> list[Segment]:
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
    """Prints which conversation it is."""
    title = shown.title if shown.id != found.main else facts.title or shown.title
    words = pieces(title or facts.title or "(no title)")
    output.print(clipped(words, TITLE_LINES * output.width), style="bold")
    place = f"{session.id}  {facts.cwd or session.project}"
    output.print(f"{place}  {facts.mark}" if facts.mark else place, style="dim")
    if state := _state_of(found, shown):
        output.print(state, style="yellow")


def print_totals(output: Output, shown: Conversation, totals: Totals) -> None:
    """Prints when it was, with which models, and what it took."""
    line = ""
    for fact in _facts_of(shown, totals):
        longer = f"{line} · {fact}" if line else fact
        if columns(longer) > output.width and line:
            output.print(line, style="dim")
            longer = fact
        line = longer
    output.print(line, style="dim")
    output.print("")


def _state_of(found: Conversations, shown: Conversation) -> str:
    if shown.id == found.main:
        branches = sum(one.kind == "branch" for one in found.by_line.values())
        return f"active, beside {counted(branches, 'branch', 'branches')}" if branches else ""
    if shown.kind in ("agent", "service"):
        sender = found.by_line.get(shown.parent or "")
        kind = "service agent" if shown.kind == "service" else "agent"
        by = f", sent out by {described(sender)}" if sender and shown.call else ""
        return f"{kind} {short_name(shown.id)}{by}"
    state = "active" if shown.is_active else "abandoned"
    return f"{shown.kind} {short_name(shown.id)}, {state}{_leaves(found, shown)}"


def _leaves(found: Conversations, shown: Conversation) -> str:
    parent = found.by_line.get(shown.parent or "")
    if parent is None:
        return ""
    for turn in parent.turns:
        for item in turn.items:
            if isinstance(item, Left) and item.to == shown.id:
                return f": leaves {described(parent)} after turn {turn.number}"
    return f": leaves {described(parent)}"


def _facts_of(shown: Conversation, totals: Totals) -> Iterator[str]:
    models = dict.fromkeys(
        one.model for one in shown.responses if one.model and not one.is_synthetic
    )
    if models:
        yield clipped(pieces(model_names(models)), 60)
    if when := _span_of(shown):
        yield when
    yield counted(sum(turn.number > 0 for turn in shown.turns), "turn")
    if took := time_in_words(totals.working_ms):
        yield f"{took} of work"
    if totals.conversations > 1:
        yield counted(totals.conversations - 1, "agent")
    if totals.tokens.total:
        yield f"{tokens_in_words(totals.tokens.total)} tokens"
    if totals.cost_usd:
        more = f" and {counted(sum(totals.unpriced.values()), 'response')} without a price"
        yield money_in_words(totals.cost_usd) + (more if totals.unpriced else "")


def _span_of(shown: Conversation) -> str:
    first, last = local(shown.started), local(shown.ended)
    if first is None or last is None:
        return minute_of(first) if first else ""
    return span_of(first, last)
