"""The terminal keyboard: line editing, full-screen views and the session picker.

While a turn runs, the last lines show the text that streams in, the state and queued prompts; typing
goes on, and what is sent is queued. A question takes that place until it is answered, and the draft
stays. A full-screen view keeps the screen until it is left; output waits until then.

The cursor position is never requested from the terminal: the round trip would make the prompt line
flicker with every paragraph. All drawing is written at once.
"""

import asyncio
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app, get_app_or_none
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, emacs_mode, is_searching, vi_navigation_mode
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_term_environment_variable

from plait.chat.console.archive import Row, SessionPicker
from plait.chat.console.completion import ChatCompleter
from plait.chat.console.keyboard import (
    PROMPT_MARK,
    FullView,
    Keyboard,
    LiveState,
    replace_surrogates,
)
from plait.errors import PlaitError
from plait.terminal.text import safe, safe_line
from plait.view.formats import format_count
from plait.view.text import count_columns, shorten_to_width, strip_except_colours, strip_sequences

ROWS_BELOW = 1


class BufferedOutput(Vt100_Output):
    """A terminal output that can be held back and written at once."""

    _is_held = False

    @property
    def responds_to_cpr(self) -> bool:
        """Whether the cursor position may be requested."""
        return False

    def get_rows_below_cursor_position(self) -> int:  # the name is prompt_toolkit's
        return ROWS_BELOW

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold output while entered, then write it at once."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        """Write pending output, unless held."""
        if not self._is_held:
            super().flush()


def make_output() -> Output | None:
    """Return the output for standard output; None to leave it to prompt_toolkit."""
    if sys.platform == "win32":
        return None
    return BufferedOutput.from_pty(sys.stdout, term=get_term_environment_variable())


ESCAPE_TIME = 0.1
FRAME_ROWS = 2
"""Rows of header and footer."""
FULL_SCREEN_STYLE = Style.from_dict(
    {"head": "bold", "foot": "italic", "chosen": "reverse", "found": "reverse"}
)


def make_full_screen(
    head: Callable[[], str],
    body: Callable[[], StyleAndTextTuples],
    foot: Callable[[], str],
    keys: KeyBindings,
    source: Input | None = None,
    output: Output | None = None,
) -> Application[Any]:
    """Return a full-screen application with header, body, footer and keys."""
    windows = [
        Window(FormattedTextControl(lambda: [("class:head", head())]), height=1),
        Window(FormattedTextControl(body, show_cursor=False), wrap_lines=False),
        Window(FormattedTextControl(lambda: [("class:foot", foot())]), height=1),
    ]
    app: Application[Any] = Application(
        Layout(HSplit(windows)),
        key_bindings=keys,
        style=FULL_SCREEN_STYLE,
        full_screen=True,
        input=source,
        output=output,
    )
    app.ttimeoutlen = ESCAPE_TIME
    return app


def body_size() -> tuple[int, int]:
    """Return the columns and rows of the body."""
    size = shutil.get_terminal_size()
    return size.columns - 1, max(size.lines - FRAME_ROWS, 1)


def _complete(buffer: Buffer) -> None:
    """Insert the only completion; if there are several, the next one."""
    if buffer.complete_state and buffer.complete_state.completions:
        buffer.complete_next()
        return
    prompt = CompleteEvent(completion_requested=True)
    offers = [*buffer.completer.get_completions(buffer.document, prompt)]
    if len(offers) == 1:
        buffer.apply_completion(offers[0])
    elif offers:
        buffer.complete_state = CompletionState(buffer.document, offers)
        buffer.go_to_completion(0)


INTERRUPT_GRACE = 2.0
"""Seconds in which a second Ctrl-C exits."""
MIN_TEXT_LINES = 6
"""Lines of streaming text shown on even the smallest screen."""
MAX_QUEUED_SHOWN = 4
LEAVE_HINT = "Ctrl-C again to exit"
CONFIRM_HINT = "press Enter again to send"


@dataclass
class LiveArea:
    """The live lines below the output, redrawn while a turn runs."""

    live: LiveState
    is_busy: bool = False
    started_at: float = 0.0
    warned_at: float = field(default=-INTERRUPT_GRACE)
    """When Ctrl-C was pressed."""
    price_warning: str = ""
    """What must be confirmed before a prompt is sent."""

    @property
    def is_warned(self) -> bool:
        """Return whether Ctrl-C was pressed just now."""
        return time.monotonic() - self.warned_at < INTERRUPT_GRACE

    def message(self, mark: str = PROMPT_MARK) -> StyleAndTextTuples:
        """Return what stands before the input."""
        if not self.is_busy:
            return [("bold", mark)]
        size = shutil.get_terminal_size()
        width, rows = size.columns - 1, max(size.lines // 2, MIN_TEXT_LINES)
        words = [
            f"{strip_except_colours(line)}\n" for line in self.live.streaming_lines(width, rows)
        ]
        shown = [f"  queued: {item}" for item in self.live.queued[:MAX_QUEUED_SHOWN]]
        more = len(self.live.queued) - len(shown)
        below = [*self.live.activity(), *shown, *([f"  … and {more} more"] if more else ())]
        took = int(time.monotonic() - self.started_at)
        margin = f" {LEAVE_HINT}" if self.is_warned else f" {took} s, Ctrl-C to stop"
        room = max(width - count_columns(margin), 8)
        state = shorten_to_width(f"· {safe_line(self.live.status())}", room)
        return [
            *(to_formatted_text(ANSI("".join(words))) if words else ()),
            ("class:state", f"{state}{margin}\n"),
            *(("", f"{shorten_to_width(safe_line(line), width)}\n") for line in below),
            ("bold", mark),
        ]

    def toolbar(self) -> str:
        """Return the bottom toolbar."""
        width = shutil.get_terminal_size().columns - 1
        if self.is_warned and not self.is_busy:
            return LEAVE_HINT
        words = (
            f"{self.price_warning}: {CONFIRM_HINT}"
            if self.price_warning
            else self.live.status_line()
        )
        return shorten_to_width(safe_line(words), width)


VIEWER_KEYS = "↑ ↓ Space scroll, ← → switch, / search, q back"
DRAFT_NAME = "prompt.md"


@dataclass
class Viewer:
    """A full-screen pager over several views."""

    views: Sequence[FullView]
    number: int = 0
    top: int = 0
    query: str = ""
    typed_query: str | None = None
    """The search text being typed."""
    _drawn: tuple[int, int, Sequence[str]] = field(default=(-1, 0, ()))

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the current view, at the width of the screen."""
        width = body_size()[0]
        number, drawn_for, lines = self._drawn
        if (number, drawn_for) != (self.number, width):
            lines = self.views[self.number].lines(width)
            self._drawn = self.number, width, lines
        return lines

    def move(self, count: int) -> None:
        """Scroll by some lines."""
        most = max(len(self.lines) - body_size()[1], 0)
        self.top = min(max(self.top + count, 0), most)

    def show(self, number: int) -> None:
        """Open another view at its beginning."""
        if 0 <= number < len(self.views):
            self.number, self.top = number, 0

    def find(self, step: int = 1) -> None:
        """Go to the next or previous line with the search text."""
        lines, start = self.lines, self.top
        places = range(start + step, len(lines) if step > 0 else -1, step)
        place = next((number for number in places if self._matches(lines[number])), None)
        if place is not None:
            self.top = place

    def _matches(self, line: str) -> bool:
        return bool(self.query) and self.query in strip_sequences(line).casefold()

    def head(self) -> str:
        """Return the header: title and position among the views."""
        count = f"{self.number + 1} of {len(self.views)}  " if len(self.views) > 1 else ""
        return shorten_to_width(
            f"{count}{safe_line(self.views[self.number].title)}", body_size()[0]
        )

    def body(self) -> StyleAndTextTuples:
        """Return the visible lines."""
        shown: StyleAndTextTuples = []
        for line in self.lines[self.top : self.top + body_size()[1]]:
            text = ANSI(f"{strip_except_colours(line)}\n")
            shown += to_formatted_text(text, style="class:found" if self._matches(line) else "")
        return shown

    def foot(self) -> str:
        """Return the footer: position and keys."""
        if self.typed_query is not None:
            return f"/{safe_line(self.typed_query)}"
        last = min(self.top + body_size()[1], len(self.lines))
        return shorten_to_width(
            f"{self.top + 1}–{last} of {len(self.lines)}  {VIEWER_KEYS}", body_size()[0]
        )

    def keys(self) -> KeyBindings:
        """Return the key bindings: for moving, or for typing a search text."""
        keys = KeyBindings()
        is_typing = Condition(lambda: self.typed_query is not None)
        steps: dict[str, Callable[[], int]] = {
            **dict.fromkeys(("down", "j", "enter"), lambda: 1),
            **dict.fromkeys(("up", "k"), lambda: -1),
            **dict.fromkeys((" ", "pagedown", "c-f"), lambda: body_size()[1]),
            **dict.fromkeys(("b", "pageup", "c-b"), lambda: -body_size()[1]),
            **dict.fromkeys(("g", "home"), lambda: -len(self.lines)),
            **dict.fromkeys(("G", "end"), lambda: len(self.lines)),
        }
        for key, step in steps.items():
            keys.add(key, filter=~is_typing)(lambda event, step=step: self.move(step()))
        for key, count in {"left": -1, "h": -1, "right": 1, "l": 1}.items():
            keys.add(key, filter=~is_typing)(lambda event, by=count: self.show(self.number + by))
        keys.add("n", filter=~is_typing)(lambda event: self.find())
        keys.add("N", filter=~is_typing)(lambda event: self.find(-1))

        @keys.add("q", filter=~is_typing)
        @keys.add("escape", filter=~is_typing)
        @keys.add("c-o")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit()

        @keys.add("/", filter=~is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed_query = ""

        @keys.add("<any>", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed_query = (self.typed_query or "") + event.data

        @keys.add("backspace", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed_query = self.typed_query[:-1] if self.typed_query else None

        @keys.add("escape", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed_query = None

        @keys.add("enter", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.query, self.typed_query = (self.typed_query or "").casefold(), None
            self.find()

        return keys


async def show_views(
    views: Sequence[FullView], source: Input | None = None, output: Output | None = None
) -> None:
    """Show views until the user leaves, the last one first."""
    viewer = Viewer(views, len(views) - 1)
    app = make_full_screen(viewer.head, viewer.body, viewer.foot, viewer.keys(), source, output)
    await app.run_async(handle_sigint=False)


async def edit_externally(text: str, editor: str) -> str:
    """Return a text edited in the user's editor; unchanged if that failed."""
    with TemporaryDirectory(prefix="plait-") as folder:
        file = Path(folder) / DRAFT_NAME
        file.write_text(text, encoding="utf-8")
        try:
            command = [*shlex.split(editor), str(file)]
            done = await asyncio.to_thread(subprocess.run, command, check=False)
            after = file.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return text
    return after.removesuffix("\n") if done.returncode == 0 else text


PICKER_KEYS = "Enter resume, Tab {scope}, Ctrl-S search messages, Esc back"
PICKER_REFRESH = 0.2


async def pick_session(
    picker: SessionPicker, source: Input | None = None, output: Output | None = None
) -> Row | None:
    """Return the session that the user chose, None if they went back."""
    work: list[asyncio.Future[None]] = []

    async def run(task: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(task)  # slow; the user keeps typing
        except PlaitError as error:
            picker.note, picker.is_reading = error.message, False

    def begin(task: Callable[[], None]) -> None:
        work.append(asyncio.ensure_future(run(task)))

    def render_head() -> str:
        where = "all directories" if picker.is_everywhere else f"in {safe_line(picker.directory)}"
        return shorten_to_width(f"Resume: {safe_line(picker.query)}▏  {where}", body_size()[0])

    def render_foot() -> str:
        keys = PICKER_KEYS.format(
            scope="this directory" if picker.is_everywhere else "all directories"
        )
        count = "…" if picker.is_reading else format_count(len(picker.matching), "session")
        return shorten_to_width(f"{safe_line(picker.note or count)}  {keys}", body_size()[0])

    keys = KeyBindings()
    steps = {"up": -1, "c-p": -1, "down": 1, "c-n": 1, "pageup": -10, "pagedown": 10}
    for key, count in steps.items():
        keys.add(key)(lambda event, count=count: picker.move(count))
    for key in ("escape", "c-c", "c-d"):
        keys.add(key)(lambda event: event.app.exit(result=None))
    keys.add("backspace")(lambda event: picker.set_query(picker.query[:-1]))
    keys.add("c-u")(lambda event: picker.set_query(""))

    @keys.add("<any>")
    @keys.add("<bracketed-paste>")
    def _(event: KeyPressEvent) -> None:
        picker.set_query(picker.query + "".join(filter(str.isprintable, event.data)))

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        picker.is_everywhere, picker.at = not picker.is_everywhere, 0
        begin(picker.read)

    @keys.add("c-s")
    def _(event: KeyPressEvent) -> None:
        if picker.query.strip():
            begin(picker.search)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if picker.selected:
            event.app.exit(result=picker.selected)

    app = make_full_screen(
        render_head, lambda: render_body(picker), render_foot, keys, source, output
    )
    app.refresh_interval = PICKER_REFRESH
    begin(picker.read)
    try:
        chosen: Row | None = await app.run_async(handle_sigint=False)
    finally:
        picker.cancel()
        await asyncio.gather(*work)
    return chosen


def render_body(picker: SessionPicker) -> StyleAndTextTuples:
    """Return the rows around the selected session and its preview."""
    width, rows = body_size()
    found, chosen = picker.matching, picker.selected
    if chosen is None:
        none = (
            "no matching sessions; press Ctrl-S to search messages"
            if picker.query
            else "no sessions"
        )
        return [("", "reading …" if picker.is_reading else none)]
    most = max(rows - 2, 1)
    first = max(min(found.index(chosen) - most // 2, len(found) - most), 0)
    lines: StyleAndTextTuples = []
    for row in found[first : first + most]:
        line = row.render(width - 2, picker.time)
        lines.append(("class:chosen", f"▸ {line}\n") if row is chosen else ("", f"  {line}\n"))
    about = chosen.description if chosen.description != chosen.title else ""
    return [*lines, ("", "\n"), ("italic", shorten_to_width(about, width))]


T = TypeVar("T")
PROMPT_REFRESH = 0.5
"""Seconds after which Escape counts as a key by itself."""
MIN_REDRAW_INTERVAL = 0.03
"""Least seconds between two redraws."""
NAVIGATION_MARK = ": "
EDITOR = "vi"
PROMPT_STYLE = Style.from_dict(
    {"state": "italic", "bottom-toolbar": "noreverse fg:ansibrightblack"}
)
PLAIN_STYLE = Style.from_dict({"bottom-toolbar": "noreverse"})


class LeaveRequested(Exception):
    """The user wants to exit."""


class _KeyboardNeeded(Exception):
    """Something else needs the keyboard."""


class TerminalKeyboard(Keyboard):
    """A `Keyboard` with line editing, history and completion, also while a turn runs."""

    is_live = True

    def __init__(
        self,
        live: LiveState,
        completer: ChatCompleter | None = None,
        *,
        history: History | None = None,
        is_vi: bool = False,
        has_colours: bool = True,
        editor: str = EDITOR,
        **streams: Any,
    ) -> None:
        self.live = live
        self._editor = editor
        self.live_area = LiveArea(live)
        self._draft = Document()
        self._is_free = asyncio.Event()
        """Whether no question is open."""
        self._is_free.set()
        self._read_lock = asyncio.Lock()
        self._screen_lock = asyncio.Lock()
        """Held by whatever uses the full screen."""
        self._pending_view: Callable[[], Awaitable[None]] | None = None
        """A view that waits for the full screen."""
        completer = completer or ChatCompleter()
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            editing_mode=EditingMode.VI if is_vi else EditingMode.EMACS,
            history=history or InMemoryHistory(),
            completer=completer,
            complete_while_typing=Condition(
                lambda: completer.is_due(self._session.default_buffer.document.text_before_cursor)
            ),
            complete_in_thread=True,
            enable_suspend=True,
            key_bindings=self._make_keys(),
            prompt_continuation="  ",
            bottom_toolbar=self.live_area.toolbar,
            erase_when_done=True,
            reserve_space_for_menu=6,
            **streams,
        )
        self._session.style = PROMPT_STYLE if has_colours else PLAIN_STYLE
        self._session.app.ttimeoutlen = ESCAPE_TIME
        self._session.app.min_redraw_interval = MIN_REDRAW_INTERVAL
        self._session.default_buffer.on_text_changed += self._clear_warnings

    def _make_keys(self) -> KeyBindings:
        """Return the key bindings: Enter sends, Alt-Enter, Ctrl-J or a backslash breaks the line."""
        keys = KeyBindings()
        can_take_back = Condition(lambda: bool(self.live.queued))
        is_at_top = Condition(lambda: get_app().current_buffer.document.cursor_position_row == 0)
        keys.add("c-c", filter=~is_searching)(lambda event: self.interrupt())
        keys.add("tab", filter=~is_searching)(lambda event: _complete(event.current_buffer))
        keys.add("s-tab")(lambda event: self.live.change_mode())

        @keys.add("enter", filter=~is_searching)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            elif self._may_send(buffer.text):
                buffer.validate_and_handle()

        @keys.add("escape", "enter", filter=emacs_mode)
        @keys.add("c-j")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.delete()
            else:
                event.app.exit(exception=LeaveRequested())

        @keys.add("c-o")
        def _(event: KeyPressEvent) -> None:
            if views := self.live.collapsed():
                self._request_screen(lambda: show_views(views, *self._streams))

        @keys.add("c-x", "c-e", filter=emacs_mode)
        @keys.add("v", filter=vi_navigation_mode)
        def _(event: KeyPressEvent) -> None:
            self._request_screen(self._edit_externally)

        @keys.add("up", filter=can_take_back & is_at_top & ~is_searching)
        def _(event: KeyPressEvent) -> None:
            text = "\n".join(filter(None, (self.live.take_back(), event.current_buffer.text)))
            event.current_buffer.text = text
            event.current_buffer.cursor_position = len(text)

        return keys

    def raw_mode(self) -> AbstractContextManager[None]:
        return self._session.input.raw_mode()

    async def prompt(self) -> str | None:
        while True:
            try:
                text = await self._read_prompt()
            except _KeyboardNeeded:
                await self._run_pending_view()
                continue
            except (LeaveRequested, EOFError):
                return None
            if text.strip():
                return text

    async def answer(self, question: str) -> str | None:
        return await self._ask(question, "")

    async def edit(self, text: str) -> str | None:
        await self.print_above("Edit the text; Esc Enter accepts, Ctrl-C cancels.\n")
        return await self._ask("", text, is_text=True)

    @asynccontextmanager
    async def accept_input(self, on_input: Callable[[str], None]) -> AsyncIterator[None]:
        area = self.live_area
        area.is_busy, area.started_at, area.warned_at = True, time.monotonic(), -INTERRUPT_GRACE
        typing = asyncio.ensure_future(self._read_queued_input(on_input))
        turn = asyncio.current_task()

        def end_turn(done: asyncio.Future[None]) -> None:
            if not done.cancelled() and isinstance(done.exception(), LeaveRequested) and turn:
                turn.cancel()

        typing.add_done_callback(end_turn)
        try:
            yield
            async with self._screen_lock:  # a view that is open stays open
                pass
        finally:
            self.live_area.is_busy = False
            typing.cancel()
            with suppress(asyncio.CancelledError, LeaveRequested, EOFError):
                await typing

    async def print_above(self, text: str) -> None:
        async with self._screen_lock:
            app = get_app_or_none()
            if app is None or not app.is_running:
                sys.stdout.write(text)
                sys.stdout.flush()
                return
            output = app.output
            with output.hold() if isinstance(output, BufferedOutput) else nullcontext():
                app.renderer.erase()
                output.write_raw(text.replace("\n", "\r\n"))
                output.flush()
                app.renderer.reset()
                app.renderer.request_absolute_cursor_position()
                app.renderer.render(app, app.layout)

    def redraw(self) -> None:
        self._session.app.invalidate()

    @property
    def typed(self) -> str:
        """The text that is typed and not sent."""
        return self._session.default_buffer.text

    @property
    def is_covered(self) -> bool:
        """Whether a full-screen view is open."""
        return self._screen_lock.locked()

    def live_text(self) -> str:
        """Return the live lines as plain text."""
        return "".join(part[1] for part in self._message())

    def restore_input(self, text: str) -> None:
        is_typing = self._session.app.is_running
        since = self.typed if is_typing else self._draft.text
        complete = Document("\n".join(filter(None, (text, since))))
        if is_typing:
            self._session.default_buffer.document = complete
        else:
            self._draft = complete

    async def _read_queued_input(self, on_input: Callable[[str], None]) -> None:
        while True:
            await self._is_free.wait()
            async with self._read_lock:
                try:
                    text = await self._read_prompt()
                except _KeyboardNeeded:
                    await self._run_pending_view()
                    continue
            if text.strip():
                on_input(text)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        self._is_free.clear()
        self._stop_reading()
        try:
            async with self._read_lock:
                yield
        finally:
            self._is_free.set()

    def _stop_reading(self) -> None:
        """Stop reading keys when something else needs them."""
        app = self._session.app
        if (
            (not self._is_free.is_set() or self._pending_view)
            and app.is_running
            and not app.is_done
        ):
            app.exit(exception=_KeyboardNeeded())

    async def _run_pending_view(self) -> None:
        """Run the waiting full-screen view and wait until it closes."""
        wanted, self._pending_view = self._pending_view, None
        if wanted:
            async with self._screen_lock:
                await wanted()

    async def pick(self, picker: SessionPicker) -> Row | None:
        return await self._take_screen(lambda: pick_session(picker, *self._streams))

    async def show(self, view: FullView) -> None:
        await self._take_screen(lambda: show_views([view], *self._streams))

    async def _take_screen(self, wanted: Callable[[], Awaitable[T]]) -> T:
        """Run a full-screen view; typing continues afterwards."""
        if not self._session.app.is_running:
            async with self._screen_lock:
                return await wanted()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def cover() -> None:
            try:
                done.set_result(await wanted())
            finally:
                done.cancel()

        self._request_screen(cover)
        return await done

    @property
    def _streams(self) -> tuple[Input, Output]:
        return self._session.input, self._session.output

    def _request_screen(self, wanted: Callable[[], Awaitable[None]]) -> None:
        self._pending_view = wanted
        self._stop_reading()

    async def _edit_externally(self) -> None:
        with self._session.input.cooked_mode():
            text = await edit_externally(self._draft.text, self._editor)
        self._draft = Document(text)

    async def _ask(self, question: str, text: str, *, is_text: bool = False) -> str | None:
        keys = KeyBindings()
        for accepting in (("escape", "enter"), ("c-s",)) if is_text else (("enter",),):
            keys.add(*accepting)(lambda event: event.current_buffer.validate_and_handle())
        keys.add("c-c")(lambda event: event.app.exit(exception=KeyboardInterrupt()))
        session: PromptSession[str] = PromptSession(
            multiline=True,
            key_bindings=keys,
            erase_when_done=True,
            style=self._session.style,
            input=self._session.input,
            output=self._session.output,
        )
        try:
            answer = await session.prompt_async(safe(question), default=text)
        except (KeyboardInterrupt, EOFError):
            return None
        answer = replace_surrogates(answer)
        if not is_text:
            await self.print_above(f"{safe(question)}{safe_line(answer)}\n")
        return answer

    async def _read_prompt(self) -> str:
        try:
            text = await self._session.prompt_async(
                self._message,
                default=self._draft,
                refresh_interval=PROMPT_REFRESH,
                pre_run=self._stop_reading,
                handle_sigint=False,
            )
        except BaseException:
            self._draft = self._session.default_buffer.document
            raise
        finally:
            self.live_area.price_warning = ""
        self._draft = Document()
        return replace_surrogates(text)

    def _message(self) -> StyleAndTextTuples:
        app = self._session.app
        is_moving = (
            app.editing_mode == EditingMode.VI and app.vi_state.input_mode == InputMode.NAVIGATION
        )
        return self.live_area.message(NAVIGATION_MARK if is_moving else PROMPT_MARK)

    def _clear_warnings(self, buffer: object) -> None:
        self.live_area.warned_at, self.live_area.price_warning = -INTERRUPT_GRACE, ""

    def _may_send(self, text: str) -> bool:
        """Return whether a prompt may be sent; an expensive one must be confirmed."""
        area = self.live_area
        if area.is_busy or area.price_warning or not text.strip() or text.startswith("/"):
            return True
        area.price_warning = self.live.price_warning()
        return not area.price_warning

    def interrupt(self) -> None:
        """Stop what is running; exit the second time or if nothing is running."""
        app, area = self._session.app, self.live_area
        if area.is_busy and not area.is_warned:
            area.warned_at = time.monotonic()
            self.live.stop()
        elif not area.is_busy and self._session.default_buffer.text:
            self._session.default_buffer.reset()
        elif not area.is_warned:
            area.warned_at = time.monotonic()
        elif app.is_running and not app.is_done:
            app.exit(exception=LeaveRequested())
        app.invalidate()
