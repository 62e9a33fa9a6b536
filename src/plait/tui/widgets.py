"""Widgets: lines of text that scroll, the list of sessions, a field to type in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from plait.record.time import parse_time
from plait.terminal.text import SHORT_ID, format_number, safe_line
from plait.tui.keys import TERMINAL_KEYS
from plait.tui.library import Row, Selection, iter_groups
from plait.view.formats import format_age, format_money, format_short_age
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from plait.index.model import Hit

LONGEST_LINE = 4_000
"""Characters of a line that a screen shows."""
INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]"
)
"""Characters without width, of whose width terminals have different ideas."""
LINK = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\")
UNSTYLED = Style.null()
SELECTED, MATCHED = Style(reverse=True), Style(color="black", bgcolor="yellow")
PLAIN = Console(color_system="256", force_terminal=True, width=200, _environ={})
COST_WIDTH, AGE_WIDTH, SHORT_AGE_WIDTH = 7, 11, 7
LEAST_WITH_LONG_AGE = 56
"""Columns of the list below which ages are abbreviated: 4 d, 10-12, 2025-10."""
CLIPBOARD_KEYS = {*TERMINAL_KEYS, "ctrl+x", "super+c", "super+v", "super+x"}


@lru_cache(maxsize=4_096)
def decode_line(line: str) -> Text:
    """Return a printed line as styled text in which every character has a width."""
    return Text.from_ansi(INVISIBLE.sub("", LINK.sub("", line))[: 2 * LONGEST_LINE], no_wrap=True)


def fit_strip(text: Text, width: int, start: int = 0) -> Strip:
    """Return a line of text as exactly so many columns."""
    if text.style:  # rich leaves it out where a text has no other style
        text = text.copy()
        text.stylize_before(text.style)
    segments = [
        Segment(part.text, part.style or UNSTYLED)  # without colours, every part needs a style
        for part in text.render(PLAIN, end="")
        if part.text
    ]
    return Strip(segments).crop_extend(start, start + width, UNSTYLED)


class Field(Input, inherit_bindings=False):
    """A line to type in, without the keys that belong to the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding
        for binding in cast(list[Binding], Input.BINDINGS)
        if not CLIPBOARD_KEYS & set(binding.key.split(","))
    ]

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, compact=True, select_on_focus=False, **more)  # type: ignore[arg-type]

    def validate_value(self, value: str) -> str:
        """Return what may be drawn of a pasted text."""
        return INVISIBLE.sub("", safe_line(value))


class LineView(ScrollView, can_focus=True):
    """Lines of text that scroll; search results are marked."""

    DEFAULT_CSS = "LineView { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("left", "scroll_left", show=False),
        Binding("right", "scroll_right", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown,space", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
    ]

    class Scrolled(Message):
        """Another line is the first."""

    def __init__(self, **more: str) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self.lines: list[str] = []
        self.words = ""
        self.matches: list[int] = []

    def show(self, lines: list[str], *, keeps_place: bool = False) -> None:
        """Show other lines, from the first one or from where the view is."""
        self.lines = lines
        width = max((len(line) for line in lines), default=0)
        if width > self.size.width:  # escape sequences have no width
            width = max(decode_line(line).cell_len for line in lines)
        self.virtual_size = Size(min(width, LONGEST_LINE), len(lines))
        if not keeps_place:
            self.scroll_to(0, 0, animate=False, force=True)
        self.mark(self.words)

    def mark(self, words: str) -> None:
        """Mark the lines with these words, in any case."""
        self.words = words
        self.matches = []
        if words:
            pattern = self._pattern()
            self.matches = [
                place
                for place, line in enumerate(self.lines)
                if pattern.search(decode_line(line).plain)
            ]
        self.refresh()

    def _pattern(self) -> re.Pattern[str]:
        return re.compile(re.escape(self.words), re.IGNORECASE)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say that the view has moved."""
        super().watch_scroll_y(old_value, new_value)
        if int(old_value) != int(new_value):
            self.post_message(self.Scrolled())

    def go_to_match(self, step: int) -> int | None:
        """Scroll to the next or the previous match; return its number from 1."""
        if not self.matches:
            return None
        top = int(self.scroll_offset.y)
        after = [place for place in self.matches if (place > top if step > 0 else place < top)]
        chosen = (after or self.matches)[0 if step > 0 else -1]
        self.go_to(chosen)
        return self.matches.index(chosen) + 1

    def go_to(self, line: int) -> None:
        """Scroll so that a line is the first."""
        room = max(len(self.lines) - self.size.height, 0)
        if line > room:  # the last lines can be the first, too
            self.virtual_size = Size(self.virtual_size.width, line + self.size.height)
        self.scroll_to(y=line, animate=False, force=True, immediate=True)

    @property
    def top(self) -> int:
        """The first line that is shown."""
        return int(self.scroll_offset.y)

    def render_line(self, y: int) -> Strip:
        """Return one line of the view."""
        place, width = y + int(self.scroll_offset.y), self.scrollable_content_region.width
        if place >= len(self.lines):
            return Strip.blank(width, UNSTYLED)
        text = decode_line(self.lines[place])
        if self.words and place in self.matches:
            text = text.copy()
            for match in self._pattern().finditer(text.plain):
                text.stylize(MATCHED, *match.span())
        return fit_strip(text, width, int(self.scroll_offset.x))


@dataclass(frozen=True)
class Line:
    """A line of the list: a heading, a session, or where it answers the filter."""

    text: str
    row: int | None = None
    is_place: bool = False


class SessionList(ScrollView, can_focus=True):
    """Sessions by project, drawn only where they are seen."""

    DEFAULT_CSS = "SessionList { width: 1fr; height: 1fr; overflow-x: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end,G", "move(1000000)", show=False),
    ]

    class Selected(Message):
        """Another session is selected."""

    class Opened(Message):
        """The selected session is to be read."""

    class Scrolled(Message):
        """Other sessions are seen."""

    def __init__(self, now: datetime) -> None:
        super().__init__(id="sessions")
        self.now = now
        self.rows: Sequence[Row] = ()
        self.hits: dict[Path, Hit] = {}
        """Where sessions answer the filter, as far as that is known."""
        self._matched: frozenset[Path] = frozenset()
        self.place = 0
        self._lines: list[Line] = []
        self._line_of: list[int] = []

    @property
    def selected(self) -> Row | None:
        """The selected session."""
        return self.rows[self.place] if self.rows else None

    def show(self, selection: Selection) -> None:
        """Show other sessions; the selected one stays selected where it is among them."""
        before = self.selected
        rows = selection.rows
        self.rows, self._lines, self._line_of = rows, [], []
        self._matched, self.hits = selection.matched, dict(selection.hits)
        number = 0
        for heading, members in iter_groups(rows):
            self._lines.append(Line(f"{safe_line(heading)}  {format_number(len(members))}"))
            for row in members:
                self._line_of.append(len(self._lines))
                self._lines.append(Line("", number))
                if row.key in self._matched:
                    self._lines.append(Line("", number, is_place=True))
                number += 1
        places = {row.key: place for place, row in enumerate(rows)}
        self.place = places.get(before.key, 0) if before else 0
        self.virtual_size = Size(0, len(self._lines))
        self._show_selected()
        self.refresh()
        self.post_message(self.Selected())

    def list_unlocated(self) -> list[Path]:
        """Return the sessions on the screen of which it is not known where they answer."""
        top = int(self.scroll_offset.y)
        lines = self._lines[top : top + max(self.size.height, 1)]
        keys = {self.rows[line.row].key for line in lines if line.row is not None}
        return [key for key in keys if key in self._matched and key not in self.hits]

    def add_hits(self, hits: Mapping[Path, "Hit"]) -> None:
        """Show where sessions answer."""
        self.hits.update(hits)
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say that other sessions are seen."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())

    def select(self, key: Path) -> bool:
        """Select a session by its path; return whether it is listed."""
        for place, row in enumerate(self.rows):
            if row.key == key:
                self._go(place)
                return True
        return False

    def action_move(self, step: int) -> None:
        """Select another session."""
        self._go(self.place + step)

    def action_page(self, pages: int) -> None:
        """Select a session a page further."""
        self._go(self.place + pages * max(self.size.height - 2, 1))

    def _go(self, place: int) -> None:
        place = max(min(place, len(self.rows) - 1), 0)
        if self.rows and place != self.place:
            self.place = place
            self._show_selected()
            self.refresh()
            self.post_message(self.Selected())

    def _show_selected(self) -> None:
        if not self.rows:
            return
        line, height = self._line_of[self.place], self.size.height
        top = int(self.scroll_offset.y)
        first = line - 1 if line and self._lines[line - 1].row is None else line
        last = line + (self.rows[self.place].key in self._matched)
        if first < top:
            self.scroll_to(y=first, animate=False, force=True, immediate=True)
        elif height and last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, force=True, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """Select the session that is clicked, read it at the second click."""
        line = event.y + int(self.scroll_offset.y)
        if line < len(self._lines) and (place := self._lines[line].row) is not None:
            if place == self.place and event.chain > 1:
                self.post_message(self.Opened())
            self._go(place)

    def render_line(self, y: int) -> Strip:
        """Return one line of the list."""
        line_number, width = y + int(self.scroll_offset.y), self.scrollable_content_region.width
        if line_number >= len(self._lines):
            return Strip.blank(width, UNSTYLED)
        line = self._lines[line_number]
        if line.row is None:
            return fit_strip(Text(clean(line.text, width), "bold"), width)
        is_selected = line.row == self.place
        row = self.rows[line.row]
        text = self._format_place(row, width) if line.is_place else self._format_row(row, width)
        strip = fit_strip(text, width)
        if is_selected and not line.is_place:
            return Strip([Segment(part.text, SELECTED) for part in strip])
        return strip

    def _format_age(self, row: Row, width: int) -> str:
        ended = parse_time(row.facts.ended)
        if ended is None:
            return ""
        if width >= LEAST_WITH_LONG_AGE:
            return f"{format_age(ended, self.now):>{AGE_WIDTH}}"
        return f"{format_short_age(ended, self.now):>{SHORT_AGE_WIDTH}}"

    def _format_row(self, row: Row, width: int) -> Text:
        facts = row.facts
        cost = "" if row.cost is None else format_money(row.cost)
        figures = f" {self._format_age(row, width)} {cost:>{COST_WIDTH}} "
        text = Text("  ")
        if row.is_starred:
            text.append("★ ", "yellow")
        if facts.is_live:
            text.append("● ", "green")
        if facts.mark:
            text.append(f"{facts.mark} ", "cyan")
        room = max(width - text.cell_len - len(figures), 1)
        title = clean(facts.title or "(no title)", room)
        text.append(title, "" if facts.title else "dim")
        text.append(" " * max(width - text.cell_len - len(figures), 0))
        return text.append(figures, "dim")

    def _format_place(self, row: Row, width: int) -> Text:
        hit = self.hits.get(row.key)
        snippet, marks = (hit.snippet, hit.marks) if hit else ("", ())
        first = max(marks[0][0] - max(width // 4, 8), 0) if marks else 0
        first = snippet.rfind(" ", 0, first) + 1  # at the beginning of a word
        text = Text("      ")
        # Every replacement is a single character: the marks stay where they are.
        words = Text(INVISIBLE.sub(" ", safe_line(snippet.replace("\n", " "))), "dim")
        for start, end in marks:
            words.stylize("not dim bold underline", start, end)
        return text.append_text(words[first : first + width])


def clean(text: str, width: int) -> str:
    """Return the beginning of a text of a log on one line that no terminal misreads."""
    line = " ".join(INVISIBLE.sub("", safe_line(text[: 4 * width + 200])).split())
    return shorten_to_width(line, max(width, 1))


def short(row: Row) -> str:
    """Return how messages call a session."""
    return f"{row.session.id[:SHORT_ID]} {clean(row.facts.title or '(no title)', 40)}"
