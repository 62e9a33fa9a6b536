"""Results to the screen: tables, lines, colours, pager, progress and JSON, all in one place."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from plait.cli.settings import Settings
from plait.cli.text import clipped, columns, counted, safe, safe_line, with_own_command
from plait.errors import PlaitError
from plait.view.text import UNSAFE

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

    from plait.archive import Archive, Facts, Meter


T = TypeVar("T")
PIPE_WIDTH = 100


class Output:
    """Writes for one run of the command."""

    def __init__(self, settings: Settings, roots: tuple[str, ...] = ()) -> None:
        self.settings, self._roots = settings, roots

    @property
    def root_options(self) -> list[str]:
        """What to add to a command so that it looks where this one does."""
        return [part for root in self._roots for part in ("--root", root)]

    @cached_property
    def console(self) -> "Console":
        """The screen, or what stands in for it in a pipe."""
        return self._console(sys.stdout)

    @cached_property
    def stderr(self) -> "Console":
        """Where notes and progress go."""
        return self._console(sys.stderr)

    def _console(self, stream: Any) -> "Console":
        from plait.cli.console import SafeConsole

        colour = self.settings.colour
        return SafeConsole(
            file=stream,
            force_terminal=True if colour == "always" else None,
            no_color=colour == "never",
            color_system=None if colour == "never" else "auto",
            width=None if stream.isatty() else PIPE_WIDTH,
            highlight=False,
            emoji=False,
            markup=False,
            soft_wrap=False,
        )

    @property
    def width(self) -> int:
        """The columns there are to write in."""
        return self.console.width if sys.stdout.isatty() else PIPE_WIDTH

    def json(self, value: object) -> None:
        """Writes a value as indented JSON."""
        write_bytes(as_json(value) + b"\n")

    def text(self, text: str) -> None:
        """Writes a text of our making as it is: a file in a pipe."""
        write_bytes(text.encode("utf-8", "replace"))

    def print(self, *parts: "RenderableType", style: str | None = None) -> None:
        """Writes lines of text or a table."""
        if not self._writes_plainly(sys.stdout, parts):
            self.console.print(*(safe(p) if isinstance(p, str) else p for p in parts), style=style)

    def say(self, text: str, style: str | None = None) -> None:
        """Writes words of Plait's own: what they say can be typed works where the user stands."""
        text = with_own_command(text, self._roots)
        if "`" in text and columns(text) > self.width:  # what is typed stays whole
            self.unbroken(text, style=style or "")
        else:
            self.print(text, style=style)

    def _writes_plainly(self, stream: Any, parts: "Sequence[RenderableType]") -> bool:
        """Writes words that need neither colours nor breaks, without all that draws those."""
        if stream.isatty() or self.settings.colour == "always":
            return False
        words = [part for part in parts if isinstance(part, str)]
        lines = safe(" ".join(words)).split("\n")
        if len(words) < len(parts) or any(_needs_drawing(line) for line in lines):
            return False
        stream.write("\n".join([*lines, ""]))
        return True

    def lines(self, lines: Iterable["Text"]) -> None:
        """Writes one line each, thousands quickly: without colours the words alone."""
        console, width = self.console, self.width
        is_plain = not (console.is_terminal or console.color_system)
        for line in lines:
            fits = line.cell_len <= width
            if is_plain and fits:
                self.plain(f"{line.plain}\n")
            else:
                console.print(line, soft_wrap=fits)

    def plain(self, text: str) -> None:
        """Writes words alone, as they are, thousands quickly."""
        self.console.file.write(safe(text))

    def unbroken(self, text: str, style: str = "") -> None:
        """Writes a line that is never broken: a path or a command must stay whole."""
        self.console.print(safe(text), style=style, soft_wrap=True)

    def heading(self, facts: "Facts") -> None:
        """Writes which session it is."""
        from plait.view.words import one_line

        self.print(clipped(one_line(facts.title or "(no title)"), self.width), style="bold")
        parts = [facts.session, facts.cwd or facts.project, *filter(None, [facts.mark])]
        place = safe_line("  ".join(parts))
        if columns(place) > self.width:  # the path stands whole on a line of its own
            self.print(safe_line(facts.session), style="dim")
            place = safe_line("  ".join(parts[1:]))
        self.unbroken(place, style="dim")
        self.print("")

    def note_unread(self, archive: "Archive") -> None:
        """Writes that some places could not be read, where that is so."""
        if archive.discovery.unread:
            places = counted(len(archive.discovery.unread), "place")
            self.note(f"{places} could not be read: `plait doctor` names them")

    def note_losses(self, archive: "Archive") -> None:
        """Writes which processes died while they read, where that is so."""
        for loss in archive.losses:
            self.note(f"{loss}: it was read again")

    def note(self, text: str, *, is_whole: bool = False) -> None:
        """Writes a line beside the results; an address or a key stays whole."""
        text = with_own_command(text, self._roots)
        if not self._writes_plainly(sys.stderr, (text,)):
            self.stderr.print(safe(text), style="dim", soft_wrap=is_whole or "`" in text)

    def warn_unredacted(self) -> None:
        """Says loudly that nothing is hidden."""
        words = "warning: nothing is redacted: secrets, names and paths are written as they are"
        if not self._writes_plainly(sys.stderr, (words,)):
            self.stderr.print(words, style="bold red")

    def table(self, *headings: str, right: Sequence[str] = (), wide: str | None = None) -> "Table":
        """Returns an empty table with these headings, some of them aligned to the right."""
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

    def is_paged(self, lines: int) -> bool:
        """Tells whether so many lines go through the pager, of which one sees the first."""
        has_pager = sys.stdout.isatty() and self.settings.pager
        return bool(has_pager) and lines >= self.console.height

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Sends long output through the pager, where there is a screen and a pager."""
        if not (sys.stdout.isatty() and self.settings.pager):
            yield
            return
        with self.console.capture() as capture:
            yield
        text = capture.get()
        if text.count("\n") < self.console.height:
            _write(text.encode("utf-8", "replace"))
        else:
            page(text, self.settings.pager)

    def progress(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Yields the items, with a bar on the screen while that takes long."""
        if len(items) < 2 or not sys.stderr.isatty():
            return items
        from rich.progress import track

        return track(items, label, console=self.stderr, transient=True)

    def watch(self, label: str) -> "Callable[[Sequence[T]], Iterable[T]]":
        """Returns what shows how far the reading of some items has come."""
        return lambda items: self.progress(items, label)

    @contextmanager
    def watched(self, label: str = "reading sessions") -> "Iterator[Meter | None]":
        """Gives what shows how many bytes have been read; nothing where nobody looks.

        The bar is drawn when there is something to be told, and goes away at the end.
        """
        if not sys.stderr.isatty():
            yield None
            return
        with ExitStack() as drawn:
            bars: list[Progress] = []

            def watch(done: int, total: int) -> None:
                if not bars:
                    bars.append(drawn.enter_context(_bar(self.stderr, label)))
                bars[0].update(bars[0].task_ids[0], completed=done, total=total)

            yield watch


def _needs_drawing(line: str) -> bool:
    return "\t" in line or columns(line) > PIPE_WIDTH


def as_json(value: object) -> bytes:
    """Returns a value as indented JSON.

    A lone surrogate of the log and what a terminal would obey stand as their escapes.
    """
    try:
        data = msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, enc_hook=_plain), indent=2).encode()
    return escaped(data)


def escaped(data: bytes) -> bytes:
    """Returns JSON that means the same, without what a terminal would obey."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", data.decode()).encode()


def page(text: str, pager: str) -> None:
    """Shows a text in a pager, or plainly where the pager cannot be started."""
    import shlex
    import subprocess

    data = text.encode("utf-8", "replace")
    try:
        subprocess.run(shlex.split(pager), input=data, check=False)  # noqa: S603  the user's own
    except (OSError, ValueError):
        _write(data)


def write_bytes(data: bytes) -> None:
    """Writes bytes to stdout as they are; to a screen, only what it cannot obey."""
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


def print_error(error: PlaitError, roots: "Sequence[str]" = (), *, as_json: bool) -> None:
    """Writes an error and its hints: the one place that does."""
    hints = [with_own_command(hint, _looked_into(roots, hint)) for hint in error.hints]
    if as_json:
        body = {"error": error.message, "hints": hints, "exit_code": error.exit_code}
        print(json.dumps(body), file=sys.stderr)
        return
    print(f"error: {safe_line(error.message)}", file=sys.stderr)
    for hint in hints:
        print(f"hint: {safe_line(hint)}", file=sys.stderr)


def _looked_into(roots: "Sequence[str]", hint: str) -> "Sequence[str]":
    """Returns the roots that a hint is to name; a guess at a word names none."""
    return () if hint.startswith("did you mean") else roots


def _bar(console: "Console", label: str) -> "Progress":
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    progress.add_task(label, total=None)
    return progress
