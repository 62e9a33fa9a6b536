"""Dialogs and views: plans to confirm, questions, keys, and texts that scroll."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from plait.errors import PlaitError
from plait.tui.keys import KEYS, format_key
from plait.tui.library import Row
from plait.tui.rendering import (
    RenderedConversation,
    render_conversation,
    run_command,
)
from plait.tui.widgets import Field, LineView, clean

if TYPE_CHECKING:
    from plait.index.model import Hit
    from plait.tui.app import PlaitApp

TAB_KEYS: list[BindingType] = [
    Binding("tab", "app.focus_next", show=False),
    Binding("shift+tab", "app.focus_previous", show=False),
]
VIEWS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "graph": ("Graph", (("log",),)),
    "timeline": ("Timeline", (("trace show",),)),
    "context": ("Context", (("context",),)),
    "usage": ("Usage", (("why",),)),
    "files": ("Files", (("files",), ("files", "--patch"))),
}
"""Views of a session: the heading, and the commands whose output they show."""


VIEW_KEYS = tuple(VIEWS)
ACTION_KEYS = (
    *("resume", "copy", "fork", "trim", "export", "star", "rename", "delete", "backup", "undo"),
    *("filter", "help", "quit"),
)


def bindings_for(
    *names: str, hidden: Sequence[str] = (), filter_label: str = "Filter"
) -> list[BindingType]:
    """Return the bindings of a screen in the order of the footer, which has not room for all."""
    wanted = {*names, *VIEW_KEYS, *ACTION_KEYS}
    return TAB_KEYS + [
        Binding(
            key.keys,
            key.name,
            filter_label if key.name == "filter" else key.label or key.help,
            show=bool(key.label) and key.name not in hidden,
            id=key.name,
        )
        for key in KEYS
        if key.name in wanted
    ]


class Dialog(ModalScreen[str | None], inherit_bindings=False):
    """Something in front of the screen that is answered or left."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: ansi_default; }
    Dialog > Vertical { width: 90%; max-width: 110; height: auto; max-height: 90%;
        border: round ansi_bright_black; padding: 0 1; }
    Dialog .heading { text-style: bold; height: auto; }
    Dialog .keys { text-style: dim; height: auto; margin-top: 1; }
    Dialog LineView { height: auto; }
    Dialog OptionList, Dialog OptionList:focus { height: auto; max-height: 12; border: none;
        padding: 0; background: ansi_default; }
    Dialog Field { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*TAB_KEYS, Binding("escape,q", "leave", show=False)]

    def __init__(self, heading: str, keys: str) -> None:
        super().__init__()
        self.heading, self.keys = heading, keys

    def compose(self) -> ComposeResult:
        """Show the heading, the body, and what can be pressed."""
        with Vertical():
            yield Static(self.heading, classes="heading", markup=False)
            yield from self.compose_body()
            yield Static(self.keys, classes="keys", markup=False)

    def compose_body(self) -> ComposeResult:
        """Show what it is about."""
        yield from ()

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)


class TextDialog(Dialog):
    """Lines to read; a plan among them is confirmed with `y` or Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y,enter", "confirm", show=False)]

    def __init__(self, heading: str, lines: Sequence[str], confirm: str = "") -> None:
        keys = f"y or enter: {confirm}   esc: cancel" if confirm else "esc: close"
        super().__init__(heading, keys)
        self.lines, self.confirm = list(lines), confirm

    def compose_body(self) -> ComposeResult:
        """Show the lines."""
        yield LineView()

    def on_mount(self) -> None:
        """Fill the lines in, as high as they are."""
        view = self.query_one(LineView)
        view.styles.height = max(min(len(self.lines), self.app.size.height - 10), 1)
        view.show(self.lines)
        view.focus()

    def action_confirm(self) -> None:
        """Answer yes."""
        self.dismiss("yes" if self.confirm else None)


class QuestionDialog(Dialog, inherit_bindings=False):
    """A line to type."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, heading: str, value: str) -> None:
        super().__init__(heading, "enter: continue   esc: cancel")
        self.value = value

    def compose_body(self) -> ComposeResult:
        """Show the field."""
        yield Field(self.value)

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Answer with what was typed."""
        self.dismiss(event.value.strip() or None)


class ChoiceDialog(Dialog):
    """One of some options."""

    def __init__(self, heading: str, options: Sequence[tuple[str, str]]) -> None:
        super().__init__(heading, "enter: continue   esc: cancel")
        self.options = options

    def compose_body(self) -> ComposeResult:
        """Show the options."""
        yield OptionList(
            *(Option(Text(f"{name:<10}  {words}"), id=name) for name, words in self.options)
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the option."""
        self.dismiss(event.option.id)


class PlaitScreen(Screen[None], inherit_bindings=False):
    """A screen of the interface: it knows which session is meant, and acts on it."""

    @property
    def ui(self) -> "PlaitApp":
        """The application."""
        from plait.tui.app import PlaitApp

        assert isinstance(self.app, PlaitApp)
        return self.app

    @property
    def row(self) -> Row | None:
        """The session that is meant."""
        return None

    @property
    def record(self) -> str | None:
        """The record at which it would be forked; None for where it goes on."""
        return None

    def refresh_rows(self) -> None:
        """Take over sessions that were read again."""

    def _with_row(self, act: Callable[[Row], None]) -> None:
        if self.row is None:
            self.ui.say("no session is selected")
        else:
            act(self.row)

    def show_view(self, name: str) -> None:
        """Open a view of the session."""
        self._with_row(lambda row: self.ui.show_view(row, name))

    def action_graph(self) -> None:
        """Show the graph of turns and branches."""
        self.show_view("graph")

    def action_timeline(self) -> None:
        """Show the timeline of each turn."""
        self.show_view("timeline")

    def action_context(self) -> None:
        """Show what Claude will see."""
        self.show_view("context")

    def action_usage(self) -> None:
        """Show what the session cost, and why."""
        self.show_view("usage")

    def action_files(self) -> None:
        """Show the files it changed."""
        self.show_view("files")

    def action_resume(self) -> None:
        """Resume it in its client."""
        self._with_row(self.ui.actions.resume)

    def action_copy(self) -> None:
        """Copy the resume command."""
        self._with_row(self.ui.actions.copy)

    def action_fork(self) -> None:
        """Fork it here."""
        self._with_row(lambda row: self.ui.actions.fork(row, self.record))

    def action_trim(self) -> None:
        """Trim it."""
        self._with_row(self.ui.actions.trim)

    def action_export(self) -> None:
        """Export it."""
        self._with_row(self.ui.actions.export)

    def action_star(self) -> None:
        """Star it, or remove the star."""
        self._with_row(self.ui.actions.star)

    def action_rename(self) -> None:
        """Give it another title."""
        self._with_row(self.ui.actions.rename)

    def action_delete(self) -> None:
        """Delete it."""
        self._with_row(self.ui.actions.delete)

    def action_backup(self) -> None:
        """Back it up."""
        self._with_row(self.ui.actions.backup)

    def action_undo(self) -> None:
        """Undo the last change."""
        self.ui.actions.undo()

    def action_help(self) -> None:
        """Show all keys."""
        width = max(len(format_key(self.ui.keys.get(key.name, key.keys))) for key in KEYS)
        lines = [
            f"{format_key(self.ui.keys.get(key.name, key.keys)):>{width}}  {key.help}"
            for key in KEYS
        ]
        lines += ["", "Arrows, page keys, home, end, tab and the mouse work too."]
        self.app.push_screen(TextDialog("Keys", lines))

    def action_quit(self) -> None:
        """Leave."""
        self.app.exit()


class TextScreen(PlaitScreen, inherit_bindings=False):
    """Lines of a session that scroll and can be searched."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for(
        *("next_turn", "previous_turn", "next_match", "previous_match", "back"),
        filter_label="Search",
    )
    DEFAULT_CSS = """
    TextScreen .title { text-style: bold; height: 1; }
    TextScreen .status { text-style: dim; height: 1; }
    TextScreen Field { display: none; }
    """

    def __init__(self, row: Row, heading: str, words: str = "") -> None:
        super().__init__()
        self._row, self.heading, self.words = row, heading, words
        self.is_read = False
        self.found = ""
        """What the last search has found."""

    @property
    def row(self) -> Row:
        """The session that is read."""
        return self._row

    @property
    def view(self) -> LineView:
        """Its lines."""
        return self.query_one(LineView)

    def compose(self) -> ComposeResult:
        """Show the title, the lines and a field for searching."""
        yield Static("", classes="title", markup=False)
        yield LineView()
        yield Static("reading…", classes="status", markup=False)
        yield Field(placeholder="search")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin to read."""
        self.view.words = self.words
        self.view.focus()
        self.read()

    def read(self) -> None:
        """Read the lines in the background."""

    def on_resize(self, event: events.Resize) -> None:
        """Lay the lines out for another width."""
        if self.is_read:
            self.read()

    @property
    def place(self) -> str:
        """Which session it is, and where it ran."""
        facts = self.row.facts
        return clean(f"{facts.session}  {facts.cwd or facts.project}", max(self.size.width, 20))

    def set_status(self, words: str = "") -> None:
        """Show the heading, and where the reader is."""
        title = clean(self.row.facts.title or "(no title)", max(self.size.width - 30, 20))
        parts = [self.heading, title, self.row.session.mark]
        if not self.is_mounted:
            return
        self.query_one(".title", Static).update(" · ".join(filter(None, parts)))
        self.query_one(".status", Static).update(words)

    def action_filter(self) -> None:
        """Search in the text."""
        field = self.query_one(Field)
        field.display = True
        field.value = self.view.words
        self.set_focus(field)  # at once: what is typed next is meant for it

    def on_input_changed(self, event: Field.Changed) -> None:
        """Mark what is searched as it is typed."""
        if event.input.display:
            self.view.mark(event.value)

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Go to the first match."""
        self._close_search()
        self.view.mark(event.value)
        self.go_to_match(1)

    def _close_search(self) -> None:
        field = self.query_one(Field)
        field.display = False
        self.view.focus()

    def go_to_match(self, step: int) -> None:
        """Go to the next or the previous match."""
        if not self.view.words:
            self.action_filter()
            return
        number, count = self.view.go_to_match(step), len(self.view.matches)
        words = clean(self.view.words, 30)
        self.found = f"“{words}”: {number} of {count}" if number else f"no match for “{words}”"
        self.show_place()

    def show_place(self) -> None:
        """Show where the reader is."""
        self.set_status(self.found or self.place)

    def action_next_match(self) -> None:
        """Go to the next match."""
        self.go_to_match(1)

    def action_previous_match(self) -> None:
        """Go to the previous match."""
        self.go_to_match(-1)

    def action_next_turn(self) -> None:
        """Scroll down."""
        self.view.scroll_relative(y=1, animate=False)

    def action_previous_turn(self) -> None:
        """Scroll up."""
        self.view.scroll_relative(y=-1, animate=False)

    def action_back(self) -> None:
        """Leave the search, then the screen."""
        if self.query_one(Field).display:
            self._close_search()
        else:
            self.dismiss(None)


class ViewScreen(TextScreen):
    """What a command prints of a session."""

    def __init__(self, row: Row, name: str) -> None:
        self.name_, self.commands = VIEWS[name]
        super().__init__(row, self.name_)

    def read(self) -> None:
        """Run the commands in the background."""
        width, path = max(self.size.width - 2, 40), str(self.row.session.path)
        library = self.ui.library

        def run() -> list[str]:
            lines: list[str] = []
            with library.lock:
                for name, *words in self.commands:
                    printed = run_command(library.request, width, name, path, *words)
                    if printed != lines:  # a session without changes has no diffs either
                        lines += [*([""] if lines else []), *printed]
            return lines

        def show(lines: list[str]) -> None:
            self.view.show(lines if any(lines) else ["nothing to show"], keeps_place=self.is_read)
            self.is_read = True
            self.set_status(self.place)

        def fail(error: PlaitError) -> None:
            self.view.show([clean(words, 400) for words in (error.message, *error.hints)])
            self.set_status(self.place)

        self.set_status("reading…")
        self.ui.in_background(f"view {id(self)}", run, show, fail)

    def show_view(self, name: str) -> None:
        """Show another view in place of this one."""
        self.dismiss(None)
        self.ui.show_view(self.row, name)


class ReaderScreen(TextScreen, inherit_bindings=False):
    """A conversation, turn by turn."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for(
        *("next_turn", "previous_turn", "next_match", "previous_match", "back"),
        *("previous_branch", "next_branch", "unfold"),
        hidden=("graph", "copy"),
        filter_label="Search",
    )

    def __init__(self, row: Row, words: str = "", hit: "Hit | None" = None) -> None:
        super().__init__(row, "", words)
        self.shown: RenderedConversation | None = None
        self.branch = hit.branch if hit else None
        self.target = hit.uuid if hit else None
        """The record that is looked for; its turn is scrolled to when it is read."""
        self.unfolded: frozenset[int] = frozenset()

    @property
    def record(self) -> str | None:
        """The last record of the turn at the top."""
        turn = self.shown.turn_at(self.view.top) if self.shown else None
        return turn.record if turn else None

    def read(self) -> None:
        """Render the conversation in the background."""
        width, library = max(self.size.width - 2, 40), self.ui.library
        row, branch, unfolded = self.row, self.branch, self.unfolded

        def run() -> RenderedConversation:
            with library.lock:
                return render_conversation(library.request, row.session, width, branch, unfolded)

        self.ui.in_background(f"view {id(self)}", run, self.show)

    def show(self, shown: RenderedConversation) -> None:
        """Show what was rendered, at the place that is looked for or where the reader was."""
        view, before = self.view, self.shown
        was_at_end = bool(before) and view.top + view.size.height >= len(view.lines)
        place = before.turn_at(view.top) if before and before.name == shown.name else None
        within = view.top - place.line if place else 0
        self.shown, self.branch, self.is_read = shown, shown.name, True
        view.show(shown.lines)
        if self.target and not before:
            self._go_to_record(self.target)
        elif place and was_at_end and len(shown.turns) >= place.number:
            view.scroll_end(animate=False, force=True)
        elif place:
            same = [turn for turn in shown.turns if turn.number == place.number]
            view.go_to(same[0].line + within if same else view.top)
        self.show_place()

    def _go_to_record(self, record: str) -> None:
        assert self.shown is not None
        for turn in self.shown.turns:
            if record in turn.records:
                self.view.go_to(turn.line)
                lines = [place for place in self.view.matches if place >= turn.line]
                if lines and lines[0] >= turn.line + self.view.size.height:
                    self.view.go_to(lines[0])

    def on_line_view_scrolled(self) -> None:
        """Say which turn is at the top."""
        self.show_place()

    def show_place(self) -> None:
        """Show the branch and the turn."""
        shown = self.shown
        if shown is None:
            return
        turn = shown.turn_at(self.view.top)
        number = shown.branches.index(shown.name) + 1 if shown.name in shown.branches else 0
        parts = [
            f"turn {max(turn.number, 1)} of {shown.turns[-1].number}" if turn else "",
            f"branch {number} of {len(shown.branches)}" if len(shown.branches) > 1 else "",
            clean(shown.label, 40),
            self.found or self.place,
        ]
        words = " · ".join(filter(None, parts))
        self.set_status(clean(words, max(self.size.width, 20)))

    def _go_to_turn(self, step: int) -> None:
        if self.shown is None:
            return
        top = self.view.top
        lines = [
            turn.line
            for turn in self.shown.turns
            if (turn.line > top if step > 0 else turn.line < top)
        ]
        if lines:
            self.view.go_to(lines[0] if step > 0 else lines[-1])
        elif step < 0:
            self.view.go_to(0)
        self.show_place()

    def action_next_turn(self) -> None:
        """Go to the next turn."""
        self._go_to_turn(1)

    def action_previous_turn(self) -> None:
        """Go to the previous turn."""
        self._go_to_turn(-1)

    def _go_to_branch(self, step: int) -> None:
        if self.shown is None:
            return
        branches = self.shown.branches
        if len(branches) < 2:
            self.ui.say("this session has no other branch")
            return
        number = branches.index(self.shown.name) if self.shown.name in branches else 0
        self.branch, self.unfolded = branches[(number + step) % len(branches)], frozenset()
        self.read()

    def action_next_branch(self) -> None:
        """Show the next branch."""
        self._go_to_branch(1)

    def action_previous_branch(self) -> None:
        """Show the previous branch."""
        self._go_to_branch(-1)

    def action_unfold(self) -> None:
        """Show everything of the turn at the top, or fold it again."""
        turn = self.shown.turn_at(self.view.top) if self.shown else None
        if turn is not None:
            self.unfolded ^= {turn.number}
            self.read()

    def refresh_rows(self) -> None:
        """Read the session again where it has changed."""
        for row in self.ui.library.rows:
            if row.key == self.row.key and row.session != self.row.session:
                self._row = row
                self.read()
