"""The application: the list of sessions with its preview, and everything that opens from it."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.filter import Monochrome, NoColor
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Footer, Static

from plait.archive import watch_changes
from plait.cli.options import Request
from plait.errors import PlaitError, SourceError
from plait.tui.library import Library, Row, Selection
from plait.tui.rendering import render_preview
from plait.tui.screens import PlaitScreen, ReaderScreen, ViewScreen, bindings_for
from plait.tui.widgets import Field, LineView, SessionList, clean
from plait.view.formats import format_count, format_money

if TYPE_CHECKING:
    from plait.tui.actions import Actions

T = TypeVar("T")
SETTLE = 0.12
"""Seconds without another key after which the selected session is previewed."""
NARROW = 72
"""Columns below which there is no room for a preview."""


class MainScreen(PlaitScreen, inherit_bindings=False):
    """The sessions at the left, the selected one at the right."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for(
        "read", "next_turn", "previous_turn", "back", hidden=("back",)
    )
    DEFAULT_CSS = """
    MainScreen .title { text-style: bold; height: 1; }
    MainScreen .status { text-style: dim; height: 1; }
    MainScreen Horizontal { height: 1fr; }
    MainScreen #preview { border-left: solid ansi_bright_black; padding-left: 1; }
    MainScreen #preview:focus { border-left: solid ansi_blue; }
    MainScreen.-narrow #preview { display: none; }
    """

    def __init__(self, query: str) -> None:
        super().__init__()
        self.query_text = query
        self.remark = ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Show the list, the preview, the filter and the keys."""
        yield Static("Plait", classes="title", markup=False)
        with Horizontal():
            yield SessionList(self.ui.now())
            yield LineView(id="preview")
        yield Static("reading…", classes="status", markup=False)
        yield Field(self.query_text, placeholder="filter: words, project:, agent:, tool:, cost:>1")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one(Field).display = bool(self.query_text)
        self.sessions.focus()
        if self.ui.library.rows:
            self.refresh_rows()

    @property
    def sessions(self) -> SessionList:
        """The list of sessions."""
        return self.query_one(SessionList)

    @property
    def row(self) -> Row | None:
        """The selected session."""
        return self.sessions.selected

    def on_resize(self, event: events.Resize) -> None:
        """Make room for the list on narrow terminals."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self.preview_soon()

    # ------------------------------------------------------------------ list and filter

    def refresh_rows(self) -> None:
        """Show the sessions that pass the filter."""
        if not self.is_mounted:  # the rows are shown as soon as it is
            return
        text, library = self.query_text, self.ui.library
        if not text.strip():
            self._show(Selection(library.rows))
            return

        def fail(error: PlaitError) -> None:
            self.remark = error.message
            self.show_status()

        if not library.has_index:
            self.remark = "searching the logs; `plait index` makes this instant"
            self.show_status()
        self.ui.in_background("filter", lambda: library.select(text), self._show, fail)

    def _show(self, selection: Selection) -> None:
        self.remark = selection.remark
        self.sessions.now = self.ui.now()
        self.sessions.show(selection)
        self.show_status()
        self.ui.select_new(self.sessions)
        self.on_session_list_scrolled()

    def on_session_list_scrolled(self) -> None:
        """Read where the sessions on the screen answer the filter; others need not be read."""
        text, library, sessions = self.query_text, self.ui.library, self.sessions
        if keys := sessions.list_unlocated():
            self.ui.in_background("places", lambda: library.locate(text, keys), sessions.add_hits)

    def show_status(self) -> None:
        """Show how many sessions there are, and what the filter leaves."""
        rows, all_rows = self.sessions.rows, self.ui.library.rows
        projects = len({row.project for row in rows})
        known = [row.cost for row in rows if row.cost is not None]
        parts = [
            format_count(len(rows), "session")
            + (f" of {len(all_rows)}" if rows != all_rows else ""),
            format_count(projects, "project"),
            format_money(sum(known)) if known else "",
        ]
        self.query_one(".title", Static).update(f"Plait · {' · '.join(filter(None, parts))}")
        words = self.remark
        if not words and not rows:
            words = "no session matches" if all_rows else "no sessions here"
        elif not words and self.query_text and not self.query_one(Field).has_focus:
            words = f"filter: {self.query_text}"
        elif not words and self.row is not None:
            facts = self.row.facts
            words = "  ".join(filter(None, (facts.session, facts.git_branch)))
        self.query_one(".status", Static).update(clean(words, max(self.size.width, 20)))

    def action_filter(self) -> None:
        """Type a filter."""
        field = self.query_one(Field)
        field.display = True
        self.set_focus(field)  # at once: what is typed next is meant for it

    def on_input_changed(self, event: Field.Changed) -> None:
        """Filter as it is typed."""
        if event.value != self.query_text:
            self.query_text = event.value
            self.refresh_rows()

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Go back to the list."""
        self.sessions.focus()
        self.query_one(Field).display = bool(self.query_text)

    def on_key(self, event: events.Key) -> None:
        """Move in the list while the filter is typed."""
        if self.query_one(Field).has_focus and event.key in ("up", "down"):
            self.sessions.action_move(-1 if event.key == "up" else 1)
            event.stop()

    def action_back(self) -> None:
        """Clear the filter."""
        field = self.query_one(Field)
        field.value, field.display = "", False
        self.sessions.focus()

    def action_next_turn(self) -> None:
        """Select the next session, or scroll the preview."""
        self._move(1)

    def action_previous_turn(self) -> None:
        """Select the previous session, or scroll the preview."""
        self._move(-1)

    def _move(self, step: int) -> None:
        preview = self.query_one("#preview", LineView)
        if preview.has_focus:
            preview.scroll_relative(y=step, animate=False)
        else:
            self.sessions.action_move(step)

    # ------------------------------------------------------------------ preview and reading

    def on_session_list_selected(self) -> None:
        """Preview the selected session when it stays selected."""
        self.show_status()
        self.preview_soon()

    def preview_soon(self) -> None:
        """Render the preview a moment later: who moves on does not wait for it."""
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(SETTLE, self._preview)

    def _preview(self) -> None:
        row, library = self.row, self.ui.library
        view = self.query_one("#preview", LineView)
        if row is None:
            view.show([])
            return
        if not view.display or view.size.width < 10:
            return
        width = view.size.width - 1

        def run() -> list[str]:
            with library.lock:
                return render_preview(library.request, row.session, width)

        def show(lines: list[str]) -> None:
            if self.row is not None and self.row.key == row.key:
                hit = self.sessions.hits.get(row.key)
                place = (
                    ["", f"turn {hit.turn}: {clean(hit.snippet, 4 * width)}"]
                    if hit and hit.turn
                    else []
                )
                view.show([*lines[:2], *place, *lines[2:]])

        def fail(error: PlaitError) -> None:
            view.show([clean(error.message, 400)])

        self.ui.in_background("preview", run, show, fail)

    def on_session_list_opened(self) -> None:
        """Read the session that was clicked twice."""
        self.action_read()

    def action_read(self) -> None:
        """Read the selected session, at the place that answers the filter."""
        row = self.row
        if row is None or self.app.screen is not self:
            return
        if row.key in self.sessions.list_unlocated():
            with suppress(PlaitError):
                self.sessions.add_hits(self.ui.library.locate(self.query_text, [row.key]))
        hit, words = self.sessions.hits.get(row.key), ""
        if hit and hit.marks:
            start, end = hit.marks[0]
            words = hit.snippet[start:end]
        self.app.push_screen(ReaderScreen(row, words, hit))


class PlaitApp(App[None], inherit_bindings=False):
    """`plait ui`."""

    TITLE = "Plait"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        # What the terminal itself does with these keys.
        Binding("ctrl+c", "quit", show=False, system=True, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, system=True, priority=True),
    ]
    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    * { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    Footer { background: ansi_default; }
    Field { background: ansi_default; color: ansi_default; border: none; height: 1; }
    Toast { background: ansi_default; border: round ansi_bright_black; padding: 0 1; margin: 0;
        width: auto; max-width: 76; }
    ToastRack { margin: 0; }
    """

    class Done(Message):
        """Something that was read in the background, and what to do with it here."""

        def __init__(self, act: Callable[[], None]) -> None:
            super().__init__()
            self.act = act

    def __init__(
        self,
        request: Request,
        query: str = "",
        keys: Mapping[str, str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        is_live: bool = True,
    ) -> None:
        super().__init__()
        self.theme = "ansi-dark"  # the colours of the terminal itself, light ones too
        self.library, self.keys, self.now = Library(request), dict(keys or {}), now
        self.main = MainScreen(query)
        self._is_live, self._stop = is_live, Event()
        self._turns: defaultdict[str, int] = defaultdict(int)
        self._working: defaultdict[str, Lock] = defaultdict(Lock)
        self._new: Path | None = None
        if self.no_color or request.settings.colour == "never":
            self.no_color = True
            # Before it knows the theme, textual chooses a filter that draws black on black.
            others = [found for found in self._filters if not isinstance(found, Monochrome)]
            self._filters = [*others, NoColor()]

    @cached_property
    def actions(self) -> "Actions":
        """What changes sessions; loaded with the first change, as the first screen needs none."""
        from plait.tui.actions import Actions

        return Actions(self)

    def on_mount(self) -> None:
        """Show the list, then read it."""
        self.set_keymap(self.keys)
        self.push_screen(self.main)
        self.reload(is_first=True)
        if self._is_live:
            Thread(target=self._watch, daemon=True).start()

    def on_unmount(self) -> None:
        """Stop watching."""
        self._stop.set()

    async def on_event(self, event: events.Event) -> None:
        """Act on a key before the next one is looked at.

        Textual hands a key to the focused widget and looks at it when it comes back from there, so
        that letters typed right after `/` would act on the list that was focused before.
        """
        if (
            not isinstance(event, events.Key)
            or event.is_forwarded
            or isinstance(self.focused, Field)
        ):
            await super().on_event(event)
        elif not await self._check_bindings(event.key, priority=True):
            await self._check_bindings(event.key)

    # ------------------------------------------------------------------ work in the background

    def in_background(
        self,
        group: str,
        work: Callable[[], T],
        then: Callable[[T], None],
        fail: Callable[[PlaitError], None] | None = None,
    ) -> None:
        """Do something in a thread, then something with its result here; only the last of a group counts."""
        self._turns[group] += 1
        turn = self._turns[group]

        def finish(act: Callable[[], None]) -> None:
            def act_if_wanted() -> None:
                if group == "action" or turn == self._turns[group]:
                    act()

            with suppress(RuntimeError):  # the application has ended
                self.post_message(self.Done(act_if_wanted))

        def run() -> None:
            with self._working[group]:  # what was typed meanwhile makes earlier filters needless
                if group == "action" or turn == self._turns[group]:
                    answer()

        def answer() -> None:
            try:
                result = work()
            except PlaitError as error:
                problem = error
            except Exception as error:  # whatever a log holds, the screen stays
                logging.getLogger(__name__).exception("in the background: %s", group)
                problem = SourceError(f"{type(error).__name__}: {error}")
            else:
                finish(lambda: then(result))
                return
            finish(lambda: (fail or self.complain)(problem))

        Thread(target=run, daemon=True).start()

    def on_plait_app_done(self, message: Done) -> None:
        """Take over what was read."""
        with suppress(NoMatches):  # the screen that it was read for is gone
            message.act()

    def _watch(self) -> None:
        places = [root.logs for root in self.library.archive.roots]
        is_first = True
        for _ in watch_changes(places, stop=self._stop):
            if not is_first:
                with suppress(RuntimeError):
                    self.post_message(self.Done(self.reload))
            is_first = False

    def reload(self, *, select: Path | None = None, is_first: bool = False) -> None:
        """Read the sessions again, and select one of them."""
        self._new = select or self._new
        library = self.library

        def load() -> list[Row]:
            if not is_first:
                library.renew()
            return library.load()

        def show(_: list[Row]) -> None:
            self.show_rows()
            self.in_background("costs", library.load_costs, lambda _: self.show_rows())

        self.in_background("rows", load, show)

    def show_rows(self) -> None:
        """Give the sessions to every screen."""
        for screen in self.screen_stack:
            if isinstance(screen, PlaitScreen):
                screen.refresh_rows()

    def select_new(self, sessions: SessionList) -> None:
        """Select the session that an edit has made, when it is there."""
        if self._new is not None and sessions.select(self._new):
            self._new = None

    # ------------------------------------------------------------------ what the screens share

    def show_view(self, row: Row, name: str) -> None:
        """Open a view of a session."""
        self.push_screen(ViewScreen(row, name))

    def say(self, words: str) -> None:
        """Show a message for a moment."""
        self.clear_notifications()
        self.notify(clean(words, 200), markup=False, timeout=4)

    def complain(self, error: PlaitError) -> None:
        """Show what is wrong and what to do."""
        words = ". ".join([error.message, *error.hints])
        self.clear_notifications()
        self.notify(clean(words, 300), markup=False, severity="warning", timeout=8)

    async def action_quit(self) -> None:
        """Leave."""
        self.exit()

    def _handle_exception(self, error: Exception) -> None:
        self._stop.set()
        super()._handle_exception(error)
