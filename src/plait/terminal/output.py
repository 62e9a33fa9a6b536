"""Everything a command writes: lines, tables, JSON, notes, progress bars, through the pager."""

import json
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from plait.errors import PlaitError
from plait.settings import Settings, read_pipe_width
from plait.terminal.text import expand_commands, safe, safe_line
from plait.view.formats import format_count
from plait.view.text import UNSAFE, count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.console import Console, OverflowMethod, RenderableType
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

    from plait.archive import Archive, Facts, ProgressCallback


T = TypeVar("T")


class Output:
    """The output of one run: results to stdout, notes and progress to stderr."""

    def __init__(self, settings: Settings, root_options: Sequence[str] = ()) -> None:
        self.settings, self.root_options = settings, list(root_options)

    @cached_property
    def console(self) -> "Console":
        """The console on stdout."""
        return self._console(sys.stdout)

    @cached_property
    def stderr(self) -> "Console":
        """The console on stderr, for notes and progress."""
        return self._console(sys.stderr)

    def _console(self, stream: Any) -> "Console":
        from plait.terminal.console import SafeConsole

        colour = self.settings.colour
        return SafeConsole(
            file=stream,
            force_terminal=True if colour == "always" else None,
            no_color=colour == "never",
            color_system=None if colour == "never" else "auto",
            width=None if stream.isatty() else read_pipe_width(),
            highlight=False,
            emoji=False,
            markup=False,
            soft_wrap=False,
        )

    @property
    def width(self) -> int:
        """The number of columns of the terminal, in a pipe those of COLUMNS."""
        return self.console.width if sys.stdout.isatty() else read_pipe_width()

    def json(self, value: object) -> None:
        """Write a value as indented JSON."""
        write_bytes(format_json(value) + b"\n")

    def write_text(self, text: str) -> None:
        """Write text that is already formatted, such as CSV."""
        write_bytes(text.encode("utf-8", "replace"))

    def print(self, *parts: "RenderableType", style: str | None = None) -> None:
        """Print text or tables."""
        if not self._writes_plainly(sys.stdout, parts):
            self.console.print(*(safe(p) if isinstance(p, str) else p for p in parts), style=style)

    def print_message(self, text: str, style: str | None = None) -> None:
        """Print a message of Plait's own; commands in backticks are made to work here."""
        text = expand_commands(text, self.root_options)
        if "`" in text and count_columns(text) > self.width:  # what is typed stays whole
            self.print_unwrapped(text, style=style or "")
        else:
            self.print(text, style=style)

    def _writes_plainly(self, stream: Any, parts: "Sequence[RenderableType]") -> bool:
        """Write plain text without loading rich, if it needs neither colours nor line breaks."""
        if stream.isatty() or self.settings.colour == "always":
            return False
        words = [part for part in parts if isinstance(part, str)]
        lines = safe(" ".join(words)).split("\n")
        if len(words) < len(parts):
            return False
        if any("\t" in line or count_columns(line) > read_pipe_width() for line in lines):
            return False
        stream.write("\n".join([*lines, ""]))
        return True

    def print_lines(self, lines: Iterable["Text"]) -> None:
        """Print styled lines; without colours, thousands are written quickly."""
        console, width = self.console, self.width
        is_plain = not (console.is_terminal or console.color_system)
        for line in lines:
            fits = line.cell_len <= width
            if is_plain and fits:
                self.write_plain(f"{line.plain}\n")
            else:
                console.print(line, soft_wrap=fits)

    def write_plain(self, text: str) -> None:
        """Write text as it is."""
        self.console.file.write(safe(text))

    def print_unwrapped(self, text: str, style: str = "") -> None:
        """Print a line without wrapping, so that a path or command can be copied."""
        self.console.print(safe(text), style=style, soft_wrap=True)

    def print_heading(self, facts: "Facts") -> None:
        """Print the title, id and directory of a session."""
        from plait.view.summaries import to_single_line

        self.print(
            shorten_to_width(to_single_line(facts.title or "(no title)"), self.width), style="bold"
        )
        parts = [facts.session, facts.cwd or facts.project, *filter(None, [facts.mark])]
        place = safe_line("  ".join(parts))
        if count_columns(place) > self.width:  # the path gets a line of its own
            self.print(safe_line(facts.session), style="dim")
            place = safe_line("  ".join(parts[1:]))
        self.print_unwrapped(place, style="dim")
        self.print("")

    def warn_unread(self, archive: "Archive") -> None:
        """Note if some folders could not be read."""
        if archive.discovery.unread:
            places = format_count(len(archive.discovery.unread), "place")
            self.note(f"{places} could not be read; `plait doctor` lists them")

    def warn_lost_workers(self, archive: "Archive") -> None:
        """Note which worker processes died."""
        for loss in archive.worker_failures:
            self.note(f"{loss}; its sessions were read again")

    def note(self, text: str, *, no_wrap: bool = False) -> None:
        """Print a note to stderr; with no_wrap an address or key can be copied."""
        text = expand_commands(text, self.root_options)
        if not self._writes_plainly(sys.stderr, (text,)):
            self.stderr.print(safe(text), style="dim", soft_wrap=no_wrap or "`" in text)

    def warn_unredacted(self) -> None:
        """Warn that secrets are not hidden."""
        words = "warning: nothing is redacted; secrets, names and paths are written as they are"
        if not self._writes_plainly(sys.stderr, (words,)):
            self.stderr.print(words, style="bold red")

    def table(self, *headings: str, right: Sequence[str] = (), wide: str | None = None) -> "Table":
        """Return an empty table with these headings, some of them aligned to the right."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="dim", expand=wide is not None)
        for heading in headings:
            table.add_column(
                heading,
                justify="right" if heading in right else "left",
                no_wrap=heading != wide,
                overflow="ellipsis",
                ratio=1 if heading == wide else None,
            )
        return table

    def print_first(self, lines: Sequence[str], most: int) -> None:
        """Print the first lines without wrapping, and how many more there are."""
        for line in lines[:most]:
            self.print_unwrapped(line)
        if len(lines) > most:
            self.print(f"  and {len(lines) - most} more")

    def grid(
        self,
        rows: "Iterable[Sequence[str | Text]]",
        *,
        right: Collection[int] = (),
        gap: int = 2,
        widths: Mapping[int, int] = MappingProxyType({}),
    ) -> "Table":
        """Return rows in columns as wide as their content, some of them aligned to the right.

        A column with a fixed width is cut.
        """
        from rich.table import Table

        cells = [[safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        table = Table.grid(padding=(0, gap, 0, 0))
        for place in range(len(cells[0])):
            table.add_column(
                justify="right" if place in right else "left",
                width=widths.get(place),
                no_wrap=place in widths,
            )
        for row in cells:
            table.add_row(*row)
        return table

    def print_grid(
        self, rows: "Iterable[Sequence[str | Text]]", *, right: Collection[int] = (), gap: int = 2
    ) -> None:
        """Print rows in columns."""
        self.print(self.grid(rows, right=right, gap=gap))

    def will_page(self, lines: int) -> bool:
        """Return whether this many lines go through the pager, which shows the first ones."""
        has_pager = sys.stdout.isatty() and self.settings.pager
        return bool(has_pager) and lines >= self.console.height

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Send what is printed through the pager, if it is long and there is a terminal."""
        if not (sys.stdout.isatty() and self.settings.pager):
            yield
            return
        with self.console.capture() as capture:
            yield
        data = capture.get().encode("utf-8", "replace")
        if data.count(b"\n") < self.console.height:
            _write(data)
            return
        import subprocess

        try:
            pager = shlex.split(self.settings.pager)
            subprocess.run(pager, input=data, check=False)  # noqa: S603  the user's own
        except (OSError, ValueError):  # it cannot be started
            _write(data)

    def progress(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Yield the items, with a progress bar on a terminal."""
        if len(items) < 2 or not sys.stderr.isatty():
            return items
        from rich.progress import track

        return track(items, label, console=self.stderr, transient=True)

    def progress_for(self, label: str) -> Callable[[Sequence[T]], Iterable[T]]:
        """Return a function that shows a progress bar over the items it is given."""
        return lambda items: self.progress(items, label)

    @contextmanager
    def byte_progress(self, label: str = "reading sessions") -> "Iterator[ProgressCallback | None]":
        """Yield a function that shows how many bytes have been read; None without a terminal.

        The bar appears with the first call, and is removed at the end.
        """
        if not sys.stderr.isatty():
            yield None
            return
        with ExitStack() as stack:
            bars: list[Progress] = []

            def report(done: int, total: int) -> None:
                if not bars:
                    from rich.progress import (
                        BarColumn,
                        DownloadColumn,
                        Progress,
                        TextColumn,
                        TimeRemainingColumn,
                    )

                    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
                    bar = Progress(
                        *columns, TimeRemainingColumn(), console=self.stderr, transient=True
                    )
                    bar.add_task(label, total=None)
                    bars.append(stack.enter_context(bar))
                bars[0].update(bars[0].task_ids[0], completed=done, total=total)

            yield report


def make_text(
    words: str = "",
    style: str = "",
    *,
    no_wrap: bool | None = None,
    overflow: "OverflowMethod | None" = None,
) -> "Text":
    """Return styled text. Rich is loaded by the first call: JSON output never needs it."""
    from rich.text import Text

    return Text(words, style, no_wrap=no_wrap, overflow=overflow)


def select_fields(value: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a value by their names, for JSON."""
    return {name: getattr(value, name) for name in names}


def format_json(value: object) -> bytes:
    """Format a value as indented JSON.

    Lone surrogates and whatever a terminal would obey are written as escapes.
    """
    try:
        data = msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, enc_hook=_plain), indent=2).encode()
    return escape_json(data)


def escape_json(data: bytes) -> bytes:
    """Escape whatever a terminal would obey; the JSON means the same."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", data.decode()).encode()


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout; on a terminal without what it would obey."""
    if sys.stdout.isatty():
        data = safe(data.decode("utf-8", "replace")).encode()
    _write(data)


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"no JSON form for {type(value).__name__}")


def print_error(error: PlaitError, root_options: Sequence[str] = (), *, as_json: bool) -> None:
    """Print an error and its hints, as JSON if that was asked for."""
    sys.audit("plait.error", error.message)  # for `--debug`
    hints = [
        expand_commands(hint, () if hint.startswith("did you mean") else root_options)
        for hint in error.hints
    ]
    if as_json:
        body = {"error": error.message, "hints": hints, "exit_code": error.exit_code}
        print(json.dumps(body), file=sys.stderr)
        return
    print(f"error: {safe_line(error.message)}", file=sys.stderr)
    for hint in hints:
        print(f"hint: {safe_line(hint)}", file=sys.stderr)
